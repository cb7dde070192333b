/* SPDX-License-Identifier: MIT */
/*
 * The items of an event as values that C has, whatever the width of the field. Nothing is converted that TDH would
 * show otherwise.
 */
#ifndef ETW_DECODE_READ_H
#define ETW_DECODE_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decode/decoding.h"

/* etw_read_at() - the item's bytes in the payload; never NULL. */
const uint8_t *etw_read_at(const struct etw_decoding *decoding, const struct etw_item *item);

/*
 * etw_read_integer() - an integer, boolean, pointer, character or FILETIME.
 *
 * @ret: of a negative one its 64 bits
 *
 * Returns whether it is one; else both are untouched. So do the next two.
 */
bool etw_read_integer(const struct etw_decoding *decoding, const struct etw_item *item,
		      uint64_t *ret, bool *ret_is_negative);
bool etw_read_real(const struct etw_decoding *decoding, const struct etw_item *item, double *ret);
bool etw_read_guid(const struct etw_decoding *decoding, const struct etw_item *item, GUID *ret);

/* etw_read_filetime() - a FILETIME or SYSTEMTIME. Returns 0; -EINVAL: it is no time; -ERANGE: no date. */
int etw_read_filetime(const struct etw_decoding *decoding, const struct etw_item *item,
		      int64_t *ret);

/* What a value is by the way in which it is shown: in-type and out-type together. */
enum etw_read_shape {
	ETW_READ_TEXT, /* and all that is none of the others */
	ETW_READ_INTEGER,
	ETW_READ_BOOLEAN,
	ETW_READ_REAL,
	ETW_READ_TIME,
	ETW_READ_GUID,
	ETW_READ_ADDRESS, /* of a network, with or without a port */
};

/* etw_read_shape() - of a single value; all else is text. */
enum etw_read_shape etw_read_shape(const struct etw_decoding *decoding,
				   const struct etw_item *item);

/*
 * etw_read_shown_integer() - the number that is shown of an integer or boolean: as signed as the out-type says, and of
 * ports in the order of the network.
 */
bool etw_read_shown_integer(const struct etw_decoding *decoding, const struct etw_item *item,
			    uint64_t *ret, bool *ret_is_negative);

/* etw_read_shown_time() - of a value whose shape is a time. Returns whether it is a date. */
bool etw_read_shown_time(const struct etw_decoding *decoding, const struct etw_item *item,
			 int64_t *ret);

/* etw_read_address() - of a value whose shape is an address: its bytes, 4 or 16, in the order of the network. */
const uint8_t *etw_read_address(const struct etw_decoding *decoding, const struct etw_item *item,
				size_t *ret_bytes);

/* etw_read_is_string() - whether it is a string, or an array of characters that is shown as one. */
bool etw_read_is_string(const struct etw_decoding *decoding, const struct etw_item *item);

/* etw_read_is_sid() - whether it is a SID. */
bool etw_read_is_sid(const struct etw_decoding *decoding, const struct etw_item *item);

#endif
