/* SPDX-License-Identifier: MIT */
/*
 * The filters of an enable in one run of bytes, as messages, the host's handover and the provider carry them: for each
 * its type (u32) and size (u32), then the data of EVENT_FILTER_DESCRIPTOR, then zeros up to a multiple of 4 bytes. All
 * little-endian. Whoever gets such a run from outside has it checked first.
 * Source: evntprov.h; Microsoft, "EVENT_FILTER_DESCRIPTOR structure"; docs/refused.md.
 */
#ifndef ETW_WIRE_FILTER_LIST_H
#define ETW_WIRE_FILTER_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"

#define WIRE_FILTER_HEAD_BYTES     8
#define WIRE_FILTER_TYPE_RESERVED  0x80000000u /* types from here on are the system's to interpret */
#define WIRE_FILTER_PIDS_MAX       8           /* MAX_EVENT_FILTER_PID_COUNT */
#define WIRE_FILTER_IDS_MAX        64          /* MAX_EVENT_FILTER_EVENT_ID_COUNT */
#define WIRE_FILTER_LIST_BYTES_MAX (20 * 1024) /* more than all kinds together may have */

struct wire_filter {
	uint32_t type; /* EVENT_FILTER_TYPE_* */
	struct etw_bytes data;
};

/* Who decides by a filter, and of what. */
enum wire_filter_use {
	WIRE_FILTER_REFUSED, /* nobody: it is not built, or reserved */
	WIRE_FILTER_CALLBACK, /* the provider's callback: SCHEMATIZED, and types of the provider's own */
	WIRE_FILTER_SCOPE, /* the host, once for each process: whether it is enabled at all */
	WIRE_FILTER_EVENT, /* the provider's process, for each event */
};

/* wire_filter_use_of() - what a type is for. EVENT_FILTER_TYPE_PID is both: SCOPE, and EVENT in a forked child. */
enum wire_filter_use wire_filter_use_of(uint32_t type);

/* wire_filter_next() - takes the first filter off a list. Returns false at its end, or where it is damaged. */
bool wire_filter_next(struct etw_bytes *list, struct wire_filter *ret);

/* wire_filter_find() - the data of the filter of a type. Returns false where the list has none. */
bool wire_filter_find(struct etw_bytes list, uint32_t type, struct etw_bytes *ret);

/* wire_filter_of_callback() - the one that the provider's callback hears of; type NONE with no bytes: none. */
struct wire_filter wire_filter_of_callback(struct etw_bytes list);

/*
 * wire_filter_put() - writes a filter.
 *
 * @left: of @at
 *
 * Returns how many bytes it took; 0: it does not fit.
 */
size_t wire_filter_put(uint8_t *at, size_t left, const struct wire_filter *filter);

/*
 * wire_filter_put_names() - writes one that lets events of these names through, and no others: EVENT_NAME.
 *
 * @names: @count of them, each with its NUL, and nothing else
 *
 * Returns as wire_filter_put(); 0 also where they are longer than such a filter may be.
 */
size_t wire_filter_put_names(uint8_t *at, size_t left, struct etw_bytes names, uint16_t count);

/* Event ids, of EVENT_ID and STACKWALK. */
struct wire_filter_ids {
	bool is_in; /* only these; else all but these */
	uint16_t count;
	const uint8_t *at; /* two bytes each */
};

/* Which events a filter is about: by level and keywords, of STACKWALK_LEVEL_KW; by names too, of EVENT_NAME. */
struct wire_filter_category {
	uint64_t match_any, match_all; /* match_any is 0: all keywords */
	uint8_t level;                 /* 0: all levels */
	bool is_in;                    /* only these; else all but these */
	uint16_t name_count;
	struct etw_bytes names; /* each with its NUL */
};

/*
 * wire_filter_read_ids() / _read_names() / _read_level() - the data of a filter: EVENT_FILTER_EVENT_ID,
 * EVENT_FILTER_EVENT_NAME, EVENT_FILTER_LEVEL_KW. Each returns false for what is cut off, or larger than its kind may be.
 */
bool wire_filter_read_ids(struct etw_bytes data, struct wire_filter_ids *ret);
bool wire_filter_read_names(struct etw_bytes data, struct wire_filter_category *ret);
bool wire_filter_read_level(struct etw_bytes data, struct wire_filter_category *ret);

/*
 * wire_filter_list_check() - whether a list can be applied: each filter whole, of a type that is built, there once, of
 * its type's layout and within its type's limits, at most MAX_EVENT_FILTERS_COUNT of them, and one for the callback.
 *
 * Returns 0; -EINVAL; -EOPNOTSUPP: a type that is not built.
 */
int wire_filter_list_check(struct etw_bytes list);

#endif
