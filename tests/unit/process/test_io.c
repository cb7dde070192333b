/* SPDX-License-Identifier: MIT */
/* What processes read and write, as process/usage.h hands events to process/io.h. */
#include "process/io.h"

#include "kernel_event.h"
#include "process/usage.h"
#include "wire/class_guids.h"

static const GUID disk_io = WIRE_CLASS_DISK_IO, file_io = WIRE_CLASS_FILE_IO,
		  tcp_ip = WIRE_CLASS_TCP_IP, udp_ip = WIRE_CLASS_UDP_IP;

struct run {
	struct fixture fixture;
	struct etw_process_usage usage;
};

/* Process 40 has the thread 41. */
static void begin(struct run *run)
{
	const struct made_process process = {40, 4, 0, 1, "reader", ""};

	memset(run, 0, sizeof(*run));
	fixture_init(&run->fixture);
	fixture_process(&run->fixture, 10, ETW_OPCODE_START, &process);
	fixture_thread(&run->fixture, 10, ETW_OPCODE_DC_START, 40, 41, "");
}

static void end(struct run *run)
{
	etw_process_usage_done(&run->usage);
	fixture_done(&run->fixture);
}

static void add(struct run *run, struct made_event *made)
{
	struct etw_decoding decoding;

	made->record.EventHeader.TimeStamp.QuadPart = 100;
	assert_int_equal(etw_decoder_run(run->fixture.decoder, &made->record, &decoding), 0);
	assert_int_equal(
		etw_process_usage_add(&run->usage, run->fixture.processes, &decoding, 0, 10000), 0);
}

static void add_disk(struct run *run, unsigned opcode, uint32_t bytes, uint32_t tid)
{
	struct made_event made;

	made_begin(&made, &disk_io, opcode, 3);
	made_number(&made, 0, 4);
	made_number(&made, 0, 4);
	made_number(&made, bytes, 4);
	made_number(&made, 0, 4);
	made_number(&made, 4096, 8); /* ByteOffset */
	made_number(&made, 0, 8);
	made_number(&made, 0, 8);
	made_number(&made, 5, 8);
	made_number(&made, tid, 4);
	add(run, &made);
}

static void add_file(struct run *run, unsigned opcode, uint64_t irp, uint32_t bytes)
{
	struct made_event made;

	made_begin(&made, &file_io, opcode, 3);
	made_number(&made, 0, 8);
	made_number(&made, irp, 8);
	made_number(&made, 1, 8);
	made_number(&made, 2, 8);
	made_number(&made, 41, 4);
	made_number(&made, bytes, 4);
	made_number(&made, 0, 4);
	add(run, &made);
}

static void add_file_end(struct run *run, uint64_t irp, uint64_t moved, uint32_t status)
{
	struct made_event made;

	made_begin(&made, &file_io, 76, 3);
	made_number(&made, irp, 8);
	made_number(&made, moved, 8);
	made_number(&made, status, 4);
	add(run, &made);
}

static void add_network(struct run *run, const GUID *class_guid, unsigned opcode, uint32_t pid,
			uint32_t bytes)
{
	struct made_event made;
	bool is_ip6 = opcode > 20;

	made_begin(&made, class_guid, opcode, 2);
	made_number(&made, pid, 4);
	made_number(&made, bytes, 4);
	for (unsigned i = 0; i < (is_ip6 ? 4 : 1); i++)
		made_number(&made, 0, 8); /* addresses */
	made_number(&made, 0, 4);         /* ports */
	if (class_guid == &tcp_ip && (opcode == 10 || opcode == 26))
		made_number(&made, 0, 8);
	made_number(&made, 0, 4);
	made_number(&made, 0, 8);
	add(run, &made);
}

/* Of the process with this id. */
static uint64_t bytes_of(struct run *run, uint32_t pid, enum etw_process_io_kind kind)
{
	assert_int_equal(etw_process_usage_sort(&run->usage), 0);
	for (size_t i = 0; i < run->usage.shares.count; i++)
		if (run->usage.sorted[i]->pid == pid)
			return etw_process_io_bytes(&run->usage.io, &run->usage.sorted[i]->io,
						    kind);
	fail_msg("no process %u", pid);
	return 0;
}

static void test_io__sums_disks_by_who_asked(UNUSED_STATE)
{
	struct run run;

	begin(&run);
	add_disk(&run, 10, 4096, 41);
	add_disk(&run, 10, 8192, 41);
	add_disk(&run, 11, 512, 41);
	add_disk(&run, 11, 1024, 77); /* a thread that nothing tells of */
	assert_int_equal(bytes_of(&run, 40, ETW_PROCESS_DISK_READ), 12288);
	assert_int_equal(bytes_of(&run, 40, ETW_PROCESS_DISK_WRITTEN), 512);
	assert_int_equal(bytes_of(&run, ETW_PROCESS_NONE, ETW_PROCESS_DISK_WRITTEN), 1024);
	assert_true(etw_process_io_has(&run.usage.io, ETW_PROCESS_DISKS));
	assert_false(etw_process_io_has(&run.usage.io, ETW_PROCESS_FILES));
	end(&run);
}

static void test_io__counts_what_a_file_gave(UNUSED_STATE)
{
	struct run run;

	begin(&run);
	add_file(&run, 67, 1, 65536);
	add_file_end(&run, 1, 100, 0);
	assert_int_equal(bytes_of(&run, 40, ETW_PROCESS_FILE_READ), 100);
	add_file_end(&run, 1, 50, 0); /* of nothing that is open */
	add_file(&run, 67, 2, 1000);  /* its end is missing: as asked */
	add_file(&run, 68, 3, 300);
	add_file_end(&run, 3, 300, 0xC000007F);
	add_file(&run, 68, 4, 300);
	add_file_end(&run, 4, 300, 0);
	assert_int_equal(bytes_of(&run, 40, ETW_PROCESS_FILE_READ), 1100);
	assert_int_equal(bytes_of(&run, 40, ETW_PROCESS_FILE_WRITTEN), 300);
	end(&run);
}

static void test_io__an_end_of_another_kind_takes_nothing_away(UNUSED_STATE)
{
	struct run run;

	begin(&run);
	for (uint64_t irp = 1; irp <= 3 * ETW_PROCESS_IO_OPEN; irp++)
		add_file(&run, 67, irp, 10);
	/* Most were forgotten: what they asked for stays. */
	for (uint64_t irp = 1; irp <= 3 * ETW_PROCESS_IO_OPEN; irp++)
		add_file_end(&run, irp, UINT64_MAX, 0);
	assert_int_equal(bytes_of(&run, 40, ETW_PROCESS_FILE_READ), 30 * ETW_PROCESS_IO_OPEN);
	end(&run);
}

static void test_io__sums_the_network_by_the_payloads_process(UNUSED_STATE)
{
	struct run run;

	begin(&run);
	add_network(&run, &tcp_ip, 10, 40, 1);
	add_network(&run, &tcp_ip, 26, 40, 20);
	add_network(&run, &udp_ip, 10, 40, 300);
	add_network(&run, &udp_ip, 26, 40, 4000);
	add_network(&run, &tcp_ip, 11, 40, 5);
	add_network(&run, &udp_ip, 27, 40, 60);
	add_network(&run, &tcp_ip, 14, 40, 7000); /* sent once more */
	assert_int_equal(bytes_of(&run, 40, ETW_PROCESS_SENT), 4321);
	assert_int_equal(bytes_of(&run, 40, ETW_PROCESS_RECEIVED), 65);
	end(&run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_io__sums_disks_by_who_asked),
		cmocka_unit_test(test_io__counts_what_a_file_gave),
		cmocka_unit_test(test_io__an_end_of_another_kind_takes_nothing_away),
		cmocka_unit_test(test_io__sums_the_network_by_the_payloads_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
