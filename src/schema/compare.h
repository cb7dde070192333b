/* SPDX-License-Identifier: MIT */
/* Whether two definitions say the same, and if not, where they first differ. For tests. */
#ifndef ETW_SCHEMA_COMPARE_H
#define ETW_SCHEMA_COMPARE_H

#include <stdbool.h>

#include "base/text.h"
#include "schema/provider_schema.h"

/*
 * Leaves out what compiled resources do not hold: symbols, file names, and a channel's type, isolation,
 * access, chid and whether it is enabled.
 */
#define ETW_COMPARE_COMPILED 1U

/*
 * etw_definition_compare() - two definitions, provider by provider in their order.
 *
 * @flags:      0 or ETW_COMPARE_COMPILED
 * @difference: a sentence about the first difference is appended; unchanged when there is none
 *
 * Complaints and the `index` of schemas do not count. Returns whether the two are equal.
 */
bool etw_definition_compare(const struct etw_definition *left, const struct etw_definition *right,
			    unsigned flags, struct etw_text *difference);

#endif
