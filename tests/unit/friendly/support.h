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

/* Event 1 has a field of every kind; event 2 arrays and structs; 3 has nothing at all. */
static const char test_manifest[] =
	"<instrumentationManifest"
	" xmlns:win='http://manifests.microsoft.com/win/2004/08/windows/events'>"
	"<instrumentation><events>"
	"<provider name='Test-Provider' guid='{11112222-3333-4444-5555-666677778888}'>"
	"<keywords><keyword name='First' mask='0x1'/><keyword name='Second' mask='0x2'/></keywords>"
	"<tasks><task name='Task' value='7'/></tasks>"
	"<maps><valueMap name='Colours'><map value='1' message='$(string.red)'/></valueMap></maps>"
	"<templates><template tid='All'>"
	"<data name='Byte' inType='win:UInt8'/>"
	"<data name='Word' inType='win:UInt16'/>"
	"<data name='Long' inType='win:UInt32'/>"
	"<data name='Quad' inType='win:UInt64'/>"
	"<data name='SByte' inType='win:Int8'/>"
	"<data name='SWord' inType='win:Int16'/>"
	"<data name='SLong' inType='win:Int32'/>"
	"<data name='SQuad' inType='win:Int64'/>"
	"<data name='Bool' inType='win:Boolean'/>"
	"<data name='Float' inType='win:Float'/>"
	"<data name='Double' inType='win:Double'/>"
	"<data name='Pointer' inType='win:Pointer'/>"
	"<data name='Guid' inType='win:GUID'/>"
	"<data name='Time' inType='win:FILETIME'/>"
	"<data name='Date' inType='win:SYSTEMTIME'/>"
	"<data name='Sid' inType='win:SID'/>"
	"<data name='Wide' inType='win:UnicodeString'/>"
	"<data name='Ansi' inType='win:AnsiString'/>"
	"<data name='Colour' inType='win:UInt32' map='Colours'/>"
	"<data name='Size' inType='win:UInt16'/>"
	"<data name='Blob' inType='win:Binary' length='Size'/>"
	"</template><template tid='Lists'>"
	"<data name='Count' inType='win:UInt16'/>"
	"<data name='Numbers' inType='win:UInt32' count='Count'/>"
	"<data name='PairCount' inType='win:UInt8'/>"
	"<struct name='Pairs' count='PairCount'>"
	"<data name='Left' inType='win:UInt32'/>"
	"<data name='Name' inType='win:UnicodeString'/>"
	"</struct><struct name='One'>"
	"<data name='x' inType='win:Int32'/>"
	"</struct></template></templates><events>"
	"<event value='1' version='0' level='win:Warning' task='Task' keywords='First'"
	" template='All' message='$(string.all)'/>"
	"<event value='2' version='3' task='Task' opcode='win:Start' template='Lists'/>"
	"<event value='3' version='0'/>"
	"</events></provider></events></instrumentation>"
	"<localization><resources culture='en-US'><stringTable>"
	"<string id='red' value='Red'/><string id='all' value='Byte %1 of %17'/>"
	"</stringTable></resources></localization></instrumentationManifest>";

/* Schemas that know the manifest, and nothing of this machine; the caller frees them. */
static inline struct libetw_schemas *test_schemas(void)
{
	struct libetw_schemas *schemas;

	assert_int_equal(libetw_schemas_create_with(LIBETW_SCHEMAS_NOT_INSTALLED, &schemas), 0);
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
