/* SPDX-License-Identifier: MIT */
/* Predicates as trees. Private to src/api/friendly. */
#ifndef ETW_API_FRIENDLY_PREDICATE_H
#define ETW_API_FRIENDLY_PREDICATE_H

#include <stdbool.h>

struct libetw_event;
struct libetw_predicate;

/* etw_predicate_matches() - whether an event of the calling thread is meant; no sentence is ever made. */
bool etw_predicate_matches(struct libetw_predicate *predicate, struct libetw_event *event);

#endif
