/* SPDX-License-Identifier: MIT */
/* What modes a session may have, and what its numbers are rounded to. */
#include "session/common/config.h"

#include "fixture.h"

#define CPUS 4

/* docs/format/contract-evntrace.md, "LogFileMode", as far as sessions with a file or consumers go. */
static const struct {
	uint32_t mode;
	bool has_file;
	uint32_t file_size;
	int result;
	const char *field; /* NULL: any */
} rows[] = {
	{0, true, 0, 0, NULL},
	{0x1, true, 0, 0, NULL},
	{0x100, false, 0, 0, NULL},
	{0x101, true, 0, 0, NULL},
	{0x08000001, true, 0, 0, NULL},
	{0x10000001, true, 0, 0, NULL},
	{0x02000001, true, 0, 0, NULL},
	{0x2001, true, 100, 0, NULL},
	{0x8, true, 100, -EINVAL, "LogFileName"},
	{0x11, true, 0, 0, NULL},
	{0x201, true, 0, 0, NULL},
	{0x04000001, true, 0, 0, NULL},
	{0x04000400, false, 0, 0, NULL},
	{0x06000400, false, 0, 0, NULL},
	{0x06000001, true, 0, -EINVAL, "EVENT_TRACE_COMPRESSED_MODE"},
	{0x04000002, true, 100, -EOPNOTSUPP, "EVENT_TRACE_COMPRESSED_MODE"},
	{0x5, true, 0, -EINVAL, "ClientContext"},
	{0x400, false, 0, 0, NULL},
	{0x500, false, 0, 0, NULL},
	{0x1001, true, 0, 0, NULL},
	{0x4001, true, 0, 0, NULL},
	{0x8001, true, 0, 0, NULL},
	{0x400001, true, 0, 0, NULL},
	{0x800001, true, 0, 0, NULL},
	{0x01000001, true, 0, 0, NULL},
	{0, false, 0, -EINVAL, "LogFileName"},
	{0x10001, true, 0, -EINVAL, "EVENT_TRACE_PRIVATE_LOGGER_MODE"},
	{0x20001, true, 0, -EINVAL, "EVENT_TRACE_PRIVATE_LOGGER_MODE"},
	{0x10801, true, 0, -EINVAL, "EVENT_TRACE_PRIVATE_LOGGER_MODE"},
	{0x2000801, true, 0, -EINVAL, "EVENT_TRACE_PRIVATE_LOGGER_MODE"},
	{0x821, true, 100, -EINVAL, "EVENT_TRACE_PRIVATE_LOGGER_MODE"},
	{0x80001, true, 0, -EOPNOTSUPP, "LogFileMode"},
	{0x80000001, true, 0, -EOPNOTSUPP, "EVENT_TRACE_ADDTO_TRIAGE_DUMP"},
	{0x2001, true, 0, -EINVAL, "MaximumFileSize"},
	{0x2100, false, 100, -EINVAL, "MaximumFileSize"},
	{0x3, true, 100, -EINVAL, "EVENT_TRACE_FILE_MODE_CIRCULAR"},
	{0x2, true, 0, -EINVAL, "MaximumFileSize"},
	{0x104, true, 0, -EINVAL, "EVENT_TRACE_FILE_MODE_APPEND"},
	{0x28, true, 100, -EINVAL, "EVENT_TRACE_FILE_MODE_NEWFILE"},
	{0x02000008, true, 100, -EINVAL, "EVENT_TRACE_FILE_MODE_NEWFILE"},
	{0x401, false, 0, -EINVAL, "EVENT_TRACE_BUFFERING_MODE"},
	{0x400, true, 0, -EINVAL, "EVENT_TRACE_BUFFERING_MODE"},
	{0x900, true, 0, -EINVAL, "EVENT_TRACE_PRIVATE_LOGGER_MODE"},
	{0x1100, false, 0, -EINVAL, "EVENT_TRACE_ADD_HEADER_MODE"},
	{0xC001, true, 0, -EINVAL, "EVENT_TRACE_USE_GLOBAL_SEQUENCE"},
	{0xC00001, true, 0, -EINVAL, "EVENT_TRACE_STOP_ON_HYBRID_SHUTDOWN"},
	{0x03000001, true, 0, -EINVAL, "EVENT_TRACE_USE_PAGED_MEMORY"},
	{0x2, true, 100, 0, NULL},
	{0x22, true, 100, 0, NULL},
	{0x21, true, 100, 0, NULL},
	{0x21, true, 0, -EINVAL, "MaximumFileSize"},
	{0x41, true, 0, -EINVAL, "EVENT_TRACE_NONSTOPPABLE_MODE"},
	{0x140, true, 0, -EINVAL, "EVENT_TRACE_NONSTOPPABLE_MODE"},
	{0x140, false, 0, 0, NULL},
	{0x801, true, 0, 0, NULL},
	{0x20801, true, 0, 0, NULL},
	{0x40000001, true, 0, -EOPNOTSUPP, "LogFileMode"},
	{0x20000001, true, 0, -EOPNOTSUPP, "LogFileMode"},
};

static struct wire_session_config config_of(uint32_t mode, bool has_file, uint32_t file_size)
{
	struct wire_session_config config = {
		.name = "x", .log_file_mode = mode, .maximum_file_size = file_size};

	if (has_file)
		(void)snprintf(config.log_file, sizeof(config.log_file), "/tmp/x.etl");
	return config;
}

static void test_config__modes(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct wire_session_config config = config_of(rows[i].mode, rows[i].has_file,
							      rows[i].file_size);
		struct etw_session_plan plan;
		struct etw_fault fault = {0};
		int result = etw_session_config_settle(&config, CPUS, &plan, &fault);

		if (result != rows[i].result ||
		    (rows[i].field && strcmp(rows[i].field, fault.field) != 0))
			fail_msg("mode %#x: %d, %s", rows[i].mode, result, fault.field);
		if (result < 0)
			assert_non_null(fault.sentence);
	}
}

/* A series of files: one %d, and no system logger. */
static void test_config__series(void **state)
{
	struct wire_session_config config = config_of(EVENT_TRACE_FILE_MODE_NEWFILE, true, 100);
	struct etw_session_plan plan;
	struct etw_fault fault = {0};

	(void)state;
	(void)snprintf(config.log_file, sizeof(config.log_file), "/tmp/x-%%d.etl");
	assert_int_equal(etw_session_config_settle(&config, CPUS, &plan, &fault), 0);
	assert_int_equal(config.log_file_mode,
			 EVENT_TRACE_FILE_MODE_NEWFILE | EVENT_TRACE_FILE_MODE_SEQUENTIAL);
	(void)snprintf(config.name, sizeof(config.name), "NT Kernel Logger");
	assert_int_equal(etw_session_config_settle(&config, CPUS, &plan, &fault), -EINVAL);
}

/* Each place of a circular file takes room in the state's addresses, of which a process has so many. */
static void test_config__circular_places(void **state)
{
	struct wire_session_config config = config_of(EVENT_TRACE_FILE_MODE_CIRCULAR, true,
						      UINT32_MAX);
	struct etw_session_plan plan;
	struct etw_fault fault = {0};

	(void)state;
	config.buffer_kib = ETW_SESSION_BUFFER_KIB_MIN;
	assert_int_equal(etw_session_config_settle(&config, CPUS, &plan, &fault), -EINVAL);
	assert_string_equal(fault.field, "MaximumFileSize");
	config.maximum_file_size = 256 * 1024; /* of 4 KiB each, 2^26 */
	assert_int_equal(etw_session_config_settle(&config, CPUS, &plan, &fault), 0);
	assert_int_equal(plan.file_places, ETW_SESSION_FILE_PLACES_MAX - 1);
	config.maximum_file_size++;
	assert_int_equal(etw_session_config_settle(&config, CPUS, &plan, &fault), -EINVAL);
	config.buffer_kib = 1024;
	assert_int_equal(etw_session_config_settle(&config, CPUS, &plan, &fault), 0);
}

static struct etw_session_plan settle(struct wire_session_config *config)
{
	struct etw_session_plan plan;
	struct etw_fault fault;

	assert_int_equal(etw_session_config_settle(config, CPUS, &plan, &fault), 0);
	return plan;
}

static void test_config__buffers(void **state)
{
	struct wire_session_config config = config_of(0, true, 0);
	struct etw_session_plan plan = settle(&config);

	(void)state;
	assert_int_equal(config.buffer_kib, 64);
	assert_int_equal(config.minimum_buffers, 2 * CPUS);
	assert_int_equal(config.maximum_buffers, 64 * CPUS); /* 4 MiB a processor */
	assert_int_equal(plan.ring_buffers, 64);
	assert_int_equal(plan.buffer_bytes, 65536);
	config = config_of(0, true, 0);
	config.buffer_kib = 1;
	config.minimum_buffers = 100;
	config.maximum_buffers = 3;
	plan = settle(&config);
	assert_int_equal(config.buffer_kib, 4);
	assert_int_equal(config.minimum_buffers, 100);
	assert_int_equal(config.maximum_buffers, 120);
	assert_int_equal(plan.ring_buffers, 30);
	config = config_of(0, true, 0);
	config.minimum_buffers = 9;
	config.maximum_buffers = 10;
	plan = settle(&config);
	assert_int_equal(config.minimum_buffers, 9);
	assert_int_equal(config.maximum_buffers, 10);
	assert_int_equal(plan.ring_buffers, 3);
	config = config_of(0, true, 0);
	config.minimum_buffers = 64 * CPUS;
	plan = settle(&config);
	assert_int_equal(config.maximum_buffers, 64 * CPUS + 20);
	config = config_of(0, true, 0);
	config.buffer_kib = 100000;
	plan = settle(&config);
	assert_int_equal(config.buffer_kib, 16384);
	assert_true(plan.ring_buffers >= 2);
	config = config_of(0, true, 0);
	config.maximum_buffers = UINT32_MAX;
	config.buffer_kib = 4;
	plan = settle(&config);
	assert_true(plan.ring_buffers <= WIRE_RING_BUFFERS_MAX);
	config = config_of(0x10000000, true, 0);
	plan = settle(&config);
	assert_int_equal(config.minimum_buffers, 2);
	assert_int_equal(plan.output_count, 1);
	assert_int_equal(plan.ring_flags, WIRE_RING_ONE_STREAM);
}

/* What a buffering session keeps is MinimumBuffers, and its rings are no larger for that. */
static void test_config__buffering(void **state)
{
	struct wire_session_config config =
		config_of(EVENT_TRACE_BUFFERING_MODE | EVENT_TRACE_REAL_TIME_MODE, false, 0);
	struct etw_session_plan plan;

	(void)state;
	config.minimum_buffers = 1000;
	config.maximum_buffers = 5;
	config.flush_timer = 7;
	plan = settle(&config);
	assert_int_equal(plan.history_buffers, 1000);
	assert_int_equal(plan.ring_buffers, 64);
	assert_int_equal(plan.is_realtime, 0);
	assert_int_equal(plan.file_flush_ns, 0);
	assert_int_equal(plan.batch_flush_ns, 0);
	config = config_of(EVENT_TRACE_BUFFERING_MODE, false, 0);
	plan = settle(&config);
	assert_int_equal(plan.history_buffers, 2 * CPUS);
}

/* The file says both modes, as Windows' do. */
static void test_config__append(void **state)
{
	struct wire_session_config config = config_of(EVENT_TRACE_FILE_MODE_APPEND, true, 0);

	(void)state;
	config.clock_type = ETW_CLOCK_SYSTEM;
	(void)settle(&config);
	assert_int_equal(config.log_file_mode,
			 EVENT_TRACE_FILE_MODE_APPEND | EVENT_TRACE_FILE_MODE_SEQUENTIAL);
}

/* No message that could have one is written yet: rings say nothing of them. */
static void test_config__sequence_numbers(void **state)
{
	struct wire_session_config config = config_of(EVENT_TRACE_USE_GLOBAL_SEQUENCE, true, 0);

	(void)state;
	assert_int_equal(settle(&config).ring_flags, 0);
	config = config_of(EVENT_TRACE_USE_LOCAL_SEQUENCE, true, 0);
	assert_int_equal(settle(&config).ring_flags, 0);
	assert_int_equal(config.log_file_mode, EVENT_TRACE_USE_LOCAL_SEQUENCE);
}

static void test_config__timers(void **state)
{
	struct wire_session_config config = config_of(0, true, 0);
	struct etw_session_plan plan = settle(&config);

	(void)state;
	assert_int_equal(plan.file_flush_ns, 0);
	assert_int_equal(plan.batch_flush_ns, 0);
	config = config_of(0x100, true, 0);
	plan = settle(&config);
	assert_int_equal(config.flush_timer, 1);
	assert_int_equal(plan.file_flush_ns, 0);
	assert_int_equal(plan.batch_flush_ns, 1000000000);
	config = config_of(0x110, true, 0);
	config.flush_timer = 20;
	plan = settle(&config);
	assert_int_equal(plan.file_flush_ns, 20000000);
	assert_int_equal(plan.batch_flush_ns, 20000000);
	config = config_of(0x110, false, 0);
	plan = settle(&config);
	assert_int_equal(config.flush_timer, 1000);
}

static void test_config__clock_and_kernel(void **state)
{
	static const GUID kernel = {
		0x9e814aad, 0x3204, 0x11d2, {0x9a, 0x82, 0x00, 0x60, 0x08, 0xa8, 0x69, 0x39}};
	struct wire_session_config config = config_of(0, true, 0);
	struct etw_session_plan plan = settle(&config);
	struct etw_fault fault;

	(void)state;
	assert_int_equal(plan.clock_type, ETW_CLOCK_QPC);
	assert_int_equal(plan.is_kernel, 0);
	config = config_of(0, true, 0);
	config.clock_type = 4;
	assert_int_equal(etw_session_config_settle(&config, CPUS, &plan, &fault), -EINVAL);
	assert_string_equal(fault.field, "ClientContext");
	config = config_of(0, true, 0);
	(void)snprintf(config.name, sizeof(config.name), "nt kernel logger");
	plan = settle(&config);
	assert_int_equal(plan.is_kernel, 1);
	assert_memory_equal(&config.guid, &kernel, sizeof(kernel));
	(void)snprintf(config.name, sizeof(config.name), "circular kernel context logger");
	assert_int_equal(settle(&config).is_kernel, 1);
	assert_memory_not_equal(&config.guid, &kernel, sizeof(kernel));
	config = config_of(0x08000000, true, 0);
	config.enable_flags = 1;
	plan = settle(&config);
	assert_int_equal(plan.is_kernel, 0);
	assert_int_equal(config.enable_flags, 0);
	assert_int_equal(config.kernel.parts, 0);
	assert_int_equal(plan.ring_flags, WIRE_RING_INDEPENDENT);
	config = config_of(0x02000000, true, 0);
	config.enable_flags = 1;
	assert_int_equal(settle(&config).is_kernel, 1);
	assert_int_equal(config.enable_flags, 1);
	config = config_of(0x02000000, true, 0);
	assert_int_equal(settle(&config).is_kernel, 1);
	config = config_of(0, true, 0);
	config.log_file[0] = 'x';
	assert_int_equal(etw_session_config_settle(&config, CPUS, &plan, &fault), -EINVAL);
	assert_true(etw_session_cpu_count() >= 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_config__modes),
		cmocka_unit_test(test_config__series),
		cmocka_unit_test(test_config__buffers),
		cmocka_unit_test(test_config__sequence_numbers),
		cmocka_unit_test(test_config__buffering),
		cmocka_unit_test(test_config__append),
		cmocka_unit_test(test_config__circular_places),
		cmocka_unit_test(test_config__timers),
		cmocka_unit_test(test_config__clock_and_kernel),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
