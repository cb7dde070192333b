/* SPDX-License-Identifier: MIT */
/* See autologger/filters.h. */
#include "autologger/filters.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <evntprov.h>

#include "base/bytes.h"
#include "base/macros.h"
#include "base/number.h"
#include "base/utf.h"
#include "wire/filter_list.h"

#define HEX_PREFIX  "hex:"
#define FORM_BYTES  4096 /* no filter has more */
#define NUMBER_ROOM 24

/* How a value is written, where it is not "hex:" and bytes. */
enum form {
	FORM_BYTES_ONLY,
	FORM_NUMBERS, /* of 32 bits */
	FORM_IDS,     /* "in" or "out", then numbers of 16 bits */
	FORM_NAMES,   /* the same, then names with ';' between them */
	FORM_TEXT,    /* UTF-16 */
};

struct kind {
	const char *name; /* EVENT_FILTER_TYPE_* */
	uint32_t type;
	enum form form;
};

static const struct kind kinds[] = {
	{"SCHEMATIZED", EVENT_FILTER_TYPE_SCHEMATIZED, FORM_BYTES_ONLY},
	{"SYSTEM_FLAGS", EVENT_FILTER_TYPE_SYSTEM_FLAGS, FORM_BYTES_ONLY},
	{"TRACEHANDLE", EVENT_FILTER_TYPE_TRACEHANDLE, FORM_BYTES_ONLY},
	{"PID", EVENT_FILTER_TYPE_PID, FORM_NUMBERS},
	{"EXECUTABLE_NAME", EVENT_FILTER_TYPE_EXECUTABLE_NAME, FORM_TEXT},
	{"PACKAGE_ID", EVENT_FILTER_TYPE_PACKAGE_ID, FORM_TEXT},
	{"PACKAGE_APP_ID", EVENT_FILTER_TYPE_PACKAGE_APP_ID, FORM_TEXT},
	{"PAYLOAD", EVENT_FILTER_TYPE_PAYLOAD, FORM_BYTES_ONLY},
	{"EVENT_ID", EVENT_FILTER_TYPE_EVENT_ID, FORM_IDS},
	{"EVENT_NAME", EVENT_FILTER_TYPE_EVENT_NAME, FORM_NAMES},
	{"STACKWALK", EVENT_FILTER_TYPE_STACKWALK, FORM_IDS},
	{"STACKWALK_NAME", EVENT_FILTER_TYPE_STACKWALK_NAME, FORM_NAMES},
	{"STACKWALK_LEVEL_KW", EVENT_FILTER_TYPE_STACKWALK_LEVEL_KW, FORM_BYTES_ONLY},
	{"CONTAINER", EVENT_FILTER_TYPE_CONTAINER, FORM_BYTES_ONLY},
};

/* The bytes of a filter while they are put together. */
struct data {
	uint8_t at[FORM_BYTES];
	size_t bytes;
};

static bool put(struct data *data, const void *bytes, size_t count)
{
	if (count > sizeof(data->at) - data->bytes)
		return false;
	memcpy(data->at + data->bytes, bytes, count);
	data->bytes += count;
	return true;
}

/* Bytes of two digits each, with commas or blanks between them, as an export of the registry has them. */
static bool put_hex(struct data *data, const char *text)
{
	const char *const between = ", \t";

	for (text += strspn(text, between); *text; text += strspn(text, between)) {
		const int high = etw_hex_digit(text[0]);
		const int low = high < 0 ? -1 : etw_hex_digit(text[1]);
		const uint8_t byte = (uint8_t)(high << 4 | low);

		if (low < 0 || !put(data, &byte, 1))
			return false;
		text += 2;
	}
	return true;
}

/* Numbers with blanks or commas between them, of 2 or 4 bytes each. */
static bool put_numbers(struct data *data, const char *text, size_t bytes)
{
	const char *const between = ", \t";

	for (text += strspn(text, between); *text; text += strspn(text, between)) {
		const size_t chars = strcspn(text, between);
		char number[NUMBER_ROOM];
		uint8_t stored[4];
		uint64_t value;

		if (chars >= sizeof(number))
			return false;
		memcpy(number, text, chars);
		number[chars] = '\0';
		if (!etw_number_parse(number, bytes == 2 ? UINT16_MAX : UINT32_MAX, &value))
			return false;
		etw_store32(stored, (uint32_t)value); /* of two bytes its first ones */
		if (!put(data, stored, bytes))
			return false;
		text += chars;
	}
	return true;
}

/* "in" or "out" in front of the rest. */
static bool take_sense(const char **text, bool *ret_is_in)
{
	const size_t chars = strcspn(*text, " \t");

	*ret_is_in = chars == 2 && strncasecmp(*text, "in", chars) == 0;
	if (!*ret_is_in && !(chars == 3 && strncasecmp(*text, "out", chars) == 0))
		return false;
	*text += chars;
	*text += strspn(*text, " \t");
	return true;
}

static bool put_ids(struct data *data, const char *text)
{
	const size_t head = offsetof(EVENT_FILTER_EVENT_ID, Events);
	bool is_in;

	if (!take_sense(&text, &is_in))
		return false;
	memset(data->at, 0, head);
	data->bytes = head;
	data->at[offsetof(EVENT_FILTER_EVENT_ID, FilterIn)] = is_in;
	if (!put_numbers(data, text, 2))
		return false;
	etw_store16(data->at + offsetof(EVENT_FILTER_EVENT_ID, Count),
		    (uint16_t)((data->bytes - head) / 2));
	return true;
}

/* Of all levels and keywords. */
static bool put_names(struct data *data, const char *text)
{
	const size_t head = offsetof(EVENT_FILTER_EVENT_NAME, Names);
	uint16_t count = 0;
	bool is_in;

	if (!take_sense(&text, &is_in))
		return false;
	memset(data->at, 0, head);
	data->bytes = head;
	data->at[offsetof(EVENT_FILTER_EVENT_NAME, FilterIn)] = is_in;
	while (*text) {
		const size_t chars = strcspn(text, ";");

		if (!chars || !put(data, text, chars) || !put(data, "", 1))
			return false;
		count++;
		text += chars + (text[chars] == ';');
	}
	etw_store16(data->at + offsetof(EVENT_FILTER_EVENT_NAME, NameCount), count);
	return count;
}

static bool put_text(struct data *data, const char *text)
{
	const size_t bytes = strlen(text);

	if (bytes > sizeof(data->at) / 2) /* no character has more than two bytes for one */
		return false;
	data->bytes = 2 * etw_utf8_put_utf16(text, bytes, data->at);
	return true;
}

static bool put_value(struct data *data, enum form form, const char *value)
{
	const size_t prefix = strlen(HEX_PREFIX);

	data->bytes = 0;
	if (strncasecmp(value, HEX_PREFIX, prefix) == 0)
		return put_hex(data, value + prefix);
	switch (form) {
	case FORM_NUMBERS:
		return put_numbers(data, value, 4);
	case FORM_IDS:
		return put_ids(data, value);
	case FORM_NAMES:
		return put_names(data, value);
	case FORM_TEXT:
		return put_text(data, value);
	default:
		return false;
	}
}

/* By its name, or by its number, which may be that of a type that has no name. */
static bool find_kind(const char *name, struct kind *ret)
{
	uint64_t number;

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (strcasecmp(name, kinds[i].name) == 0) {
			*ret = kinds[i];
			return true;
		}
	}
	if (!etw_number_parse(name, UINT32_MAX, &number) || number == EVENT_FILTER_TYPE_NONE)
		return false;
	*ret = (struct kind){.type = (uint32_t)number};
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (kinds[i].type == number)
			*ret = kinds[i];
	}
	return true;
}

static int add(struct etw_autologger_filters *filters, const struct wire_filter *filter)
{
	const size_t room = filters->bytes + WIRE_FILTER_HEAD_BYTES + filter->data.left + 4;
	uint8_t *grown = realloc(filters->list, room);
	size_t bytes;
	int r;

	if (!grown)
		return -ENOMEM;
	filters->list = grown;
	bytes = wire_filter_put(grown + filters->bytes, room - filters->bytes, filter);
	r = wire_filter_list_check((struct etw_bytes){grown, filters->bytes + bytes});
	if (r == 0)
		filters->bytes += bytes;
	return r;
}

int etw_autologger_filters_add(struct etw_autologger_filters *filters, const char *name,
			       const char *value, const char **ret_sentence)
{
	struct wire_filter filter;
	struct data data;
	struct kind kind;
	int r;

	*ret_sentence = "there is no such filter";
	if (!find_kind(name, &kind))
		return -EINVAL;
	*ret_sentence = "filters of this type are not built";
	if (wire_filter_use_of(kind.type) == WIRE_FILTER_REFUSED)
		return -EOPNOTSUPP;
	*ret_sentence = "the value is none of this filter, or too large";
	if (!put_value(&data, kind.form, value))
		return -EINVAL;
	filter = (struct wire_filter){kind.type, {data.at, data.bytes}};
	r = add(filters, &filter);
	if (r == -EINVAL)
		*ret_sentence = "the filter is not sound, or there already";
	return r;
}

void etw_autologger_filters_done(struct etw_autologger_filters *filters)
{
	free(filters->list);
	*filters = (struct etw_autologger_filters){0};
}
