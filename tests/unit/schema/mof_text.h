/* SPDX-License-Identifier: MIT */
/* What the tests of the MOF reader share: a provider to begin with, reading, and what is refused. */
#ifndef ETW_TESTS_UNIT_SCHEMA_MOF_TEXT_H
#define ETW_TESTS_UNIT_SCHEMA_MOF_TEXT_H

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/macros.h"
#include "schema/mof/mof.h"
#include "schema/types.h"

#define PROVIDER_GUID "11112222-3333-4444-5555-666677778888"
#define EVENT_GUID    "21112222-3333-4444-5555-666677778888"

/* Three lines: a provider and an event class of version 1. */
#define PROVIDER "[Guid(\"{" PROVIDER_GUID "}\")] class P : EventTrace {};\n"
#define EVENT                                                                                     \
	"[Guid(\"{" EVENT_GUID "}\"), EventVersion(1), DisplayName(\"Thing\")] class E : P {};\n" \
	"\n"
#define HEAD       PROVIDER EVENT
#define FIRST_LINE 4 /* behind HEAD */

static struct etw_arena arena;

static inline int begin(void **state)
{
	(void)state;
	etw_arena_init(&arena);
	return 0;
}

static inline int end(void **state)
{
	(void)state;
	etw_arena_done(&arena);
	return 0;
}

static inline const struct etw_definition *parse_bytes(const void *at, size_t bytes)
{
	struct etw_definition *definition = NULL;
	struct etw_fault fault = {0};
	int r = etw_mof_parse(&arena, at, bytes, &definition, &fault);

	if (r < 0)
		fail_msg("%d, line %u: %s", r, (unsigned)fault.offset, fault.sentence);
	return definition;
}

static inline const struct etw_definition *parse(const char *text)
{
	return parse_bytes(text, strlen(text));
}

static inline void refuse_bytes(const void *at, size_t bytes, uint64_t line, const char *sentence)
{
	struct etw_definition *definition = NULL;
	struct etw_fault fault = {0};

	assert_int_equal(etw_mof_parse(&arena, at, bytes, &definition, &fault), -EBADMSG);
	assert_string_equal(fault.structure, "MOF");
	assert_string_equal(fault.sentence, sentence);
	assert_int_equal(fault.offset, line);
	assert_null(definition);
}

static inline void refuse(const char *text, uint64_t line, const char *sentence)
{
	refuse_bytes(text, strlen(text), line, sentence);
}

/* The text is read with one complaint. */
static inline const struct etw_definition *complain(const char *text, uint64_t line,
						    const char *name, const char *sentence)
{
	const struct etw_definition *definition = parse(text);

	if (!definition->complaint_total)
		fail_msg("no complaint: %s", sentence);
	assert_string_equal(definition->complaints[0].sentence, sentence);
	assert_int_equal(definition->complaints[0].line, line);
	if (name)
		assert_string_equal(definition->complaints[0].name, name);
	else
		assert_null(definition->complaints[0].name);
	assert_int_equal(definition->complaint_total, 1);
	assert_int_equal(definition->complaint_count, 1);
	return definition;
}

/* The first event of the first provider; the text is what follows HEAD. */
static inline const struct etw_schema *parse_event(const char *format, ...)
{
	CLEANUP(etw_text_done) struct etw_text text = {0};
	const struct etw_definition *definition;
	char body[4096];
	va_list list;

	va_start(list, format);
	(void)vsnprintf(body, sizeof(body), format, list);
	va_end(list);
	etw_text_puts(&text, HEAD);
	etw_text_puts(&text, body);
	definition = parse(etw_text_string(&text));
	if (definition->complaint_total)
		fail_msg("line %u: %s", (unsigned)definition->complaints[0].line,
			 definition->complaints[0].sentence);
	assert_int_equal(definition->provider_count, 1);
	assert_true(definition->providers[0].schema_count > 0);
	assert_null(etw_schema_fields_check(&definition->providers[0].schemas[0]));
	return &definition->providers[0].schemas[0];
}

#endif
