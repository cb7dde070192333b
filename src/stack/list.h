/* SPDX-License-Identifier: MIT */
/* Circular lists whose links lie in their members. Private to src/stack. */
#ifndef ETW_STACK_LIST_H
#define ETW_STACK_LIST_H

#include <stdbool.h>
#include <stddef.h>

/* A list's head, and each member's link; a link that is in no list points to itself. */
struct etw_stack_link {
	struct etw_stack_link *next, *before;
};

static inline void etw_stack_link_init(struct etw_stack_link *link)
{
	link->next = link->before = link;
}

static inline bool etw_stack_link_is_alone(const struct etw_stack_link *link)
{
	return link->next == link;
}

/* Takes a member out; does nothing where it is in no list. */
static inline void etw_stack_link_remove(struct etw_stack_link *link)
{
	link->before->next = link->next;
	link->next->before = link->before;
	etw_stack_link_init(link);
}

/* At the end of the list. */
static inline void etw_stack_link_append(struct etw_stack_link *head, struct etw_stack_link *link)
{
	link->before = head->before;
	link->next = head;
	head->before->next = link;
	head->before = link;
}

#endif
