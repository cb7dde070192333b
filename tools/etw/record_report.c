/* SPDX-License-Identifier: MIT */
#include "tools/etw/record_report.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/guid.h"
#include "base/macros.h"
#include "process/kernel_class.h"
#include "process/tree.h"
#include "schema/kernel.h"
#include "tools/common/number.h"
#include "tools/common/program.h"
#include "tools/etw/claims.h"
#include "tools/etw/loss_table.h"
#include "tools/etw/process_table.h"
#include "tools/etw/record_names.h"
#include "tools/etw/record_tracepoints.h"
#include "tools/etw/stack_report.h"

#define TABLE_ROWS    10
#define TREE_ROWS     40
#define SAMPLE_OPCODE 46 /* of PerfInfo */

/* The command as the trace has it: its words with blanks between. */
static void join_command(char *const *words, struct etw_text *text)
{
	for (; *words; words++) {
		if (text->bytes)
			etw_text_putc(text, ' ');
		etw_text_puts(text, *words);
	}
}

/*
 * The process that was started as @pid, or else ran this command line. The pid is not enough: in a container the
 * trace has another one than this process sees.
 *
 * @was_there: it was forked before the recording began, by which the host knows it: there it has the same pid
 */
static const struct etw_process_node *find_root(const struct etw_process_tree *tree, uint32_t pid,
						const char *command_line, bool was_there)
{
	const struct etw_process_node *other = NULL;

	for (size_t i = 0; i < tree->count; i++) {
		const struct etw_process *process = tree->nodes[i].process;
		const char *line = process->program->command_line;

		if (process->pid == pid && (process->has_start || was_there))
			return &tree->nodes[i];
		if (!process->has_start)
			continue;
		if (!other && line && !strcmp(line, command_line))
			other = &tree->nodes[i];
	}
	return other;
}

static size_t count_below(const struct etw_process_node *root)
{
	size_t count = 0, depth = 0;

	for (const struct etw_process_node *node = root; node;
	     node = etw_process_tree_next(root, node, &depth))
		count++;
	return count;
}

static bool has_samples(const struct tally *tally)
{
	for (size_t i = 0; i < tally->kinds.count; i++) {
		const EVENT_HEADER *header = &tally->sorted_kinds[i]->header;

		if (header->EventDescriptor.Opcode == SAMPLE_OPCODE &&
		    etw_guid_equal(&header->ProviderId, &etw_class_perfinfo))
			return true;
	}
	return false;
}

/* Those processes that are the command's, by their numbers. */
struct below {
	bool *is_in; /* owned; NULL: all are */
	size_t count;
};

static void below_done(struct below *below)
{
	free(below->is_in);
}

static bool is_below(const void *context, const struct etw_process *process)
{
	const struct below *below = context;

	return process->number < below->count && below->is_in[process->number];
}

static int below_init(struct below *below, const struct etw_processes *processes,
		      const struct etw_process_node *root)
{
	size_t depth = 0;

	below->count = etw_processes_count(processes);
	below->is_in = calloc(below->count + 1, sizeof(bool));
	if (!below->is_in)
		return -ENOMEM;
	for (const struct etw_process_node *node = root; node;
	     node = etw_process_tree_next(root, node, &depth))
		below->is_in[node->process->number] = true;
	return 0;
}

/* Where the CPU time went, where the kernel recorded samples. @root: of the command; NULL: of the whole recording */
static void put_stacks(const struct record_report *report, const struct etw_process_node *root,
		       const struct report_look *look, struct etw_text *text)
{
	CLEANUP(below_done) struct below below = {0};
	struct page *page = report->page;
	const struct stack_report stacks = {
		.inputs = &page->inputs,
		.store = page->store,
		.decoder = page->decoder,
		.wants_process = root ? is_below : NULL,
		.wants_context = &below,
		.whose = root ? "the command's" : "the machine's",
		/* Only a terminal cuts names. */
		.width = isatty(root ? STDERR_FILENO : STDOUT_FILENO) ? look->width : 0,
		.bold = look->bold,
		.plain = look->plain,
	};
	int result = 0;

	if (!has_samples(&page->report.tally))
		return;
	if (root)
		result = below_init(&below, etw_machine_processes_of(&page->inputs.processes, 0),
				    root);
	if (!result)
		result = stack_report_write(text, &stacks);
	if (result)
		text->error = result;
}

/* The processes that the command was, where the kernel recorded them, and what they did. */
static void put_tree(const struct record_report *report, const struct report_look *look,
		     struct etw_text *text)
{
	CLEANUP(etw_text_done) struct etw_text line = {0};
	CLEANUP(etw_process_tree_done) struct etw_process_tree tree = {0};
	struct process_table table = {
		.processes = etw_machine_processes_of(&report->page->inputs.processes, 0),
		.usage = &report->page->report.usage,
		.is_prepared = report->options->kernel.only_command,
		.rows = TREE_ROWS,
		/* Command lines are what it is about: only a terminal cuts them. */
		.width = isatty(STDERR_FILENO) ? look->width : 0,
		.bold = "",
		.plain = "",
	};

	if (!report->options->command) {
		put_stacks(report, NULL, look, text);
		return;
	}
	text->error = etw_process_tree_build(table.processes, &tree);
	join_command(report->options->command, &line);
	table.root = find_root(&tree, report->child, etw_text_string(&line),
			       report->options->kernel.only_command);
	if (!table.root)
		return;
	etw_text_printf(text, "%sThe command's processes (%zu)%s\n", look->bold,
			count_below(table.root), look->plain);
	process_table_write(text, &table);
	etw_text_putc(text, '\n');
	put_stacks(report, table.root, look, text);
}

/* What the source lost, unless the page above has it from the file's own notes. */
static void put_source_loss(const struct wire_session_loss *loss, const struct notes *notes,
			    struct etw_text *text)
{
	CLEANUP(etw_text_done) struct etw_text session = {0}, file = {0};
	struct loss_table sources;

	loss_table_of_session(loss, &sources);
	loss_table_write(&session, &sources, "  ");
	loss_table_write(&file, &notes->losses, "  ");
	if (strcmp(etw_text_string(&session), etw_text_string(&file)) != 0)
		etw_text_puts(text, etw_text_string(&session));
}

/* The session knows more of what was lost than the file's header says. */
static void put_loss(const struct wire_session_loss *loss, const struct notes *notes,
		     struct etw_text *text)
{
	const struct {
		const char *what;
		uint64_t count;
	} causes[] = {
		{"without a free buffer", loss->no_buffer},
		{"larger than a buffer", loss->too_large},
		{"not finished in time", loss->gaps},
		{"refused", loss->rejected},
		{"on the way from the kernel", loss->source},
		{"not written to the file", loss->file},
		{"for rings that had been replaced", loss->replaced},
		{"as other users' processes say", loss->others},
	};
	bool any = false;

	for (size_t i = 0; i < ARRAY_SIZE(causes); i++) {
		if (!causes[i].count)
			continue;
		etw_text_puts(text, any ? ", " : "lost: ");
		etw_number_grouped(text, causes[i].count);
		etw_text_printf(text, " %s", causes[i].what);
		any = true;
	}
	if (any)
		etw_text_putc(text, '\n');
	put_source_loss(loss, notes, text);
	claims_write(text, loss, "  ");
}

static bool has_events_of(const struct tally *tally, const GUID *provider)
{
	for (size_t i = 0; i < tally->providers.count; i++) {
		if (etw_guid_equal(&tally->sorted_providers[i]->guid, provider))
			return true;
	}
	return false;
}

/* Those of programs: the kernel and the session itself write classic events too. */
static bool has_classic_events(const struct tally *tally)
{
	for (size_t i = 0; i < tally->providers.count; i++) {
		const struct tally_provider *provider = tally->sorted_providers[i];

		if (provider->is_classic && !etw_kernel_class_name(&provider->guid))
			return true;
	}
	return false;
}

/* An id that follows from the name is a guess: a provider may have another one. */
static void put_guess(const struct record_provider *provider, struct etw_text *text)
{
	char guid[ETW_GUID_BRACED_BYTES];

	if (!record_names_is_derived(provider))
		return;
	etw_guid_format_braced(&provider->guid, guid);
	etw_text_printf(text, " (taken for %s, the id that follows from the name)", guid);
}

/*
 * Any name is a provider's: one that was misspelt shows only here. A classic provider's events do not carry its id, and
 * nothing in the trace says whose a class is.
 */
static void put_silent(const struct record_report *report, struct etw_text *text)
{
	const struct record_options *options = report->options;
	const struct recorder *recorder = report->recorder;
	/* Then some may have come that are not in the file. */
	bool is_whole = recorder->end != RECORDER_HOST_DIED && !recorder->info.file_status &&
			!recorder->info.events_lost;
	const struct tally *tally = &report->page->report.tally;
	const char *classic = has_classic_events(tally)
				      ? " (a classic provider's carry the GUIDs of its classes)"
				      : "";

	for (size_t i = 0; i < options->providers.count; i++) {
		const char *reason;

		if (has_events_of(tally, &options->providers.all[i].guid))
			continue;
		etw_text_printf(text, "no event %s %s",
				is_whole ? "came from" : "is in the file from",
				options->providers.all[i].text);
		put_guess(&options->providers.all[i], text);
		reason = record_tracepoints_why_silent(options->providers.all[i].text);
		if (reason)
			etw_text_printf(text, ": %s", reason);
		etw_text_printf(text, "%s\n", classic);
	}
}

static void put_end(const struct record_report *report, struct etw_text *text)
{
	put_silent(report, text);
	put_loss(&report->recorder->info.loss, &report->page->report.notes, text);
	etw_text_printf(text, "%s\n", report->recorder->file.path);
}

/*
 * A command's output stays its own: what is said of it goes to standard error then. Everything of the page
 * goes the same way, so that its parts stay together.
 */
int record_report_print(const struct record_report *report)
{
	FILE *stream = report->options->command ? stderr : stdout;
	bool has_colour = etw_colour_wanted(fileno(stream), report->options->shared.colour);
	const struct report_look look = {
		.width = etw_terminal_width(fileno(stream)),
		.top = TABLE_ROWS,
		.bold = has_colour ? "\033[1m" : "",
		.warn = has_colour ? "\033[1;31m" : "",
		.plain = has_colour ? "\033[0m" : "",
	};
	struct etw_text text = {0};
	int result;

	put_tree(report, &look, &text);
	report_write(&text, &report->page->report, &look);
	put_end(report, &text);
	result = etw_text_error(&text);
	if (!result && (fwrite(text.at, 1, text.bytes, stream) != text.bytes || fflush(stream)))
		result = -errno;
	etw_text_done(&text);
	if (result)
		etw_program_message("cannot write what %s holds: %s", report->recorder->file.path,
				    strerror(-result));
	return result;
}
