/* SPDX-License-Identifier: MIT */
/*
 * What Windows 8's TDH wrote into merged traces, read into the model and written again: every byte must be
 * the same, but for what the model does not keep, which is the binary XML (offset, size and bytes) and the
 * place of what other programs than TDH put into a trace in TDH's form, listed below. Source: the traces;
 * docs/format/contract-tdh.md, 2.2 and 2.3, says the same in words.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "consumer/trace.h"
#include "genuine.h"
#include "schema/metadata/event_info.h"
#include "schema/metadata/event_info_write.h"
#include "schema/store/store.h"
#include "wire/event_info.h"

struct account {
	struct etw_arena arena;
	size_t infos, maps, other_maps, failures;
};

static void complain(struct account *account, const char *what, const char *name, size_t offset)
{
	printf("FAILED: %s %s: differs at byte %zu\n", what, name ? name : "?", offset);
	account->failures++;
}

static size_t first_difference(const uint8_t *left, const uint8_t *right, size_t bytes)
{
	size_t i = 0;

	while (i < bytes && left[i] == right[i])
		i++;
	return i;
}

static void check_info(struct account *account, struct etw_bytes blob)
{
	struct etw_schema *schema;
	struct etw_fault fault;
	uint8_t *genuine, *ours;
	size_t bytes = blob.left, our_bytes, at;
	struct wire_event_info wire;

	account->infos++;
	if (etw_event_info_parse(&account->arena, blob, &schema, &fault) < 0) {
		complain(account, "TRACE_EVENT_INFO", fault.sentence, 0);
		return;
	}
	genuine = malloc(bytes);
	memcpy(genuine, blob.at, bytes);
	memcpy(&wire, genuine, sizeof(wire));
	if (le32_get(wire.binary_xml))
		bytes = le32_get(wire.binary_xml);
	wire.binary_xml = wire.binary_xml_bytes = le32_of(0);
	memcpy(genuine, &wire, sizeof(wire));
	if (etw_event_info_write(schema, &ours, &our_bytes) < 0)
		abort();
	at = first_difference(genuine, ours, bytes < our_bytes ? bytes : our_bytes);
	if (at < bytes || bytes != our_bytes) {
		complain(account, "TRACE_EVENT_INFO", schema->task_name, at);
		printf("  %zu bytes are %zu, provider %s, event %u\n", bytes, our_bytes,
		       schema->provider_name, schema->descriptor.Id);
	}
	free(ours);
	free(genuine);
}

/* PerfView writes two maps of its own, without the spare entry that TDH leaves. */
static bool is_of_tdh(struct etw_bytes map)
{
	struct wire_map_info wire;

	memcpy(&wire, map.at, sizeof(wire));
	return le32_get(wire.name) == sizeof(wire) + (le32_get(wire.entry_count) + 1) * 8;
}

static void check_map(struct account *account, struct etw_bytes blob)
{
	struct etw_fault fault;
	struct etw_map *map;
	size_t our_bytes, at;
	uint8_t *ours;
	GUID provider;

	if (etw_event_map_parse(&account->arena, blob, &provider, &map, &fault) < 0) {
		complain(account, "EVENT_MAP_INFO", fault.sentence, 0);
		return;
	}
	(void)etw_bytes_take(&blob, sizeof(provider));
	if (!is_of_tdh(blob)) {
		account->other_maps++;
		return;
	}
	account->maps++;
	if (etw_event_map_write(map, &ours, &our_bytes) < 0)
		abort();
	at = first_difference(blob.at, ours, blob.left < our_bytes ? blob.left : our_bytes);
	if (at < our_bytes || blob.left != our_bytes)
		complain(account, "EVENT_MAP_INFO", map->name, at);
	free(ours);
}

static int on_event(void *context, const struct etw_etl_buffer *buffer, uint8_t header_type,
		    const EVENT_RECORD *record, struct etw_event_address address)
{
	struct etw_bytes blob = {record->UserData, record->UserDataLength};
	UCHAR opcode = record->EventHeader.EventDescriptor.Opcode;

	(void)buffer;
	(void)header_type;
	(void)address;
	if (!(record->EventHeader.Flags & EVENT_HEADER_FLAG_CLASSIC_HEADER) ||
	    !etw_schema_store_is_metadata(record))
		return 0;
	if (opcode == WIRE_EVENT_METADATA_INFO)
		check_info(context, blob);
	else if (opcode == WIRE_EVENT_METADATA_MAP)
		check_map(context, blob);
	return 0;
}

static void visit(const char *path, void *context)
{
	const struct etw_trace_visitor visitor = {.context = context, .event = on_event};
	struct account *account = context;
	struct etw_fault fault;
	struct etw_trace *trace;

	if (etw_trace_open(path, &trace, &fault) < 0 || etw_trace_each_buffer(trace, &visitor)) {
		complain(account, "cannot read", path, 0);
		return;
	}
	etw_trace_close(trace);
}

int main(void)
{
	struct account account = {0};

	if (!genuine_each(visit, &account)) {
		printf("skipped: ETW_TEST_DATA names no folder of genuine traces\n");
		return GENUINE_SKIP;
	}
	printf("%zu TRACE_EVENT_INFO and %zu EVENT_MAP_INFO, %zu maps of another writer, %zu "
	       "differ\n",
	       account.infos, account.maps, account.other_maps, account.failures);
	etw_arena_done(&account.arena);
	return account.failures || account.infos < 100 || account.maps < 40;
}
