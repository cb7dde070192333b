/* SPDX-License-Identifier: MIT */
/* What the tests of the friendly layer share: a manifest with fields of every kind, and made-up traces. */
#ifndef ETW_TESTS_UNIT_FRIENDLY_SUPPORT_H
#define ETW_TESTS_UNIT_FRIENDLY_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <etw/etw.h>

static const GUID test_provider = {
	0x11112222, 0x3333, 0x4444, {0x55, 0x55, 0x66, 0x66, 0x77, 0x77, 0x88, 0x88}};

#define DATA(name, type)         "<data name='" name "' inType='win:" type "'/>"
#define COUNTED(name, type, how) "<data name='" name "' inType='win:" type "' " how "/>"

/* Event 1 has a field of every kind; event 2 arrays and structs; 3 has nothing but a message. */
static const char test_manifest[] =
	"<instrumentationManifest "
	"xmlns:win='http://manifests.microsoft.com/win/2004/08/windows/events'>"
	"<instrumentation><events>"
	"<provider name='Test-Provider' guid='{11112222-3333-4444-5555-666677778888}'>"
	"<keywords><keyword name='First' mask='0x1'/><keyword name='Second' mask='0x2'/></keywords>"
	"<tasks><task name='Task' value='7'/></tasks>"
	"<maps><valueMap name='Colours'><map value='1' message='$(string.red)'/></valueMap></maps>"
	"<templates><template tid='All'>" DATA("Byte", "UInt8") DATA("Word", "UInt16") DATA(
		"Long", "UInt32") DATA("Quad", "UInt64") DATA("SByte", "Int8") DATA("SWord",
										    "Int16")
		DATA("SLong", "Int32") DATA("SQuad", "Int64") DATA("Bool", "Boolean") DATA(
			"Float", "Float") DATA("Double", "Double") DATA("Pointer",
									"Pointer") DATA("Guid",
											"GUID")
			DATA("Time", "FILETIME") DATA("Date", "SYSTEMTIME") DATA("Sid", "SID") DATA(
				"Wide", "UnicodeString") DATA("Ansi",
							      "AnsiString") COUNTED("Colour",
										    "UInt32",
										    "map='Colours'")
				DATA("Size", "UInt16") COUNTED(
					"Blob", "Binary",
					"length='Size'") "</temp"
							 "late>"
							 "<template tid='Lists'>" DATA(
								 "Count",
								 "UInt16") COUNTED("Numbers",
										   "UInt32",
										   "count='Count'")
								 DATA("PairCount",
								      "UInt8") "<struct "
									       "name='Pairs' "
									       "count='PairCount'"
									       ">" DATA("Left",
											"UInt32")
										       DATA("Name",
											    "Unicod"
											    "eStrin"
											    "g") "<"
												 "/"
												 "s"
												 "t"
												 "r"
												 "u"
												 "c"
												 "t"
												 ">"
												 "<"
												 "s"
												 "t"
												 "r"
												 "u"
												 "c"
												 "t"
												 " "
												 "n"
												 "a"
												 "m"
												 "e"
												 "="
												 "'"
												 "O"
												 "n"
												 "e"
												 "'"
												 ">" DATA(
													 "x",
													 "Int32") "</struct></template>"
														  "</templates><events>"
														  "<event value='1' version='0' level='win:Warning' task='Task' keywords='First' template='All' "
														  "message='$(string.all)'/>"
														  "<event value='2' version='3' task='Task' opcode='win:Start' template='Lists'/>"
														  "<event value='3' version='0'/>"
														  "</events></provider></events></instrumentation>"
														  "<localization><resources culture='en-US'><stringTable>"
														  "<string id='red' value='Red'/><string id='all' value='Byte %1 of %17'/>"
														  "</stringTable></resources></localization></instrumentationManifest>";

/* Schemas that know the manifest; the caller frees them. */
static inline struct libetw_schemas *test_schemas(void)
{
	struct libetw_schemas *schemas;

	assert_int_equal(libetw_schemas_create(&schemas), 0);
	if (libetw_schemas_add_manifest(schemas, test_manifest, sizeof(test_manifest) - 1))
		fail_msg("%s", libetw_error());
	return schemas;
}

/* A builder with schemas of its own. */
static inline struct libetw_builder *test_builder(void)
{
	struct libetw_schemas *schemas = test_schemas();
	struct libetw_builder *builder;

	assert_int_equal(libetw_builder_create(schemas, &builder), 0);
	libetw_schemas_free(schemas);
	return builder;
}

#define OK(expression)                                                   \
	do {                                                             \
		if (expression)                                          \
			fail_msg("%s: %s", #expression, libetw_error()); \
	} while (0)

#endif
