/* SPDX-License-Identifier: MIT */
/* What the tests of the manifest reader and writer share: the frame of a document, and reading it. */
#ifndef TESTS_UNIT_SCHEMA_MANIFEST_TEXT_H
#define TESTS_UNIT_SCHEMA_MANIFEST_TEXT_H

#include <string.h>

#include <cmocka.h>

#include "schema/manifest/manifest.h"

#define MANIFEST_HEAD                                                                        \
	"<instrumentationManifest xmlns='http://schemas.microsoft.com/win/2004/08/events'\n" \
	" xmlns:win='http://manifests.microsoft.com/win/2004/08/windows/events'\n"           \
	" xmlns:xs='http://www.w3.org/2001/XMLSchema'>\n"                                    \
	"<instrumentation><events>\n"
#define MANIFEST_PROVIDER \
	MANIFEST_HEAD     \
	"<provider name='Some-Provider' guid='{11112222-3333-4444-5555-666677778888}'>\n"
#define MANIFEST_TAIL "</provider></events></instrumentation>\n"
#define MANIFEST_END  "</instrumentationManifest>\n"

/* Line of the first line behind MANIFEST_PROVIDER. */
#define MANIFEST_FIRST_LINE 6

static inline const struct etw_definition *manifest_text_read(struct etw_arena *arena,
							      const char *text)
{
	struct etw_definition *definition = NULL;
	struct etw_fault fault = {0};

	if (etw_manifest_parse(arena, text, strlen(text), &definition, &fault) < 0)
		fail_msg("line %u: %s", (unsigned)fault.offset, fault.sentence);
	return definition;
}

#endif
