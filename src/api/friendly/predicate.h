/* SPDX-License-Identifier: MIT */
/* Predicates are trees of src/filter; what is asked of an event goes through its decoding. Private. */
#ifndef ETW_API_FRIENDLY_PREDICATE_H
#define ETW_API_FRIENDLY_PREDICATE_H

#include <etw/predicate.h>

#include "filter/filter.h"

struct libetw_predicate {
	struct etw_filter *filter; /* owned */
};

/* etw_predicate_wrap() - a predicate of a tree, which it takes; NULL, told, for NULL or when memory ran out. */
struct libetw_predicate *etw_predicate_wrap(struct etw_filter *filter);

/* etw_predicate_of() - a predicate of a comparison with one value; takes both. NULL, told, when memory ran out. */
struct libetw_predicate *etw_predicate_of(struct etw_filter *filter,
					  struct etw_filter_value *value);

/* etw_predicate_matches() - whether an event of the calling thread is meant; no sentence is ever made. */
bool etw_predicate_matches(struct libetw_predicate *predicate, struct libetw_event *event);

#endif
