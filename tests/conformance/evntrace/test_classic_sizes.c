/* SPDX-License-Identifier: MIT */
/*
 * How many fields an event of a classic provider may have, and how large it may be: up to the last byte of a session's
 * buffer, and of what an event's header can say. Sources: [MSD] Microsoft's pages of TraceEvent and MOF_FIELD, [DERIVED]
 * what follows from them where the pages say nothing.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <evntcons.h>
#include <evntrace.h>
#include <winerror.h>
#include <wmistr.h>

#include "base/macros.h"
#include "conformance/evntrace/classic_session.h"
#include "conformance/evntrace/host.h"
#include "conformance/evntrace/waiting.h"

#define LIMIT_S        1500
#define EVENT_MAX      65535 /* what its header's size can say */
#define BUFFER_HEAD    72    /* of a buffer in a file */
#define INSTANCE_HEAD  72    /* of an instance's event in a file: with the parent's class */
#define MESSAGE_HEAD   24    /* of a message without GUID and number */
#define SIZES_AROUND   9     /* of a limit, that are tried on each side */
#define BUFFER_KIB     16
#define BUFFER_PAYLOAD (BUFFER_KIB * 1024 - BUFFER_HEAD)

static const GUID class = {
	0x5e1c9b1a, 0x3d53, 0x4c7e, {0x9a, 0x41, 0x0c, 0x6f, 0x7d, 0x21, 0x88, 0x81}};

static TRACE_GUID_REGISTRATION classes[] = {{&class, NULL}};
static struct classic_session session;
static uint8_t pattern[EVENT_MAX + 2];

/* The sizes of the payloads that were accepted, in their order. */
static struct {
	ULONG sizes[256];
	unsigned written, read;
} account;

static void start(const char *file, ULONG buffer_kib)
{
	for (size_t i = 0; i < sizeof(pattern); i++)
		pattern[i] = (uint8_t)(i * 7 + i / 251);
	memset(&account, 0, sizeof(account));
	classic_session_start(&session, file, 0, buffer_kib, classes, 1);
}

static void WINAPI on_event(PEVENT_RECORD record)
{
	assert_true(account.read < account.written);
	assert_int_equal(record->UserDataLength, account.sizes[account.read++]);
	if (record->UserDataLength)
		assert_memory_equal(record->UserData, pattern, record->UserDataLength);
}

static void stop(ULONG lost)
{
	assert_int_equal(classic_session_stop(&session, on_event), lost);
	assert_int_equal(account.read, account.written);
}

/* Notes what was accepted. What finds no buffer free is tried again, and @busy is how often that was. */
static ULONG keep(ULONG (*write)(ULONG payload), ULONG payload, ULONG *busy)
{
	const time_t begin = wait_seconds();
	ULONG error;

	while ((error = write(payload)) == ERROR_NOT_ENOUGH_MEMORY) {
		++*busy;
		wait_step(begin, "there is a buffer", __FILE__, __LINE__);
	}
	assert_true(account.written < ARRAY_SIZE(account.sizes));
	if (!error)
		account.sizes[account.written++] = payload;
	return error;
}

struct event {
	EVENT_TRACE_HEADER header;
	MOF_FIELD fields[MAX_MOF_FIELDS];
};

/* @payload bytes in @count fields, of which one in three is empty and has no address. */
static ULONG write_fields(ULONG count, ULONG payload)
{
	struct event event = {.header.Guid = class};
	ULONG at = 0;

	for (ULONG i = 0; i < count; i++) {
		const ULONG bytes = i + 1 == count ? payload - at
				    : i % 3 == 1   ? 0
						   : payload / MAX_MOF_FIELDS;

		event.fields[i].DataPtr = bytes ? (uintptr_t)pattern + at : 0;
		event.fields[i].Length = bytes;
		at += bytes;
	}
	event.header.Flags = WNODE_FLAG_TRACED_GUID | WNODE_FLAG_USE_MOF_PTR;
	event.header.Size = (USHORT)(sizeof(event.header) + count * sizeof(MOF_FIELD));
	return TraceEvent(session.logger, &event.header);
}

static ULONG write_event(ULONG payload)
{
	return write_fields(MAX_MOF_FIELDS, payload);
}

static ULONG write_instance(ULONG payload)
{
	struct {
		EVENT_INSTANCE_HEADER header;
		MOF_FIELD field;
	} event = {.header.Size = sizeof(event),
		   .header.Flags = WNODE_FLAG_TRACED_GUID | WNODE_FLAG_USE_MOF_PTR};
	EVENT_INSTANCE_INFO info;

	assert_int_equal(CreateTraceInstanceId(classes[0].RegHandle, &info), ERROR_SUCCESS);
	DEFINE_TRACE_MOF_FIELD(&event.field, pattern, payload, 0);
	return TraceEventInstance(session.logger, &event.header, &info, NULL);
}

static ULONG write_message(ULONG payload)
{
	return TraceMessage(session.logger, 0, NULL, 1, pattern, (size_t)payload, NULL);
}

/* [MSD] EVENT_TRACE_HEADER: up to MAX_MOF_FIELDS. [DERIVED] A field of no bytes needs no address. */
static void test_sizes__of_none_to_all_fields(void **state)
{
	(void)state;
	start("fields.etl", BUFFER_KIB);
	for (ULONG count = 0; count <= MAX_MOF_FIELDS; count++) {
		const ULONG payload = count ? 1000 + count : 0;

		assert_int_equal(write_fields(count, payload), ERROR_SUCCESS);
		account.sizes[account.written++] = payload;
	}
	stop(0);
}

/* Up to @limit bytes with their header is written; more is refused. Returns how many were, and how often none was free. */
static ULONG write_around(ULONG (*write)(ULONG payload), ULONG limit, ULONG head, ULONG *busy)
{
	ULONG refused = 0;

	for (ULONG bytes = limit - SIZES_AROUND; bytes <= limit + SIZES_AROUND; bytes++) {
		const ULONG error = keep(write, bytes - head, busy);

		if (error != (bytes <= limit ? ERROR_SUCCESS : ERROR_MORE_DATA))
			fail_msg("%u bytes of at most %u: %u", bytes, limit, error);
		refused += error != ERROR_SUCCESS;
	}
	return refused;
}

/* [MSD] ERROR_MORE_DATA: larger than the session's buffers. Each is in the account. */
static void test_sizes__around_a_buffer(void **state)
{
	ULONG refused = 0, busy = 0;

	(void)state;
	start("buffer.etl", BUFFER_KIB);
	refused += write_around(write_event, BUFFER_PAYLOAD, sizeof(EVENT_TRACE_HEADER), &busy);
	refused += write_around(write_instance, BUFFER_PAYLOAD, INSTANCE_HEAD, &busy);
	refused += write_around(write_message, BUFFER_PAYLOAD, MESSAGE_HEAD, &busy);
	assert_int_equal(refused, 3 * SIZES_AROUND);
	stop(refused + busy);
}

/* [MSD] The largest event is slightly less than 64 KiB. What none can be is in no session's account. */
static void test_sizes__around_64_kib(void **state)
{
	ULONG refused = 0, busy = 0;

	(void)state;
	start("largest.etl", 128);
	for (ULONG bytes = EVENT_MAX - SIZES_AROUND; bytes <= EVENT_MAX + 1; bytes++)
		refused += keep(write_event, bytes - (ULONG)sizeof(EVENT_TRACE_HEADER), &busy) ==
			   ERROR_MORE_DATA;
	assert_int_equal(refused, 1);
	refused += keep(write_message, EVENT_MAX - MESSAGE_HEAD, &busy);
	assert_int_equal(refused, 1);
	assert_int_equal(keep(write_message, EVENT_MAX - MESSAGE_HEAD + 1, &busy), ERROR_MORE_DATA);
	stop(busy);
}

static int run_all(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sizes__of_none_to_all_fields),
		cmocka_unit_test(test_sizes__around_a_buffer),
		cmocka_unit_test(test_sizes__around_64_kib),
	};

	return cmocka_run_group_tests_name("sizes of classic events", tests, NULL, NULL);
}

int main(void)
{
	return host_run(run_all, LIMIT_S);
}
