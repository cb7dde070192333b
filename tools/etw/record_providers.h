/* SPDX-License-Identifier: MIT */
/* The providers of `etw record`, as its --provider options name them. */
#ifndef ETW_TOOLS_ETW_RECORD_PROVIDERS_H
#define ETW_TOOLS_ETW_RECORD_PROVIDERS_H

#include <stdbool.h>
#include <stddef.h>

#include "tools/etw/record_provider.h"

struct record_providers {
	struct record_provider *all; /* owned */
	size_t count;
};

/* record_providers_done() - takes a zeroed one. */
void record_providers_done(struct record_providers *providers);

/*
 * record_providers_add() - one --provider. Several of the tracepoints of one system are one provider.
 *
 * @text: borrowed as long as the providers
 *
 * Keywords with names are left for record_keywords_resolve(). Returns whether it was understood; tells on standard error what was
 * not.
 */
bool record_providers_add(struct record_providers *providers, const char *text);

#endif
