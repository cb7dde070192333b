/* SPDX-License-Identifier: MIT */
/*
 * The conversation's codec. Every kind of message is tried by the same walk: it goes there and back; cut
 * short anywhere it is refused; with any byte changed it is refused or gives a sound struct, which is to
 * say one that can be encoded again.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/macros.h"
#include "wire/message.h"
#include "wire/ring_layout.h"

union body {
	struct wire_hello hello;
	struct wire_welcome welcome;
	struct wire_register registration;
	struct wire_unregister unregister;
	struct wire_enable enable;
	struct wire_ring_set_ref ring_set_ref;
	struct wire_undelivered undelivered;
	struct wire_image image;
	struct wire_session_config session_config;
	struct wire_session_info session_info;
	struct wire_control control;
	struct wire_enable_provider enable_provider;
	struct wire_sessions sessions;
	struct wire_lease lease;
	struct wire_subscribe subscribe;
	struct wire_subscribed subscribed;
	struct wire_batch batch;
	struct wire_statistics_query statistics_query;
	struct wire_statistics statistics;
	struct wire_access access;
	struct wire_run run;
	struct wire_enumerate enumerate;
	struct wire_enumerated enumerated;
	struct wire_inform inform;
};

static union body body, back, again;
static uint8_t room[WIRE_MESSAGE_BYTES_MAX], second[WIRE_MESSAGE_BYTES_MAX];
static const GUID guid = {0x01020304, 0x0506, 0x0708, {9, 10, 11, 12, 13, 14, 15, 16}};
static const uint8_t run[] = "some bytes, \0 among them";

static void fill_hello(void)
{
	body.hello = (struct wire_hello){WIRE_PROTOCOL_VERSION, WIRE_ROLE_CONSUMER};
}

static void fill_welcome(void)
{
	body.welcome = (struct wire_welcome){1, 1, 1234, 1000, UINT64_MAX};
}

static void fill_register(void)
{
	body.registration = (struct wire_register){7, 1, guid, {run, sizeof(run)}};
}

static void fill_unregister(void)
{
	body.unregister.registration = UINT32_MAX;
}

static void fill_slot(struct wire_enable_slot *slot, uint32_t number)
{
	slot->is_used = number & 1;
	slot->session_id = number + 1;
	slot->ring_set = number + 2;
	slot->level = (uint8_t)(number + 3);
	slot->property = number + 4;
	slot->match_any = number + 5;
	slot->match_all = number + 6;
	slot->filters = (struct etw_bytes){run, number};
}

/* Member by member where there is padding, which must stay zero to be compared: a copied struct may have any bytes there. */
static void fill_enable(void)
{
	body.enable.registration = 3;
	body.enable.control_code = 2;
	body.enable.has_callback = 1;
	body.enable.level = 0xFF;
	body.enable.match_any = UINT64_MAX;
	body.enable.match_all = 5;
	body.enable.source = guid;
	body.enable.filter_type = 0x80000000;
	body.enable.filter = (struct etw_bytes){run, sizeof(run)};
	for (unsigned i = 0; i < WIRE_ENABLE_SLOTS; i++)
		fill_slot(&body.enable.slots[i], i);
}

static void fill_ring_set_ref(void)
{
	body.ring_set_ref.ring_set = 99;
}

static void fill_undelivered(void)
{
	body.undelivered.session_id = 7;
	body.undelivered.events = 1000000000000;
	body.undelivered.late_ms = 60000;
}

static void fill_image(void)
{
	body.image.image = 3;
	body.image.code = WIRE_IMAGE_MORE;
	body.image.base = 0x7f0000000000;
	body.image.byte_count = 4096;
	strcpy(body.image.path, "plugin/\xC3\xA9");
	body.image.build_id = (struct etw_bytes){run, 20};
	body.image.symbols = (struct etw_bytes){run, sizeof(run)};
}

static void fill_config(struct wire_session_config *config)
{
	config->guid = guid;
	config->clock_type = 3;
	config->buffer_kib = 64;
	config->minimum_buffers = 4;
	config->maximum_buffers = 5;
	config->maximum_file_size = 6;
	config->log_file_mode = 0x100;
	config->flush_timer = 7;
	config->enable_flags = 8;
	config->age_limit = 9;
	config->controller_pid = 10;
	config->controller_tid = 11;
	config->file_mode = 0640;
	config->is_leased = 1;
	config->kernel = (struct wire_kernel_request){
		.parts = WIRE_KERNEL_PARTS,
		.group_masks = {1, 2, 3, 4, 5, 6, 7, UINT32_MAX},
		.profile_interval_ft = 12,
		.only_pid = 13,
		.options = WIRE_KERNEL_UNWIND,
		.profile_sources = 0x5,
		.source_intervals = {[1] = 14, [ETW_PROFILE_SOURCES - 1] = 15},
		.stack_hook_count = 3,
		.stack_hooks = {0x0524, 0xFFFF, 1},
	};
	strcpy(config->name, "Sitzung \xC3\xBC");
	strcpy(config->log_file, "/var/log/x.etl");
	strcpy(config->log_file_shown, "C:\\x.etl");
}

static void fill_session_config(void)
{
	fill_config(&body.session_config);
}

static void fill_loss(struct wire_session_loss *loss)
{
	loss->no_buffer = 1;
	loss->too_large = 2;
	loss->gaps = 3;
	loss->rejected = 4;
	loss->source = 5;
	loss->file = 6;
	loss->replaced = UINT64_MAX;
	loss->others = 8;
	loss->others_counted = 9;
	loss->disregarded = 10;
	loss->claims[0].uid = 1;
	loss->claims[0].events = 2;
	loss->claims[0].disregarded = 3;
	loss->claims[1].uid = UINT32_MAX;
	loss->claims[1].events = UINT64_MAX;
	loss->sources[0] = (struct wire_source_loss){4, 5, 6};
	loss->sources[1] = (struct wire_source_loss){UINT32_MAX, UINT32_MAX, UINT64_MAX};
}

static void fill_session_info(void)
{
	struct wire_session_info *info = &body.session_info;

	info->handle = 1;
	info->number_of_buffers = 2;
	info->free_buffers = 3;
	info->events = 4;
	info->bytes = 5;
	info->events_lost = 6;
	info->buffers_written = 7;
	info->log_buffers_lost = 8;
	info->real_time_buffers_lost = 9;
	info->logger_thread_id = 10;
	info->uid = 11;
	info->start_ft = 12;
	info->is_leased = 1;
	info->is_kernel = 1;
	info->file_status = -ENOSPC;
	fill_loss(&info->loss);
	fill_config(&info->config);
	memset(info->complaint, 'x', sizeof(info->complaint) - 1);
}

static void fill_control(void)
{
	body.control.code = WIRE_CONTROL_FLUSH;
	body.control.handle = 1;
	body.control.guid = guid;
	memset(body.control.name, 'n', WIRE_MESSAGE_NAME_MAX);
	fill_config(&body.control.config);
}

static void fill_enable_provider(void)
{
	body.enable_provider.handle = 1;
	body.enable_provider.provider = guid;
	body.enable_provider.code = 1;
	body.enable_provider.level = 4;
	body.enable_provider.match_any = 2;
	body.enable_provider.match_all = 3;
	body.enable_provider.timeout_ms = 5;
	body.enable_provider.property = 6;
	body.enable_provider.source = guid;
	body.enable_provider.filters = (struct etw_bytes){run, sizeof(run)};
}

static void fill_sessions(void)
{
	body.sessions.count = 3;
	body.sessions.handles[0] = 1;
	body.sessions.handles[1] = UINT64_MAX;
	body.sessions.handles[2] = 0x100;
}

static void fill_lease(void)
{
	body.lease.handle = UINT64_MAX;
}

static void fill_subscribe(void)
{
	strcpy(body.subscribe.name, "live");
	body.subscribe.consumer = UINT64_MAX;
	body.subscribe.last_batch = 12;
	body.subscribe.pieces = 13;
	body.subscribe.memory_bytes = 14;
}

static void fill_subscribed(void)
{
	body.subscribed = (struct wire_subscribed){1, 2, 3, 4, 5, 6, {run, sizeof(run)}};
}

static void fill_batch(void)
{
	body.batch.batch = 1;
	body.batch.first_slot = 2;
	body.batch.buffer_count = 3;
	body.batch.watermark_raw = INT64_MIN;
	body.batch.pieces = 4;
	body.batch.events = 5;
	body.batch.events_lost = 6;
}

static void fill_access(void)
{
	body.access = (struct wire_access){1, guid, 2, 0x121FFF, 1, {run, sizeof(run)}};
}

static void fill_run(void)
{
	body.run.bytes = (struct etw_bytes){run, sizeof(run)};
}

static void fill_enumerate(void)
{
	body.enumerate.code = 3;
	body.enumerate.guid = guid;
	body.enumerate.cursor = UINT64_MAX;
}

static void fill_enumerated(void)
{
	body.enumerated.next = UINT64_MAX;
	body.enumerated.count = 7;
	body.enumerated.bytes = (struct etw_bytes){run, sizeof(run)};
}

static void fill_inform(void)
{
	body.inform = (struct wire_inform){1, 16, UINT64_MAX, {run, sizeof(run)}};
}

/* What the walk needs to know of a kind of message; the run of bytes points into the datagram. */
struct kind {
	uint32_t type;
	void (*fill)(void);
	size_t (*encode)(const struct wire_message *message, const void *body, uint8_t *room);
	int (*decode)(struct etw_bytes datagram, void *ret);
	size_t bytes;
	size_t run_at; /* SIZE_MAX: none */
};

static void fill_statistics_query(void)
{
	body.statistics_query.handle = 1;
	body.statistics_query.first_cpu = 2;
}

static void fill_statistics(void)
{
	struct wire_statistics *statistics = &body.statistics;

	statistics->handle = 1;
	statistics->number_of_buffers = 2;
	statistics->free_buffers = 3;
	fill_loss(&statistics->loss);
	statistics->filtered = 11;
	statistics->others_filtered = 12;
	statistics->missed_buffers = 4;
	statistics->unread_buffers = UINT64_MAX;
	statistics->consumers[7].state = WIRE_CONSUMER_FUTURE;
	statistics->consumers[7].buffers = 1;
	statistics->consumers[7].lost = 2;
	statistics->consumers[7].waiting = 3;
	statistics->cpu_count = 2048;
	statistics->first_cpu = 1984;
	statistics->told_cpus = WIRE_STATISTICS_CPUS;
	statistics->cpus[0] = (struct wire_cpu_statistics){1,  2,  3,  4,  5,  6,  7,  8,  9,
							   10, 11, 12, 13, 14, 15, 16, 17, 18};
	statistics->cpus[WIRE_STATISTICS_CPUS - 1].unheard_events = UINT64_MAX;
}

#define BRIDGE(name)                                                                              \
	static size_t encode_##name(const struct wire_message *message, const void *from,         \
				    uint8_t *to)                                                  \
	{                                                                                         \
		return wire_message_encode_##name(message, (const struct wire_##name *)from, to); \
	}                                                                                         \
	static int decode_##name(struct etw_bytes datagram, void *ret)                            \
	{                                                                                         \
		return wire_message_decode_##name(datagram, (struct wire_##name *)ret);           \
	}

BRIDGE(hello)
BRIDGE(welcome)
BRIDGE(register)
BRIDGE(unregister)
BRIDGE(enable)
BRIDGE(ring_set_ref)
BRIDGE(undelivered)
BRIDGE(image)
BRIDGE(session_config)
BRIDGE(session_info)
BRIDGE(control)
BRIDGE(enable_provider)
BRIDGE(sessions)
BRIDGE(lease)
BRIDGE(subscribe)
BRIDGE(subscribed)
BRIDGE(batch)
BRIDGE(statistics_query)
BRIDGE(statistics)
BRIDGE(access)
BRIDGE(run)
BRIDGE(enumerate)
BRIDGE(enumerated)
BRIDGE(inform)

#define KIND(type, name, run_at_)                                                            \
	{                                                                                    \
		type, fill_##name, encode_##name, decode_##name, sizeof(struct wire_##name), \
			run_at_                                                              \
	}

static const struct kind kinds[] = {
	KIND(WIRE_HELLO, hello, SIZE_MAX),
	KIND(WIRE_WELCOME, welcome, SIZE_MAX),
	KIND(WIRE_REGISTER, register, offsetof(struct wire_register, traits)),
	KIND(WIRE_UNREGISTER, unregister, SIZE_MAX),
	KIND(WIRE_ENABLE, enable, offsetof(struct wire_enable, filter)),
	KIND(WIRE_RING_SET, ring_set_ref, SIZE_MAX),
	KIND(WIRE_START, session_config, SIZE_MAX),
	KIND(WIRE_SESSION, session_info, SIZE_MAX),
	KIND(WIRE_CONTROL, control, SIZE_MAX),
	KIND(WIRE_ENABLE_PROVIDER, enable_provider, offsetof(struct wire_enable_provider, filters)),
	KIND(WIRE_SESSIONS, sessions, SIZE_MAX),
	KIND(WIRE_LEASE, lease, SIZE_MAX),
	KIND(WIRE_SUBSCRIBE, subscribe, SIZE_MAX),
	KIND(WIRE_SUBSCRIBED, subscribed, offsetof(struct wire_subscribed, header_buffer)),
	KIND(WIRE_SESSION_END, batch, SIZE_MAX),
	KIND(WIRE_UNDELIVERED, undelivered, SIZE_MAX),
	KIND(WIRE_IMAGE, image, offsetof(struct wire_image, symbols)),
	KIND(WIRE_STATISTICS_QUERY, statistics_query, SIZE_MAX),
	KIND(WIRE_STATISTICS, statistics, SIZE_MAX),
	KIND(WIRE_ACCESS, access, offsetof(struct wire_access, sid)),
	KIND(WIRE_DESCRIPTOR, run, offsetof(struct wire_run, bytes)),
	KIND(WIRE_ENUMERATE, enumerate, SIZE_MAX),
	KIND(WIRE_ENUMERATED, enumerated, offsetof(struct wire_enumerated, bytes)),
	KIND(WIRE_INFORM, inform, offsetof(struct wire_inform, bytes)),
};

static size_t encode_filled(const struct kind *kind)
{
	struct wire_message head = {kind->type, 0x01020304, 0};
	size_t bytes;

	memset(&body, 0, sizeof(body));
	kind->fill();
	bytes = kind->encode(&head, &body, room);
	assert_true(bytes > 12);
	return bytes;
}

/* The same, but in memory of exactly this size, where the sanitizer sees one byte too many. */
static int decode_tight(const struct kind *kind, size_t bytes, void *ret)
{
	uint8_t *tight = malloc(bytes + !bytes);
	int r;

	assert_non_null(tight);
	memcpy(tight, room, bytes);
	r = kind->decode((struct etw_bytes){tight, bytes}, ret);
	free(tight);
	return r;
}

static void assert_same_run(size_t at)
{
	struct etw_bytes left, right;

	memcpy(&left, (uint8_t *)&body + at, sizeof(left));
	memcpy(&right, (uint8_t *)&back + at, sizeof(right));
	assert_int_equal(left.left, right.left);
	assert_memory_equal(left.at, right.at, left.left);
	memset((uint8_t *)&body + at, 0, sizeof(left));
	memset((uint8_t *)&back + at, 0, sizeof(left));
}

static void test_message__every_kind_goes_there_and_back(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		struct etw_bytes datagram = {room, encode_filled(&kinds[i])};
		struct wire_message head;

		assert_int_equal(wire_message_decode(datagram, &head), 0);
		assert_int_equal(head.type, kinds[i].type);
		assert_int_equal(head.request, 0x01020304);
		assert_int_equal(head.status, 0);
		memset(&back, 0, sizeof(back));
		assert_int_equal(kinds[i].decode(datagram, &back), 0);
		if (kinds[i].run_at != SIZE_MAX)
			assert_same_run(kinds[i].run_at);
		if (kinds[i].type == WIRE_IMAGE)
			assert_same_run(offsetof(struct wire_image, build_id));
		for (size_t k = 0; kinds[i].type == WIRE_ENABLE && k < WIRE_ENABLE_SLOTS; k++)
			assert_same_run(offsetof(struct wire_enable, slots[k].filters));
		assert_memory_equal(&body, &back, kinds[i].bytes);
	}
}

static void test_message__cut_short_it_is_refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		size_t bytes = encode_filled(&kinds[i]);

		memset(&back, 0xA5, sizeof(back));
		memset(&again, 0xA5, sizeof(again));
		for (size_t cut = 0; cut < bytes; cut++)
			assert_int_equal(decode_tight(&kinds[i], cut, &back), -EPROTO);
		assert_memory_equal(&back, &again, sizeof(back));
	}
}

static void test_message__bytes_behind_it_are_refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		size_t bytes = encode_filled(&kinds[i]);

		room[bytes] = 0;
		assert_int_equal(decode_tight(&kinds[i], bytes + 1, &back), -EPROTO);
	}
}

static void check_changed(const struct kind *kind, size_t bytes)
{
	struct wire_message head = {kind->type, 1, 0};
	int r = kind->decode((struct etw_bytes){room, bytes}, &back);

	if (r < 0) {
		assert_int_equal(r, -EPROTO);
		return;
	}
	assert_int_equal(kind->encode(&head, &back, second), bytes);
	assert_memory_equal(room + 12, second + 12, bytes - 12);
}

static void test_message__any_byte_changed_is_refused_or_sound(void **state)
{
	static const uint8_t masks[] = {0x01, 0x80, 0xFF};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		size_t bytes = encode_filled(&kinds[i]);

		for (size_t at = 12; at < bytes; at++) {
			for (size_t j = 0; j < ARRAY_SIZE(masks); j++) {
				room[at] ^= masks[j];
				check_changed(&kinds[i], bytes);
				room[at] ^= masks[j];
			}
		}
	}
}

static void test_message__the_head_is_checked(void **state)
{
	struct wire_message head = {WIRE_REPLY, 5, -EACCES}, got = {0};
	struct etw_bytes datagram = {room, 12};

	(void)state;
	assert_int_equal(wire_message_encode_plain(&head, room), 12);
	assert_int_equal(wire_message_decode(datagram, &got), 0);
	assert_int_equal(got.status, -EACCES);
	for (size_t cut = 0; cut < 12; cut++)
		assert_int_equal(wire_message_decode((struct etw_bytes){room, cut}, &got), -EPROTO);
	room[12] = 0;
	assert_int_equal(wire_message_decode((struct etw_bytes){room, 13}, &got), -EPROTO);
	etw_store32(room + 8, 1);
	assert_int_equal(wire_message_decode(datagram, &got), -EPROTO);
	etw_store32(room + 8, (uint32_t)-4096);
	assert_int_equal(wire_message_decode(datagram, &got), -EPROTO);
	etw_store32(room + 8, 0);
	for (uint32_t type = 0; type < 300; type++) {
		int wanted = type == WIRE_LIST || type == 3 || (type >= 1 && type <= 2) ||
					     (type >= 10 && type <= 18) ||
					     (type >= 20 && type <= 26) ||
					     (type >= 30 && type <= 33) ||
					     (type >= 40 && type <= 41) ||
					     (type >= 50 && type <= 55) ||
					     (type >= 60 && type <= 64) || type == 70
				     ? 0
				     : -EPROTO;

		etw_store32(room, type);
		assert_int_equal(wire_message_decode(datagram, &got), wanted);
	}
}

static void test_message__a_head_out_of_range_is_not_encoded(void **state)
{
	(void)state;
	assert_int_equal(wire_message_encode_plain(&(struct wire_message){WIRE_REPLY, 0, 1}, room),
			 0);
	assert_int_equal(
		wire_message_encode_plain(&(struct wire_message){WIRE_REPLY, 0, INT32_MIN}, room),
		0);
	assert_int_equal(wire_message_encode_plain(&(struct wire_message){0, 0, 0}, room), 0);
}

static size_t encode_name(void)
{
	struct wire_message head = {WIRE_SUBSCRIBE, 1, 0};

	return wire_message_encode_subscribe(&head, &body.subscribe, room);
}

static void test_message__names_are_utf8_without_nul(void **state)
{
	(void)state;
	memset(&body, 0, sizeof(body));
	strcpy(body.subscribe.name, "abc");
	assert_int_equal(encode_name(), 12 + 2 + 3 + 32);
	room[12 + 2] = 0;
	assert_int_equal(
		wire_message_decode_subscribe((struct etw_bytes){room, 41}, &back.subscribe),
		-EPROTO);
	room[12 + 2] = 0xC0;
	assert_int_equal(
		wire_message_decode_subscribe((struct etw_bytes){room, 41}, &back.subscribe),
		-EPROTO);
	strcpy(body.subscribe.name, "\xFF");
	assert_int_equal(encode_name(), 0);
}

static void test_message__names_have_their_limit(void **state)
{
	size_t bytes;

	(void)state;
	memset(&body, 'a', sizeof(body));
	assert_int_equal(encode_name(), 0); /* no NUL */
	body.subscribe.name[WIRE_MESSAGE_NAME_MAX] = '\0';
	bytes = encode_name();
	assert_int_equal(bytes, 12 + 2 + WIRE_MESSAGE_NAME_MAX + 32);
	assert_int_equal(
		wire_message_decode_subscribe((struct etw_bytes){room, bytes}, &back.subscribe), 0);
	/* One more, with a datagram that has it. */
	etw_store16(room + 12, WIRE_MESSAGE_NAME_MAX + 1);
	room[bytes] = 'a';
	assert_int_equal(
		wire_message_decode_subscribe((struct etw_bytes){room, bytes + 1}, &back.subscribe),
		-EPROTO);
}

static void test_message__runs_of_bytes_have_their_limit(void **state)
{
	static uint8_t many[WIRE_MESSAGE_BYTES_MAX];
	struct wire_message head = {WIRE_SUBSCRIBED, 1, 0};
	size_t bytes;

	(void)state;
	memset(&body, 0, sizeof(body));
	body.registration.traits = (struct etw_bytes){many, WIRE_TRAITS_BYTES_MAX};
	bytes = encode_register(&head, &body, room);
	assert_int_equal(bytes, 12 + 8 + 16 + 4 + WIRE_TRAITS_BYTES_MAX);
	etw_store32(room + 36, WIRE_TRAITS_BYTES_MAX + 1);
	assert_int_equal(decode_register((struct etw_bytes){room, bytes + 1}, &back), -EPROTO);
	body.registration.traits.left++;
	assert_int_equal(encode_register(&head, &body, room), 0);

	memset(&body, 0, sizeof(body));
	body.subscribed.header_buffer = (struct etw_bytes){many,
							   WIRE_MESSAGE_BYTES_MAX - 12 - 40 - 4};
	assert_int_equal(encode_subscribed(&head, &body, room), WIRE_MESSAGE_BYTES_MAX);
	body.subscribed.header_buffer.left++;
	assert_int_equal(encode_subscribed(&head, &body, room), 0);
}

static void test_message__lists_have_their_limit(void **state)
{
	struct wire_message head = {WIRE_SESSIONS, 1, 0};
	size_t bytes;

	(void)state;
	memset(&body, 0, sizeof(body));
	body.sessions.count = WIRE_LIST_SESSIONS_MAX;
	bytes = encode_sessions(&head, &body, room);
	assert_int_equal(bytes, 12 + 4 + 8 * WIRE_LIST_SESSIONS_MAX);
	assert_int_equal(decode_sessions((struct etw_bytes){room, bytes}, &back), 0);
	memset(room + bytes, 0, 8);
	etw_store32(room + 12, WIRE_LIST_SESSIONS_MAX + 1);
	assert_int_equal(decode_sessions((struct etw_bytes){room, bytes + 8}, &back), -EPROTO);
	body.sessions.count++;
	assert_int_equal(encode_sessions(&head, &body, room), 0);
}

static void test_message__numbers_out_of_range_are_refused(void **state)
{
	static const struct {
		size_t kind;
		size_t at;
		uint32_t good, bad;
	} rows[] = {
		{0, 16, 1, 0},                         /* hello.role */
		{0, 16, 3, 4},          {1, 16, 0, 2}, /* welcome.is_system */
		{2, 16, 1, 2},                         /* register.kind */
		{4, 16, 2, 3},                         /* enable.control_code */
		{4, 20, 0, 2},                         /* enable.has_callback */
		{4, 57, 1, 2},                         /* enable.slots[0].is_used */
		{8, 12, 6, 7},                         /* control.code */
		{9, 12 + 8 + 16, 2, 3},                /* enable_provider.code */
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct kind *kind = &kinds[rows[i].kind];
		struct etw_bytes datagram = {room, encode_filled(kind)};

		etw_store32(room + rows[i].at, rows[i].good);
		assert_int_equal(kind->decode(datagram, &back), 0);
		etw_store32(room + rows[i].at, rows[i].bad);
		assert_int_equal(kind->decode(datagram, &back), -EPROTO);
	}
}

static void test_message__numbers_out_of_range_are_not_encoded(void **state)
{
	struct wire_message head = {WIRE_HELLO, 1, 0};

	(void)state;
	memset(&body, 0, sizeof(body));
	assert_int_equal(encode_hello(&head, &body, room), 0);
	body.hello.role = WIRE_ROLE_PROVIDER;
	assert_int_equal(encode_hello(&head, &body, room), 20);
	memset(&body, 0, sizeof(body));
	body.session_info.file_status = 1;
	assert_int_equal(encode_session_info(&head, &body, room), 0);
	body.session_info.file_status = -4096;
	assert_int_equal(encode_session_info(&head, &body, room), 0);
	body.session_info.file_status = -4095;
	assert_int_not_equal(encode_session_info(&head, &body, room), 0);
	body.session_info.config.clock_type = 4;
	assert_int_equal(encode_session_info(&head, &body, room), 0);
}

/* Numbers on the wire never change: other versions of the library are on the other end. */
static void test_message__the_bytes_of_a_message(void **state)
{
	static const uint8_t wanted[] = {3 + 7, 0,  0,  0,  4,  3,  2,  1,  0, 0, 0, 0, 7,   0,
					 0,     0,  1,  0,  0,  0,  4,  3,  2, 1, 6, 5, 8,   7,
					 9,     10, 11, 12, 13, 14, 15, 16, 2, 0, 0, 0, 's', 'o'};
	struct wire_message head = {WIRE_REGISTER, 0x01020304, 0};

	(void)state;
	body.registration = (struct wire_register){7, 1, guid, {run, 2}};
	assert_int_equal(encode_register(&head, &body, room), sizeof(wanted));
	assert_memory_equal(room, wanted, sizeof(wanted));
}

/* The controller makes a row for each processor: as many as a host can have, and no more. */
static void test_message__processors_have_their_limit(void **state)
{
	const struct wire_message head = {.type = WIRE_STATISTICS};
	size_t bytes, at = 0;

	(void)state;
	memset(&body, 0, sizeof(body));
	body.statistics.cpu_count = WIRE_RING_CPUS_MAX - 1;
	assert_int_not_equal(encode_statistics(&head, &body, second), 0);
	body.statistics.cpu_count = WIRE_RING_CPUS_MAX;
	bytes = encode_statistics(&head, &body, room);
	assert_int_equal(decode_statistics((struct etw_bytes){room, bytes}, &back), 0);
	while (room[at] == second[at]) /* the number is where the two differ */
		at++;
	etw_store32(room + at, WIRE_RING_CPUS_MAX + 1);
	assert_int_equal(decode_statistics((struct etw_bytes){room, bytes}, &back), -EPROTO);
	body.statistics.cpu_count++;
	assert_int_equal(encode_statistics(&head, &body, room), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_message__every_kind_goes_there_and_back),
		cmocka_unit_test(test_message__cut_short_it_is_refused),
		cmocka_unit_test(test_message__bytes_behind_it_are_refused),
		cmocka_unit_test(test_message__any_byte_changed_is_refused_or_sound),
		cmocka_unit_test(test_message__the_head_is_checked),
		cmocka_unit_test(test_message__a_head_out_of_range_is_not_encoded),
		cmocka_unit_test(test_message__names_are_utf8_without_nul),
		cmocka_unit_test(test_message__names_have_their_limit),
		cmocka_unit_test(test_message__runs_of_bytes_have_their_limit),
		cmocka_unit_test(test_message__lists_have_their_limit),
		cmocka_unit_test(test_message__numbers_out_of_range_are_refused),
		cmocka_unit_test(test_message__numbers_out_of_range_are_not_encoded),
		cmocka_unit_test(test_message__processors_have_their_limit),
		cmocka_unit_test(test_message__the_bytes_of_a_message),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
