/* SPDX-License-Identifier: MIT */
/* Operations of files: the bytes of their events, field by field, and which system calls they are. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "fake_source_host.h"
#include "source/kernel/events/cpu_events.h"
#include "source/kernel/events/nt_status.h"
#include "source/kernel/programs/file_calls.h"

#define TIME_RAW INT64_C(0x1122334455667788)
#define IRP      UINT64_C(0x100000002)
#define FILE_ID  UINT64_C(0x300000004)
#define KEY      UINT64_C(0xffff888000000005)
#define TID      6u

struct fixture {
	struct fake_source_host fake;
	struct etw_kernel_routines routines;
	struct etw_kernel_file_names names;
	struct etw_kernel_cpu_maker maker;
	struct {
		struct etw_kernel_cpu_record head;
		union {
			struct etw_kernel_file_begin begin;
			struct etw_kernel_file_end end;
		};
		char path[64];
	} record;
	uint8_t bytes[ETW_KERNEL_CPU_EVENT_MAX] __attribute__((aligned(8)));
};

static int set_up(void **state)
{
	static struct fixture fixture;

	memset(&fixture, 0, sizeof(fixture));
	fake_source_host_init(&fixture.fake);
	fixture.maker = (struct etw_kernel_cpu_maker){
		.host = &fixture.fake.host,
		.routines = &fixture.routines,
		.file_names = &fixture.names,
	};
	*state = &fixture;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	etw_kernel_file_names_done(&fixture->names);
	return 0;
}

/* Returns the event's payload; all of its bytes are what the header says. */
static const uint8_t *make(struct fixture *fixture, uint16_t kind, uint16_t payload_bytes,
			   uint16_t hook, uint32_t event_payload_bytes)
{
	uint32_t bytes;

	fixture->record.head = (struct etw_kernel_cpu_record){.kind = kind,
							      .payload_bytes = payload_bytes};
	bytes = etw_kernel_cpu_event(&fixture->maker, &fixture->record.head, TIME_RAW,
				     fixture->bytes);
	assert_int_equal(bytes, 16 + event_payload_bytes);
	assert_int_equal(etw_load16(fixture->bytes), 3);
	assert_int_equal(fixture->bytes[2], 0x11);
	assert_int_equal(etw_load16(fixture->bytes + 4), bytes);
	assert_int_equal(etw_load16(fixture->bytes + 6), hook);
	assert_int_equal(etw_load64(fixture->bytes + 8), TIME_RAW);
	return fixture->bytes + 16;
}

static const uint8_t *begin(struct fixture *fixture, uint16_t type, const char *path,
			    uint32_t event_payload_bytes)
{
	struct etw_kernel_file_begin *record = &fixture->record.begin;
	size_t path_bytes = path ? strlen(path) + 1 : 0;

	record->irp = IRP;
	record->file = FILE_ID;
	record->key = KEY;
	record->tid = TID;
	record->type = type;
	record->path_bytes = (uint16_t)path_bytes;
	if (path)
		memcpy(fixture->record.path, path, path_bytes);
	return make(fixture, ETW_KERNEL_FILE_BEGIN,
		    (uint16_t)(sizeof(*record) + ((path_bytes + 7) & ~(size_t)7)),
		    (uint16_t)(0x0400 | type), event_payload_bytes);
}

static void check_ids(const uint8_t *at)
{
	assert_int_equal(etw_load64(at), IRP);
	assert_int_equal(etw_load64(at + 8), FILE_ID);
	assert_int_equal(etw_load64(at + 16), KEY);
}

static void a_create_has_its_path_and_options(void **state)
{
	struct fixture *fixture = *state;
	const uint8_t *at;

	fixture->record.begin.options = O_CREAT | O_EXCL | O_WRONLY | O_DIRECT;
	fixture->record.begin.attributes = 0444;
	at = begin(fixture, ETW_KERNEL_FILE_CREATE, "/a", 32 + 6);
	assert_int_equal(etw_load64(at), IRP);
	assert_int_equal(etw_load64(at + 8), FILE_ID);
	assert_int_equal(etw_load32(at + 16), TID);
	assert_int_equal(etw_load32(at + 20), 0x02000008); /* FILE_CREATE, no buffering */
	assert_int_equal(etw_load32(at + 24), 1);          /* read-only */
	assert_int_equal(etw_load32(at + 28), 7);
	assert_int_equal(etw_load16(at + 32), '/');
	assert_int_equal(etw_load16(at + 34), 'a');
	assert_int_equal(etw_load16(at + 36), 0);
}

static uint32_t options_of(struct fixture *fixture, int options, uint32_t call_flags)
{
	fixture->record.begin.options = (uint32_t)options;
	fixture->record.begin.attributes = 0644;
	fixture->record.begin.call_flags = call_flags;
	return etw_load32(begin(fixture, ETW_KERNEL_FILE_CREATE, "/", 32 + 4) + 20);
}

static void flags_of_open_become_options(void **state)
{
	struct fixture *fixture = *state;

	assert_int_equal(options_of(fixture, O_RDONLY, 0), 0x01000000);
	assert_int_equal(options_of(fixture, O_CREAT | O_RDWR, 0), 0x03000000);
	assert_int_equal(options_of(fixture, O_TRUNC | O_RDWR, 0), 0x04000000);
	assert_int_equal(options_of(fixture, O_CREAT | O_TRUNC | O_RDWR, 0), 0x05000000);
	assert_int_equal(options_of(fixture, 0, ETW_KERNEL_CALL_TRUNCATES), 0x05000000);
	assert_int_equal(options_of(fixture, O_DIRECTORY, 0), 0x01000001);
	assert_int_equal(options_of(fixture, O_NOFOLLOW | O_SYNC, 0), 0x01200002);
	assert_int_equal(options_of(fixture, 0, ETW_KERNEL_CALL_FOLDER), 0x02000001);
	assert_int_equal(options_of(fixture, 0, ETW_KERNEL_CALL_MAKES), 0x02000000);
#ifdef O_TMPFILE
	assert_int_equal(options_of(fixture, O_TMPFILE | O_RDWR, 0), 0x01001000);
#endif
}

static void a_path_begins_at_a_folder_that_was_told(void **state)
{
	struct fixture *fixture = *state;
	const uint8_t *at;

	etw_kernel_file_names_put(&fixture->names, 9, 0, "/d", 2);
	fixture->record.begin.folder = 9;
	at = begin(fixture, ETW_KERNEL_FILE_CREATE, ".//./b/../c/", 32 + 2 * 10);
	for (size_t i = 0; i < 10; i++)
		assert_int_equal(etw_load16(at + 32 + i * 2), (uint8_t) "/d/b/../c"[i]);
	/* Of a folder that was not told, the path stays as it is. */
	fixture->record.begin.folder = 8;
	at = begin(fixture, ETW_KERNEL_FILE_CREATE, "b", 32 + 4);
	assert_int_equal(etw_load16(at + 32), 'b');
}

static void a_read_says_where_and_how_much(void **state)
{
	struct fixture *fixture = *state;
	const uint8_t *at;

	fixture->record.begin.offset = 0x123456789;
	fixture->record.begin.byte_count = 77;
	fixture->record.begin.options = O_DIRECT;
	at = begin(fixture, ETW_KERNEL_FILE_READ, NULL, 48);
	assert_int_equal(etw_load64(at), 0x123456789);
	check_ids(at + 8);
	assert_int_equal(etw_load32(at + 32), TID);
	assert_int_equal(etw_load32(at + 36), 77);
	assert_int_equal(etw_load32(at + 40), 1);
	assert_int_equal(etw_load32(at + 44), 0);
	fixture->record.begin.options = 0;
	fixture->record.begin.call_flags = ETW_KERNEL_CALL_MAPPED;
	at = begin(fixture, ETW_KERNEL_FILE_WRITE, NULL, 48);
	assert_int_equal(etw_load32(at + 40), 2); /* paging I/O */
}

static void simple_operations_have_their_ids(void **state)
{
	static const uint16_t types[] = {ETW_KERNEL_FILE_CLEANUP, ETW_KERNEL_FILE_CLOSE,
					 ETW_KERNEL_FILE_FLUSH};
	struct fixture *fixture = *state;

	for (size_t i = 0; i < 3; i++) {
		const uint8_t *at = begin(fixture, types[i], NULL, 28);

		check_ids(at);
		assert_int_equal(etw_load32(at + 24), TID);
	}
}

static void information_says_what_is_set(void **state)
{
	static const uint16_t types[] = {ETW_KERNEL_FILE_SET_INFO, ETW_KERNEL_FILE_QUERY_INFO,
					 ETW_KERNEL_FILE_FS_CONTROL};
	struct fixture *fixture = *state;
	const uint8_t *at;

	fixture->record.begin.extra = 4096;
	fixture->record.begin.info_class = 20;
	for (size_t i = 0; i < 3; i++) {
		at = begin(fixture, types[i], NULL, 40);
		check_ids(at);
		assert_int_equal(etw_load64(at + 24), 4096);
		assert_int_equal(etw_load32(at + 32), TID);
		assert_int_equal(etw_load32(at + 36), 20);
	}
	at = begin(fixture, ETW_KERNEL_FILE_RENAME_PATH, "/n", 40 + 6);
	check_ids(at);
	assert_int_equal(etw_load16(at + 42), 'n');
	(void)begin(fixture, ETW_KERNEL_FILE_DELETE_PATH, "/n", 40 + 6);
	(void)begin(fixture, ETW_KERNEL_FILE_SET_LINK_PATH, "/n", 40 + 6);
}

static void a_folder_is_enumerated(void **state)
{
	struct fixture *fixture = *state;
	const uint8_t *at;

	fixture->record.begin.byte_count = 32768;
	fixture->record.begin.info_class = 1;
	at = begin(fixture, ETW_KERNEL_FILE_DIR_ENUM, NULL, 42);
	check_ids(at);
	assert_int_equal(etw_load32(at + 24), TID);
	assert_int_equal(etw_load32(at + 28), 32768);
	assert_int_equal(etw_load32(at + 32), 1);
	assert_int_equal(etw_load32(at + 36), 0);
	assert_int_equal(etw_load16(at + 40), 0);
}

static void an_operation_ends_with_a_status(void **state)
{
	struct fixture *fixture = *state;
	struct etw_kernel_file_end *end = &fixture->record.end;
	const uint8_t *at;

	*end = (struct etw_kernel_file_end){.irp = IRP,
					    .result = 512,
					    .type = ETW_KERNEL_FILE_READ,
					    .call_flags = ETW_KERNEL_CALL_COUNTS};
	at = make(fixture, ETW_KERNEL_FILE_END, sizeof(*end), 0x044C, 20);
	assert_int_equal(etw_load64(at), IRP);
	assert_int_equal(etw_load64(at + 8), 512);
	assert_int_equal(etw_load32(at + 16), 0);
	end->result = -ENOENT;
	at = make(fixture, ETW_KERNEL_FILE_END, sizeof(*end), 0x044C, 20);
	assert_int_equal(etw_load64(at + 8), 0);
	assert_int_equal(etw_load32(at + 16), 0xC0000034);
	*end = (struct etw_kernel_file_end){
		.irp = IRP, .result = 3, .type = ETW_KERNEL_FILE_CREATE, .is_new = 1};
	at = make(fixture, ETW_KERNEL_FILE_END, sizeof(*end), 0x044C, 20);
	assert_int_equal(etw_load64(at + 8), 2);
	end->is_new = 0;
	at = make(fixture, ETW_KERNEL_FILE_END, sizeof(*end), 0x044C, 20);
	assert_int_equal(etw_load64(at + 8), 1);
}

static void every_errno_has_a_status(void **state)
{
	(void)state;
	assert_int_equal(etw_kernel_nt_status(0), 0);
	assert_int_equal(etw_kernel_nt_status(17), 0);
	assert_int_equal(etw_kernel_nt_status(INT64_MIN), 0xC0000001);
	assert_int_equal(etw_kernel_nt_status(-EACCES), 0xC0000022);
	assert_int_equal(etw_kernel_nt_status(-ECONNREFUSED), 0xC0000236);
	for (int error = 1; error < 600; error++)
		assert_true(etw_kernel_nt_status(-error) >= 0xC0000000);
}

static void what_makes_no_sense_is_no_event(void **state)
{
	struct fixture *fixture = *state;
	struct etw_kernel_cpu_record *head = &fixture->record.head;

	*head = (struct etw_kernel_cpu_record){.kind = ETW_KERNEL_FILE_BEGIN,
					       .payload_bytes = sizeof(fixture->record.begin)};
	fixture->record.begin.type = ETW_KERNEL_FILE_CREATE;
	fixture->record.begin.path_bytes = 1; /* behind the end */
	assert_int_equal(etw_kernel_cpu_event(&fixture->maker, head, 0, fixture->bytes), 0);
	fixture->record.begin.path_bytes = 0;
	fixture->record.begin.type = 63;
	assert_int_equal(etw_kernel_cpu_event(&fixture->maker, head, 0, fixture->bytes), 0);
	head->payload_bytes--;
	fixture->record.begin.type = ETW_KERNEL_FILE_CREATE;
	assert_int_equal(etw_kernel_cpu_event(&fixture->maker, head, 0, fixture->bytes), 0);
	head->kind = ETW_KERNEL_FILE_END;
	head->payload_bytes = sizeof(struct etw_kernel_file_end) - 1;
	assert_int_equal(etw_kernel_cpu_event(&fixture->maker, head, 0, fixture->bytes), 0);
}

static void calls_are_found_by_their_numbers(void **state)
{
	static struct etw_kernel_file_calls calls;
	const struct etw_kernel_file_call *call;

	(void)state;
	etw_kernel_file_calls_fill(&calls);
	call = &calls.calls[0][SYS_openat];
	assert_int_equal(call->type, ETW_KERNEL_FILE_CREATE);
	assert_int_equal(call->file, 1);
	assert_int_equal(call->path, 2);
	assert_int_equal(calls.calls[0][SYS_pread64].offset, 4);
	assert_int_equal(calls.calls[0][SYS_close].flags, ETW_KERNEL_CALL_CLOSES);
	assert_int_equal(calls.calls[0][SYS_getpid].type, 0);
	assert_false(calls.calls[0][SYS_preadv].flags & ETW_KERNEL_CALL_SPLIT_OFFSET);
#if defined(__x86_64__)
	assert_int_equal(calls.calls[1][5].type, ETW_KERNEL_FILE_CREATE); /* open */
	assert_int_equal(calls.calls[1][195].type, ETW_KERNEL_FILE_QUERY_INFO);
	assert_true(calls.calls[1][180].flags & ETW_KERNEL_CALL_SPLIT_OFFSET);
	assert_true(calls.calls[1][333].flags & ETW_KERNEL_CALL_SPLIT_OFFSET);
#endif
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_create_has_its_path_and_options),
		TEST(flags_of_open_become_options),
		TEST(a_path_begins_at_a_folder_that_was_told),
		TEST(a_read_says_where_and_how_much),
		TEST(simple_operations_have_their_ids),
		TEST(information_says_what_is_set),
		TEST(a_folder_is_enumerated),
		TEST(an_operation_ends_with_a_status),
		TEST(every_errno_has_a_status),
		TEST(what_makes_no_sense_is_no_event),
		TEST(calls_are_found_by_their_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
