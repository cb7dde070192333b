/* SPDX-License-Identifier: MIT */
/*
 * decode [--stage read|items|text|json] FILE...
 *
 * How fast events become items, text and JSON, with the schemas that the files themselves hold and those of
 * the kernel. A first pass learns and warms every cache; then each stage runs over the same files. What reading
 * alone costs is printed beside, because every stage contains it. Events without a schema are counted apart:
 * they cost next to nothing to decode, and flatter the average.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/macros.h"
#include "consumer/trace.h"
#include "decode/decode.h"
#include "export/export.h"

#define TRACES_MAX 64
#define ROUNDS     3 /* the best one counts: others use the machine too */

struct run {
	struct etw_schema_store *store;
	struct etw_decoder *decoder;            /* NULL: only read */
	const struct etw_export_format *format; /* NULL: only items */
	struct etw_export_memory *memory;
	struct etw_text text;
	uint64_t events, decoded, items, text_bytes;
	int64_t start_ft;
	bool is_learning;
};

static const char *only_stage; /* NULL: all */

static double now(void)
{
	struct timespec time;

	(void)clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static int take_event(void *context, size_t trace, EVENT_RECORD *record,
		      struct etw_event_address address)
{
	struct run *run = context;
	struct etw_decoding decoding;
	struct etw_export_event event = {.record = record,
					 .decoding = &decoding,
					 .memory = run->memory,
					 .address = address,
					 .trace = trace,
					 .start_ft = run->start_ft};

	run->events++;
	if (run->is_learning)
		return etw_schema_store_learn(run->store, record) < 0;
	if (!run->decoder)
		return 0;
	if (etw_decoder_run(run->decoder, record, &decoding) < 0)
		return -1;
	run->decoded += decoding.schema != NULL;
	run->items += decoding.item_count;
	if (!run->format)
		return 0;
	event.processor = record->BufferContext.ProcessorIndex;
	event.provider_name = etw_schema_store_provider_name(run->store,
							     &record->EventHeader.ProviderId);
	etw_text_clear(&run->text);
	run->format->event(&event, &run->text);
	run->text_bytes += run->text.bytes;
	return 0;
}

static int pass(struct etw_trace *const *traces, size_t count, struct run *run)
{
	struct etw_trace_sink sink = {
		.context = run, .event = take_event, .from_ft = INT64_MIN, .to_ft = INT64_MAX};

	run->events = run->decoded = run->items = run->text_bytes = 0;
	return etw_trace_process(traces, count, &sink);
}

static int measure(const char *name, struct etw_trace *const *traces, size_t count, struct run *run)
{
	double best = 0;

	if (only_stage && strcmp(only_stage, name) != 0)
		return 0;
	for (int i = 0; i < ROUNDS; i++) {
		double start = now();

		if (pass(traces, count, run)) {
			printf("%s: failed\n", name);
			return 1;
		}
		double seconds = now() - start;

		if (!i || seconds < best)
			best = seconds;
	}
	printf("%-6s %9" PRIu64
	       " events, %5.1f %% with a schema, %7.2f M events/s, %6.1f bytes of text an "
	       "event\n",
	       name, run->events, 100.0 * (double)run->decoded / (double)run->events,
	       (double)run->events / best * 1e-6, (double)run->text_bytes / (double)run->events);
	return 0;
}

static int measure_stages(struct etw_trace *const *traces, size_t count)
{
	CLEANUP(etw_schema_store_freep) struct etw_schema_store *store = NULL;
	CLEANUP(etw_decoder_freep) struct etw_decoder *decoder = NULL;
	CLEANUP(etw_export_memory_freep) struct etw_export_memory *memory = NULL;
	struct run run = {.is_learning = true};
	int result;

	if (etw_schema_store_create(&store) || etw_decoder_create(store, &decoder) ||
	    etw_export_memory_create(&memory))
		return 1;
	run.store = store;
	run.memory = memory;
	run.start_ft = etw_trace_header(traces[0])->start_ft;
	if (pass(traces, count, &run))
		return 1;
	run.is_learning = false;
	result = measure("read", traces, count, &run);
	run.decoder = decoder;
	(void)pass(traces, count, &run);
	result |= measure("items", traces, count, &run);
	run.format = &etw_export_text;
	result |= measure("text", traces, count, &run);
	run.format = &etw_export_json;
	result |= measure("json", traces, count, &run);
	etw_text_done(&run.text);
	return result;
}

int main(int argc, char **argv)
{
	struct etw_trace *traces[TRACES_MAX] = {NULL};
	size_t count = argc > 1 ? (size_t)argc - 1 : 0;
	int result = 0;

	if (count > 2 && strcmp(argv[1], "--stage") == 0) {
		only_stage = argv[2];
		argv += 2;
		count -= 2;
	}
	if (!count || count > TRACES_MAX) {
		fprintf(stderr, "usage: decode [--stage read|items|text|json] FILE...\n");
		return 2;
	}
	for (size_t i = 0; i < count && !result; i++) {
		result = etw_trace_open(argv[i + 1], &traces[i], NULL);
		if (result)
			fprintf(stderr, "%s: %s\n", argv[i + 1], strerror(-result));
	}
	if (!result)
		result = measure_stages(traces, count);
	for (size_t i = 0; i < count; i++)
		etw_trace_close(traces[i]);
	return result ? 1 : 0;
}
