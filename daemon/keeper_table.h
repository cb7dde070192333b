/* SPDX-License-Identifier: MIT */
/*
 * What a keeper holds: descriptors by name; a host has the names alone, without descriptors. Context: one thread at a time.
 */
#ifndef ETW_DAEMON_KEEPER_TABLE_H
#define ETW_DAEMON_KEEPER_TABLE_H

#include <stddef.h>

#include "daemon/keeper_message.h"

struct etwd_keeper_entry {
	char name[ETWD_KEPT_NAME_BYTES];
	int fd; /* owned; -1: the name alone */
};

struct etwd_keeper_table {
	struct etwd_keeper_entry *entries; /* owned */
	size_t count;
};

/* etwd_keeper_table_init() - an empty one. Returns 0 or -ENOMEM. */
int etwd_keeper_table_init(struct etwd_keeper_table *ret);

/* etwd_keeper_table_done() - closes all. */
void etwd_keeper_table_done(struct etwd_keeper_table *table);

/*
 * etwd_keeper_table_keep() - in the place of one of that name.
 *
 * @fd: taken, also on error; -1: none
 *
 * Returns 0; -ENOSPC when there are ETWD_KEPT_MAX of other names.
 */
int etwd_keeper_table_keep(struct etwd_keeper_table *table, const char *name, int fd);

/* etwd_keeper_table_forget() - closes one; a name that ends with a slash means all that begin so. */
void etwd_keeper_table_forget(struct etwd_keeper_table *table, const char *name);

#endif
