/* SPDX-License-Identifier: MIT */
/* Several layouts of one event: in which order the store gives them. */
#include "base/macros.h"
#include "schema/manifest/manifest.h"
#include "schema/store/store_installed.h"
#include "schema/store/store_internal.h"
#include "schema/store/store_loans.h"
#include "unit/schema/store_events.h"

/* A manifest of event 7, version 1, with any fields. */
#define FIELD(name, type) "<data name='" name "' inType='win:" type "'/>"
#define NAMED(name, fields)                                                        \
	"<instrumentationManifest><instrumentation><events>"                       \
	"<provider name='" name "' guid='{11112222-3333-4444-5555-666677778888}'>" \
	"<templates><template tid='t'>" fields "</template></templates>"           \
	"<events><event value='7' version='1' template='t'/></events>"             \
	"</provider></events></instrumentation></instrumentationManifest>"
#define LAYOUT(fields) NAMED("By-Manifest", fields)

static struct etw_arena loan_arena;
static struct etw_definition *installed; /* what the registry below has */
static unsigned asked;

static int load(void *context, struct etw_schema_store *asking, const GUID *guid,
		struct etw_fault *reterr)
{
	static struct etw_schema_registered registered;

	(void)context;
	(void)guid;
	(void)reterr;
	asked++;
	registered = (struct etw_schema_registered){.definition = installed};
	return installed ? etw_schema_store_register(asking, &registered, 1) : 0;
}

static const char *name(void *context, const GUID *guid)
{
	(void)context;
	(void)guid;
	return NULL;
}

static bool refresh(void *context)
{
	(void)context;
	return false;
}

static void release(void *context)
{
	(void)context;
}

static const struct etw_schema_registry registry = {load, name, refresh, release, NULL};

static int begin_choice(void **state)
{
	installed = NULL;
	asked = 0;
	return begin(state);
}

static int end_choice(void **state)
{
	int result = end(state);

	etw_arena_done(&loan_arena);
	return result;
}

static struct etw_definition *parse(struct etw_arena *arena, const char *text)
{
	struct etw_definition *definition;

	assert_int_equal(etw_manifest_parse(arena, text, strlen(text), &definition, NULL), 0);
	return definition;
}

/* The first field of every layout in its turn, joined. */
static const char *list(void)
{
	const EVENT_RECORD record = event_of(&info_blob_provider, 7, 1, 0);
	static char text[128];

	text[0] = '\0';
	for (const struct etw_schema *schema = etw_schema_store_find(store, &record, NULL); schema;
	     schema = etw_schema_store_next(store, &record, schema)) {
		strcat(text, schema->fields[0].name);
		strcat(text, " ");
	}
	return text;
}

static void test_store_choice__richer_then_later(void **state)
{
	(void)state;
	add_manifest(LAYOUT(FIELD("a", "UInt8")));
	add_manifest(LAYOUT(FIELD("b", "UInt8") FIELD("c", "UInt8")));
	add_manifest(LAYOUT(FIELD("d", "UInt8")));
	assert_string_equal(list(), "b d a ");
}

static void test_store_choice__origin_goes_before_riches(void **state)
{
	struct etw_schema_loan loan = {
		.definition = parse(&loan_arena, LAYOUT(FIELD("lent", "UInt8")))};

	(void)state;
	installed = parse(etw_schema_store_arena(store),
			  LAYOUT(FIELD("installed", "UInt8") FIELD("more", "UInt8")));
	etw_schema_store_set_registry(store, &registry);
	assert_int_equal(etw_schema_store_lend(store, &loan), 0);
	add_manifest(LAYOUT(FIELD("user", "UInt8")));
	learn_embedded(1, LAYOUT(FIELD("embedded", "UInt8")));
	assert_string_equal(list(), "embedded user lent installed ");
	/* Taking back takes it out of the list, and nothing else. */
	etw_schema_store_take_back(store, &loan);
	assert_string_equal(list(), "embedded user installed ");
	assert_int_equal(etw_schema_store_lend(store, &loan), 0);
	assert_string_equal(list(), "embedded user lent installed ");
	etw_schema_store_take_back(store, &loan);
}

static void test_store_choice__the_registry_is_asked_when_others_do_not_fit(void **state)
{
	const EVENT_RECORD record = event_of(&info_blob_provider, 7, 1, 0);
	const struct etw_schema *first, *second;

	(void)state;
	installed = parse(etw_schema_store_arena(store), LAYOUT(FIELD("installed", "UInt8")));
	etw_schema_store_set_registry(store, &registry);
	add_manifest(LAYOUT(FIELD("user", "UInt8")));
	first = check_found(&record);
	assert_int_equal(asked, 0);
	assert_int_equal(first->origin, ETW_SCHEMA_ORIGIN_USER);
	second = etw_schema_store_next(store, &record, first);
	assert_int_equal(asked, 1);
	assert_int_equal(second->origin, ETW_SCHEMA_ORIGIN_INSTALLED);
	assert_null(etw_schema_store_next(store, &record, second));
	assert_ptr_equal(check_found(&record), first);
	assert_int_equal(asked, 1);
}

static void test_store_choice__names_go_with_the_richer_definition(void **state)
{
	const EVENT_RECORD record = event_of(&info_blob_provider, 7, 1, 0);

	(void)state;
	add_manifest(NAMED("Rich", FIELD("a", "UInt8") "<!-- -->"));
	assert_string_equal(etw_schema_store_provider_name(store, &info_blob_provider), "Rich");
	/* One with more events, whose layout of this one is poorer. */
	add_manifest("<instrumentationManifest><instrumentation><events>"
		     "<provider name='Wide' guid='{11112222-3333-4444-5555-666677778888}'><events>"
		     "<event value='7' version='1'/><event value='8'/></events></provider></events>"
		     "</instrumentation></instrumentationManifest>");
	assert_string_equal(etw_schema_store_provider_name(store, &info_blob_provider), "Wide");
	assert_string_equal(check_found(&record)->provider_name, "Rich");
	/* A poorer one that comes later renames nothing. */
	add_manifest(NAMED("Poor", FIELD("b", "UInt8")));
	assert_string_equal(etw_schema_store_provider_name(store, &info_blob_provider), "Wide");
	assert_string_equal(etw_schema_store_provider(store, &info_blob_provider)->name, "Wide");
}

/* A trace brings its layouts one after the other; it must not make decoding slow. */
static void test_store_choice__a_trace_has_a_limited_number_of_layouts(void **state)
{
	const EVENT_RECORD record = event_of(&info_blob_provider, 7, 1, 0);
	char text[] = LAYOUT(FIELD("a0", "UInt8"));
	char *digit = strstr(text, "'a0'") + 2;
	const struct etw_schema *schema;
	unsigned count = 0;

	(void)state;
	for (unsigned i = 0; i < 40; i++) {
		*digit = (char)('0' + i);
		if (*digit != '<' && *digit != '\'')
			learn_embedded(1, text);
	}
	schema = check_found(&record);
	for (; schema; schema = etw_schema_store_next(store, &record, schema))
		count++;
	assert_int_equal(count, STORE_LAYOUTS_MAX);
}

static void test_store_choice__an_equal_layout_is_replaced(void **state)
{
	(void)state;
	learn_embedded(1, LAYOUT(FIELD("a", "UInt8")));
	learn_embedded(1, LAYOUT(FIELD("b", "UInt8")));
	learn_embedded(1, LAYOUT(FIELD("a", "UInt8")) " ");
	assert_string_equal(list(), "a b ");
}

static void test_store_choice__events_with_a_schema_of_their_own_have_one(void **state)
{
	EVENT_RECORD record = event_of(&info_blob_provider, 7, 1, EVENT_HEADER_FLAG_STRING_ONLY);

	(void)state;
	add_manifest(LAYOUT(FIELD("a", "UInt8")));
	assert_null(
		etw_schema_store_next(store, &record, etw_schema_store_find(store, &record, NULL)));
}

int main(void)
{
#define CASE(name) \
	cmocka_unit_test_setup_teardown(test_store_choice__##name, begin_choice, end_choice)
	const struct CMUnitTest tests[] = {
		CASE(richer_then_later),
		CASE(origin_goes_before_riches),
		CASE(the_registry_is_asked_when_others_do_not_fit),
		CASE(names_go_with_the_richer_definition),
		CASE(a_trace_has_a_limited_number_of_layouts),
		CASE(an_equal_layout_is_replaced),
		CASE(events_with_a_schema_of_their_own_have_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
