/* SPDX-License-Identifier: MIT */
/* Made-up files and a reader of them, for the tests of etw/reader.h. */
#ifndef ETW_TESTS_FRIENDLY_READER_FIXTURE_H
#define ETW_TESTS_FRIENDLY_READER_FIXTURE_H

#include "support.h"

#include <errno.h>
#include <pthread.h>
#include <sys/stat.h>

#include "synthetic/kernel_event.h"
#include "synthetic/maker.h"
#include "wire/etl_buffer.h"

#define T0_NS     INT64_C(1655526400000000000) /* of the maker's traces */
#define T0_RAW    1000000
#define EVENTS    2000
#define SECOND    10000000 /* ticks */
#define PAYLOAD_X 0x1234

static char folder[] = "/tmp/etw-friendly-XXXXXX";
static char path[sizeof(folder) + 16];

struct made {
	bool is_lossy; /* a flag on the second buffer of processor 0 */
	uint32_t events_lost;
};

/* Event i comes i ms after the start, from processor i % 2; every tenth is the kernel's, every 50th unknown. */
static inline void make_file(const struct made *made)
{
	static struct made_event event;
	const struct maker_options options = {.events_lost = made->events_lost};
	const struct made_ids ids = {.process_id = 44, .thread_id = 55};
	FILE *file = fopen(path, "w+");
	struct maker *maker;

	assert_non_null(file);
	maker = maker_open(&options, file);
	for (int i = 0; i < EVENTS; i++) {
		int64_t time_raw = T0_RAW + (int64_t)(i + 1) * (SECOND / 1000);
		struct made_descriptor descriptor = {
			.provider = &test_provider,
			.id = i % 50 == 7 ? 99 : 2,
			.version = 3,
			.level = (uint8_t)(i % 6),
			.keyword = UINT64_C(1) << (i % 2),
		};

		if (i % 10 == 0) {
			struct kernel_process process = {1000 + (uint32_t)i, 4, 0, "a.exe", "a"};

			kernel_process(&event, KERNEL_START, time_raw, &ids, &process);
		} else {
			made_modern(&event, WIRE_HEADER_EVENT64, &descriptor, time_raw, &ids);
			made_u16(&event, 1);
			made_u32(&event, (uint32_t)i);
			made_u8(&event, 0);
			made_u32(&event, PAYLOAD_X);
		}
		maker_add(maker, (unsigned)i % 2, &event);
		if (made->is_lossy && i == 1000)
			maker_flag(maker, 0, WIRE_BUFFER_EVENTS_LOST);
	}
	(void)maker_close(maker, &(size_t){0});
	assert_int_equal(fclose(file), 0);
}

static inline struct libetw_reader *open_reader(const struct made *made)
{
	struct libetw_schemas *schemas = test_schemas();
	struct libetw_reader *reader;

	make_file(made);
	OK(libetw_reader_create(schemas, &reader));
	libetw_schemas_free(schemas);
	OK(libetw_reader_add_file(reader, path));
	return reader;
}

struct seen {
	struct libetw_field *number;
	uint64_t count;
	int64_t last_ns;
	uint64_t sum;
	uint64_t stop_after;
	int verdict;
	struct libetw_reader *reader;
};

static inline int see(void *context, struct libetw_event *event)
{
	struct seen *seen = context;
	uint32_t number = 0;

	seen->count++;
	assert_true(libetw_event_time_ns(event) >= seen->last_ns);
	seen->last_ns = libetw_event_time_ns(event);
	if (seen->number && !libetw_read_u32(event, seen->number, &number))
		seen->sum += number;
	if (seen->stop_after && seen->count == seen->stop_after) {
		if (seen->reader)
			libetw_reader_stop(seen->reader);
		return seen->verdict;
	}
	return 0;
}

static inline int make_folder(void **state)
{
	(void)state;
	if (!mkdtemp(folder))
		return -1;
	(void)snprintf(path, sizeof(path), "%s/trace.etl", folder);
	return 0;
}

static inline int remove_folder(void **state)
{
	(void)state;
	return unlink(path) || rmdir(folder);
}

#endif
