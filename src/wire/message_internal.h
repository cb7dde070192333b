/* SPDX-License-Identifier: MIT */
/* How the structs of wire/message.h are described to their codec: a table of fields for each. */
#ifndef ETW_WIRE_MESSAGE_INTERNAL_H
#define ETW_WIRE_MESSAGE_INTERNAL_H

#include "wire/message.h"

enum wire_field_kind {
	FIELD_NUMBER, /* unsigned or 64-bit signed, as wide as its member */
	FIELD_STATUS, /* int32_t: 0 or a negative errno */
	FIELD_GUID,
	FIELD_NAME,    /* char[width], NUL-terminated UTF-8 */
	FIELD_BYTES,   /* struct etw_bytes */
	FIELD_GROUP,   /* `count` structs of `width` bytes, described by `group` */
	FIELD_HANDLES, /* uint64_t[limit], the uint32_t count being the struct's first member */
	FIELD_HOOKS,   /* uint16_t[limit], the uint32_t count being the member before */
};

struct wire_layout;

struct wire_field {
	enum wire_field_kind kind;
	uint32_t offset; /* of the member */
	uint32_t width;  /* of the member, of one struct for a group */
	uint32_t count;
	uint64_t least; /* number */
	uint64_t limit; /* largest number, or longest run of bytes */
	const struct wire_layout *group;
};

struct wire_layout {
	const struct wire_field *fields;
	uint32_t field_count;
	uint32_t bytes; /* of the struct */
};

/*
 * wire_layout_encode() - writes the common part and the struct that @layout describes.
 *
 * @layout: NULL: the common part alone
 *
 * Returns the length; 0 when something is out of range or does not fit.
 */
size_t wire_layout_encode(const struct wire_message *message, const struct wire_layout *layout,
			  const void *body, uint8_t *room);

/* wire_layout_decode() - the reverse. Returns 0, or -EPROTO with @ret untouched. */
int wire_layout_decode(struct etw_bytes datagram, const struct wire_layout *layout, void *ret);

#endif
