/* SPDX-License-Identifier: MIT */
/* Events, layouts, fields and classic events of the index. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <tdh.h>

#include "base/macros.h"
#include "known_fixture.h"

static void test_known_event__is_found_by_id_and_version(void **state)
{
	struct known_fixture *fixture = *state;
	struct etw_known_provider provider = find_provider(fixture,
							   "Microsoft-Windows-Kernel-Process");
	struct etw_known_layout layout;
	struct etw_known_field field;
	struct etw_known_event event;

	assert_int_equal(etw_known_event_find(fixture->known, &provider, 1, 1, &event), 0);
	assert_string_equal(event.channel_name, "Microsoft-Windows-Kernel-Process/Analytic");
	assert_string_equal(event.symbol, "ProcessStart");
	assert_int_equal(event.layout_count, 1);
	assert_int_equal(etw_known_layout_at(fixture->known, &event, 0, &layout), 0);
	assert_int_equal(layout.field_count, 6);
	assert_int_equal(etw_known_layout_at(fixture->known, &event, 1, &layout), -ENOENT);
	assert_int_equal(etw_known_field_at(fixture->known, layout.template, 1, &field), 0);
	assert_string_equal(field.name, "CreateTime");
	assert_int_equal(field.in_type, TDH_INTYPE_FILETIME);
	assert_int_equal(etw_known_field_at(fixture->known, layout.template, 6, &field), -ENOENT);
	assert_int_equal(etw_known_field_at(fixture->known, WIRE_KNOWN_NONE, 0, &field), -ENOENT);
	assert_int_equal(etw_known_event_find(fixture->known, &provider, 1, 99, &event), -ENOENT);
	assert_int_equal(etw_known_event_find(fixture->known, &provider, UINT16_MAX, 0, &event),
			 -ENOENT);
	assert_int_equal(
		etw_known_event_at(fixture->known, &provider, provider.event_count, &event),
		-ENOENT);
}

/* The first provider that has an event of several layouts, and the event. */
static void find_manifold(struct etw_known *known, struct etw_known_event *event)
{
	struct etw_known_provider provider;

	for (size_t i = 0; etw_known_provider_at(known, i, &provider) == 0; i++) {
		for (size_t j = 0; etw_known_event_at(known, &provider, j, event) == 0; j++) {
			if (event->layout_count > 1 && *provider.builds)
				return;
		}
	}
	fail_msg("no event has several layouts");
}

static void test_known_event__layouts_say_their_builds(void **state)
{
	struct known_fixture *fixture = *state;
	struct etw_known_layout layout;
	struct etw_known_event event;

	find_manifold(fixture->known, &event);
	for (size_t i = 0; i < event.layout_count; i++) {
		assert_int_equal(etw_known_layout_at(fixture->known, &event, i, &layout), 0);
		assert_true(*layout.builds || *layout.source);
	}
}

static void test_known_event__ranges_of_builds(void **state)
{
	(void)state;
	assert_true(etw_known_has_build("7600-9600,10240", 7600));
	assert_true(etw_known_has_build("7600-9600,10240", 9600));
	assert_true(etw_known_has_build("7600-9600,10240", 10240));
	assert_false(etw_known_has_build("7600-9600,10240", 9601));
	assert_false(etw_known_has_build("", 0));
	assert_false(etw_known_has_build("x-1", 0));
	assert_false(etw_known_has_build("x-1", 1));
	assert_false(etw_known_has_build("1;2", 2));
}

static void test_known_event__distances_from_builds(void **state)
{
	(void)state;
	assert_int_equal(etw_known_build_distance("7600-9600,10240", 9200), 0);
	assert_int_equal(etw_known_build_distance("7600-9600,10240", 7000), 600);
	assert_int_equal(etw_known_build_distance("7600-9600,10240", 10000), 240);
	assert_int_equal(etw_known_build_distance("7600-9600,10240", 26100), 15860);
	assert_int_equal(etw_known_build_distance("", 7600), UINT32_MAX);
	assert_int_equal(etw_known_build_distance("7600", 0), UINT32_MAX);
}

static void test_known_event__classes_have_versions_or_none(void **state)
{
	struct known_fixture *fixture = *state;
	struct etw_known_provider provider = find_provider(fixture, "Thread Pool");
	struct etw_known_class_field field;
	struct etw_known_class class;

	assert_int_equal(etw_known_class_find(fixture->known, &provider.guid, 32, 2, &class), 0);
	assert_int_equal(class.version, 2);
	assert_int_equal(etw_known_class_find(fixture->known, &provider.guid, 32, 9, &class), 0);
	assert_int_equal(class.version, UINT16_MAX);
	assert_string_equal(class.name, "TPCBEnqueue");
	assert_int_equal(etw_known_class_field_at(fixture->known, class.template, 0, &field), 0);
	assert_string_equal(field.type, "Pointer");
	assert_int_equal(etw_known_class_field_at(fixture->known, class.template, 99, &field),
			 -ENOENT);
	assert_int_equal(etw_known_class_field_at(fixture->known, WIRE_KNOWN_NONE, 0, &field),
			 -ENOENT);
	assert_int_equal(etw_known_class_find(fixture->known, &provider.guid, 5000, 2, &class),
			 -ENOENT);
	assert_int_equal(
		etw_known_class_at(fixture->known, &provider, provider.class_count, &class),
		-ENOENT);
}

static void test_known_event__damaged_numbers_lead_nowhere(void **state)
{
	struct known_fixture *fixture = *state;
	size_t bytes;
	CLEANUP(freep) struct wire_known_head *head = copy_index(fixture, &bytes);
	CLEANUP(etw_known_closep) struct etw_known *known = open_copy(head, bytes);
	struct etw_known_provider provider = find_provider(fixture,
							   "Microsoft-Windows-Kernel-Process");
	struct wire_known_event *item = item_of(head, WIRE_KNOWN_EVENTS, sizeof(*item),
						provider.first_event);
	const struct wire_known_event sound = *item;
	struct etw_known_layout layout;
	struct etw_known_event event;

	item->mask = le32_of(UINT32_MAX);
	assert_int_equal(etw_known_event_at(known, &provider, 0, &event), -EBADMSG);
	*item = sound;
	item->extra = le32_of(UINT32_MAX - 1);
	assert_int_equal(etw_known_event_at(known, &provider, 0, &event), -EBADMSG);
	*item = sound;
	item->builds = le16_of(UINT16_MAX);
	assert_int_equal(etw_known_event_at(known, &provider, 0, &event), -EBADMSG);
	*item = sound;
	item->other_count = le16_of(UINT16_MAX);
	assert_int_equal(etw_known_event_at(known, &provider, 0, &event), -EBADMSG);
	*item = sound;
	item->template = le32_of(UINT32_MAX - 1);
	assert_int_equal(etw_known_event_at(known, &provider, 0, &event), 0);
	assert_int_equal(etw_known_layout_at(known, &event, 0, &layout), -EBADMSG);
	provider.event_count = UINT32_MAX;
	assert_int_equal(etw_known_event_at(known, &provider, 0, &event), -EBADMSG);
	assert_int_equal(etw_known_event_find(known, &provider, 1, 1, &event), -EBADMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_known_event__is_found_by_id_and_version),
		cmocka_unit_test(test_known_event__layouts_say_their_builds),
		cmocka_unit_test(test_known_event__ranges_of_builds),
		cmocka_unit_test(test_known_event__distances_from_builds),
		cmocka_unit_test(test_known_event__classes_have_versions_or_none),
		cmocka_unit_test(test_known_event__damaged_numbers_lead_nowhere),
	};

	return cmocka_run_group_tests(tests, open_known, close_known);
}
