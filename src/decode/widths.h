/* SPDX-License-Identifier: MIT */
/*
 * How wide the pointers of classic events are whose header says 32 bits: the session of a 32-bit program gets
 * 32-bit headers for the payloads of a 64-bit kernel. Many payloads fit either size to the last byte, so the other
 * events of their class and file are asked what they prove. Those of other classes are not: the header event of such
 * a file is a true 32-bit one.
 */
#ifndef ETW_DECODE_WIDTHS_H
#define ETW_DECODE_WIDTHS_H

#include <stdbool.h>
#include <stdint.h>

#include <guiddef.h>

#define ETW_WIDTHS_ROWS_MAX   256   /* classes of all files together */
#define ETW_WIDTHS_EVENTS_MAX 16384 /* of a file, that are weighed */

struct etw_widths_row {
	GUID class_guid; /* zeros in the row that counts all of a file */
	uint32_t file;
	uint32_t seen;         /* weighed events whose layout has pointers */
	uint32_t narrow, wide; /* of these: only the one size makes sense */
};

struct etw_widths {
	struct etw_widths_row *rows; /* owned */
	uint32_t count;
	bool has_wide; /* in some row the wide ones prevail */
};

/* etw_widths_done() - frees the rows; takes a zeroed struct. */
void etw_widths_done(struct etw_widths *widths);

/* etw_widths_wants() - whether another event of the file is to be weighed. */
bool etw_widths_wants(const struct etw_widths *widths, uint32_t file);

/*
 * etw_widths_add() - takes in what one event proves.
 *
 * @is_narrow, @is_wide: whether its payload makes sense with pointers of 4, and of 8 bytes
 *
 * Returns 0 or -ENOMEM; classes beyond the limit are not counted.
 */
int etw_widths_add(struct etw_widths *widths, uint32_t file, const GUID *class_guid, bool is_narrow,
		   bool is_wide);

/*
 * etw_widths_is_wide() - whether the file's events of this class have wide pointers, by all that was added.
 *
 * They have when more of them prove that than prove the opposite, and one in four of those seen at least: one
 * damaged event shall not change how all others are read.
 */
bool etw_widths_is_wide(const struct etw_widths *widths, uint32_t file, const GUID *class_guid);

#endif
