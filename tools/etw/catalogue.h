/* SPDX-License-Identifier: MIT */
/* All providers that are known or installed, by name and GUID, for `etw providers`. */
#ifndef ETW_TOOLS_ETW_CATALOGUE_H
#define ETW_TOOLS_ETW_CATALOGUE_H

#include "base/arena.h"
#include "base/table.h"
#include "registry/registry.h"
#include "schema/known/known.h"

struct catalogue_entry {
	const char *name;     /* NULL: it has only a GUID */
	const char *also;     /* another name that is in use; NULL: none */
	const char *formerly; /* an older name, "" where there is none */
	const char *builds;   /* Windows builds, "" where nobody says */
	const char *file;     /* what is installed comes from it; NULL */
	GUID guid;
	bool has_guid;
	bool is_known; /* the index has its events */
	bool is_installed;
	const char *system;   /* of the tracepoints of this machine that it is; NULL: it is none */
	size_t known_index;   /* with is_known */
	uint32_t event_count; /* manifest events of what counts: installed before known */
	uint32_t class_count; /* classic events */
};

struct catalogue {
	struct etw_known *known;             /* owned; NULL: there is none */
	struct etw_schema_store *store;      /* owned; asks the registry */
	const struct etw_registry *registry; /* of the store */
	struct etw_arena arena;
	struct etw_table guids;           /* struct catalogue_entry, by GUID */
	struct catalogue_entry **entries; /* by name, those without one behind them */
	size_t count;
	int events_fd;   /* owned; of tracefs; -1: it cannot be read */
	bool is_damaged; /* the index could not be opened: told */
};

/*
 * catalogue_open() - looks up what there is.
 *
 * What cannot be used is told on standard error, and left out. Returns 0, or -1, told.
 */
int catalogue_open(struct catalogue *ret);

/* catalogue_close() - takes a zeroed one. Tells of damage that was met meanwhile. Returns whether there was any. */
bool catalogue_close(struct catalogue *catalogue);

/*
 * catalogue_next() - the next entry that a word means, in the order of their names.
 *
 * @word:  a GUID, a pattern with *, or a whole name, also an older one, in any case; NULL: all
 * @place: 0 at first
 *
 * Returns NULL when there are no more.
 */
const struct catalogue_entry *catalogue_next(const struct catalogue *catalogue, const char *word,
					     size_t *place);

/* catalogue_is_pattern() - whether a word may mean several providers. */
bool catalogue_is_pattern(const char *word);

/* catalogue_miss() - tells that a word means no provider, and what may have been meant. */
void catalogue_miss(const struct catalogue *catalogue, const char *word);

#endif
