/* SPDX-License-Identifier: MIT */
/* Lists of names in sentences that have little room: what does not fit is counted. */
#ifndef ETW_WIRE_NAME_LIST_H
#define ETW_WIRE_NAME_LIST_H

#include <stdbool.h>
#include <stddef.h>

/* One that is being written. */
struct etw_name_list {
	char *room; /* borrowed */
	size_t bytes, used;
	size_t left_out;
};

/* etw_name_list_begin() - an empty one. */
struct etw_name_list etw_name_list_begin(char *room, size_t bytes);

/* etw_name_list_put() - behind a comma, or counted. */
void etw_name_list_put(struct etw_name_list *list, const char *name);

/* etw_name_list_end() - "and 7 more", where something was left out. */
void etw_name_list_end(struct etw_name_list *list);

/* etw_name_list_is() - whether a word of @bytes is @name, in letters of either case. @name: NULL is none */
bool etw_name_list_is(const char *name, const char *word, size_t bytes);

#endif
