/* SPDX-License-Identifier: MIT */
/* `etw record`: this machine, or a command, into a file; then what is in it. */
#include <errno.h>
#include <inttypes.h>
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
#include "tools/etw/cmd.h"
#include "tools/etw/host_wait.h"
#include "tools/etw/loss_table.h"
#include "tools/etw/page.h"
#include "tools/etw/process_table.h"
#include "tools/etw/record_names.h"
#include "tools/etw/record_options.h"
#include "tools/etw/record_run.h"
#include "tools/etw/recorder.h"
#include "tools/etw/stack_report.h"
#include "wire/kernel_names.h"

#define TABLE_ROWS    10
#define TREE_ROWS     40
#define SAMPLE_OPCODE 46 /* of PerfInfo */
/* Of silence, after a signal; below, a machine that is busy would be taken for one that stands still. */
#define SIGNALLED_MS 5000
#define SILENT_MS    1000 /* where the user was told already that the host does not answer */

struct command {
	struct record_options options;
	struct recorder recorder;
	struct record_run run;
	struct etw_control_waiting waiting;
	struct page page;
};

static void command_done(struct command *command)
{
	record_options_done(&command->options);
	recorder_done(&command->recorder);
	page_done(&command->page);
}

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
static void put_stacks(struct command *command, const struct etw_process_node *root,
		       const struct report_look *look, struct etw_text *text)
{
	CLEANUP(below_done) struct below below = {0};
	struct page *page = &command->page;
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
static void put_tree(struct command *command, const struct report_look *look, struct etw_text *text)
{
	CLEANUP(etw_text_done) struct etw_text line = {0};
	CLEANUP(etw_process_tree_done) struct etw_process_tree tree = {0};
	struct process_table table = {
		.processes = etw_machine_processes_of(&command->page.inputs.processes, 0),
		.usage = &command->page.report.usage,
		.is_prepared = command->options.kernel.only_command,
		.rows = TREE_ROWS,
		/* Command lines are what it is about: only a terminal cuts them. */
		.width = isatty(STDERR_FILENO) ? look->width : 0,
		.bold = "",
		.plain = "",
	};

	if (!command->options.command) {
		put_stacks(command, NULL, look, text);
		return;
	}
	text->error = etw_process_tree_build(table.processes, &tree);
	join_command(command->options.command, &line);
	table.root = find_root(&tree, (uint32_t)command->run.child, etw_text_string(&line),
			       command->options.kernel.only_command);
	if (!table.root)
		return;
	etw_text_printf(text, "%sThe command's processes (%zu)%s\n", look->bold,
			count_below(table.root), look->plain);
	process_table_write(text, &table);
	etw_text_putc(text, '\n');
	put_stacks(command, table.root, look, text);
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
static void put_silent(const struct command *command, struct etw_text *text)
{
	const struct record_options *options = &command->options;
	const struct recorder *recorder = &command->recorder;
	/* Then some may have come that are not in the file. */
	bool is_whole = recorder->end != RECORDER_HOST_DIED && !recorder->info.file_status &&
			!recorder->info.events_lost;
	const struct tally *tally = &command->page.report.tally;
	const char *classic = has_classic_events(tally)
				      ? " (a classic provider's carry the GUIDs of its classes)"
				      : "";

	for (size_t i = 0; i < options->provider_count; i++) {
		if (has_events_of(tally, &options->providers[i].guid))
			continue;
		etw_text_printf(text, "no event %s %s",
				is_whole ? "came from" : "is in the file from",
				options->providers[i].text);
		put_guess(&options->providers[i], text);
		etw_text_printf(text, "%s\n", classic);
	}
}

static void put_end(const struct command *command, struct etw_text *text)
{
	put_silent(command, text);
	put_loss(&command->recorder.info.loss, &command->page.report.notes, text);
	etw_text_printf(text, "%s\n", command->recorder.path);
}

/*
 * A command's output stays its own: what is said of it goes to standard error then. Everything of the page
 * goes the same way, so that its parts stay together.
 */
static int print(struct command *command)
{
	FILE *stream = command->options.command ? stderr : stdout;
	bool has_colour = etw_colour_wanted(fileno(stream), command->options.shared.colour);
	const struct report_look look = {
		.width = etw_terminal_width(fileno(stream)),
		.top = TABLE_ROWS,
		.bold = has_colour ? "\033[1m" : "",
		.warn = has_colour ? "\033[1;31m" : "",
		.plain = has_colour ? "\033[0m" : "",
	};
	struct etw_text text = {0};
	int result;

	put_tree(command, &look, &text);
	report_write(&text, &command->page.report, &look);
	put_end(command, &text);
	result = etw_text_error(&text);
	if (!result && (fwrite(text.at, 1, text.bytes, stream) != text.bytes || fflush(stream)))
		result = -errno;
	etw_text_done(&text);
	if (result)
		etw_program_message("cannot write what %s holds: %s", command->recorder.path,
				    strerror(-result));
	return result;
}

/* Reads the file that was just written. */
static int report(struct command *command)
{
	char *files[] = {command->recorder.path};
	struct page *page = &command->page;

	if (page_open(page, files, 1, &command->options.shared))
		return -1;
	return page_gather(page) || print(command) ? -1 : 0;
}

/* What the host counted, without a look into the file. */
static int tell_numbers(const struct recorder *recorder)
{
	const struct wire_session_info *info = &recorder->info;
	bool is_bad = printf("lost: %" PRIu32 " events, %" PRIu32 " buffers\n%s\n",
			     info->events_lost, info->log_buffers_lost, recorder->path) < 0;

	if (!is_bad && !fflush(stdout))
		return 0;
	etw_program_message("cannot write what was lost: %s", strerror(errno));
	return -1;
}

/* A full disk, for one: what comes after the file ended is in no file. Returns whether it was so. */
static bool tell_early_end(const struct recorder *recorder)
{
	if (!recorder->info.file_status)
		return false;
	if (recorder->info.file_status == -ENOENT)
		etw_program_message(
			"the recording is incomplete: %s was deleted while it was written",
			recorder->path);
	else
		etw_program_message("the recording is incomplete: writing %s ended early: %s",
				    recorder->path, strerror(-recorder->info.file_status));
	return true;
}

/* Somebody else stopped it, or its host died. Returns whether it was so. */
static bool tell_other_end(const struct command *command)
{
	const struct page *page = &command->page;
	const struct etw_etl_header *header = page->inputs.count
						      ? etw_trace_header(page->inputs.traces[0])
						      : NULL;

	recorder_tell_end(&command->recorder, page->report.last_ft, header ? header->end_ft : 0);
	return command->recorder.end != RECORDER_GOES_ON;
}

/*
 * Kernel events that --kernel asked for, and that the machine did not give: the complaint said why. Where nobody
 * named them, or they are of a kind that there is none of on Linux, beside others, the recording is as good as it can be
 * without them. Returns whether it was so.
 */
static bool lacks_kernel(const struct command *command)
{
	const struct record_kernel *kernel = &command->options.kernel;
	uint32_t asked[WIRE_GROUP_MASKS_WORDS], missing[WIRE_GROUP_MASKS_WORDS];
	uint32_t lost = 0, served = 0;

	if (!kernel->has_kinds || !etw_kernel_masks_events(kernel->request.group_masks, asked) ||
	    !notes_kernel_missing(&command->page.report.notes, missing))
		return false;
	for (unsigned i = 0; i < WIRE_GROUP_MASKS_WORDS; i++) {
		served |= asked[i] & kernel->built[i];
		lost |= asked[i] & kernel->built[i] & missing[i];
	}
	return lost || !served;
}

/*
 * A first signal has ended the recording. Should the host be found not to answer then, it is not waited for as
 * long as it could take to come back.
 */
static int stop(struct command *command)
{
	record_run_stop(&command->run);
	if (command->run.signal)
		command->waiting.patience_ms = command->run.is_host_silent ? SILENT_MS
									   : SIGNALLED_MS;
	return recorder_stop(&command->recorder);
}

/* Nobody wants a file of nothing. */
static int give_up(struct command *command)
{
	if (command->recorder.is_running)
		(void)stop(command);
	(void)unlink(command->recorder.path);
	return ETW_EXIT_FAILED;
}

static int tell_exec_error(const struct command *command)
{
	etw_program_message("cannot run %s: %s", command->options.command[0],
			    strerror(command->run.exec_error));
	return record_run_exit_status(&command->run);
}

/* A manifest that cannot be read is told of now, not when all is over; and it may name providers. */
static int load_manifests(struct command *command)
{
	if (page_load(&command->page, &command->options.shared))
		return -1;
	if (!record_names_resolve(&command->options, command->page.store))
		return 0;
	etw_program_message("out of memory");
	return -1;
}

static void tell_wait(void *context, const char *directory)
{
	struct record_run *run = context;

	run->is_host_silent = true;
	host_wait_tell(NULL, directory);
}

/* Its process is there before the session, which is to record nobody else. */
static int prepare_command(struct command *command)
{
	int result;

	if (!command->options.kernel.only_command)
		return 0;
	result = record_run_prepare(&command->run, command->options.command);
	if (result) {
		etw_program_message("cannot run %s: %s", command->options.command[0],
				    strerror(-result));
		return -1;
	}
	command->recorder.only_pid = (uint32_t)command->run.child;
	return 0;
}

static int record(struct command *command, char **argv)
{
	struct recorder *recorder = &command->recorder;
	int result = record_run_init(&command->run);

	command->waiting = (struct etw_control_waiting){.is_over = record_run_is_over,
							.wake_fd = command->run.signals,
							.tell = tell_wait,
							.context = &command->run};
	recorder->waiting = &command->waiting;
	if (!result && command->options.command)
		command->run.exec_error = -record_command_check(command->options.command[0]);
	if (command->run.exec_error)
		return tell_exec_error(command);
	if (load_manifests(command))
		return ETW_EXIT_FAILED;
	if (result) {
		etw_program_message("cannot wait for signals: %s", strerror(-result));
		return ETW_EXIT_FAILED;
	}
	host_timeout_check();
	if (prepare_command(command))
		return ETW_EXIT_FAILED;
	if (recorder_start(recorder, &command->options, argv)) {
		record_run_cancel(&command->run);
		return recorder->is_running ? give_up(command) : ETW_EXIT_FAILED;
	}
	if (!command->options.command && isatty(STDERR_FILENO))
		(void)fprintf(stderr, "Recording into %s; Ctrl-C ends it.\n", recorder->path);
	result = record_run(&command->run, recorder, &command->options);
	if (command->run.exec_error) {
		(void)give_up(command);
		return tell_exec_error(command);
	}
	if (result && result != -ENOENT)
		etw_program_message("stopped: %s", strerror(-result));
	if (recorder->is_running && stop(command))
		return ETW_EXIT_FAILED;
	record_run_release(&command->run);
	/* Somebody may have put another file into the place of one that was deleted. */
	if (recorder->info.file_status == -ENOENT)
		result = -1;
	else if (command->options.is_quiet)
		result = tell_numbers(recorder);
	else
		result = report(command);
	recorder_tell_complaint(recorder);
	if (tell_early_end(recorder) || tell_other_end(command) || lacks_kernel(command))
		result = -1;
	record_run_finish(&command->run);
	return result ? ETW_EXIT_FAILED : record_run_exit_status(&command->run);
}

static int run(int argc, char **argv)
{
	/* Large: the session's names have room for 1024 characters each. */
	static struct command room;
	struct command *command = &room;
	int status;

	if (!record_options_parse(&command->options, argc, argv)) {
		status = ETW_EXIT_USAGE;
	} else if (command->options.shared.help) {
		etw_verb_help_print(&etw_verb_record);
		status = ETW_EXIT_OK;
	} else {
		status = record(command, argv);
	}
	command_done(command);
	return status;
}

const struct etw_verb etw_verb_record = {
	.name = "record",
	.arguments = "[-- COMMAND...]",
	.one_line = "this machine, or what a command does, into a file",
	.help = "  -o, --output FILE   the file (etw-DATE-TIME.etl)\n"
		"  --force             overwrite a file that is no trace\n"
		"  --kernel WHAT       kinds of events, with commas: process, thread, loader,\n"
		"                      cswitch, dispatcher, profile, syscall, interrupt, dpc, "
		"...;\n"
		"                      xperf's groups: Latency, SysProf, DiagEasy, Base, ...\n"
		"  --stacks WHAT       events with stacks: Profile, CSwitch, ReadyThread, ...; "
		"none\n"
		"  --profile-hz N      CPU samples a second, of each processor (1000)\n"
		"  --profile-source S  samples by page faults, cache misses, ...: NAME:INTERVAL, "
		"with\n"
		"                      commas; etw doctor lists what this machine has\n"
		"  --unwind HOW        user stacks by frame-pointers (the default) or dwarf "
		"tables\n"
		"  --only-command      the command's own processes alone\n"
		"  --provider NAME     or its GUID; NAME:LEVEL:ANY:ALL for level and keywords;\n"
		"                      may be repeated\n"
		"  --duration SECONDS  ends the recording\n"
		"  --buffer-size KB    of one buffer\n"
		"  --buffers N         of each processor, at least\n"
		"  --persist           the session survives this program's death\n"
		"  --quiet             no report at the end: what was lost, and the "
		"file\n" ETW_MANIFEST_HELP
		"  --color WHEN        auto (the default), always, never\n"
		"  --help              this text\n"
		"\nWithout --kernel and --provider: processes, threads, images, CPU samples and "
		"context\n"
		"switches, the last two with stacks, if that is allowed.\n"
		"With a command: begins before it and ends with it, and has its exit status.\n"
		"Else Ctrl-C ends the recording.\n"
		"A file that ends early (a full disk) ends the recording too; the command goes "
		"on.\n"
		"Exit status 1: it failed, or is incomplete since the file ended early, somebody "
		"else\n"
		"stopped the session, or its host died.\n"
		"\nExamples:\n"
		"  sudo etw record -- make -j8\n"
		"  etw record --provider MyCompany-MyProduct:info -o app.etl -- ./app\n",
	.run = run,
	.options = record_options_table,
};
