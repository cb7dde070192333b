/* SPDX-License-Identifier: MIT */
/* The bytes of disk transfers, field by field, and whose they are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/sysmacros.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "source/kernel/bpf/disk_records.h"
#include "source/kernel/events/cpu_events.h"
#include "wire/etl_event.h"

#define TIME_RAW  INT64_C(1000000)
#define REQUEST   UINT64_C(0xffff888102571680)
#define FILE_KEY  UINT64_C(0xffff88819c9a8578)
#define TID       41
#define PID       40
#define BEGIN_NS  UINT64_C(5000)
#define BEGIN_RAW INT64_C(999900) /* as the host's clock has it */
#define DEVICE    (8u << ETW_KERNEL_DISK_MINOR_BITS | 16)
#define LOOP      (7u << ETW_KERNEL_DISK_MINOR_BITS | 3)

#define BEST_EFFORT (2u << 13)
#define IDLE        (3u << 13)
#define NORMAL      (3u << 17) /* of IrpFlags */

static int to_raw(void *context, uint64_t monotonic_ns, int64_t *ret)
{
	assert_int_equal(monotonic_ns, BEGIN_NS);
	*ret = *(const int64_t *)context;
	return 0;
}

static int64_t begin_raw = BEGIN_RAW;
static const struct etw_source_host host = {.context = &begin_raw, .to_raw = to_raw};

static struct etw_kernel_disk known[2];
static const struct etw_kernel_disks disks = {.at = known, .count = 2};

static struct {
	struct etw_kernel_cpu_record head;
	uint64_t payload[16];
} record;

static uint8_t bytes[ETW_KERNEL_CPU_EVENT_MAX] __attribute__((aligned(8)));

static uint32_t make(uint16_t kind, const void *payload, uint16_t payload_bytes)
{
	const struct etw_kernel_cpu_maker maker = {.host = &host, .disks = &disks};
	uint32_t count;

	known[0].device = makedev(8, 0);
	known[1].device = makedev(8, 16);
	record.head = (struct etw_kernel_cpu_record){.kind = kind, .payload_bytes = payload_bytes};
	memcpy(record.payload, payload, payload_bytes);
	memset(bytes, 0xEE, sizeof(bytes));
	count = etw_kernel_cpu_event(&maker, &record.head, TIME_RAW, bytes);
	assert_int_equal(bytes[count], 0xEE);
	return count;
}

/* An event without ids in its header; returns its payload. */
static const uint8_t *make_perfinfo(uint16_t kind, const void *payload, uint16_t payload_bytes,
				    uint16_t hook, uint32_t event_payload_bytes)
{
	assert_int_equal(make(kind, payload, payload_bytes), 16 + event_payload_bytes);
	assert_int_equal(bytes[2], WIRE_HEADER_PERFINFO64);
	assert_int_equal(etw_load16(bytes + 4), 16 + event_payload_bytes);
	assert_int_equal(etw_load16(bytes + 6), hook);
	assert_int_equal(etw_load64(bytes + 8), TIME_RAW);
	return bytes + 16;
}

static struct etw_kernel_disk_end an_end(void)
{
	return (struct etw_kernel_disk_end){
		.transfer = REQUEST,
		.begin_ns = BEGIN_NS,
		.file_key = FILE_KEY,
		.sector = UINT64_C(0x100000000),
		.device = DEVICE,
		.byte_count = 73728,
		.tid = TID,
		.flags = ETW_KERNEL_DISK_CACHED | ETW_KERNEL_DISK_SYNC,
	};
}

static void test_disk_events__read(void **state)
{
	struct etw_kernel_disk_end end = an_end();
	const uint8_t *at = make_perfinfo(ETW_KERNEL_DISK_END, &end, sizeof(end), 0x010A, 52);

	(void)state;
	assert_int_equal(etw_load16(bytes), 3);
	assert_int_equal(etw_load32(at), 1); /* as PhyDisk counts */
	assert_int_equal(etw_load32(at + 4), NORMAL | 0x43);
	assert_int_equal(etw_load32(at + 8), 73728);
	assert_int_equal(etw_load32(at + 12), 0);
	assert_int_equal(etw_load64(at + 16), UINT64_C(0x20000000000));
	assert_int_equal(etw_load64(at + 24), FILE_KEY);
	assert_int_equal(etw_load64(at + 32), REQUEST);
	assert_int_equal(etw_load64(at + 40), TIME_RAW - BEGIN_RAW);
	assert_int_equal(etw_load32(at + 48), TID);
}

static void test_disk_events__write(void **state)
{
	struct etw_kernel_disk_end end = an_end();
	const uint8_t *at;

	(void)state;
	end.operation = ETW_KERNEL_DISK_WRITE;
	end.device = LOOP;
	end.flags = ETW_KERNEL_DISK_SYNC;
	at = make_perfinfo(ETW_KERNEL_DISK_END, &end, sizeof(end), 0x010B, 52);
	assert_int_equal(etw_load32(at), LOOP); /* PhyDisk has no such disk */
	assert_int_equal(etw_load32(at + 4), NORMAL | 0x205);
	/* What began after its end, by the clock of another processor, took no time. */
	begin_raw = TIME_RAW + 1;
	at = make_perfinfo(ETW_KERNEL_DISK_END, &end, sizeof(end), 0x010B, 52);
	assert_int_equal(etw_load64(at + 40), 0);
	begin_raw = BEGIN_RAW;
}

static uint32_t flags_of(uint8_t operation, uint8_t flags, uint16_t io_priority)
{
	struct etw_kernel_disk_end end = an_end();

	end.operation = operation;
	end.flags = flags;
	end.io_priority = io_priority;
	assert_true(make(ETW_KERNEL_DISK_END, &end, sizeof(end)) > 0);
	return etw_load32(bytes + 20);
}

static void test_disk_events__flags(void **state)
{
	(void)state;
	assert_int_equal(flags_of(ETW_KERNEL_DISK_READ, ETW_KERNEL_DISK_SYNC, 0), NORMAL | 0x105);
	assert_int_equal(flags_of(ETW_KERNEL_DISK_WRITE, 0, 0), NORMAL | 0x201);
	assert_int_equal(flags_of(ETW_KERNEL_DISK_WRITE, ETW_KERNEL_DISK_CACHED, 0), NORMAL | 0x3);
	assert_int_equal(flags_of(ETW_KERNEL_DISK_WRITE, ETW_KERNEL_DISK_PAGED, 0), NORMAL | 0x3);
	assert_int_equal(
		flags_of(ETW_KERNEL_DISK_READ,
			 ETW_KERNEL_DISK_CACHED | ETW_KERNEL_DISK_SYNC | ETW_KERNEL_DISK_AHEAD, 0),
		NORMAL | 0x3);
	/* Very low is 1, high 4. */
	assert_int_equal(flags_of(ETW_KERNEL_DISK_WRITE, 0, IDLE) >> 17, 1);
	assert_int_equal(flags_of(ETW_KERNEL_DISK_WRITE, 0, BEST_EFFORT | 4) >> 17, 3);
	assert_int_equal(flags_of(ETW_KERNEL_DISK_WRITE, 0, BEST_EFFORT | 0) >> 17, 4);
}

static void test_disk_events__flush(void **state)
{
	struct etw_kernel_disk_end end = {
		.transfer = REQUEST,
		.begin_ns = BEGIN_NS,
		.device = 8u << ETW_KERNEL_DISK_MINOR_BITS,
		.tid = TID,
		.operation = ETW_KERNEL_DISK_FLUSH,
	};
	const uint8_t *at = make_perfinfo(ETW_KERNEL_DISK_END, &end, sizeof(end), 0x010E, 28);

	(void)state;
	assert_int_equal(etw_load16(bytes), 3);
	assert_int_equal(etw_load32(at), 0);
	assert_int_equal(etw_load32(at + 4), NORMAL | 0x4);
	assert_int_equal(etw_load64(at + 8), TIME_RAW - BEGIN_RAW);
	assert_int_equal(etw_load64(at + 16), REQUEST);
	assert_int_equal(etw_load32(at + 24), TID);
}

static void test_disk_events__begin(void **state)
{
	static const uint16_t hooks[] = {0x010C, 0x010D, 0x010F};
	struct etw_kernel_disk_begin begin = {.transfer = REQUEST, .tid = TID, .pid = PID};

	(void)state;
	for (uint32_t i = 0; i < ETW_KERNEL_DISK_OPERATIONS; i++) {
		begin.operation = i;
		assert_int_equal(make(ETW_KERNEL_DISK_BEGIN, &begin, sizeof(begin)), 32 + 12);
		assert_int_equal(etw_load16(bytes), 3);
		assert_int_equal(bytes[2], WIRE_HEADER_SYSTEM64);
		assert_int_equal(etw_load16(bytes + 4), 32 + 12);
		assert_int_equal(etw_load16(bytes + 6), hooks[i]);
		assert_int_equal(etw_load32(bytes + 8), TID);
		assert_int_equal(etw_load32(bytes + 12), PID);
		assert_int_equal(etw_load64(bytes + 16), TIME_RAW);
		assert_int_equal(etw_load64(bytes + 24), 0);
		assert_int_equal(etw_load64(bytes + 32), REQUEST);
		assert_int_equal(etw_load32(bytes + 40), TID);
	}
}

static void test_disk_events__split(void **state)
{
	struct etw_kernel_split split = {.whole = FILE_KEY, .transfer = REQUEST};
	const uint8_t *at = make_perfinfo(ETW_KERNEL_SPLIT, &split, sizeof(split), 0x1B20, 16);

	(void)state;
	assert_int_equal(etw_load16(bytes), 2);
	assert_int_equal(etw_load64(at), FILE_KEY);
	assert_int_equal(etw_load64(at + 8), REQUEST);
}

/* What no program writes. */
static void test_disk_events__no_event(void **state)
{
	struct etw_kernel_disk_begin begin = {.operation = ETW_KERNEL_DISK_OPERATIONS};
	struct etw_kernel_disk_end end = an_end();
	struct etw_kernel_split split = {0};

	(void)state;
	end.operation = ETW_KERNEL_DISK_OPERATIONS;
	assert_int_equal(make(ETW_KERNEL_DISK_BEGIN, &begin, sizeof(begin)), 0);
	assert_int_equal(make(ETW_KERNEL_DISK_END, &end, sizeof(end)), 0);
	assert_int_equal(make(ETW_KERNEL_DISK_BEGIN, &begin, sizeof(begin) - 8), 0);
	assert_int_equal(make(ETW_KERNEL_DISK_END, &end, sizeof(end) - 8), 0);
	assert_int_equal(make(ETW_KERNEL_SPLIT, &split, sizeof(split) - 8), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_disk_events__read),
		cmocka_unit_test(test_disk_events__write),
		cmocka_unit_test(test_disk_events__flags),
		cmocka_unit_test(test_disk_events__flush),
		cmocka_unit_test(test_disk_events__begin),
		cmocka_unit_test(test_disk_events__split),
		cmocka_unit_test(test_disk_events__no_event),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
