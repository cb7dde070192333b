/* SPDX-License-Identifier: MIT */
/* Every field of the .etl layouts at the offset that docs/format/etl.md gives it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/macros.h"
#include "wire/etl_buffer.h"
#include "wire/etl_event.h"
#include "wire/etl_logfile.h"

struct row {
	const char *name;
	size_t offset, bytes;
	size_t want_offset, want_bytes;
};

#define ROW(type, field, offset, bytes)                                                            \
	{                                                                                          \
#type "." #field, offsetof(struct type, field), sizeof(((struct type *)0)->field), \
			offset, bytes                                                              \
	}

static const struct row rows[] = {
	ROW(wire_buffer_header, buffer_bytes, 0x00, 4),
	ROW(wire_buffer_header, saved_offset, 0x04, 4),
	ROW(wire_buffer_header, current_offset, 0x08, 4),
	ROW(wire_buffer_header, reference_count, 0x0C, 4),
	ROW(wire_buffer_header, time_raw, 0x10, 8),
	ROW(wire_buffer_header, sequence, 0x18, 8),
	ROW(wire_buffer_header, reserved_clock, 0x20, 8),
	ROW(wire_buffer_header, processor, 0x28, 2),
	ROW(wire_buffer_header, logger_id, 0x2A, 2),
	ROW(wire_buffer_header, state, 0x2C, 4),
	ROW(wire_buffer_header, valid_bytes, 0x30, 4),
	ROW(wire_buffer_header, flags, 0x34, 2),
	ROW(wire_buffer_header, type, 0x36, 2),
	ROW(wire_buffer_header, reference_start, 0x38, 8),
	ROW(wire_buffer_header, reference_clock, 0x40, 8),
	ROW(wire_system_header, version, 0x00, 2),
	ROW(wire_system_header, header_type, 0x02, 1),
	ROW(wire_system_header, header_flag, 0x03, 1),
	ROW(wire_system_header, bytes, 0x04, 2),
	ROW(wire_system_header, type, 0x06, 1),
	ROW(wire_system_header, group, 0x07, 1),
	ROW(wire_system_header, thread_id, 0x08, 4),
	ROW(wire_system_header, process_id, 0x0C, 4),
	ROW(wire_system_header, time_raw, 0x10, 8),
	ROW(wire_system_header, kernel_ticks, 0x18, 4),
	ROW(wire_system_header, user_ticks, 0x1C, 4),
	ROW(wire_perfinfo_header, bytes, 0x04, 2),
	ROW(wire_perfinfo_header, time_raw, 0x08, 8),
	ROW(wire_full_header, bytes, 0x00, 2),
	ROW(wire_full_header, type, 0x04, 1),
	ROW(wire_full_header, level, 0x05, 1),
	ROW(wire_full_header, version, 0x06, 2),
	ROW(wire_full_header, thread_id, 0x08, 4),
	ROW(wire_full_header, process_id, 0x0C, 4),
	ROW(wire_full_header, time_raw, 0x10, 8),
	ROW(wire_full_header, guid, 0x18, 16),
	ROW(wire_full_header, kernel_ticks, 0x28, 4),
	ROW(wire_full_header, user_ticks, 0x2C, 4),
	ROW(wire_instance_header, instance_id, 0x30, 4),
	ROW(wire_instance_header, parent_instance_id, 0x34, 4),
	ROW(wire_instance_header, parent_guid, 0x38, 16),
	ROW(wire_event_header, bytes, 0x00, 2),
	ROW(wire_event_header, flags, 0x04, 2),
	ROW(wire_event_header, property, 0x06, 2),
	ROW(wire_event_header, thread_id, 0x08, 4),
	ROW(wire_event_header, process_id, 0x0C, 4),
	ROW(wire_event_header, time_raw, 0x10, 8),
	ROW(wire_event_header, provider, 0x18, 16),
	ROW(wire_event_header, id, 0x28, 2),
	ROW(wire_event_header, version, 0x2A, 1),
	ROW(wire_event_header, channel, 0x2B, 1),
	ROW(wire_event_header, level, 0x2C, 1),
	ROW(wire_event_header, opcode, 0x2D, 1),
	ROW(wire_event_header, task, 0x2E, 2),
	ROW(wire_event_header, keyword, 0x30, 8),
	ROW(wire_event_header, kernel_ticks, 0x38, 4),
	ROW(wire_event_header, user_ticks, 0x3C, 4),
	ROW(wire_event_header, activity, 0x40, 16),
	ROW(wire_extended_item, bytes, 0x00, 2),
	ROW(wire_extended_item, type, 0x02, 2),
	ROW(wire_extended_item, linkage, 0x04, 2),
	ROW(wire_extended_item, data_bytes, 0x06, 2),
	ROW(wire_message_header, bytes, 0x00, 2),
	ROW(wire_message_header, header_flag, 0x03, 1),
	ROW(wire_message_header, number, 0x04, 2),
	ROW(wire_message_header, options, 0x06, 2),
	ROW(wire_logfile_head, buffer_bytes, 0x00, 4),
	ROW(wire_logfile_head, os_major, 0x04, 1),
	ROW(wire_logfile_head, layout_major, 0x06, 1),
	ROW(wire_logfile_head, os_build, 0x08, 4),
	ROW(wire_logfile_head, processors, 0x0C, 4),
	ROW(wire_logfile_head, end_ft, 0x10, 8),
	ROW(wire_logfile_head, timer_resolution, 0x18, 4),
	ROW(wire_logfile_head, maximum_file_size, 0x1C, 4),
	ROW(wire_logfile_head, log_file_mode, 0x20, 4),
	ROW(wire_logfile_head, buffers_written, 0x24, 4),
	ROW(wire_logfile_head, start_buffers, 0x28, 4),
	ROW(wire_logfile_head, pointer_bytes, 0x2C, 4),
	ROW(wire_logfile_head, events_lost, 0x30, 4),
	ROW(wire_logfile_head, cpu_mhz, 0x34, 4),
};

static void test_layouts__every_field(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if (rows[i].offset != rows[i].want_offset || rows[i].bytes != rows[i].want_bytes)
			fail_msg("%s: %zu bytes at %#zx", rows[i].name, rows[i].bytes,
				 rows[i].offset);
	}
}

/* The tail's offsets count from the header's start: 0x40 behind two 32-bit pointers, 0x48 else. */
static void test_layouts__logfile_tail_in_both_forms(void **state)
{
	const size_t tails[] = {WIRE_LOGFILE_BYTES32 - sizeof(struct wire_logfile_tail),
				WIRE_LOGFILE_BYTES64 - sizeof(struct wire_logfile_tail)};

	(void)state;
	assert_int_equal(tails[0], 0x40);
	assert_int_equal(tails[1], 0x48);
	assert_int_equal(tails[0] + offsetof(struct wire_logfile_tail, boot_ft), 0xF0);
	assert_int_equal(tails[1] + offsetof(struct wire_logfile_tail, boot_ft), 0xF8);
	assert_int_equal(tails[0] + offsetof(struct wire_logfile_tail, perf_frequency), 0xF8);
	assert_int_equal(tails[1] + offsetof(struct wire_logfile_tail, perf_frequency), 0x100);
	assert_int_equal(tails[0] + offsetof(struct wire_logfile_tail, start_ft), 0x100);
	assert_int_equal(tails[1] + offsetof(struct wire_logfile_tail, start_ft), 0x108);
	assert_int_equal(tails[0] + offsetof(struct wire_logfile_tail, clock_type), 0x108);
	assert_int_equal(tails[1] + offsetof(struct wire_logfile_tail, clock_type), 0x110);
	assert_int_equal(tails[0] + offsetof(struct wire_logfile_tail, buffers_lost), 0x10C);
	assert_int_equal(tails[1] + offsetof(struct wire_logfile_tail, buffers_lost), 0x114);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_layouts__every_field),
		cmocka_unit_test(test_layouts__logfile_tail_in_both_forms),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
