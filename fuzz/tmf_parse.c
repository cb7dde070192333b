/* SPDX-License-Identifier: MIT */
/*
 * TMF text of any kind gives messages that are written and read again as the same, or a fault with a line; and
 * an event of each message is formatted. Input: the text; its last bytes serve as the payload.
 */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "decode/decode.h"
#include "decode/format_wpp.h"
#include "schema/store/store.h"
#include "schema/wpp/tmf.h"
#include "target.h"

#define PAYLOAD_BYTES_MAX 200
#define EVENTS_MAX        32 /* of the first messages */

static void check_same(const struct etw_wpp_message *left, const struct etw_wpp_message *right)
{
	CHECK(!memcmp(&left->guid, &right->guid, sizeof(GUID)));
	CHECK(left->number == right->number && left->line == right->line);
	CHECK(is_same(left->module, right->module) && is_same(left->text, right->text));
	CHECK(is_same(left->type_name, right->type_name));
	CHECK(is_same(left->source_file, right->source_file));
	CHECK(is_same(left->component, right->component));
	CHECK(is_same(left->subcomponent, right->subcomponent));
	CHECK(is_same(left->level, right->level) && is_same(left->flags, right->flags));
	CHECK(is_same(left->function, right->function));
	CHECK(left->argument_count == right->argument_count);
	for (size_t i = 0; i < left->argument_count; i++) {
		const struct etw_wpp_argument *one = &left->arguments[i];
		const struct etw_wpp_argument *other = &right->arguments[i];

		CHECK(one->number == other->number && one->item == other->item);
		CHECK(is_same(one->expression, other->expression));
		CHECK(is_same(one->item_name, other->item_name));
		CHECK(is_same(one->list, other->list));
		CHECK(!one->names == !other->names);
		CHECK(!one->names || one->names->count == other->names->count);
	}
}

static void check_round_trip(struct etw_arena *arena, const struct etw_wpp_messages *messages)
{
	struct etw_wpp_messages again;
	struct etw_text text = {0};

	if (!messages->count)
		return;
	etw_tmf_write(messages, &text);
	CHECK(!etw_text_error(&text));
	CHECK(!etw_tmf_parse(arena, text.at, text.bytes, &again, NULL));
	CHECK(again.count == messages->count);
	for (size_t i = 0; i < again.count; i++)
		check_same(messages->at[i], again.at[i]);
	etw_text_done(&text);
}

static void format_events(const struct etw_wpp_messages *messages, const uint8_t *data,
			  size_t bytes)
{
	const struct etw_wpp_options options = {.prefix = ETW_WPP_PREFIX, .bytes_max = 4096};
	size_t tail = bytes < PAYLOAD_BYTES_MAX ? bytes : PAYLOAD_BYTES_MAX;
	struct etw_schema_store *store;
	struct etw_decoder *decoder;
	struct etw_text text = {0};

	CHECK(!etw_schema_store_create(&store) && !etw_decoder_create(store, &decoder));
	CHECK(!etw_schema_store_add_tmf(store, (const char *)data, bytes, NULL));
	for (size_t i = 0; i < messages->count && i < EVENTS_MAX; i++) {
		const struct etw_wpp_message *message = messages->at[i];
		EVENT_RECORD record = {
			.EventHeader = {.Flags = EVENT_HEADER_FLAG_TRACE_MESSAGE,
					.ProviderId = message->guid,
					.EventDescriptor = {.Id = message->number}},
			.UserData = (void *)(uintptr_t)(data + bytes - tail),
			.UserDataLength = (USHORT)tail,
		};
		struct etw_decoding decoding;

		CHECK(!etw_decoder_run(decoder, &record, &decoding) && decoding.schema);
		etw_text_clear(&text);
		CHECK(etw_format_wpp(&decoding, &options, &text));
		CHECK(text.bytes <= options.bytes_max + 3);
	}
	etw_text_done(&text);
	etw_decoder_free(decoder);
	etw_schema_store_free(store);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct etw_wpp_messages messages;
	struct etw_fault fault = {0};
	struct etw_arena arena;
	int r;

	etw_arena_init(&arena);
	r = etw_tmf_parse(&arena, (const char *)data, bytes, &messages, &fault);
	if (r < 0) {
		check_refused(r, &fault, &arena);
		CHECK(fault.offset);
		return 0;
	}
	check_memory(&arena, bytes);
	check_round_trip(&arena, &messages);
	format_events(&messages, data, bytes);
	etw_arena_done(&arena);
	return 0;
}
