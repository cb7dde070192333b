/* SPDX-License-Identifier: MIT */
/*
 * The encoder and the decoder that walk tables of fields. Numbers are little-endian without padding; a
 * name is its length in 2 bytes and its bytes, a run of bytes its length in 4.
 *
 * Both directions hold the same limits: what was encoded can be decoded, and nothing else can. Decoding
 * checks the whole datagram before it writes a single member.
 */
#include "wire/message_internal.h"

#include <errno.h>

#include "base/guid.h"
#include "base/macros.h"
#include "base/utf.h"

#define HEAD_BYTES 12
#define ERRNO_MAX  4095 /* the kernel's own limit for numbers of errors */

/* Numbers, as wide as the member. Members are naturally aligned, so that plain loads do. */
static uint64_t load_number(const uint8_t *member, uint32_t width)
{
	uint64_t wide;
	uint32_t half;

	if (width == 1)
		return *member;
	if (width == 4) {
		memcpy(&half, member, sizeof(half));
		return half;
	}
	memcpy(&wide, member, sizeof(wide));
	return wide;
}

static void store_number(uint8_t *member, uint32_t width, uint64_t value)
{
	uint32_t half = (uint32_t)value;

	if (width == 1)
		*member = (uint8_t)value;
	else if (width == 4)
		memcpy(member, &half, sizeof(half));
	else
		memcpy(member, &value, sizeof(value));
}

static bool is_status(uint32_t value)
{
	return (int32_t)value <= 0 && (int32_t)value >= -ERRNO_MAX;
}

static bool is_in_range(const struct wire_field *field, uint64_t value)
{
	if (field->kind == FIELD_STATUS)
		return is_status((uint32_t)value);
	return value >= field->least && value <= field->limit;
}

static bool is_name(const uint8_t *at, size_t bytes)
{
	return !memchr(at, 0, bytes) && etw_utf8_is_valid(at, bytes);
}

/* Where the encoder stands. Once something did not fit or was out of range nothing more is written. */
struct output {
	uint8_t *at;
	size_t left;
	bool is_bad;
};

static void put_bytes(struct output *output, const void *bytes, size_t count)
{
	if (output->is_bad || count > output->left) {
		output->is_bad = true;
		return;
	}
	if (count)
		memcpy(output->at, bytes, count);
	output->at += count;
	output->left -= count;
}

static void put_number(struct output *output, uint32_t width, uint64_t value)
{
	uint64_t little = htole64(value);

	put_bytes(output, &little, width);
}

static void put_name(struct output *output, const char *name, uint32_t room)
{
	size_t bytes = strnlen(name, room);

	if (bytes == room || !is_name((const uint8_t *)name, bytes)) {
		output->is_bad = true;
		return;
	}
	put_number(output, 2, bytes);
	put_bytes(output, name, bytes);
}

static void put_guid(struct output *output, const uint8_t *member)
{
	uint8_t stored[sizeof(GUID)];
	GUID guid;

	memcpy(&guid, member, sizeof(guid));
	etw_guid_write(stored, &guid);
	put_bytes(output, stored, sizeof(stored));
}

static void put_run(struct output *output, const uint8_t *member, uint64_t limit)
{
	struct etw_bytes run;

	memcpy(&run, member, sizeof(run));
	if (run.left > limit) {
		output->is_bad = true;
		return;
	}
	put_number(output, 4, run.left);
	put_bytes(output, run.at, run.left);
}

static void put_handles(struct output *output, const uint8_t *body, const struct wire_field *field)
{
	uint64_t count = load_number(body, 4);

	if (count > field->limit) {
		output->is_bad = true;
		return;
	}
	put_number(output, 4, count);
	for (uint64_t i = 0; i < count; i++)
		put_number(output, 8, load_number(body + field->offset + i * 8, 8));
}

/* So many as count. */
static void put_hooks(struct output *output, const uint8_t *member, const struct wire_field *field)
{
	uint64_t count = load_number(member - sizeof(uint32_t), 4);
	uint16_t hooks[WIRE_STACK_HOOKS_MAX];

	if (count > field->limit) {
		output->is_bad = true;
		return;
	}
	memcpy(hooks, member, sizeof(hooks));
	put_number(output, 4, count);
	for (uint64_t i = 0; i < count; i++)
		put_number(output, 2, hooks[i]);
}

static void put_struct(struct output *output, const struct wire_layout *layout,
		       const uint8_t *body);

static void put_field(struct output *output, const struct wire_field *field, const uint8_t *body)
{
	const uint8_t *member = body + field->offset;
	uint64_t value;

	switch (field->kind) {
	case FIELD_NUMBER:
	case FIELD_STATUS:
		value = load_number(member, field->width);
		if (!is_in_range(field, value))
			output->is_bad = true;
		put_number(output, field->width, value);
		break;
	case FIELD_GUID:
		put_guid(output, member);
		break;
	case FIELD_NAME:
		put_name(output, (const char *)member, field->width);
		break;
	case FIELD_BYTES:
		put_run(output, member, field->limit);
		break;
	case FIELD_GROUP:
		for (uint32_t i = 0; i < field->count; i++)
			put_struct(output, field->group, member + i * field->width);
		break;
	case FIELD_HANDLES:
		put_handles(output, body, field);
		break;
	case FIELD_HOOKS:
		put_hooks(output, member, field);
		break;
	}
}

static void put_struct(struct output *output, const struct wire_layout *layout, const uint8_t *body)
{
	for (uint32_t i = 0; i < layout->field_count; i++)
		put_field(output, &layout->fields[i], body);
}

static bool is_type(uint32_t type)
{
	return (type >= WIRE_HELLO && type <= WIRE_REPLY) ||
	       (type >= WIRE_REGISTER && type <= WIRE_TRAITS) ||
	       (type >= WIRE_START && type <= WIRE_LEASE) ||
	       (type >= WIRE_SUBSCRIBE && type <= WIRE_SESSION_END) ||
	       (type >= WIRE_STATISTICS_QUERY && type <= WIRE_STATISTICS) ||
	       (type >= WIRE_ACCESS && type <= WIRE_INFORMATION) ||
	       (type >= WIRE_PRIVATE_START && type <= WIRE_PRIVATE_DONE) || type == WIRE_IMAGE;
}

size_t wire_layout_encode(const struct wire_message *message, const struct wire_layout *layout,
			  const void *body, uint8_t *room)
{
	struct output output = {room, WIRE_MESSAGE_BYTES_MAX, false};

	if (!is_type(message->type) || !is_status((uint32_t)message->status))
		return 0;
	put_number(&output, 4, message->type);
	put_number(&output, 4, message->request);
	put_number(&output, 4, (uint32_t)message->status);
	if (layout)
		put_struct(&output, layout, body);
	return output.is_bad ? 0 : WIRE_MESSAGE_BYTES_MAX - output.left;
}

/*
 * The decoder's functions take one field each, and return false when it is not sound. @member NULL: the
 * field is checked and stepped over.
 */
static bool get_number(struct etw_bytes *input, const struct wire_field *field, uint8_t *member)
{
	const uint8_t *at = etw_bytes_take(input, field->width);
	uint64_t little = 0, value;

	if (!at)
		return false;
	memcpy(&little, at, field->width);
	value = le64toh(little);
	if (!is_in_range(field, value))
		return false;
	if (member)
		store_number(member, field->width, value);
	return true;
}

static bool get_guid(struct etw_bytes *input, uint8_t *member)
{
	const uint8_t *at = etw_bytes_take(input, sizeof(GUID));
	GUID guid;

	if (!at)
		return false;
	guid = etw_guid_read(at);
	if (member)
		memcpy(member, &guid, sizeof(guid));
	return true;
}

static bool get_name(struct etw_bytes *input, uint32_t room, uint8_t *member)
{
	const uint8_t *at;
	uint16_t bytes;

	if (!etw_bytes_u16(input, &bytes) || bytes >= room)
		return false;
	at = etw_bytes_take(input, bytes);
	if (!at || !is_name(at, bytes))
		return false;
	if (member)
		memcpy(member, at, bytes); /* the struct was cleared: the NUL is there */
	return true;
}

static bool get_run(struct etw_bytes *input, uint64_t limit, uint8_t *member)
{
	struct etw_bytes run;
	uint32_t bytes;

	if (!etw_bytes_u32(input, &bytes) || bytes > limit)
		return false;
	run.at = etw_bytes_take(input, bytes);
	run.left = bytes;
	if (!run.at)
		return false;
	if (member)
		memcpy(member, &run, sizeof(run));
	return true;
}

static bool get_handles(struct etw_bytes *input, const struct wire_field *field, uint8_t *body)
{
	uint32_t count;
	const uint8_t *at;

	if (!etw_bytes_u32(input, &count) || count > field->limit)
		return false;
	at = etw_bytes_take(input, (size_t)count * 8);
	if (!at)
		return false;
	if (!body)
		return true;
	store_number(body, 4, count);
	for (uint32_t i = 0; i < count; i++)
		store_number(body + field->offset + i * 8, 8, etw_load64(at + i * 8));
	return true;
}

static bool get_hooks(struct etw_bytes *input, const struct wire_field *field, uint8_t *member)
{
	uint32_t count;
	const uint8_t *at;

	if (!etw_bytes_u32(input, &count) || count > field->limit)
		return false;
	at = etw_bytes_take(input, (size_t)count * 2);
	if (!at)
		return false;
	if (!member)
		return true;
	store_number(member - sizeof(uint32_t), 4, count);
	for (uint32_t i = 0; i < count; i++) {
		uint16_t hook = etw_load16(at + (size_t)i * 2);

		memcpy(member + (size_t)i * 2, &hook, sizeof(hook));
	}
	return true;
}

static bool get_struct(struct etw_bytes *input, const struct wire_layout *layout, uint8_t *body);

static bool get_group(struct etw_bytes *input, const struct wire_field *field, uint8_t *member)
{
	for (uint32_t i = 0; i < field->count; i++) {
		if (!get_struct(input, field->group, member ? member + i * field->width : NULL))
			return false;
	}
	return true;
}

static bool get_field(struct etw_bytes *input, const struct wire_field *field, uint8_t *body)
{
	uint8_t *member = body ? body + field->offset : NULL;

	switch (field->kind) {
	case FIELD_NUMBER:
	case FIELD_STATUS:
		return get_number(input, field, member);
	case FIELD_GUID:
		return get_guid(input, member);
	case FIELD_NAME:
		return get_name(input, field->width, member);
	case FIELD_BYTES:
		return get_run(input, field->limit, member);
	case FIELD_GROUP:
		return get_group(input, field, member);
	case FIELD_HANDLES:
		return get_handles(input, field, body);
	case FIELD_HOOKS:
		return get_hooks(input, field, member);
	}
	return false;
}

static bool get_struct(struct etw_bytes *input, const struct wire_layout *layout, uint8_t *body)
{
	for (uint32_t i = 0; i < layout->field_count; i++) {
		if (!get_field(input, &layout->fields[i], body))
			return false;
	}
	return true;
}

int wire_layout_decode(struct etw_bytes datagram, const struct wire_layout *layout, void *ret)
{
	struct etw_bytes input;

	if (datagram.left > WIRE_MESSAGE_BYTES_MAX || !etw_bytes_take(&datagram, HEAD_BYTES))
		return -EPROTO;
	input = datagram;
	if (!get_struct(&input, layout, NULL) || input.left)
		return -EPROTO;
	memset(ret, 0, layout->bytes);
	input = datagram;
	(void)get_struct(&input, layout, ret);
	return 0;
}

int wire_message_decode(struct etw_bytes datagram, struct wire_message *ret)
{
	uint32_t type, request, status;

	if (datagram.left > WIRE_MESSAGE_BYTES_MAX || !etw_bytes_u32(&datagram, &type) ||
	    !etw_bytes_u32(&datagram, &request) || !etw_bytes_u32(&datagram, &status))
		return -EPROTO;
	if (!is_type(type) || !is_status(status))
		return -EPROTO;
	if ((type == WIRE_REPLY || type == WIRE_ENABLE_DONE || type == WIRE_LIST) && datagram.left)
		return -EPROTO;
	ret->type = type;
	ret->request = request;
	ret->status = (int32_t)status;
	return 0;
}
