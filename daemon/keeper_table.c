/* SPDX-License-Identifier: MIT */
/* See keeper_table.h. */
#include "daemon/keeper_table.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int etwd_keeper_table_init(struct etwd_keeper_table *ret)
{
	*ret = (struct etwd_keeper_table){
		.entries = calloc(ETWD_KEPT_MAX, sizeof(struct etwd_keeper_entry))};
	return ret->entries ? 0 : -ENOMEM;
}

static void close_fd(int fd)
{
	if (fd >= 0)
		close(fd);
}

void etwd_keeper_table_done(struct etwd_keeper_table *table)
{
	for (size_t i = 0; i < table->count; i++)
		close_fd(table->entries[i].fd);
	free(table->entries);
	*table = (struct etwd_keeper_table){0};
}

static struct etwd_keeper_entry *find_entry(struct etwd_keeper_table *table, const char *name)
{
	for (size_t i = 0; i < table->count; i++) {
		if (strcmp(table->entries[i].name, name) == 0)
			return &table->entries[i];
	}
	return NULL;
}

int etwd_keeper_table_keep(struct etwd_keeper_table *table, const char *name, int fd)
{
	struct etwd_keeper_entry *entry = find_entry(table, name);

	if (entry) {
		close_fd(entry->fd);
		entry->fd = fd;
		return 0;
	}
	if (table->count == ETWD_KEPT_MAX) {
		close_fd(fd);
		return -ENOSPC;
	}
	entry = &table->entries[table->count++];
	(void)snprintf(entry->name, sizeof(entry->name), "%s", name);
	entry->fd = fd;
	return 0;
}

void etwd_keeper_table_forget(struct etwd_keeper_table *table, const char *name)
{
	size_t bytes = strlen(name);
	bool is_prefix = bytes && name[bytes - 1] == '/';

	for (size_t i = 0; i < table->count;) {
		struct etwd_keeper_entry *entry = &table->entries[i];

		if ((is_prefix ? strncmp(entry->name, name, bytes) : strcmp(entry->name, name)) !=
		    0) {
			i++;
			continue;
		}
		close_fd(entry->fd);
		*entry = table->entries[--table->count];
	}
}
