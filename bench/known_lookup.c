/* SPDX-License-Identifier: MIT */
/*
 * What the index of known providers costs: opening it, and what an event of a kind that was not met before needs, beside
 * what the same kinds need from a manifest that was read. Best of some rounds, in CPU time.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/arena.h"
#include "base/macros.h"
#include "base/text.h"
#include "schema/known/known_schema.h"
#include "schema/manifest/manifest_write.h"
#include "schema/store/store.h"

#define ROUNDS   50
#define KINDS    200
#define FINDS    200000
#define PROVIDER "Microsoft-Windows-DotNETRuntime"

static double now_ns(void)
{
	struct timespec time;

	(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static void keep_least(double *least, double begin, double count)
{
	double each = (now_ns() - begin) / count;

	if (*least == 0 || each < *least)
		*least = each;
}

static void require(int result)
{
	if (result < 0)
		exit(EXIT_FAILURE);
}

static double measure_open(void)
{
	double least = 0;

	for (int i = 0; i < ROUNDS; i++) {
		double begin = now_ns();
		struct etw_known *known;

		require(etw_known_open(NULL, &known, NULL));
		etw_known_close(known);
		keep_least(&least, begin, 1);
	}
	return least;
}

static double measure_make(struct etw_known *known, const struct etw_known_provider *provider)
{
	double least = 0;

	for (int i = 0; i < ROUNDS; i++) {
		struct etw_known_candidate *candidates;
		struct etw_arena arena;
		double begin = now_ns();
		uint32_t j;

		etw_arena_init(&arena);
		for (j = 0; j < provider->event_count && j < KINDS; j++) {
			struct etw_known_event event;
			size_t count;

			require(etw_known_event_at(known, provider, j, &event));
			require(etw_known_candidates(known, &provider->guid, event.id,
						     event.version, &arena, &candidates, &count));
		}
		keep_least(&least, begin, j);
		etw_arena_done(&arena);
	}
	return least;
}

/* The provider as a manifest. */
static void write_manifest(struct etw_known *known, const struct etw_known_provider *provider,
			   struct etw_text *text)
{
	struct etw_definition definition = {.provider_count = 1};
	struct etw_provider_schema *schema;
	struct etw_arena arena;

	etw_arena_init(&arena);
	require(etw_known_provider_schema(known, provider, 0, ETW_KNOWN_COMPLETE_NAMES, &arena,
					  &schema));
	definition.providers = schema;
	definition.schema_count = schema->schema_count;
	require(etw_manifest_write(&definition, text));
	etw_arena_done(&arena);
}

static double measure_manifest(const struct etw_text *text)
{
	double least = 0;

	for (int i = 0; i < ROUNDS / 5; i++) {
		struct etw_schema_store *store;
		double begin = now_ns();

		require(etw_schema_store_create(&store));
		require(etw_schema_store_add_manifest(store, text->at, text->bytes, NULL));
		etw_schema_store_free(store);
		keep_least(&least, begin, 1);
	}
	return least;
}

/* Two events in turn, whose schemas the store has handed out before. */
static double measure_find(struct etw_schema_store *store, const GUID *guid)
{
	EVENT_RECORD records[2] = {0};
	double least = 0;

	for (int i = 0; i < 2; i++) {
		records[i].EventHeader.ProviderId = *guid;
		records[i].EventHeader.EventDescriptor.Id = (USHORT)(i + 1);
		records[i].EventHeader.EventDescriptor.Version = 1;
		require(etw_schema_store_find(store, &records[i], NULL) ? 0 : -1);
	}
	for (int i = 0; i < ROUNDS; i++) {
		double begin = now_ns();

		for (int j = 0; j < FINDS; j++)
			(void)etw_schema_store_find(store, &records[j & 1], NULL);
		keep_least(&least, begin, FINDS);
	}
	return least;
}

static void measure_stores(const struct etw_text *text, const GUID *guid)
{
	struct etw_schema_store *with_manifest, *with_known;
	struct etw_known *known;

	require(etw_schema_store_create(&with_manifest));
	require(etw_schema_store_add_manifest(with_manifest, text->at, text->bytes, NULL));
	require(etw_schema_store_create(&with_known));
	require(etw_known_open(NULL, &known, NULL));
	etw_schema_store_set_known(with_known, known);
	printf("find an event of a manifest again   %10.1f ns\n",
	       measure_find(with_manifest, guid));
	printf("find a known event again            %10.1f ns\n", measure_find(with_known, guid));
	etw_schema_store_free(with_manifest);
	etw_schema_store_free(with_known);
}

int main(void)
{
	struct etw_known_provider provider;
	struct etw_known *known;
	struct etw_text text;

	require(etw_known_open(NULL, &known, NULL));
	require(etw_known_find_name(known, PROVIDER, 0, &provider));
	etw_text_init(&text);
	write_manifest(known, &provider, &text);
	printf("open and close the index            %10.1f us\n", measure_open() / 1e3);
	printf("make the schemas of a kind of event %10.1f us\n",
	       measure_make(known, &provider) / 1e3);
	printf("read its provider as a manifest     %10.1f us\n", measure_manifest(&text) / 1e3);
	measure_stores(&text, &provider.guid);
	etw_text_done(&text);
	etw_known_close(known);
	return EXIT_SUCCESS;
}
