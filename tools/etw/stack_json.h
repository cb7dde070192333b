/* SPDX-License-Identifier: MIT */
/* Summed-up stacks for programs: one object. docs/format/json.md lists the keys. */
#ifndef ETW_TOOLS_ETW_STACK_JSON_H
#define ETW_TOOLS_ETW_STACK_JSON_H

#include "tools/etw/stack_data.h"

/* stack_json_begin() - the object, with all but its end. Returns 0 or -ENOMEM. */
int stack_json_begin(struct etw_text *text, struct stack_profile *profile);

/* stack_json_tree() - an array: the nodes of a tree, each before those below it, with their depth. */
void stack_json_tree(struct etw_text *text, const struct stack_query *query,
		     const struct etw_calls *calls);

/* stack_json_end() - the account of stacks, modules and loss, and the object's end. */
void stack_json_end(struct etw_text *text, const struct stack_profile *profile,
		    const struct etw_loss *loss);

#endif
