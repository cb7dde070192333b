/* SPDX-License-Identifier: MIT */
/*
 * Decodes payloads of classic events for the scripts beside it.
 *
 * Reads lines "class opcode version pointer hexpayload" ("-" for no bytes) from standard input;
 * class is a GUID or a hook id of 4 hex digits. Writes one JSON object a line: the outcome, the
 * names of class and opcode, and the fields as [name, value as JSON, value as text].
 * Exit status: 0 all lines read, 1 a line is no request.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/guid.h"
#include "base/macros.h"
#include "base/text.h"
#include "decode/decode.h"
#include "decode/format.h"
#include "wire/hook.h"

#define PAYLOAD_MAX 65535

static const char *const status_names[] = {
	[ETW_DECODE_COMPLETE] = "complete",   [ETW_DECODE_EXTRA] = "extra",
	[ETW_DECODE_TRUNCATED] = "truncated", [ETW_DECODE_MALFORMED] = "malformed",
	[ETW_DECODE_NO_SCHEMA] = "no schema",
};

static int digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static int parse_hex(const char *text, uint8_t *payload, size_t *ret_bytes)
{
	size_t bytes = 0;

	if (strcmp(text, "-") == 0)
		text = "";
	for (; text[0]; text += 2) {
		int high = digit_of(text[0]);
		int low = high < 0 ? -1 : digit_of(text[1]);

		if (low < 0 || bytes == PAYLOAD_MAX)
			return -EINVAL;
		payload[bytes++] = (uint8_t)(high << 4 | low);
	}
	*ret_bytes = bytes;
	return 0;
}

static int parse_class(const char *text, GUID *ret)
{
	unsigned long hook;

	if (strlen(text) != 4)
		return etw_guid_parse(text, ret);
	hook = strtoul(text, NULL, 16);
	*ret = *etw_hook_class((uint8_t)(hook >> 8), (uint8_t)hook);
	return 0;
}

static int parse_request(char *line, EVENT_RECORD *record, uint8_t *payload)
{
	char *words[5];
	char *rest = NULL;
	size_t bytes;
	long numbers[3];

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		words[i] = strtok_r(i ? NULL : line, " \n", &rest);
		if (!words[i])
			return -EINVAL;
	}
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		numbers[i] = strtol(words[i + 1], NULL, 10);
	TRY(parse_hex(words[4], payload, &bytes));
	*record = (EVENT_RECORD){0};
	TRY(parse_class(words[0], &record->EventHeader.ProviderId));
	record->EventHeader.EventDescriptor.Opcode = (UCHAR)numbers[0];
	record->EventHeader.EventDescriptor.Version = (UCHAR)numbers[1];
	record->EventHeader.Flags = (USHORT)(EVENT_HEADER_FLAG_CLASSIC_HEADER |
					     (numbers[2] == 4 ? EVENT_HEADER_FLAG_32_BIT_HEADER
							      : EVENT_HEADER_FLAG_64_BIT_HEADER));
	record->UserData = payload;
	record->UserDataLength = (USHORT)bytes;
	return 0;
}

static void put_string(struct etw_text *out, const char *name, const char *value)
{
	etw_text_printf(out, "\"%s\":", name);
	if (value)
		etw_text_json_string(out, value, strlen(value));
	else
		etw_text_puts(out, "null");
	etw_text_putc(out, ',');
}

static void put_fields(struct etw_text *out, const struct etw_decoding *decoding)
{
	etw_text_puts(out, "\"fields\":[");
	for (size_t i = 0; i < decoding->item_count; i++) {
		const struct etw_item *item = &decoding->items[i];
		CLEANUP(etw_text_done) struct etw_text text = {0};

		if (item->depth != 0)
			continue;
		if (out->at[out->bytes - 1] != '[')
			etw_text_putc(out, ',');
		etw_text_printf(out, "[\"%s\",", decoding->schema->fields[item->field].name);
		etw_format_item_json(decoding, item, out);
		etw_text_putc(out, ',');
		etw_format_item(decoding, item, &text);
		etw_text_json_string(out, text.bytes ? text.at : "", text.bytes);
		etw_text_putc(out, ']');
	}
	etw_text_puts(out, "]}");
}

static int answer(struct etw_decoder *decoder, char *line, uint8_t *payload, struct etw_text *out)
{
	struct etw_decoding decoding;
	EVENT_RECORD record;

	TRY(parse_request(line, &record, payload));
	TRY(etw_decoder_run(decoder, &record, &decoding));
	etw_text_clear(out);
	etw_text_putc(out, '{');
	put_string(out, "status", status_names[decoding.status]);
	put_string(out, "reason", decoding.reason);
	put_string(out, "class", decoding.schema ? decoding.schema->task_name : NULL);
	put_string(out, "opcode", decoding.schema ? decoding.schema->opcode_name : NULL);
	put_fields(out, &decoding);
	TRY(etw_text_error(out));
	puts(out->at);
	return 0;
}

int main(void)
{
	CLEANUP(etw_schema_store_freep) struct etw_schema_store *store = NULL;
	CLEANUP(etw_decoder_freep) struct etw_decoder *decoder = NULL;
	CLEANUP(etw_text_done) struct etw_text out = {0};
	CLEANUP(freep) char *line = NULL;
	static uint8_t payload[PAYLOAD_MAX + 1];
	size_t room = 0;

	if (etw_schema_store_create(&store) || etw_decoder_create(store, &decoder))
		return EXIT_FAILURE;
	while (getline(&line, &room, stdin) > 0) {
		if (answer(decoder, line, payload, &out)) {
			fprintf(stderr, "dump_payload: cannot read a request\n");
			return EXIT_FAILURE;
		}
	}
	return EXIT_SUCCESS;
}
