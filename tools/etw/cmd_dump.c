/* SPDX-License-Identifier: MIT */
/* `etw dump`: the events themselves, in order of time, streamed. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/macros.h"
#include "base/number.h"
#include "base/time.h"
#include "decode/format.h"
#include "export/export.h"
#include "process/subject.h"
#include "tools/common/inputs.h"
#include "tools/common/number.h"
#include "tools/common/options.h"
#include "tools/common/output.h"
#include "tools/common/overwrite.h"
#include "tools/common/program.h"
#include "tools/common/time_argument.h"
#include "tools/common/unrelated.h"
#include "tools/etw/cmd.h"
#include "tools/etw/filter_options.h"
#include "tools/etw/lazy.h"

#define ENOUGH 101 /* what the pass ends with when --max is reached */

enum {
	OPTION_JSON = ETW_OPTION_OWN,
	OPTION_FROM,
	OPTION_TO,
	OPTION_PROVIDER,
	OPTION_EVENT,
	OPTION_PID,
	OPTION_FILTER,
	OPTION_MAX,
	OPTION_OUTPUT,
	OPTION_TIME,
	OPTION_FULL,
	OPTION_GUESS,
	OPTION_NO_DECODE,
	OPTION_FORCE,
};

static const struct option options[] = {
	ETW_SHARED_OPTIONS,
	{"json", no_argument, NULL, OPTION_JSON},
	{"from", required_argument, NULL, OPTION_FROM},
	{"to", required_argument, NULL, OPTION_TO},
	{"provider", required_argument, NULL, OPTION_PROVIDER},
	{"event", required_argument, NULL, OPTION_EVENT},
	{"pid", required_argument, NULL, OPTION_PID},
	{"filter", required_argument, NULL, OPTION_FILTER},
	{"max", required_argument, NULL, OPTION_MAX},
	{"output", required_argument, NULL, OPTION_OUTPUT},
	{"time", required_argument, NULL, OPTION_TIME},
	{"full", no_argument, NULL, OPTION_FULL},
	{"guess", no_argument, NULL, OPTION_GUESS},
	{"no-decode", no_argument, NULL, OPTION_NO_DECODE},
	{"force", no_argument, NULL, OPTION_FORCE},
	{NULL, 0, NULL, 0},
};

struct dump {
	struct etw_shared_options shared;
	struct filter filter;
	struct etw_time_argument from, to;
	struct etw_local_time local;
	const struct etw_export_format *format;
	const char *output_path;
	uint64_t max; /* UINT64_MAX: no limit */
	uint32_t flags;
	bool no_decode;
	bool force;

	struct etw_inputs inputs;
	struct etw_output output;
	struct etw_schema_store *store;
	struct etw_decoder *decoder;
	struct etw_manifests manifests;
	struct lazy lazy; /* the event at hand */
	struct etw_export_cache *cache;
	struct etw_progress progress;
	int64_t start_ft, from_ft, to_ft;
	uint64_t seen, shown, loss_marks;
	bool has_names; /* of processes */
	bool is_whole;  /* the pass was not ended by --max */
};

static void dump_done(struct dump *dump)
{
	etw_words_done(&dump->shared.manifests);
	filter_done(&dump->filter);
	etw_inputs_done(&dump->inputs);
	etw_output_done(&dump->output);
	etw_export_cache_free(dump->cache);
	etw_manifests_done(&dump->manifests);
	etw_decoder_free(dump->decoder);
	etw_schema_store_free(dump->store);
}

static bool take_time(const char *name, struct etw_time_argument *ret)
{
	if (etw_time_argument_parse(optarg, ret))
		return true;
	etw_program_message("--%s wants a time such as 2011-01-23T22:06:37.5Z, 22:06:37+02:00, or "
			    "+1.5 for seconds from the start, not \"%s\"",
			    name, optarg);
	return false;
}

static bool take_time_form(struct dump *dump)
{
	dump->flags &= ~(uint32_t)(ETW_EXPORT_TIME_RELATIVE | ETW_EXPORT_TIME_RAW |
				   ETW_EXPORT_TIME_LOCAL);
	if (!strcmp(optarg, "relative"))
		dump->flags |= ETW_EXPORT_TIME_RELATIVE;
	else if (!strcmp(optarg, "raw"))
		dump->flags |= ETW_EXPORT_TIME_RAW;
	else if (!strcmp(optarg, "local"))
		dump->flags |= ETW_EXPORT_TIME_LOCAL;
	else if (strcmp(optarg, "utc") != 0) {
		etw_program_message("--time wants utc, local, relative or raw, not \"%s\"", optarg);
		return false;
	}
	return true;
}

static bool take_max(struct dump *dump)
{
	if (etw_number_parse(optarg, UINT64_MAX, &dump->max))
		return true;
	etw_program_message("--max wants a number, not \"%s\"", optarg);
	return false;
}

static bool take_word(struct etw_words *words)
{
	if (!etw_words_add(words, optarg))
		return true;
	etw_program_message("out of memory");
	return false;
}

static bool take_option(void *context, int code)
{
	struct dump *dump = context;

	switch (code) {
	case OPTION_JSON:
		dump->format = &etw_export_json;
		return true;
	case OPTION_FROM:
		return take_time("from", &dump->from);
	case OPTION_TO:
		return take_time("to", &dump->to);
	case OPTION_PROVIDER:
		return take_word(&dump->filter.words[FILTER_PROVIDER]);
	case OPTION_EVENT:
		return take_word(&dump->filter.words[FILTER_EVENT]);
	case OPTION_PID:
		return take_word(&dump->filter.words[FILTER_PID]);
	case OPTION_FILTER:
		return take_word(&dump->filter.expressions);
	case OPTION_MAX:
		return take_max(dump);
	case OPTION_OUTPUT:
		dump->output_path = strcmp(optarg, "-") != 0 ? optarg : NULL;
		return true;
	case OPTION_TIME:
		return take_time_form(dump);
	case OPTION_FULL:
		dump->flags |= ETW_EXPORT_FULL;
		return true;
	case OPTION_GUESS:
		dump->flags |= ETW_EXPORT_GUESS;
		return true;
	case OPTION_FORCE:
		dump->force = true;
		return true;
	case OPTION_NO_DECODE:
		dump->no_decode = true;
		return true;
	default:
		return false;
	}
}

static int put_event(struct dump *dump, size_t trace, const EVENT_RECORD *record,
		     const struct etw_decoding *decoding, const struct etw_export_subject *subject,
		     struct etw_event_address address)
{
	const struct etw_export_event event = {
		.record = record,
		.decoding = decoding,
		.subject = subject,
		.provider_name = etw_schema_store_provider_name(dump->store,
								&record->EventHeader.ProviderId),
		.cache = dump->cache,
		.address = address,
		.trace = trace,
		.processor = GetEventProcessorIndex(record),
		.flags = dump->flags,
		.start_ft = dump->start_ft,
		.east_minutes =
			dump->flags & ETW_EXPORT_TIME_LOCAL
				? etw_local_time_east(&dump->local,
						      record->EventHeader.TimeStamp.QuadPart)
				: 0,
		.raw_time = etw_trace_raw_time(dump->inputs.traces[trace]),
	};

	if (dump->shown == dump->max)
		return ENOUGH;
	dump->shown++;
	dump->format->event(&event, &dump->output.text);
	return etw_output_continue(&dump->output);
}

/* What the event is about, and how that is called. */
static void find_subject(const struct dump *dump, size_t trace, const struct etw_decoding *decoding,
			 struct etw_export_subject *ret)
{
	const struct etw_processes *processes = etw_machine_processes_of(&dump->inputs.processes,
									 trace);
	const int64_t time_ft = decoding->record->EventHeader.TimeStamp.QuadPart;
	struct etw_process_ids ids = etw_process_ids_of(decoding);

	etw_processes_resolve(processes, &ids, time_ft);
	ret->pid = ids.pid;
	ret->tid = ids.tid;
	if (!dump->has_names)
		return;
	if (ids.pid != ETW_PROCESS_NONE)
		ret->process_name = etw_processes_name(processes, ids.pid, time_ft);
	if (ids.tid != ETW_PROCESS_NONE)
		ret->thread_name = etw_processes_thread_name(processes, ids.tid, time_ft);
}

/* An event as filters see it. */
static struct etw_filter_subject subject_of(struct dump *dump, size_t trace,
					    const EVENT_RECORD *record)
{
	return (struct etw_filter_subject){
		.record = record,
		.source = &lazy_source,
		.context = &dump->lazy,
		.processes = etw_machine_processes_of(&dump->inputs.processes, trace),
		.time_ft = record->EventHeader.TimeStamp.QuadPart,
		.start_ft = dump->start_ft,
	};
}

static int take_event(void *context, size_t trace, EVENT_RECORD *record,
		      struct etw_event_address address)
{
	struct dump *dump = context;
	struct etw_filter_subject wanted = subject_of(dump, trace, record);
	struct etw_export_subject subject = {.pid = record->EventHeader.ProcessId,
					     .tid = record->EventHeader.ThreadId};
	const struct etw_decoding *decoding;

	if (UNLIKELY(address.offset == UINT32_MAX))
		dump->loss_marks++;
	else
		dump->seen++;
	etw_decoder_set_file(dump->decoder, (uint32_t)trace);
	etw_inputs_set_build(&dump->inputs, trace, dump->store);
	lazy_set(&dump->lazy, record);
	if (!filter_wants(&dump->filter, &wanted))
		return dump->lazy.error;
	decoding = lazy_decode(&dump->lazy);
	TRY(dump->lazy.error);
	if (decoding) {
		etw_manifests_note(&dump->manifests, decoding->schema);
		find_subject(dump, trace, decoding, &subject);
	}
	return put_event(dump, trace, record, decoding, &subject, address);
}

static int take_buffer(void *context, size_t trace, const struct etw_etl_buffer *buffer)
{
	struct dump *dump = context;

	(void)trace;
	(void)buffer;
	etw_progress_add(&dump->progress, 1);
	return 0;
}

static bool resolve_window(struct dump *dump)
{
	const bool is_local = dump->flags & ETW_EXPORT_TIME_LOCAL;
	struct etw_time_context context = {.local = is_local ? &dump->local : NULL};

	dump->start_ft = etw_inputs_start(&dump->inputs);
	etw_local_time_init(&dump->local, etw_trace_header(dump->inputs.traces[0]));
	context.start_ft = context.end_ft = dump->start_ft;
	for (size_t i = 0; i < dump->inputs.count; i++) {
		const int64_t end_ft = etw_trace_header(dump->inputs.traces[i])->end_ft;

		context.end_ft = end_ft > context.end_ft ? end_ft : context.end_ft;
	}
	dump->from_ft = etw_time_argument_resolve(&dump->from, &context, INT64_MIN);
	dump->to_ft = etw_time_argument_resolve(&dump->to, &context, INT64_MAX);
	if (dump->from_ft <= dump->to_ft)
		return true;
	etw_program_message("--from is later than --to: no event can be in between");
	return false;
}

struct span {
	int64_t first_ft, last_ft;
	uint64_t events;
};

static int span_event(void *context, size_t trace, EVENT_RECORD *record,
		      struct etw_event_address address)
{
	struct span *span = context;

	(void)trace;
	(void)address;
	span->last_ft = record->EventHeader.TimeStamp.QuadPart;
	if (!span->events++)
		span->first_ft = span->last_ft;
	return 0;
}

/* "+1.5 ms, 2022-06-18T04:26:40.0015900Z" */
static void put_moment(const struct dump *dump, int64_t time_ft, struct etw_text *text)
{
	bool is_before = time_ft < dump->start_ft;

	etw_text_putc(text, is_before ? '-' : '+');
	etw_number_duration(text, is_before ? etw_filetime_between(time_ft, dump->start_ft)
					    : etw_filetime_between(dump->start_ft, time_ft));
	etw_text_puts(text, " (");
	etw_format_filetime(time_ft, text);
	etw_text_putc(text, ')');
}

/* Why there was nothing in a window: where the events are instead, which headers do not know for sure. */
static void tell_window(const struct dump *dump)
{
	CLEANUP(etw_text_done) struct etw_text line = {0};
	struct span span = {0};
	const struct etw_trace_sink sink = {
		.context = &span, .event = span_event, .from_ft = INT64_MIN, .to_ft = INT64_MAX};

	if (dump->seen || dump->loss_marks || (!dump->from.is_given && !dump->to.is_given))
		return;
	if (etw_trace_process(dump->inputs.traces, dump->inputs.count, &sink) || !span.events)
		return;
	if (dump->to_ft < span.first_ft) {
		etw_text_puts(&line, "the window is before the first event, which is at ");
		put_moment(dump, span.first_ft, &line);
	} else if (dump->from_ft > span.last_ft) {
		etw_text_puts(&line, "the window is behind the last event, which is at ");
		put_moment(dump, span.last_ft, &line);
	} else {
		etw_text_puts(&line, "no event is in the window; the trace has some before and "
				     "some after it");
	}
	etw_program_message("%s", etw_text_string(&line));
}

/* The pass; what it ends with. */
static int write_events(struct dump *dump)
{
	const struct etw_trace_sink sink = {.context = dump,
					    .event = take_event,
					    .buffer = take_buffer,
					    .from_ft = dump->from_ft,
					    .to_ft = dump->to_ft};
	int result;

	if (dump->inputs.count > 1)
		dump->flags |= ETW_EXPORT_FILES;
	dump->has_names = !dump->no_decode &&
			  !etw_machine_processes_is_empty(&dump->inputs.processes);
	dump->flags |= ETW_EXPORT_HAS_RAW | (dump->has_names ? ETW_EXPORT_PROCESS : 0);
	etw_progress_start(&dump->progress, "Writing events", dump->inputs.buffers);
	dump->progress.is_wanted &= !dump->output.is_prompt;
	dump->format->begin(&dump->output.text);
	result = dump->max ? etw_trace_process(dump->inputs.traces, dump->inputs.count, &sink) : 0;
	dump->is_whole = !result && dump->max;
	if (!result || result == ENOUGH) {
		dump->format->end(&dump->output.text);
		result = etw_output_flush(&dump->output);
	}
	etw_progress_end(&dump->progress);
	return result;
}

struct study {
	struct dump *dump;
	struct filter_study study;
};

static int study_event(void *context, size_t trace, EVENT_RECORD *record,
		       struct etw_event_address address)
{
	struct study *study = context;
	struct dump *dump = study->dump;
	struct etw_filter_subject subject = subject_of(dump, trace, record);

	(void)address;
	etw_decoder_set_file(dump->decoder, (uint32_t)trace);
	etw_inputs_set_build(&dump->inputs, trace, dump->store);
	lazy_set(&dump->lazy, record);
	filter_study(&dump->filter, &study->study, &subject, lazy_decode(&dump->lazy));
	return dump->lazy.error;
}

/*
 * A second pass, where a word of the filter fitted nothing: the first one asks no more of an event than it must,
 * and so does not know what the words say by themselves.
 */
static void tell_filter(struct dump *dump)
{
	CLEANUP(freep) struct study *study = calloc(1, sizeof(*study));
	const struct etw_trace_sink sink = {.context = study,
					    .event = study_event,
					    .from_ft = dump->from_ft,
					    .to_ft = dump->to_ft};
	bool has_window = dump->from.is_given || dump->to.is_given;

	if (!study || filter_is_satisfied(&dump->filter) || (!dump->seen && !dump->loss_marks))
		return;
	study->dump = dump;
	if (!etw_trace_process(dump->inputs.traces, dump->inputs.count, &sink))
		filter_tell(&dump->filter, &study->study, has_window ? "the window" : "the trace");
}

/* However many words of the filter fit something by themselves: together they may leave nothing. */
static void tell_nothing(const struct dump *dump)
{
	if (dump->shown || !dump->seen || !dump->max)
		return;
	etw_program_message("no event matches: the output is empty");
}

/* In which zone the times are: it is nowhere in the output but as an offset. */
static void tell_zone(struct dump *dump)
{
	CLEANUP(etw_text_done) struct etw_text line = {0};

	if (!(dump->flags & ETW_EXPORT_TIME_LOCAL) || dump->format == &etw_export_json)
		return;
	etw_local_time_write(&line, &dump->local, dump->start_ft);
	etw_program_message("times are those of %s", etw_text_string(&line));
}

/* The last line, on standard error so that the output stays what it is. */
static int tell_loss(const struct dump *dump)
{
	CLEANUP(etw_text_done) struct etw_text line = {0};
	struct etw_loss loss = etw_loss_of(&dump->inputs, dump->loss_marks);

	/* The search for schemas went over all of it; without, there was only the pass itself. */
	loss.is_partial = dump->no_decode && (!dump->is_whole || dump->to.is_given);
	etw_number_count(&line, dump->shown, "event");
	etw_text_puts(&line, " shown of ");
	etw_number_grouped(&line, dump->seen + dump->loss_marks);
	etw_text_puts(&line, " read; ");
	etw_loss_write(&line, &loss);
	etw_program_message("%s", etw_text_string(&line));
	return etw_loss_is_damaged(&loss) ? ETW_EXIT_DAMAGED : ETW_EXIT_OK;
}

static int work(struct dump *dump, char **files, int count)
{
	bool has_colour;
	int result;

	if (etw_inputs_open(files, (size_t)count, &dump->inputs))
		return ETW_EXIT_FAILED;
	if (!resolve_window(dump))
		return ETW_EXIT_USAGE;
	if (dump->output_path && etw_inputs_hold(&dump->inputs, dump->output_path)) {
		etw_program_message("%s is being read; choose another file for --output",
				    dump->output_path);
		return ETW_EXIT_FAILED;
	}
	if (dump->output_path && !dump->force &&
	    !etw_overwrite_allowed(dump->output_path, etw_overwrite_is_events,
				   "the output of etw dump"))
		return ETW_EXIT_FAILED;
	if (etw_export_cache_create(&dump->cache) ||
	    etw_shared_decoder_create(&dump->shared, &dump->manifests, &dump->store,
				      &dump->decoder) ||
	    (!dump->no_decode &&
	     etw_inputs_learn(&dump->inputs, dump->store, dump->decoder, /* wants_names= */ true)))
		return ETW_EXIT_FAILED;
	dump->lazy.decoder = dump->no_decode ? NULL : dump->decoder;
	dump->lazy.store = dump->store;
	has_colour = !dump->output_path && etw_colour_wanted(STDOUT_FILENO, dump->shared.colour);
	if (has_colour || (dump->output_path && dump->shared.colour == ETW_COLOUR_ALWAYS))
		dump->flags |= ETW_EXPORT_COLOUR;
	if (!dump->output_path && !dump->shared.no_pager)
		(void)etw_pager_start();
	result = etw_output_open(dump->output_path, &dump->output);
	if (result) {
		etw_program_message("cannot write %s: %s", dump->output_path, strerror(-result));
		return ETW_EXIT_FAILED;
	}
	result = write_events(dump);
	etw_pager_wait();
	if (result)
		return etw_output_tell(&dump->output, result);
	if (dump->is_whole) {
		tell_window(dump);
		tell_filter(dump);
		tell_nothing(dump);
		if (!dump->no_decode)
			etw_manifests_tell(&dump->manifests);
	}
	tell_zone(dump);
	etw_unrelated_warn(&dump->inputs);
	return tell_loss(dump);
}

static int run(int argc, char **argv)
{
	CLEANUP(dump_done)
	struct dump dump = {.format = &etw_export_text, .max = UINT64_MAX};
	int status = etw_verb_parse(&etw_verb_dump, argc, argv, &dump.shared, &dump);

	if (status != ETW_VERB_GOES_ON)
		return status;
	if (!filter_prepare(&dump.filter, !dump.no_decode))
		return ETW_EXIT_USAGE;
	return work(&dump, argv + optind, argc - optind);
}

const struct etw_verb etw_verb_dump = {
	.name = "dump",
	.arguments = "FILE...",
	.one_line = "the events, decoded, as text or JSON",
	.help = "  --json              one JSON object per event and line\n"
		"  --from TIME         from this time on: 2011-01-23T22:06:37.5Z, 22:06:37 with "
		"or\n"
		"                      without a zone such as +02:00, or +1.5 for seconds from "
		"the\n"
		"                      start of the trace\n"
		"  --to TIME           up to this time\n"
		"  --provider NAME     only this provider: a name, in which * stands for "
		"anything,\n"
		"                      or a GUID; may be repeated\n"
		"  --event WHICH       only these events: an id (classic events: the opcode), or "
		"a\n"
		"                      name of task, opcode or event, or Task/Opcode; may be "
		"repeated\n"
		"  --pid N             only events about this process; may be repeated\n"
		"  --filter EXPR       only events of which this is true, such as\n"
		"                      'level <= warning and FileName contains temp'; may be "
		"repeated.\n"
		"                      etw-dump(1) says what can be written\n"
		"  --max N             at most so many events\n"
		"  --time FORM         utc (the default), local (the trace's machine's zone), "
		"relative "
		"to\n"
		"                      the start, or raw: the clock of the session as it is\n"
		"  --full              show long arrays and payloads that do not decode in full\n"
		"  --guess             guess what payloads hold that do not decode; marked as "
		"guesses\n"
		"  --no-decode         show every payload as it is\n"
		"  -o, --output FILE   write there; - is standard output\n"
		"  --force             overwrite a file that dump did not write\n" ETW_SHARED_HELP
		"\nExamples:\n"
		"  etw dump trace.etl --from +2 --to +2.5\n"
		"  etw dump trace.etl --provider 'Microsoft-Windows-DotNET*' "
		"--event GarbageCollection/Start\n"
		"  etw dump --json trace.etl | jq .fields\n",
	.run = run,
	.options = options,
	.take = take_option,
	.wants_file = true,
};
