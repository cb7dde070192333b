/* SPDX-License-Identifier: MIT */
/*
 * decode [--stage read|items|touch|text|json] [FILE...]
 *
 * How fast events become items, values, text and JSON, with the schemas that the files themselves hold and those of
 * the kernel; of each trace and of each kind of event in it. The last two traces are made here: one of
 * TraceLogging, and one of WPP messages, since genuine ones come without their TMF files.
 *
 * Warm: every schema and every plan was used before. Cold: the first pass of a new store, decoder and cache, behind
 * the pass that learns. Times are those of the thread on a processor, the best of several passes, with what reading
 * alone costs taken off; only the stage "read" stands for itself. --stage does one of them, with all kinds, warm only.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/macros.h"
#include "consumer/trace.h"
#include "decode/decode.h"
#include "export/export.h"
#include "tests/synthetic/maker.h"

#define WARM_ROUNDS   5
#define COLD_ROUNDS   3
#define LEAST_EVENTS  500 /* of a kind, to have a line of its own */
#define MADE_EVENTS   100000
#define SECONDS_LEAST 1e-9
#define NOISE         0.05 /* of reading: what takes less cannot be told */

enum kind {
	KIND_CLASSIC,
	KIND_MANIFEST,
	KIND_TRACELOGGING,
	KIND_WPP,
	KIND_ALL,
};

static const char *const kind_names[] = {"classic", "manifest", "TraceLogging", "WPP", "all"};

enum stage {
	STAGE_READ,
	STAGE_ITEMS,
	STAGE_TOUCH,
	STAGE_TEXT,
	STAGE_JSON,
	STAGE_COUNT
};

static const char *const stage_names[] = {"read", "items", "touch", "text", "json"};

struct run {
	struct etw_schema_store *store;
	struct etw_decoder *decoder;
	struct etw_export_cache *cache;
	struct etw_text text;
	struct etw_trace *trace;
	enum stage stage;
	enum kind kind;
	bool is_learning;
	uint64_t events[KIND_ALL + 1];
	uint64_t decoded, text_bytes, sum;
};

static const char tmf[] =
	"1d0c5d2b-3c4d-4a5b-8c07-060504030201 Driver // SRC=Device.c MJ= MN=\n"
	"#typev Device_c57 11 \"%0[%!FUNC!] opening %11!s! for 0x%12!p! failed with %10!s!\""
	" //   LEVEL=TRACE_LEVEL_ERROR FLAGS=TRACE_DEVICE FUNC=DeviceOpen\n"
	"{\nstatus, ItemNTSTATUS -- 10\npath, ItemString -- 11\nobject, ItemPtr -- 12\n}\n"
	"#typev Device_c80 12 \"%0irql %10!s! name %11!S! length %12!d!\""
	" //   LEVEL=TRACE_LEVEL_INFORMATION FLAGS=TRACE_DEVICE FUNC=DeviceIo\n"
	"{\nirql, ItemListByte(Low,APC,DPC) -- 10\nname, ItemWString -- 11\n"
	"length, ItemLong -- 12\n}\n";

static const GUID message_guid = {0x1d0c5d2b, 0x3c4d, 0x4a5b, {0x8c, 7, 6, 5, 4, 3, 2, 1}};

static double now(void)
{
	struct timespec time;

	(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static enum kind kind_of(const EVENT_RECORD *record)
{
	const uint16_t flags = record->EventHeader.Flags;

	if (flags & EVENT_HEADER_FLAG_TRACE_MESSAGE)
		return KIND_WPP;
	if (flags & EVENT_HEADER_FLAG_CLASSIC_HEADER)
		return KIND_CLASSIC;
	for (unsigned i = 0; i < record->ExtendedDataCount; i++) {
		if (record->ExtendedData[i].ExtType == EVENT_HEADER_EXT_TYPE_EVENT_SCHEMA_TL)
			return KIND_TRACELOGGING;
	}
	return KIND_MANIFEST;
}

/* What a program that looks at everything does: integers are added up, of others the bytes counted. */
static void touch(struct run *run, const struct etw_decoding *decoding)
{
	for (size_t i = 0; i < decoding->item_count; i++) {
		const struct etw_item *item = &decoding->items[i];
		uint64_t value;

		if (item->kind != ETW_ITEM_VALUE)
			continue;
		run->sum += etw_decoding_u64(decoding, item, &value) ? value : item->bytes;
	}
}

static void write_event(struct run *run, const EVENT_RECORD *record,
			const struct etw_decoding *decoding, struct etw_event_address address)
{
	const struct etw_export_format *format = run->stage == STAGE_TEXT ? &etw_export_text
									  : &etw_export_json;
	const struct etw_export_event event = {
		.record = record,
		.decoding = decoding,
		.provider_name = etw_schema_store_provider_name(run->store,
								&record->EventHeader.ProviderId),
		.cache = run->cache,
		.address = address,
		.processor = record->BufferContext.ProcessorIndex,
		.start_ft = etw_trace_header(run->trace)->start_ft,
	};

	etw_text_clear(&run->text);
	format->event(&event, &run->text);
	run->text_bytes += run->text.bytes;
}

static int take_event(void *context, size_t trace, EVENT_RECORD *record,
		      struct etw_event_address address)
{
	struct run *run = context;
	const enum kind kind = kind_of(record);
	struct etw_decoding decoding;

	(void)trace;
	run->events[kind]++;
	run->events[KIND_ALL]++;
	if (run->is_learning)
		return etw_schema_store_learn(run->store, record) < 0;
	if (run->stage == STAGE_READ || (run->kind != KIND_ALL && run->kind != kind))
		return 0;
	if (etw_decoder_run(run->decoder, record, &decoding) < 0)
		return -1;
	run->decoded += decoding.schema != NULL;
	if (run->stage == STAGE_TOUCH)
		touch(run, &decoding);
	else if (run->stage != STAGE_ITEMS)
		write_event(run, record, &decoding, address);
	return 0;
}

/* Seconds of one pass, or a negative number. */
static double pass(struct run *run)
{
	const struct etw_trace_sink sink = {
		.context = run, .event = take_event, .from_ft = INT64_MIN, .to_ft = INT64_MAX};
	double start = now();

	memset(run->events, 0, sizeof(run->events));
	run->decoded = run->text_bytes = 0;
	return etw_trace_process(&run->trace, 1, &sink) ? -1 : now() - start;
}

static void forget(struct run *run)
{
	etw_export_cache_free(run->cache);
	etw_decoder_free(run->decoder);
	etw_schema_store_free(run->store);
	run->cache = NULL;
	run->decoder = NULL;
	run->store = NULL;
}

/* Everything new, and learnt what the trace tells. */
static bool learn(struct run *run)
{
	double seconds;

	forget(run);
	if (etw_schema_store_create(&run->store) ||
	    etw_schema_store_add_tmf(run->store, tmf, sizeof(tmf) - 1, NULL) ||
	    etw_decoder_create(run->store, &run->decoder) || etw_export_cache_create(&run->cache))
		return false;
	run->is_learning = true;
	seconds = pass(run);
	run->is_learning = false;
	return seconds >= 0;
}

/*
 * The best of several passes, and the best that only read, which take turns: neighbours on the machine hit both.
 * A negative number when one failed.
 */
static double measure(struct run *run, enum stage stage, enum kind kind, bool is_cold,
		      double *ret_read)
{
	double best = 1e9;

	*ret_read = 1e9;
	run->kind = kind;
	run->stage = stage;
	if (!is_cold && pass(run) < 0)
		return -1;
	for (int i = 0; i < (is_cold ? COLD_ROUNDS : WARM_ROUNDS); i++) {
		double read, seconds;

		if (is_cold && !learn(run))
			return -1;
		run->stage = STAGE_READ;
		read = pass(run);
		run->stage = stage;
		seconds = pass(run);
		if (read < 0 || seconds < 0)
			return -1;
		if (read < *ret_read)
			*ret_read = read;
		if (seconds < best)
			best = seconds;
	}
	return best;
}

/* Million events a second. */
static double rate(uint64_t events, double seconds)
{
	return (double)events / (seconds > SECONDS_LEAST ? seconds : SECONDS_LEAST) * 1e-6;
}

static bool show(struct run *run, enum stage stage, enum kind kind, bool is_cold)
{
	double read, seconds = measure(run, stage, kind, is_cold, &read);

	if (seconds < 0)
		return false;
	printf(is_cold ? " (" : " ");
	if (seconds - read < NOISE * read)
		printf("-");
	else
		printf("%.2f", rate(run->events[kind], seconds - read));
	printf(is_cold ? ")" : "");
	return true;
}

static int measure_kind(struct run *run, enum kind kind)
{
	const uint64_t events = run->events[kind];

	printf("  %-12s %8" PRIu64 " events;", kind_names[kind], events);
	for (enum stage stage = STAGE_ITEMS; stage < STAGE_COUNT; stage++) {
		printf(" %s", stage_names[stage]);
		if (!show(run, stage, kind, false) || !show(run, stage, kind, true))
			return 1;
	}
	printf("; %.1f %% with a schema\n", 100.0 * (double)run->decoded / (double)events);
	return 0;
}

static int measure_trace(const char *name, struct etw_trace *trace)
{
	struct run run = {.trace = trace};
	double read, seconds = learn(&run) ? measure(&run, STAGE_READ, KIND_ALL, false, &read) : -1;
	int result = 0;

	if (seconds < 0)
		result = 1;
	else
		printf("%s: read %.2f M events/s; beyond reading, warm (cold):\n", name,
		       rate(run.events[KIND_ALL], read));
	for (enum kind kind = 0; kind <= KIND_ALL && !result; kind++) {
		if (run.events[kind] >= LEAST_EVENTS)
			result = measure_kind(&run, kind);
	}
	forget(&run);
	etw_text_done(&run.text);
	return result;
}

static int measure_stage(const char *name, struct etw_trace *trace, enum stage stage)
{
	struct run run = {.trace = trace};
	double read, seconds = learn(&run) ? measure(&run, stage, KIND_ALL, false, &read) : -1;

	if (seconds >= 0)
		printf("%s: %s %" PRIu64
		       " events, %.2f M events/s with reading, %.1f bytes of text "
		       "an event\n",
		       name, stage_names[stage], run.events[KIND_ALL],
		       rate(run.events[KIND_ALL], seconds),
		       (double)run.text_bytes / (double)run.events[KIND_ALL]);
	forget(&run);
	etw_text_done(&run.text);
	return seconds < 0;
}

static int measure_file(const char *path, enum stage only)
{
	struct etw_trace *trace = NULL;
	int result = etw_trace_open(path, &trace, NULL);

	if (result) {
		fprintf(stderr, "%s: %s\n", path, strerror(-result));
		return 1;
	}
	result = only == STAGE_COUNT ? measure_trace(path, trace)
				     : measure_stage(path, trace, only);
	if (result)
		fprintf(stderr, "%s: failed\n", path);
	etw_trace_close(trace);
	return result;
}

/* Two messages in turn. */
static void make_wpp(FILE *file)
{
	const struct maker_options options = {.buffer_bytes = 65536};
	struct maker *maker = maker_open(&options, file);
	static struct made_event event;
	int64_t time = 1000000;

	for (uint32_t i = 0; i < MADE_EVENTS; i++) {
		const struct made_message message = {.number = (uint16_t)(11 + i % 2),
						     .options = 0xAB,
						     .sequence = i,
						     .guid = &message_guid,
						     .ids = {1000, 1004, 0, 0}};

		made_wpp(&event, &message, time += 10);
		if (i % 2) {
			made_u8(&event, (uint8_t)(i % 3));
			made_utf16(&event, "HarddiskVolume1");
			made_u32(&event, i);
		} else {
			made_u32(&event, 0xC0000022);
			made_ansi(&event, "C:\\Windows\\System32\\drivers\\etc\\hosts");
			made_pointer(&event, 8, UINT64_C(0xFFFF95820BE02120) + i);
		}
		maker_add(maker, i / 2 % 2, &event);
	}
	(void)maker_close(maker, NULL);
}

/* One event with a name, a number and a text, as TraceLoggingWrite() writes it. */
static void make_tracelogging(FILE *file)
{
	static const GUID provider = {
		0xd989a05d, 0xa162, 0x5610, {0x27, 0x9c, 0x35, 0x2d, 0xc4, 0x65, 0x0f, 0xe3}};
	static const char metadata[] = "\x1c\0\0FileOpened\0Size\0\x08Path\0\x01";
	const struct maker_options options = {.buffer_bytes = 65536};
	const struct made_descriptor descriptor = {
		.provider = &provider, .channel = 11, .level = 5, .keyword = 1};
	const struct made_ids ids = {1000, 1004, 0, 0};
	struct maker *maker = maker_open(&options, file);
	static struct made_event event;
	int64_t time = 1000000;

	for (uint32_t i = 0; i < MADE_EVENTS; i++) {
		made_modern(&event, WIRE_HEADER_EVENT64, &descriptor, time += 10, &ids);
		made_item(&event, EVENT_HEADER_EXT_TYPE_EVENT_SCHEMA_TL, metadata,
			  sizeof(metadata) - 1);
		made_u32(&event, i);
		made_utf16(&event, "C:\\Windows\\System32\\drivers\\etc\\hosts");
		maker_add(maker, i % 2, &event);
	}
	(void)maker_close(maker, NULL);
}

static int measure_made(const char *name, void (*make)(FILE *file), enum stage only)
{
	char path[64];
	FILE *file;
	int file_descriptor, result = 1;

	(void)snprintf(path, sizeof(path), "/tmp/bench-%s-XXXXXX", name);
	file_descriptor = mkstemp(path);
	file = file_descriptor < 0 ? NULL : fdopen(file_descriptor, "wb+");
	if (!file)
		return 1;
	make(file);
	if (fclose(file) == 0)
		result = measure_file(path, only);
	(void)unlink(path);
	return result;
}

static bool find_stage(const char *name, enum stage *ret)
{
	for (*ret = STAGE_READ; *ret < STAGE_COUNT; (*ret)++) {
		if (strcmp(name, stage_names[*ret]) == 0)
			return true;
	}
	return false;
}

int main(int argc, char **argv)
{
	enum stage only = STAGE_COUNT;
	int first = 1, result = 0;

	if (argc > 1 && argv[1][0] == '-') {
		if (argc < 3 || strcmp(argv[1], "--stage") != 0 || !find_stage(argv[2], &only)) {
			fprintf(stderr, "usage: decode [--stage read|items|touch|text|json] "
					"[FILE...]\n");
			return 2;
		}
		first = 3;
	}
	for (int i = first; i < argc; i++)
		result |= measure_file(argv[i], only);
	if (only == STAGE_COUNT || first == argc) {
		result |= measure_made("tracelogging", make_tracelogging, only);
		result |= measure_made("wpp", make_wpp, only);
	}
	return result;
}
