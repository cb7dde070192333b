/* SPDX-License-Identifier: MIT */
/* The generated header: its names, what options change, and symbols that several elements have. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/macros.h"
#include "compile/header.h"
#include "compile/read.h"

#define PROVIDER(name, guid, symbol, rest)                            \
	"<provider name='" name "' guid='{" guid "}' symbol='" symbol \
	"' resourceFileName='r' messageFileName='r'>" rest "</provider>"
#define GUID_1 "11111111-2222-3333-4455-66778899aabb"
#define GUID_2 "21111111-2222-3333-4455-66778899aabb"
#define MANIFEST(providers)                                                                \
	"<instrumentationManifest xmlns='http://schemas.microsoft.com/win/2004/08/events'" \
	" xmlns:win='http://manifests.microsoft.com/win/2004/08/windows/events'>"          \
	"<instrumentation><events>" providers "</events></instrumentation>"                \
	"</instrumentationManifest>"
#define TEMPLATE(fields)  "<templates><template tid='t'>" fields "</template></templates>"
#define FIELD(name, type) "<data name='" name "' inType='win:" type "'/>"

/* Returns what etw_compile_header() does, and checks that the manifest has no errors. */
static int generate(const char *manifest, const struct etw_compile_header_options *options,
		    struct etw_text *out, struct etw_fault *reterr)
{
	struct mc_manifest *model;
	int r;

	assert_int_equal(etw_compile_read(manifest, strlen(manifest), &model), 0);
	if (model->error_count)
		fail_msg("%s", model->complaints->text);
	r = etw_compile_header(model, options, out, reterr);
	etw_compile_free(model);
	return r;
}

static void assert_has(const struct etw_text *text, const char *line)
{
	if (!strstr(etw_text_string(text), line))
		fail_msg("not in the header: %s", line);
}

static const char simple[] = MANIFEST(
	PROVIDER("My-Prov", GUID_1, "PSYM",
		 "<events><event value='1' symbol='MyEvent' template='t'/></events>" TEMPLATE(
			 FIELD("Number", "UInt32") FIELD("Text", "UnicodeString"))));

static void test_header__names_what_programs_use(void **state)
{
	static const char *const lines[] = {
		"const GUID PSYM = {0x11111111, 0x2222, 0x3333, {0x44, 0x55,",
		"const EVENT_DESCRIPTOR MyEvent = {0x1, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0};",
		"#define MyEvent_value 0x1",
		"#define EventRegisterMy_Prov() ",
		"#define EventRegisterByGuidMy_Prov(Guid) ",
		"#define EventUnregisterMy_Prov() ",
		"#define My_ProvHandle (PSYM_Context.RegistrationHandle)",
		"#define PSYM_EventWriteActivity 0",
		"#define EventEnabledMyEvent() ",
		"#define EventWriteMyEvent(Number, Text) ",
		"#define EventWriteMyEvent_AssumeEnabled(Number, Text) ",
		"#define EventWriteMyEvent_ForContext(pContext, Number, Text) ",
		"#define EventWriteMyEvent_ForContextAssumeEnabled(pContext, Number, Text) ",
		"#define McTemplateU0qz_ARGCOUNT 2",
	};
	CLEANUP(etw_text_done) struct etw_text out = {0};

	(void)state;
	assert_int_equal(generate(simple, NULL, &out, NULL), 0);
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
		assert_has(&out, lines[i]);
	assert_null(strstr(etw_text_string(&out), "MCGEN_CALLOUT"));
}

static void test_header__of_a_driver_has_activities(void **state)
{
	static const struct etw_compile_header_options options = {.is_kernel = true};
	CLEANUP(etw_text_done) struct etw_text out = {0};

	(void)state;
	assert_int_equal(generate(simple, &options, &out, NULL), 0);
	assert_has(&out, "#define PSYM_EventWriteActivity 1");
	assert_has(&out, "#define EventWriteMyEvent(Activity, Number, Text) ");
	assert_has(&out, "#define McTemplateK0qz_ARGCOUNT 2");
}

static void test_header__has_the_prefixes_asked_for(void **state)
{
	static const struct etw_compile_header_options options = {
		.prefix = "TRACE_", .strip = "mY", .has_callout = true};
	CLEANUP(etw_text_done) struct etw_text out = {0};

	(void)state;
	assert_int_equal(generate(simple, &options, &out, NULL), 0);
	assert_has(&out, "#define TRACE_Event(Number, Text) ");
	assert_has(&out, "#define EventEnabledEvent() ");
	assert_has(&out, "const EVENT_DESCRIPTOR MyEvent = ");
	assert_has(&out, "#ifdef MCGEN_CALLOUT");
}

static void test_header__refuses_a_prefix_that_is_none(void **state)
{
	static const struct etw_compile_header_options options = {.prefix = "1-"};
	CLEANUP(etw_text_done) struct etw_text out = {0};
	struct etw_fault fault = {0};

	(void)state;
	assert_int_equal(generate(simple, &options, &out, &fault), -EINVAL);
	assert_string_equal(fault.field, "prefix");
}

static void test_header__tells_equal_symbols_apart(void **state)
{
	static const char manifest[] = MANIFEST(
		PROVIDER("A", GUID_1, "P1",
			 "<events><event value='1' symbol='E'/></events>"
			 "<tasks><task name='t' value='1' symbol='T'/></tasks>")
			PROVIDER("B", GUID_2, "P2",
				 "<events><event value='2' symbol='E'/></events>"
				 "<tasks><task name='t' value='2' symbol='T'/></tasks>"));
	CLEANUP(etw_text_done) struct etw_text out = {0};

	(void)state;
	assert_int_equal(generate(manifest, NULL, &out, NULL), 0);
	assert_has(&out, "#define T 0x1\n");
	assert_has(&out, "#define P2_TASK_t 0x2\n");
	assert_has(&out, "const EVENT_DESCRIPTOR E = {0x1,");
	assert_has(&out, "const EVENT_DESCRIPTOR P2_EVENT_0x2_0_0_0_0_0_0 = {0x2,");
	assert_has(&out, "#define EventWriteP2_EVENT_0x2_0_0_0_0_0_0() ");
}

static void test_header__makes_parameters_of_any_name(void **state)
{
	static const char manifest[] = MANIFEST(
		PROVIDER("A", GUID_1, "P",
			 "<events><event value='1' symbol='E' template='t'/></events>" TEMPLATE(
				 FIELD("a b", "UInt8") FIELD("a-b", "UInt8") FIELD("E", "UInt8")
					 FIELD("not", "UInt8") FIELD("1st", "UInt8"))));
	CLEANUP(etw_text_done) struct etw_text out = {0};

	(void)state;
	assert_int_equal(generate(manifest, NULL, &out, NULL), 0);
	assert_has(&out, "#define EventWriteE(a_b, a_b_1, E_2, not_3, _1st) ");
}

static void test_header__leaves_words_of_c_alone(void **state)
{
	static const char manifest[] = MANIFEST(
		PROVIDER("A", GUID_1, "P1",
			 "<events><event value='1' symbol='double'/></events>"
			 "<tasks><task name='t' value='1' symbol='Context'/></tasks>")
			PROVIDER("B", GUID_2, "P2",
				 "<events><event value='2' symbol='P1_Context'/></events>"));
	CLEANUP(etw_text_done) struct etw_text out = {0};

	(void)state;
	assert_int_equal(generate(manifest, NULL, &out, NULL), 0);
	assert_has(&out, "const EVENT_DESCRIPTOR P1_EVENT_0x1_0_0_0_0_0_0 = {0x1,");
	assert_has(&out, "#define P1_TASK_t 0x1\n");
	assert_has(&out, "const EVENT_DESCRIPTOR P2_EVENT_0x2_0_0_0_0_0_0 = {0x2,");
}

/* A counted field is two pieces of data: 63 of them fit beside the traits, 64 do not. */
static void test_header__refuses_what_no_event_can_hold(void **state)
{
	for (int count = 63; count <= 64; count++) {
		CLEANUP(etw_text_done) struct etw_text fields = {0};
		CLEANUP(etw_text_done) struct etw_text manifest = {0};
		CLEANUP(etw_text_done) struct etw_text out = {0};
		struct etw_fault fault = {0};
		int r;

		(void)state;
		for (int i = 0; i < count; i++)
			etw_text_printf(&fields, FIELD("F%d", "CountedAnsiString"), i);
		etw_text_printf(
			&manifest,
			MANIFEST(PROVIDER(
				"A", GUID_1, "P",
				"<events><event value='1' symbol='E' template='t'/></events>\n"
				"<templates><template tid='t'>%s</template></templates>")),
			etw_text_string(&fields));
		r = generate(etw_text_string(&manifest), NULL, &out, &fault);
		assert_int_equal(r, count == 63 ? 0 : -EFBIG);
		assert_int_equal(fault.offset, count == 63 ? 0 : 2);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_header__names_what_programs_use),
		cmocka_unit_test(test_header__of_a_driver_has_activities),
		cmocka_unit_test(test_header__has_the_prefixes_asked_for),
		cmocka_unit_test(test_header__refuses_a_prefix_that_is_none),
		cmocka_unit_test(test_header__tells_equal_symbols_apart),
		cmocka_unit_test(test_header__refuses_what_no_event_can_hold),
		cmocka_unit_test(test_header__leaves_words_of_c_alone),
		cmocka_unit_test(test_header__makes_parameters_of_any_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
