/* SPDX-License-Identifier: MIT */
/* What a store makes of events while memory is scarce is no answer for later. */
#include <errno.h>

#include "synthetic/scarce_memory.h"
#include "unit/schema/store_events.h"

static const char manifest[] = MANIFEST("1", "a");

/* Whichever allocation fails, the same manifest is read when it comes again. */
static void test_store_scarce__an_embedded_manifest_is_read_again(void **state)
{
	uint8_t payload[8 + sizeof(manifest) - 1] = {1, 1, 0, 0x5b, 1, 0, 0, 0};
	const EVENT_RECORD event = event_of(&info_blob_provider, 7, 1, 0);
	EVENT_RECORD chunk = event_of(&info_blob_provider, 0xfffe, 1, 0);
	bool has_failed = true;

	if (IS_SANITIZED) {
		print_message("skipped: a sanitizer's allocator ends the program instead\n");
		skip();
	}
	memcpy(payload + 8, manifest, sizeof(manifest) - 1);
	chunk.EventHeader.EventDescriptor.Task = 0xfffe;
	chunk.EventHeader.EventDescriptor.Opcode = 0xfe;
	chunk.UserData = payload;
	chunk.UserDataLength = sizeof(payload);
	for (long i = 1; has_failed; i++) {
		int r;

		scarce_begin(i);
		r = etw_schema_store_learn(store, &chunk);
		has_failed = scarce_end();
		assert_int_equal(r, has_failed ? -ENOMEM : 0);
		if (has_failed)
			assert_int_equal(etw_schema_store_learn(store, &chunk), 0);
		assert_non_null(etw_schema_store_find(store, &event, NULL));
		assert_int_equal(end(state), 0);
		assert_int_equal(begin(state), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			test_store_scarce__an_embedded_manifest_is_read_again, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
