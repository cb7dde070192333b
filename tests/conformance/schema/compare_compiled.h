/* SPDX-License-Identifier: MIT */
/*
 * Compares what a binary resource says with what the manifest says that it was made of: providers, names,
 * maps, filters, events and fields, text by text. Differences are told on standard error and counted.
 */
#ifndef TESTS_CONFORMANCE_SCHEMA_COMPARE_COMPILED_H
#define TESTS_CONFORMANCE_SCHEMA_COMPARE_COMPILED_H

#include "base/text.h"
#include "schema/provider_schema.h"

extern int compiled_failures;
extern size_t compiled_compared; /* facts */

/* compiled_compare() - a resource with the text of its manifest. The paths are for the sentences. */
void compiled_compare(const char *path, const struct etw_definition *own, const char *manifest_path,
		      const struct etw_text *text);

/* compiled_check_number() - one fact of @name. */
void compiled_check_number(const char *path, const char *what, const char *name, uint64_t own,
			   uint64_t manifest);

#endif
