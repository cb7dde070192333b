/* SPDX-License-Identifier: MIT */
#include "tools/etw/complete_trace.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/arena.h"
#include "base/guid.h"
#include "base/macros.h"
#include "base/table.h"
#include "tools/common/inputs.h"
#include "tools/common/installed_providers.h"
#include "tools/etw/tally.h"

/* One kind of event is decoded once: everything that tells kinds apart. */
struct kind_key {
	GUID provider;
	uint64_t numbers;
	uint64_t schema; /* hash of the schema that the event carries */
};

struct gather {
	struct etw_schema_store *store;
	struct etw_decoder *decoder;
	struct etw_arena arena;
	struct etw_table kinds; /* struct kind_key, in the arena */
	struct tally tally;
	uint64_t events;
};

static void gather_done(struct gather *gather)
{
	tally_done(&gather->tally);
	etw_table_done(&gather->kinds);
	etw_arena_done(&gather->arena);
	etw_decoder_free(gather->decoder);
	etw_schema_store_free(gather->store);
}

/* The schema that an event of TraceLogging carries; its id says nothing. */
static uint64_t hash_schema(const EVENT_RECORD *record)
{
	uint64_t hash = etw_hash_seed();

	for (unsigned i = 0; i < record->ExtendedDataCount; i++) {
		const EVENT_HEADER_EXTENDED_DATA_ITEM *item = &record->ExtendedData[i];
		const uint8_t *at = (const uint8_t *)(uintptr_t)item->DataPtr;

		if (item->ExtType != EVENT_HEADER_EXT_TYPE_EVENT_SCHEMA_TL)
			continue;
		for (unsigned j = 0; j < item->DataSize; j++)
			hash = etw_hash_mix(hash, at[j]);
	}
	return hash;
}

static struct kind_key key_of(const EVENT_RECORD *record)
{
	const EVENT_HEADER *header = &record->EventHeader;
	bool is_classic = header->Flags & EVENT_HEADER_FLAG_CLASSIC_HEADER;

	return (struct kind_key){
		.provider = header->ProviderId,
		.numbers = (uint64_t)header->EventDescriptor.Id |
			   (uint64_t)header->EventDescriptor.Version << 16 |
			   (uint64_t)header->EventDescriptor.Opcode << 24 |
			   (uint64_t)is_classic << 32,
		.schema = hash_schema(record),
	};
}

static bool is_kind(const void *item, const void *key)
{
	return !memcmp(item, key, sizeof(struct kind_key));
}

/* Whether this is the first event of its kind; 1, 0 or -ENOMEM. */
static int is_first(struct gather *gather, const EVENT_RECORD *record)
{
	struct kind_key key = key_of(record), *kept;
	uint64_t hash = etw_hash_mix(etw_hash_mix(etw_guid_hash(&key.provider), key.numbers),
				     key.schema);

	if (etw_table_find(&gather->kinds, hash, is_kind, &key))
		return 0;
	kept = etw_arena_alloc(&gather->arena, sizeof(*kept));
	if (!kept)
		return -ENOMEM;
	*kept = key;
	TRY(etw_table_insert(&gather->kinds, hash, kept));
	return 1;
}

static int learn_event(void *context, const struct etw_etl_buffer *buffer, uint8_t header_type,
		       const EVENT_RECORD *record, struct etw_event_address address)
{
	struct gather *gather = context;

	(void)buffer;
	(void)header_type;
	(void)address;
	if (gather->events++ >= COMPLETE_EVENTS_MAX)
		return 1;
	if (LIKELY(!etw_schema_store_is_metadata(record)))
		return 0;
	return etw_schema_store_learn(gather->store, record);
}

static int take_event(void *context, const struct etw_etl_buffer *buffer, uint8_t header_type,
		      const EVENT_RECORD *record, struct etw_event_address address)
{
	struct gather *gather = context;
	struct etw_decoding decoding;
	int first;

	(void)buffer;
	(void)header_type;
	if (gather->events++ >= COMPLETE_EVENTS_MAX)
		return 1;
	if (UNLIKELY(address.offset == UINT32_MAX))
		return 0;
	first = is_first(gather, record);
	if (LIKELY(first <= 0))
		return first;
	TRY(etw_decoder_run(gather->decoder, record, &decoding));
	return tally_add(&gather->tally, &decoding);
}

/* A file that cannot be read further has told what it can. */
static int visit(struct gather *gather, const struct etw_inputs *inputs,
		 const struct etw_trace_visitor *visitor)
{
	gather->events = 0;
	for (size_t i = 0; i < inputs->count; i++) {
		if (etw_trace_each_buffer(inputs->traces[i], visitor) == -ENOMEM)
			return -ENOMEM;
	}
	return 0;
}

static int gather_files(struct gather *gather, char *const *files, size_t count)
{
	const struct etw_trace_visitor learner = {.context = gather, .event = learn_event};
	const struct etw_trace_visitor taker = {.context = gather, .event = take_event};
	CLEANUP(etw_inputs_done) struct etw_inputs inputs = {0};

	TRY(etw_schema_store_create(&gather->store));
	if (etw_installed_providers_attach(gather->store))
		return -ENOMEM;
	TRY(etw_decoder_create(gather->store, &gather->decoder));
	if (etw_inputs_open(files, count, &inputs))
		return -EINVAL;
	TRY(visit(gather, &inputs, &learner));
	TRY(visit(gather, &inputs, &taker));
	return tally_sort(&gather->tally, gather->store);
}

int complete_trace_providers(char *const *files, size_t count, struct etw_text *text)
{
	CLEANUP(gather_done) struct gather gather = {0};

	TRY(gather_files(&gather, files, count));
	for (size_t i = 0; i < gather.tally.providers.count; i++) {
		tally_provider_write(text, gather.tally.sorted_providers[i]);
		etw_text_putc(text, '\n');
	}
	return 0;
}

/* `--provider` takes names and GUIDs; a pattern means every provider here. */
static bool is_meant(const struct tally_provider *provider, const char *wanted)
{
	CLEANUP(etw_text_done) struct etw_text name = {0};

	if (!wanted || strchr(wanted, '*'))
		return true;
	tally_provider_write(&name, provider);
	return !strcasecmp(etw_text_string(&name), wanted);
}

static bool has_line(const char *lines, const char *line)
{
	size_t length = strlen(line);

	for (const char *at = lines; (at = strstr(at, line)) != NULL; at++) {
		if ((at == lines || at[-1] == '\n') && at[length] == '\n')
			return true;
	}
	return false;
}

/* The event's name as --event takes it; nothing where it has none. */
static void put_event(const struct tally_kind *kind, struct etw_text *text)
{
	CLEANUP(etw_text_done) struct etw_text name = {0};

	tally_kind_name_write(&name, kind);
	if (*etw_text_string(&name) == '#') /* an id alone, or one that tells versions apart */
		return;
	if (!has_line(etw_text_string(text), etw_text_string(&name))) /* of another version */
		etw_text_printf(text, "%s\n", etw_text_string(&name));
}

int complete_trace_events(char *const *files, size_t count, const char *provider,
			  struct etw_text *text)
{
	CLEANUP(gather_done) struct gather gather = {0};

	TRY(gather_files(&gather, files, count));
	for (size_t i = 0; i < gather.tally.kinds.count; i++) {
		const struct tally_kind *kind = gather.tally.sorted_kinds[i];

		if (!kind->schema || !is_meant(kind->provider, provider))
			continue;
		put_event(kind, text);
	}
	return 0;
}
