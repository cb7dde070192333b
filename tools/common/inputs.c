/* SPDX-License-Identifier: MIT */
#include "tools/common/inputs.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/macros.h"
#include "base/number.h"
#include "base/path.h"
#include "tools/common/foreign.h"
#include "tools/common/number.h"
#include "tools/common/program.h"

#define SPOOL_BYTES (64u * 1024)

/*
 * Memory for the directories of all traces, and for blocks that are kept from the search for schemas to the pass that
 * delivers the events. What a pass needs beside that is small.
 */
#define MEMORY_BYTES_MAX ((size_t)60 << 20)

/* What cannot be read twice, which is needed, goes into a file without a name. */
static int spool(int fd, char *ret_path, size_t bytes)
{
	char buffer[SPOOL_BYTES];
	FILE *file = tmpfile();
	ssize_t got;

	if (!file)
		return -errno;
	while ((got = read(fd, buffer, sizeof(buffer))) > 0 || (got < 0 && errno == EINTR)) {
		if (got > 0 && fwrite(buffer, 1, (size_t)got, file) != (size_t)got)
			return -errno;
	}
	if (got < 0 || fflush(file))
		return -errno;
	/* The stream stays open as long as the process, and with it the path. */
	(void)snprintf(ret_path, bytes, "/proc/self/fd/%d", fileno(file));
	return 0;
}

/* A pipe with a name, as shells make for <(command). */
static int spool_pipe(const char *path, char *ret_path, size_t bytes)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	int result = fd < 0 ? -errno : spool(fd, ret_path, bytes);

	if (fd >= 0)
		(void)close(fd);
	return result;
}

/* @real: where the bytes are, when not in @path itself */
static int find_bytes(const char *argument, char **ret_path, char *real, size_t bytes)
{
	struct stat info;

	if (!strcmp(argument, "-")) {
		*ret_path = strdup("standard input");
		return *ret_path ? spool(STDIN_FILENO, real, bytes) : -ENOMEM;
	}
	TRY(etw_path_resolve(argument, ret_path));
	if (!stat(*ret_path, &info) && S_ISFIFO(info.st_mode))
		return spool_pipe(*ret_path, real, bytes);
	return 0;
}

static void tell_open_error(const char *path, const char *shown, int error,
			    const struct etw_fault *fault)
{
	if (error == -EISDIR)
		etw_foreign_tell_folder(path);
	else if (error == -EBADMSG && etw_foreign_tell(path, shown))
		return;
	else if (error == -EBADMSG && fault->sentence)
		etw_program_message("%s is no .etl trace, byte %" PRIu64 ": %s (%s%s%s)", shown,
				    fault->offset, fault->sentence, fault->structure,
				    fault->field ? ": " : "", fault->field ? fault->field : "");
	else
		etw_program_message("cannot read %s: %s", shown, strerror(-error));
}

/* Lets a trace keep blocks in the memory that all the traces leave. */
static void set_room(const struct etw_inputs *inputs, struct etw_trace *trace)
{
	size_t bytes = 0;

	for (size_t i = 0; i < inputs->count; i++) {
		if (inputs->traces[i] && inputs->traces[i] != trace)
			bytes += etw_trace_memory(inputs->traces[i]);
	}
	etw_trace_keep(trace, bytes < MEMORY_BYTES_MAX ? MEMORY_BYTES_MAX - bytes : 0);
}

static int open_one(const struct etw_inputs *inputs, const char *argument, char **ret_path,
		    struct etw_trace **ret)
{
	struct etw_fault fault = {0};
	char spooled[64] = "";
	int result = find_bytes(argument, ret_path, spooled, sizeof(spooled));
	const char *path = *spooled ? spooled : *ret_path;

	if (!result)
		result = etw_trace_open(path, ret, &fault);
	if (!result) {
		set_room(inputs, *ret);
		result = etw_trace_index(*ret);
	}
	if (result)
		tell_open_error(path, *ret_path ? *ret_path : argument, result, &fault);
	return result ? -1 : 0;
}

static bool is_repeated_stream(char *const *arguments, size_t index)
{
	for (size_t i = 0; i < index; i++) {
		if (!strcmp(arguments[index], "-") && !strcmp(arguments[i], "-"))
			return true;
	}
	return false;
}

int etw_inputs_open(char *const *arguments, size_t count, struct etw_inputs *ret)
{
	*ret = (struct etw_inputs){
		.traces = calloc(count, sizeof(struct etw_trace *)),
		.paths = calloc(count, sizeof(char *)),
		.count = count,
	};
	if (!ret->traces || !ret->paths) {
		ret->count = 0;
		etw_program_message("out of memory");
		return -1;
	}
	for (size_t i = 0; i < count; i++) {
		if (is_repeated_stream(arguments, i)) {
			etw_program_message("standard input can be read once: give - once");
			return -1;
		}
		TRY(open_one(ret, arguments[i], &ret->paths[i], &ret->traces[i]));
		if (!strcmp(arguments[i], "-"))
			ret->stream = ret->paths[i];
		ret->buffers += etw_trace_buffers(ret->traces[i]);
	}
	return 0;
}

void etw_inputs_done(struct etw_inputs *inputs)
{
	for (size_t i = 0; i < inputs->count; i++) {
		etw_trace_close(inputs->traces[i]);
		free(inputs->paths[i]);
	}
	etw_machine_processes_done(&inputs->processes);
	free(inputs->traces);
	free(inputs->paths);
	*inputs = (struct etw_inputs){0};
}

bool etw_inputs_hold(const struct etw_inputs *inputs, const char *path)
{
	struct stat wanted, input;

	if (stat(path, &wanted))
		return false;
	for (size_t i = 0; i < inputs->count; i++) {
		if (!stat(inputs->paths[i], &input) && input.st_dev == wanted.st_dev &&
		    input.st_ino == wanted.st_ino)
			return true;
	}
	return false;
}

void etw_inputs_set_build(const struct etw_inputs *inputs, size_t index,
			  struct etw_schema_store *store)
{
	etw_schema_store_set_build(store, etw_trace_header(inputs->traces[index])->os_build);
}

int64_t etw_inputs_start(const struct etw_inputs *inputs)
{
	int64_t start = INT64_MAX;

	for (size_t i = 0; i < inputs->count; i++) {
		const struct etw_etl_header *header = etw_trace_header(inputs->traces[i]);

		if (header->start_ft < start)
			start = header->start_ft;
	}
	return start;
}

void etw_inputs_error(const struct etw_inputs *inputs, int error)
{
	etw_program_message("cannot read %s: %s",
			    inputs->count == 1 ? inputs->paths[0] : "the files", strerror(-error));
}

struct learner {
	struct etw_schema_store *store;
	struct etw_decoder *decoder;
	struct etw_machine_processes *processes; /* NULL: nobody wants to know them */
	const struct etw_clock *clock;
	size_t trace;
	struct etw_progress progress;
};

static int learn_event(void *context, const struct etw_etl_buffer *buffer, uint8_t header_type,
		       const EVENT_RECORD *record, struct etw_event_address address)
{
	struct learner *learner = context;

	(void)buffer;
	(void)header_type;
	(void)address;
	if (learner->processes)
		TRY(etw_machine_processes_keep(learner->processes, learner->trace, learner->clock,
					       record));
	if (UNLIKELY(etw_schema_store_is_metadata(record)))
		return etw_schema_store_learn(learner->store, record);
	return etw_decoder_weigh(learner->decoder, record);
}

static int learn_buffer(void *context, const struct etw_etl_buffer *buffer, uint32_t event_count)
{
	struct learner *learner = context;

	(void)buffer;
	(void)event_count;
	etw_progress_add(&learner->progress, 1);
	return 0;
}

int etw_inputs_learn(struct etw_inputs *inputs, struct etw_schema_store *store,
		     struct etw_decoder *decoder, bool wants_names)
{
	struct learner learner = {.store = store, .decoder = decoder};
	const struct etw_trace_visitor visitor = {&learner, learn_buffer, learn_event};
	int result = 0;

	if (wants_names) {
		learner.processes = &inputs->processes;
		result = etw_machine_processes_init(&inputs->processes, inputs->traces,
						    inputs->count);
	}
	etw_progress_start(&learner.progress, "Looking for schemas", inputs->buffers);
	for (size_t i = 0; i < inputs->count && !result; i++) {
		const struct etw_etl_header *header = etw_trace_header(inputs->traces[i]);

		etw_decoder_set_file(decoder, (uint32_t)i);
		if (etw_etl_header_has_unix_path(header))
			result = etw_decoder_trust_text(decoder, (uint32_t)i);
		learner.trace = i;
		set_room(inputs, inputs->traces[i]);
		learner.clock = &header->clock;
		if (!result)
			result = etw_trace_each_buffer(inputs->traces[i], &visitor);
	}
	etw_progress_end(&learner.progress);
	if (!result && wants_names)
		result = etw_machine_processes_teach(&inputs->processes, decoder);
	if (result)
		etw_inputs_error(inputs, result);
	return result;
}

struct etw_loss etw_loss_of(const struct etw_inputs *inputs, uint64_t marks)
{
	struct etw_loss loss = {.marks = marks, .files = inputs->count};

	for (size_t i = 0; i < inputs->count; i++) {
		const struct etw_etl_header *header = etw_trace_header(inputs->traces[i]);
		const struct etw_findings *findings = etw_trace_findings(inputs->traces[i]);

		loss.events = etw_sum_saturated(loss.events, header->events_lost);
		loss.buffers = etw_sum_saturated(loss.buffers, header->buffers_lost);
		loss.unclosed += !header->end_ft;
		loss.skipped_places += etw_findings_total(findings);
		loss.doubted_places += findings->counts[ETW_FINDING_DOUBTED];
		loss.skipped_bytes += findings->bytes[ETW_FINDING_CUT] +
				      findings->bytes[ETW_FINDING_SKIPPED] +
				      findings->bytes[ETW_FINDING_EVENTS];
	}
	return loss;
}

bool etw_loss_is_damaged(const struct etw_loss *loss)
{
	return loss->skipped_places || loss->doubted_places;
}

void etw_loss_write(struct etw_text *text, const struct etw_loss *loss)
{
	etw_text_puts(text, "lost: ");
	etw_number_count(text, loss->events, "event");
	etw_text_puts(text, ", ");
	etw_number_count(text, loss->buffers, "buffer");
	if (loss->marks) {
		etw_text_puts(text, "; ");
		etw_number_grouped(text, loss->marks);
		etw_text_puts(text, loss->marks == 1 ? " mark of loss in a buffer"
						     : " marks of loss in buffers");
	}
	/* Whoever records rewrites the header at the end. Its counts are those of the start until then. */
	if (loss->unclosed)
		etw_text_printf(
			text,
			"; %s closed (still recorded, or the recorder ended first): what is "
			"missing is not known",
			loss->files == 1 ? "the file was not" : "not all files were");
	if (!etw_loss_is_damaged(loss)) {
		if (loss->unclosed)
			return;
		etw_text_puts(text, loss->is_partial   ? "; nothing damaged in what was read"
				    : loss->files == 1 ? "; the file is undamaged"
						       : "; the files are undamaged");
		return;
	}
	if (loss->skipped_places) {
		etw_text_puts(text, "; damaged in ");
		etw_number_count(text, loss->skipped_places, "place");
		if (loss->is_partial)
			etw_text_puts(text, " of what was read");
		etw_text_puts(text, ", ");
		etw_number_bytes(text, loss->skipped_bytes);
		etw_text_puts(text, " unreadable");
	}
	if (loss->doubted_places) {
		etw_text_puts(text, "; doubtful in ");
		etw_number_count(text, loss->doubted_places, "place");
		if (loss->is_partial && !loss->skipped_places)
			etw_text_puts(text, " of what was read");
	}
}
