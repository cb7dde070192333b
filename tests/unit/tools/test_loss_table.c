/* SPDX-License-Identifier: MIT */
/* Loss by cause as a trace's notes tell it: the last number of a cell holds, and what is unknown does no harm. */
#include "tools/etw/loss_table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/loss.h"
#include "base/macros.h"

static void take(struct loss_table *table, uint32_t kind, uint64_t cause, uint64_t class_number,
		 uint64_t processor, uint64_t events)
{
	const struct wire_session_note note = {.kind = kind,
					       .numbers = {cause, class_number, processor, events}};

	loss_table_take(table, &note);
}

static void test_loss_table__the_last_note_of_a_cell_holds(void **state)
{
	CLEANUP(etw_text_done) struct etw_text text = {0}, json = {0};
	struct loss_table table = {0};

	(void)state;
	take(&table, WIRE_NOTE_LOST, ETW_LOSS_RING_FULL, ETW_LOSS_OF_SWITCHES, 0, 10);
	take(&table, WIRE_NOTE_LOST, ETW_LOSS_RING_FULL, ETW_LOSS_OF_SWITCHES, 1, 1000);
	take(&table, WIRE_NOTE_LOST, ETW_LOSS_RING_FULL, ETW_LOSS_OF_SWITCHES, 0, 200);
	take(&table, WIRE_NOTE_LOST, ETW_LOSS_RING_FULL, ETW_LOSS_OF_SAMPLES, 0, 3);
	take(&table, WIRE_NOTE_INCOMPLETE, ETW_LOSS_NO_FIELDS, ETW_LOSS_OF_SAMPLES,
	     ETW_LOSS_ANY_PROCESSOR, 4);
	take(&table, WIRE_NOTE_FILE_ENDED, ETW_LOSS_RING_FULL, 1, 1, 1);
	loss_table_write(&text, &table, "  ");
	assert_string_equal(
		etw_text_string(&text),
		"  lost, the kernel's ring was full: 1,200 context switches, 3 samples\n"
		"  incomplete, fields were not known: 4 samples\n");
	loss_table_write_json(&json, &table);
	assert_string_equal(
		etw_text_string(&json),
		",\"loss_by_cause\":[{\"cause\":\"ring_full\",\"class\":\"switches\",\"processor\":"
		"0,"
		"\"is_lost\":true,\"events\":200},{\"cause\":\"ring_full\",\"class\":\"switches\","
		"\"processor\":1,\"is_lost\":true,\"events\":1000},{\"cause\":\"ring_full\","
		"\"class\":\"samples\",\"processor\":0,\"is_lost\":true,\"events\":3},"
		"{\"cause\":\"no_fields\",\"class\":\"samples\",\"is_lost\":false,\"events\":4}]");
}

/* A trace can be anybody's. */
static void test_loss_table__unknown_numbers(void **state)
{
	CLEANUP(etw_text_done) struct etw_text text = {0}, json = {0};
	struct loss_table table = {0};

	(void)state;
	loss_table_write(&text, &table, "");
	loss_table_write_json(&json, &table);
	assert_string_equal(etw_text_string(&text), "");
	assert_string_equal(etw_text_string(&json), "");
	take(&table, WIRE_NOTE_LOST, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX);
	for (uint64_t i = 0; i < LOSS_CELLS_MAX + 1; i++)
		take(&table, WIRE_NOTE_LOST, ETW_LOSS_RING_FULL, 1, i, UINT64_MAX);
	assert_int_equal(table.count, LOSS_CELLS_MAX);
	loss_table_write(&text, &table, "");
	assert_non_null(strstr(etw_text_string(&text), "18,446,744,073,709,551,615 records"));
	assert_non_null(strstr(etw_text_string(&text), "2 notes of loss more\n"));
	loss_table_write_json(&json, &table);
	assert_non_null(strstr(etw_text_string(&json), "\"cause\":\"unknown\""));
}

static void test_loss_table__of_a_session(void **state)
{
	const struct wire_session_loss loss = {
		.sources = {{ETW_LOSS_THROTTLED, ETW_LOSS_OF_SAMPLES, 7}}};
	CLEANUP(etw_text_done) struct etw_text text = {0};
	struct loss_table table;

	(void)state;
	loss_table_of_session(&loss, &table);
	loss_table_write(&text, &table, "");
	assert_string_equal(etw_text_string(&text), "lost, perf held samples back: 7 samples\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_loss_table__the_last_note_of_a_cell_holds),
		cmocka_unit_test(test_loss_table__unknown_numbers),
		cmocka_unit_test(test_loss_table__of_a_session),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
