/* SPDX-License-Identifier: MIT */
/*
 * Comparing two layouts of one event: whether they read a payload alike, and which of them says more. What
 * definitions differ in beyond that is told by schema/compare.h.
 */
#ifndef ETW_SCHEMA_LAYOUT_H
#define ETW_SCHEMA_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "schema/model.h"
#include "schema/provider_schema.h"

/*
 * etw_layout_equal() - whether two schemas have the same fields: names, types, lengths and counts.
 *
 * Maps, out-types and the names of the event do not count.
 */
bool etw_layout_equal(const struct etw_schema *left, const struct etw_schema *right);

/*
 * etw_layout_compare() - which of two layouts of one event is the richer one.
 *
 * The one without marks of doubt; then the one with more fields; then the one that says more about them and
 * about the event: maps, out-types that are not the default, names, a message.
 * Returns above 0 when @left is richer, below 0 when @right is, 0 when they say equally much.
 */
int etw_layout_compare(const struct etw_schema *left, const struct etw_schema *right);

/*
 * etw_layout_compare_providers() - the same for two definitions of one provider: the one with more events, then
 * with more names of tasks, opcodes, keywords and maps.
 */
int etw_layout_compare_providers(const struct etw_provider_schema *left,
				 const struct etw_provider_schema *right);

#endif
