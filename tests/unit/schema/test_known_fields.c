/* SPDX-License-Identifier: MIT */
/* Lists of fields as the model has them: extents, structs, maps, and what is not known of them. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/macros.h"
#include "known_fixture.h"
#include "schema/known/known_internal.h"
#include "schema/known/known_schema.h"
#include "schema/known/known_schema_internal.h"

static struct etw_known_candidate *find(struct known_fixture *fixture, const char *name,
					uint16_t id, uint8_t version)
{
	struct etw_known_provider provider = find_provider(fixture, name);
	struct etw_known_candidate *candidates;
	size_t count;

	assert_int_equal(etw_known_candidates(fixture->known, &provider.guid, id, version,
					      &fixture->arena, &candidates, &count),
			 0);
	return candidates;
}

/* "TypeParameters" counts by a member of its own struct, which counts by a field outside. */
static void test_known_fields__members_refer_to_members(void **state)
{
	const struct etw_schema *schema =
		find(*state, "Microsoft-Windows-DotNETRuntime", 15, 0)->schema;
	const struct etw_field *values = &schema->fields[schema->top_count - 1];
	const struct etw_field *last;

	assert_true(values->flags & PropertyStruct);
	assert_true(values->flags & PropertyParamCount);
	assert_string_equal(schema->fields[values->count].name, "Count");
	assert_int_equal(values->struct_first, schema->top_count);
	assert_int_equal(values->struct_first + values->struct_count, schema->field_count);
	last = &schema->fields[schema->field_count - 1];
	assert_string_equal(last->name, "TypeParameters");
	assert_true(last->flags & PropertyParamCount);
	assert_string_equal(schema->fields[last->count].name, "TypeParameterCount");
}

/* The first template with this mark, as a schema. */
static void make_marked(struct known_fixture *fixture, uint32_t mark, struct etw_schema *schema,
			uint32_t *ret_count)
{
	struct etw_known_provider provider;

	for (size_t i = 0; etw_known_provider_at(fixture->known, i, &provider) == 0; i++) {
		struct known_maker maker = {fixture->known, &fixture->arena, 0, &provider, NULL};
		struct etw_known_layout layout;
		struct etw_known_event event;

		for (size_t j = 0; etw_known_event_at(fixture->known, &provider, j, &event) == 0;
		     j++) {
			assert_int_equal(etw_known_layout_at(fixture->known, &event, 0, &layout),
					 0);
			if (layout.marks != mark)
				continue;
			assert_int_equal(etw_known_make_fields(&maker, layout.template, schema), 0);
			*ret_count = layout.field_count;
			return;
		}
	}
	fail_msg("no layout has this mark");
}

static void test_known_fields__incomplete_ones_end_before_what_is_not_known(void **state)
{
	struct etw_schema schema = {0};
	uint32_t count;

	make_marked(*state, WIRE_KNOWN_INCOMPLETE, &schema, &count);
	assert_true(schema.top_count < count);
	make_marked(*state, WIRE_KNOWN_INFERRED, &schema, &count);
	assert_int_equal(schema.top_count, count);
}

static void test_known_fields__damaged_links_lead_nowhere(void **state)
{
	struct known_fixture *fixture = *state;
	size_t bytes;
	CLEANUP(freep) struct wire_known_head *head = copy_index(fixture, &bytes);
	CLEANUP(etw_known_closep) struct etw_known *known = open_copy(head, bytes);
	struct etw_known_provider provider = find_provider(fixture,
							   "Microsoft-Windows-Kernel-Process");
	struct known_maker maker = {known, &fixture->arena, 0, &provider, NULL};
	struct wire_known_template *template;
	struct wire_known_field *field;
	struct etw_schema schema = {0};
	struct etw_known_event event;
	const struct etw_map *map;
	const le32 *ref;

	assert_int_equal(etw_known_event_find(known, &provider, 1, 1, &event), 0);
	template = item_of(head, WIRE_KNOWN_TEMPLATES, sizeof(*template), event.template);
	ref = item_of(head, WIRE_KNOWN_REFS, sizeof(*ref), le32_get(template->first) + 4);
	field = item_of(head, WIRE_KNOWN_FIELDS, sizeof(*field), le32_get(*ref));
	assert_int_equal(etw_known_make_fields(&maker, event.template, &schema), 0);
	assert_int_equal(etw_known_make_map(&maker, provider.first_map + 1, &map), -EBADMSG);
	field->link = le32_of(UINT32_MAX - 1);
	assert_int_equal(etw_known_make_fields(&maker, event.template, &schema), -EBADMSG);
	field->flags = le16_of(WIRE_KNOWN_STRUCT);
	assert_int_equal(etw_known_make_fields(&maker, event.template, &schema), -EBADMSG);
	/* A struct of itself, and a length that refers to a later field. */
	field->link = le32_of(event.template);
	assert_int_equal(etw_known_make_fields(&maker, event.template, &schema), -EBADMSG);
	field->flags = le16_of(WIRE_KNOWN_COUNT_FIELD);
	field->count = le16_of(5);
	assert_int_equal(etw_known_make_fields(&maker, event.template, &schema), -EBADMSG);
	maker.field_count = KNOWN_FIELDS_MAX;
	field->flags = le16_of(0);
	assert_int_equal(etw_known_make_fields(&maker, event.template, &schema), -EBADMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_known_fields__members_refer_to_members),
		cmocka_unit_test(test_known_fields__incomplete_ones_end_before_what_is_not_known),
		cmocka_unit_test(test_known_fields__damaged_links_lead_nowhere),
	};

	return cmocka_run_group_tests(tests, open_known, close_known);
}
