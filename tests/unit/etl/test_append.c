/* SPDX-License-Identifier: MIT */
/* Whether a session can go on with a file, and where. */
#include "etl/append.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/macros.h"
#include "etl/header.h"
#include "etl/writer.h"

#define BYTES 4096u

struct scene {
	int fd;
	struct etw_etl_file_head head;
	struct etw_etl_append_like like;
	struct etw_etl_append_place place;
	struct etw_fault fault;
	uint8_t header[BYTES];
};

static void write_header(struct scene *scene)
{
	assert_int_equal(etw_etl_write_header_buffer(&scene->head, scene->header), 0);
	assert_int_equal(pwrite(scene->fd, scene->header, BYTES, 0), BYTES);
}

static void begin(struct scene *scene)
{
	memset(scene, 0, sizeof(*scene));
	scene->fd = memfd_create("append", MFD_CLOEXEC);
	assert_true(scene->fd >= 0);
	scene->head = (struct etw_etl_file_head){
		.buffer_bytes = BYTES,
		.os_major = 10,
		.os_build = 19045,
		.processors = 2,
		.log_file_mode = 1,
		.pointer_bytes = 8,
		.clock_type = 2,
		.start_ft = 132000000000000000,
		.t0_raw = 132000000000000000,
		.end_ft = 132000000000001000,
		.buffers_written = 1,
		.events_lost = 3,
		.buffers_lost = 4,
	};
	scene->like = (struct etw_etl_append_like){
		.buffer_bytes = BYTES, .processors = 2, .clock_type = 2, .pointer_bytes = 8};
	write_header(scene);
}

/* Returns how large it is on disk. */
static uint32_t write_buffer(struct scene *scene, uint64_t offset, uint32_t stride,
			     int64_t time_raw)
{
	struct etw_etl_buffer_head head = {
		.buffer_bytes = BYTES, .sequence = 1, .time_raw = time_raw};
	uint8_t buffer[BYTES] = {0};

	etw_etl_seal_buffer(&head, buffer, 0x100);
	etw_store32(buffer, stride);
	if (stride != BYTES)
		etw_store16(buffer + 0x34, WIRE_BUFFER_PROC_INDEX | WIRE_BUFFER_COMPRESSED);
	assert_int_equal(pwrite(scene->fd, buffer, stride, (off_t)offset), stride);
	return stride;
}

static int look(struct scene *scene)
{
	int result = etw_etl_append_look(scene->fd, &scene->like, scene->header, &scene->place,
					 &scene->fault);

	return result;
}

static void end(struct scene *scene)
{
	close(scene->fd);
}

static void test_append__a_new_file(void **state)
{
	static struct scene scene;

	(void)state;
	begin(&scene);
	assert_int_equal(ftruncate(scene.fd, 0), 0);
	assert_int_equal(look(&scene), 0);
	assert_int_equal(scene.place.next_offset, 0);
	end(&scene);
}

static void test_append__behind_the_last_whole_buffer(void **state)
{
	static struct scene scene;
	struct etw_etl_header header;

	(void)state;
	begin(&scene);
	assert_int_equal(look(&scene), 0);
	assert_int_equal(scene.place.next_offset, BYTES);
	assert_int_equal(scene.place.buffers, 1);
	assert_int_equal(scene.place.last_offset, 0);
	(void)write_buffer(&scene, BYTES, BYTES, 10);
	(void)write_buffer(&scene, 2 * BYTES, BYTES, 20);
	/* A part of one, and what was reserved. */
	assert_int_equal(ftruncate(scene.fd, 6 * BYTES + 100), 0);
	assert_int_equal(look(&scene), 0);
	assert_int_equal(scene.place.next_offset, 3 * BYTES);
	assert_int_equal(scene.place.last_offset, 2 * BYTES);
	assert_int_equal(scene.place.buffers, 3);
	assert_int_equal(scene.place.last_time_raw, 20);
	assert_int_equal(scene.place.last_flags, WIRE_BUFFER_PROC_INDEX);
	assert_int_equal(scene.place.events_lost, 3);
	assert_int_equal(scene.place.buffers_lost, 4);
	/* Damage in between is in its place, and stays there. */
	assert_int_equal(pwrite(scene.fd, "x", 1, 4 * BYTES), 1);
	assert_int_equal(look(&scene), 0);
	assert_int_equal(scene.place.next_offset, 5 * BYTES);
	assert_int_equal(scene.place.buffers, 5);
	/* The header is one of a file that is open. */
	assert_int_equal(
		etw_etl_header_parse(scene.header + WIRE_BUFFER_HEADER_BYTES,
				     etw_load32(scene.header + 0x30) - WIRE_BUFFER_HEADER_BYTES,
				     &header, &scene.fault),
		0);
	assert_int_equal(header.end_ft, 0);
	assert_int_equal(header.log_file_mode, 5);
	assert_int_equal(header.buffers_written, 5);
	assert_int_equal(header.events_lost, 3);
	assert_int_equal(header.start_ft, scene.head.start_ft);
	etw_etl_header_done(&header);
	end(&scene);
}

static void test_append__packed(void **state)
{
	static struct scene scene;
	uint64_t at = BYTES;

	(void)state;
	begin(&scene);
	scene.head.log_file_mode = 0x04000001;
	scene.like.is_compressed = true;
	write_header(&scene);
	at += write_buffer(&scene, at, 0x9B, 10);
	at += write_buffer(&scene, at, 0x7C, 20);
	assert_int_equal(look(&scene), 0);
	assert_int_equal(scene.place.next_offset, at);
	assert_int_equal(scene.place.buffers, 3);
	assert_int_equal(scene.place.last_offset, at - 0x7C);
	/* The last one was cut. */
	assert_int_equal(ftruncate(scene.fd, (off_t)at - 1), 0);
	assert_int_equal(look(&scene), 0);
	assert_int_equal(scene.place.next_offset, at - 0x7C);
	assert_int_equal(scene.place.buffers, 2);
	end(&scene);
}

static void test_append__what_differs_is_refused(void **state)
{
	static const struct {
		uint32_t buffer_bytes, processors, clock_type, pointer_bytes;
		bool is_compressed;
		const char *field;
	} rows[] = {
		{8192, 2, 2, 8, false, "BufferSize"},
		{BYTES, 3, 2, 8, false, "NumberOfProcessors"},
		{BYTES, 2, 1, 8, false, "ClientContext"},
		{BYTES, 2, 2, 4, false, "PointerSize"},
		{BYTES, 2, 2, 8, true, "EVENT_TRACE_COMPRESSED_MODE"},
	};
	static struct scene scene;
	uint8_t *header = malloc(8192);

	(void)state;
	assert_non_null(header);
	begin(&scene);
	(void)write_buffer(&scene, BYTES, BYTES, 10);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		scene.like = (struct etw_etl_append_like){
			.buffer_bytes = rows[i].buffer_bytes,
			.processors = rows[i].processors,
			.clock_type = rows[i].clock_type,
			.pointer_bytes = rows[i].pointer_bytes,
			.is_compressed = rows[i].is_compressed,
		};
		assert_int_equal(etw_etl_append_look(scene.fd, &scene.like, header, &scene.place,
						     &scene.fault),
				 -EINVAL);
		assert_string_equal(scene.fault.field, rows[i].field);
	}
	free(header);
	end(&scene);
	begin(&scene);
	scene.head.log_file_mode = 2;
	write_header(&scene);
	assert_int_equal(look(&scene), -EINVAL);
	assert_string_equal(scene.fault.field, "LogFileMode");
	end(&scene);
}

static void test_append__what_is_no_trace_is_refused(void **state)
{
	static struct scene scene;
	uint8_t text[BYTES];

	(void)state;
	begin(&scene);
	memset(text, 'x', sizeof(text));
	assert_int_equal(pwrite(scene.fd, text, sizeof(text), 0), BYTES);
	assert_int_equal(look(&scene), -EBADMSG);
	assert_int_equal(ftruncate(scene.fd, 100), 0);
	assert_int_equal(look(&scene), -EBADMSG);
	end(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_append__a_new_file),
		cmocka_unit_test(test_append__behind_the_last_whole_buffer),
		cmocka_unit_test(test_append__packed),
		cmocka_unit_test(test_append__what_differs_is_refused),
		cmocka_unit_test(test_append__what_is_no_trace_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
