/* SPDX-License-Identifier: MIT */
/*
 * RT_MESSAGETABLE: texts by number. A count of blocks, the blocks in ascending order, then the entries of
 * each block, one behind the other. Offsets count from the first byte.
 */
#ifndef ETW_WIRE_MESSAGE_TABLE_H
#define ETW_WIRE_MESSAGE_TABLE_H

#include <assert.h>
#include <stdint.h>

#include "base/bytes.h"

struct wire_message_table {
	le32 block_count; /* 0x00 blocks follow [SDK] */
};

struct wire_message_block {
	le32 low;    /* 0x00 first number [SDK] */
	le32 high;   /* 0x04 last number [SDK] */
	le32 offset; /* 0x08 of the first entry [SDK] */
};

/* The text follows, with NUL and padding. */
struct wire_message_entry {
	le16 bytes; /* 0x00 of the entry, this head included [SDK] */
	le16 flags; /* 0x02 [SDK] */
};

#define WIRE_MESSAGE_UNICODE 1 /* UTF-16LE, else an ANSI code page */

static_assert(sizeof(struct wire_message_block) == 12, "layout");
static_assert(sizeof(struct wire_message_entry) == 4, "layout");

#endif
