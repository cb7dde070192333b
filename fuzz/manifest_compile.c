/* SPDX-License-Identifier: MIT */
/*
 * A manifest of any text is compiled, or has complaints with a place in it, in order; what is compiled can be
 * read back, as far as it has no error. Input: the text.
 */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "compile/header.h"
#include "compile/message_table.h"
#include "compile/rc.h"
#include "compile/read.h"
#include "compile/wevt.h"
#include "schema/compiled/wevt.h"
#include "target.h"
#include "xml_mutator.h"

/* Values that mean something to the compiler. */
static const char *const words[] = {
	"0",
	"1",
	"9",
	"16",
	"99",
	"255",
	"65535",
	"0xFFFFFFFF",
	"0x8000000000000000",
	"true",
	"win:UnicodeString",
	"win:AnsiString",
	"win:UInt8",
	"win:UInt32",
	"win:Binary",
	"win:SID",
	"win:Pointer",
	"win:CountedUnicodeString",
	"xs:string",
	"win:IPv6",
	"win:Error",
	"win:Start",
	"win:SQM",
	"Security",
	"Admin",
	"$(string.red)",
	"$(string.missing)",
	"$(mc.GIVEN)",
	"%1 %2!d! %n%%%0",
	"%99",
	"KEY=value;OTHER=\"a;b\"",
	"{11112222-3333-4444-5555-666677778889}",
	"{00000000-0000-0000-0000-000000000000}",
	"O:BAG:SYD:(A;;0x7;;;BA)",
	"de-DE",
	"Count",
	"",
};

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t bytes, size_t limit, unsigned seed)
{
	return xml_mutate(data, bytes, limit, seed, words, ARRAY_SIZE(words));
}

static void check_complaints(const struct mc_manifest *manifest)
{
	const struct mc_complaint *before = NULL;
	size_t count = 0;

	for (const struct mc_complaint *at = manifest->complaints; at; before = at, at = at->next) {
		CHECK(at->line && at->column && at->text && *at->text);
		CHECK(!before || before->line < at->line ||
		      (before->line == at->line && before->column <= at->column));
		count++;
	}
	CHECK(count <= manifest->error_count + manifest->warning_count);
}

/* The resource and a message table: what was written has to be readable. */
static void check_resources(const struct mc_manifest *manifest)
{
	struct etw_text wevt = {0}, messages = {0};
	struct etw_definition *definition;
	struct etw_message_table table;
	struct etw_fault fault = {0};
	struct etw_arena arena = {0};
	int r = etw_compile_wevt(manifest, COMPILE_WEVT_MAJOR, &wevt, &fault);

	CHECK(r == 0 || (r == -EFBIG && fault.sentence));
	if (r == 0)
		r = etw_compile_message_table(manifest, manifest->cultures, true, &messages,
					      &fault);
	CHECK(r == 0 || (r == -EFBIG && fault.sentence));
	if (r == 0) {
		const struct etw_bytes blob = {(const uint8_t *)wevt.at, wevt.bytes};
		const struct etw_bytes texts = {(const uint8_t *)messages.at, messages.bytes};

		etw_arena_init(&arena);
		CHECK(etw_message_table_open(&arena, texts, &table, &fault) == 0);
		CHECK(etw_wevt_parse(&arena, blob, &table, 1, &definition, &fault) == 0);
		CHECK(definition->provider_count == manifest->provider_count);
		etw_arena_done(&arena);
	}
	etw_text_done(&wevt);
	etw_text_done(&messages);
}

static void check_texts(const struct mc_manifest *manifest)
{
	struct etw_text header = {0}, script = {0};
	struct etw_fault fault = {0};
	int r = etw_compile_header(manifest, NULL, &header, &fault);

	CHECK(r == 0 && header.bytes && !memchr(header.at, '\0', header.bytes));
	r = etw_compile_rc(manifest, "base", false, &script, &fault);
	CHECK(r == 0 && script.bytes);
	etw_text_done(&header);
	etw_text_done(&script);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct mc_manifest *manifest = NULL;

	CHECK(etw_compile_read((const char *)data, bytes, &manifest) == 0);
	check_complaints(manifest);
	if (!manifest->error_count) {
		check_resources(manifest);
		check_texts(manifest);
	}
	etw_compile_free(manifest);
	return 0;
}
