/* SPDX-License-Identifier: MIT */
/*
 * test_callback - tests a callback without a session and without a file: events are made up by the names of
 * their fields and given to the reader. Builds with `pkg-config --cflags --libs etw`.
 */
#include <stdint.h>
#include <stdio.h>

#include <etw/etw.h>

/* What is to be tested: it sums up what a process reads. */
static int add_read(void *context, struct libetw_event *event)
{
	uint64_t *sum = context, size;

	if (!libetw_get_u64(event, "TransferSize", &size))
		*sum += size;
	return 0;
}

/* The kernel's class of disk events; opcode 10 is a read. */
static const GUID disk_class = {
	0x3d6fa8d4, 0xfe05, 0x11d0, {0x9d, 0xda, 0x00, 0xc0, 0x4f, 0xd7, 0xba, 0x7c}};

static int give(struct libetw_reader *reader, struct libetw_builder *builder, uint8_t opcode,
		uint32_t bytes)
{
	struct libetw_event *event;
	int result = libetw_builder_begin_class(builder, &disk_class, opcode, 3);

	if (!result)
		result = libetw_builder_set_unsigned(builder, "TransferSize", bytes);
	if (!result)
		result = libetw_builder_finish(builder, &event);
	if (result)
		return result;
	result = libetw_reader_deliver(reader, event);
	libetw_event_release(event);
	return result;
}

static int test(struct libetw_schemas *schemas, uint64_t *sum)
{
	struct libetw_reader *reader = NULL;
	struct libetw_builder *builder = NULL;
	int result = libetw_reader_create(schemas, &reader);

	if (!result)
		result = libetw_builder_create(schemas, &builder);
	if (!result)
		result = libetw_reader_on(
			reader, libetw_and(libetw_provider(&disk_class), libetw_opcode(10)),
			add_read, sum);
	if (!result)
		result = give(reader, builder, 10, 4096);
	if (!result)
		result = give(reader, builder, 11, 1); /* a write does not count */
	if (!result)
		result = give(reader, builder, 10, 512);
	libetw_builder_free(builder);
	libetw_reader_free(reader);
	return result;
}

int main(void)
{
	struct libetw_schemas *schemas;
	uint64_t sum = 0;
	int result = libetw_schemas_create(&schemas);

	if (!result) {
		result = test(schemas, &sum);
		libetw_schemas_free(schemas);
	}
	if (result) {
		fprintf(stderr, "test_callback: %s\n", libetw_error());
		return 1;
	}
	printf("%s: %u bytes read\n", sum == 4608 ? "passed" : "FAILED", (unsigned)sum);
	return sum != 4608;
}
