/* SPDX-License-Identifier: MIT */
/*
 * Which events of a trace each of many expressions selects, in one pass.
 *
 *	select_events TRACE EVENTS [MANIFEST] <EXPRESSIONS
 *
 * Of the first EVENTS events; an expression a line. Writes for each: how many events it selects, the SHA-1 of their addresses, how many events had
 * to be decoded to answer. Exit status: 0, or 1 with a sentence.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "base/sha1.h"
#include "filter/parse.h"
#include "tools/common/inputs.h"
#include "tools/common/options.h"
#include "tools/etw/lazy.h"

#define EXPRESSIONS_MAX 1000
#define ENOUGH          1 /* what the pass ends with */

struct expression {
	struct etw_filter *filter;
	struct etw_text addresses;
	uint64_t count, decoded;
};

struct selection {
	struct expression expressions[EXPRESSIONS_MAX];
	size_t count;
	struct etw_inputs inputs;
	struct etw_schema_store *store;
	struct lazy lazy;
	bool is_asked; /* the decoding, by the expression at hand */
	int64_t start_ft;
	uint64_t left; /* events to be read */
};

static const struct etw_decoding *decode(void *context)
{
	struct selection *selection = context;

	selection->is_asked = true;
	return lazy_decode(&selection->lazy);
}

static const char *provider_name(void *context, const GUID *provider)
{
	const struct selection *selection = context;

	return lazy_source.provider_name((void *)(uintptr_t)&selection->lazy, provider);
}

static const struct etw_filter_source source = {.decode = decode, .provider_name = provider_name};

static int take_event(void *context, size_t trace, EVENT_RECORD *record,
		      struct etw_event_address address)
{
	struct selection *selection = context;
	struct etw_filter_subject subject = {
		.record = record,
		.source = &source,
		.context = selection,
		.processes = etw_machine_processes_of(&selection->inputs.processes, trace),
		.time_ft = record->EventHeader.TimeStamp.QuadPart,
		.start_ft = selection->start_ft,
	};

	if (!selection->left--)
		return ENOUGH;
	etw_decoder_set_file(selection->lazy.decoder, (uint32_t)trace);
	etw_inputs_set_build(&selection->inputs, trace, selection->store);
	lazy_set(&selection->lazy, record);
	for (size_t i = 0; i < selection->count; i++) {
		struct expression *expression = &selection->expressions[i];

		selection->is_asked = false;
		if (etw_filter_matches(expression->filter, &subject)) {
			expression->count++;
			etw_text_printf(&expression->addresses, "%u:%u\n", address.buffer,
					address.offset);
		}
		expression->decoded += selection->is_asked;
	}
	return selection->lazy.error;
}

static bool read_expressions(struct selection *selection)
{
	static char line[ETW_FILTER_BYTES_MAX];

	while (selection->count < EXPRESSIONS_MAX && fgets(line, sizeof(line), stdin)) {
		struct etw_filter_fault fault = {0};
		size_t bytes = strcspn(line, "\n");

		if (etw_filter_parse(line, bytes, &selection->expressions[selection->count].filter,
				     &fault)) {
			(void)fprintf(stderr, "%.*s: %s\n", (int)bytes, line, fault.sentence);
			return false;
		}
		selection->count++;
	}
	return true;
}

static void print(const struct expression *expression)
{
	uint8_t digest[ETW_SHA1_BYTES];

	etw_sha1((const uint8_t *)etw_text_string(&expression->addresses),
		 expression->addresses.bytes, digest);
	(void)printf("%llu ", (unsigned long long)expression->count);
	for (size_t i = 0; i < 8; i++)
		(void)printf("%02x", digest[i]);
	(void)printf(" %llu\n", (unsigned long long)expression->decoded);
}

static int pass(struct selection *selection, struct etw_shared_options *shared)
{
	const struct etw_trace_sink sink = {.context = selection,
					    .event = take_event,
					    .from_ft = INT64_MIN,
					    .to_ft = INT64_MAX};
	struct etw_manifests manifests = {0};
	struct etw_schema_store *store = NULL;
	struct etw_decoder *decoder = NULL;
	int result = etw_shared_decoder_create(shared, &manifests, &store, &decoder);

	if (!result)
		result = etw_inputs_learn(&selection->inputs, store, decoder,
					  /* wants_names= */ true);
	selection->lazy.decoder = decoder;
	selection->lazy.store = store;
	selection->store = store;
	selection->start_ft = etw_inputs_start(&selection->inputs);
	if (!result)
		result = etw_trace_process(selection->inputs.traces, 1, &sink);
	etw_manifests_done(&manifests);
	etw_decoder_free(decoder);
	etw_schema_store_free(store);
	return result == ENOUGH ? 0 : result;
}

int main(int argc, char **argv)
{
	static struct selection selection;
	struct etw_shared_options shared = {.no_known_providers = true};
	int result;

	if (argc < 3 || argc > 4)
		return 1;
	if (argc == 4 && etw_words_add(&shared.manifests, argv[3]))
		return 1;
	selection.left = strtoull(argv[2], NULL, 10);
	if (!read_expressions(&selection) || etw_inputs_open(argv + 1, 1, &selection.inputs))
		return 1;
	result = pass(&selection, &shared);
	for (size_t i = 0; i < selection.count; i++) {
		print(&selection.expressions[i]);
		etw_filter_free(selection.expressions[i].filter);
		etw_text_done(&selection.expressions[i].addresses);
	}
	etw_inputs_done(&selection.inputs);
	etw_words_done(&shared.manifests);
	return result ? 1 : 0;
}
