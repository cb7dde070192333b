/* SPDX-License-Identifier: MIT */
#include "wire/name_list.h"

#include <stdio.h>
#include <string.h>

#define TAIL_BYTES 24 /* " and 4294967295 more" */

struct etw_name_list etw_name_list_begin(char *room, size_t bytes)
{
	if (bytes)
		room[0] = '\0';
	return (struct etw_name_list){.room = room, .bytes = bytes};
}

void etw_name_list_put(struct etw_name_list *list, const char *name)
{
	size_t bytes = strlen(name) + (list->used ? 2 : 0);

	if (list->left_out || list->used + bytes + TAIL_BYTES >= list->bytes) {
		list->left_out++;
		return;
	}
	list->used += (size_t)snprintf(list->room + list->used, list->bytes - list->used, "%s%s",
				       list->used ? ", " : "", name);
}

void etw_name_list_end(struct etw_name_list *list)
{
	if (list->left_out && list->bytes)
		(void)snprintf(list->room + list->used, list->bytes - list->used, "%s%zu%s",
			       list->used ? " and " : "", list->left_out,
			       list->used ? " more" : "");
}

bool etw_name_list_is(const char *name, const char *word, size_t bytes)
{
	return name && strlen(name) == bytes && !strncasecmp(name, word, bytes);
}
