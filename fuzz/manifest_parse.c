/* SPDX-License-Identifier: MIT */
/*
 * A manifest of any text gives schemas that hang together, or a fault with a line; what was read can be
 * written and read again; and where no rule was broken, nothing is lost on the way. Input: the text.
 */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/macros.h"
#include "schema/compare.h"
#include "schema/manifest/manifest.h"
#include "schema/manifest/manifest_write.h"
#include "schema/types.h"
#include "target.h"
#include "xml_mutator.h"

/* Values that mean something to the reader. */
static const char *const words[] = {
	"0",
	"1",
	"2",
	"16",
	"99",
	"255",
	"256",
	"65535",
	"0xFFFFFFFF",
	"0x8000000000000000",
	"true",
	"win:UnicodeString",
	"win:AnsiString",
	"win:UInt8",
	"win:UInt16",
	"win:UInt32",
	"win:UInt64",
	"win:Binary",
	"win:Boolean",
	"win:SID",
	"win:Pointer",
	"win:CountedUnicodeString",
	"win:CountedBinary",
	"xs:string",
	"win:IPv6",
	"win:HexInt32",
	"win:Error",
	"win:Start",
	"win:SQM",
	"win:None",
	"win:ReservedLevel7",
	"win:ReservedOpcode250",
	"win:ReservedKeyword60",
	"Security",
	"TraceLogging",
	"Admin",
	"Operational",
	"$(string.x)",
	"$(string.y)",
	"$(mc.M)",
	"$(string.missing)",
	"%1 %2!d! %n%%%0",
	"{11112222-3333-4444-5555-666677778889}",
	"{00000000-0000-0000-0000-000000000000}",
	"&lt;&amp;&quot;&#9;&#13;&#10;",
	"",
};

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t bytes, size_t limit, unsigned seed)
{
	return xml_mutate(data, bytes, limit, seed, words, ARRAY_SIZE(words));
}

static void check_complaints(const struct etw_definition *definition)
{
	CHECK(definition->complaint_count <= ETW_COMPLAINTS_MAX);
	CHECK(definition->complaint_count <= definition->complaint_total);
	for (size_t i = 0; i < definition->complaint_count; i++)
		CHECK(definition->complaints[i].line && definition->complaints[i].sentence);
}

static void check_schemas(const struct etw_definition *definition)
{
	size_t count = 0;

	for (size_t i = 0; i < definition->provider_count; i++) {
		const struct etw_provider_schema *provider = &definition->providers[i];

		for (size_t j = 0; j < provider->schema_count; j++) {
			CHECK(!etw_schema_fields_check(&provider->schemas[j]));
			CHECK(provider->schemas[j].owner == provider);
		}
		count += provider->schema_count;
	}
	CHECK(count == definition->schema_count);
}

static void check_round_trip(const struct etw_definition *definition)
{
	struct etw_definition *again = NULL;
	struct etw_text difference = {0};
	struct etw_arena arena = {0};
	struct etw_text text = {0};

	CHECK(etw_manifest_write(definition, &text) == 0);
	/* Made-up ids and indentation may carry a text that is just small enough beyond the limit. */
	if (text.bytes <= ETW_MANIFEST_BYTES_MAX) {
		struct etw_fault fault = {0};

		if (etw_manifest_parse(&arena, etw_text_string(&text), text.bytes, &again, &fault) <
		    0) {
			(void)fprintf(stderr, "line %u: %s\n%s", (unsigned)fault.offset,
				      fault.sentence, etw_text_string(&text));
			abort();
		}
		if (!definition->complaint_total &&
		    (again->complaint_total ||
		     !etw_definition_compare(definition, again, 0, &difference))) {
			(void)fprintf(stderr, "%s%s\n%s", etw_text_string(&difference),
				      again->complaint_total ? again->complaints[0].sentence : "",
				      etw_text_string(&text));
			abort();
		}
	}
	etw_text_done(&difference);
	etw_text_done(&text);
	etw_arena_done(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct etw_definition *definition = NULL;
	struct etw_fault fault = {0};
	struct etw_arena arena;
	int r;

	etw_arena_init(&arena);
	r = etw_manifest_parse(&arena, (const char *)data, bytes, &definition, &fault);
	if (r < 0) {
		check_refused(r, &fault, &arena);
		CHECK(fault.offset);
		return 0;
	}
	check_memory(&arena, bytes);
	check_schemas(definition);
	check_complaints(definition);
	check_round_trip(definition);
	etw_arena_done(&arena);
	return 0;
}
