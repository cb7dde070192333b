/* SPDX-License-Identifier: MIT */
/*
 * Consumers, their memories, pieces and batches. No thread runs here, and nobody is connected: what a consumer would be
 * told is noted, and what it would give back the tests write into its memory.
 */
#include "session/consumers.h"

#include <sys/mman.h>

#include "base/sched_point.h"
#include "base/time.h"
#include "parts.h"
#include "session/delivery.h"
#include "wire/etl_buffer.h"

#define CONSUMER 42

struct client {
	struct etw_session_subscribed subscribed;
	uint8_t *memory;
	size_t bytes;
	uint32_t batches, ends;
	struct wire_batch last;
};

struct scene {
	struct fixture fixture;
	struct parts parts;
	struct client client;
};

static void note_batch(void *context, const struct wire_batch *batch, bool is_end)
{
	struct client *client = context;

	client->batches++;
	client->ends += is_end;
	client->last = *batch;
}

static int subscribe(struct parts *parts, uint64_t consumer, struct client *ret)
{
	const struct etw_session_subscribe request = {
		.consumer = consumer, .notify = note_batch, .context = ret};
	off_t bytes;
	int result;

	*ret = (struct client){0};
	result = etw_consumers_subscribe(&parts->consumers, &request, &ret->subscribed);
	if (result < 0)
		return result;
	bytes = lseek(ret->subscribed.memory_fd, 0, SEEK_END);
	assert_true(bytes > 0);
	ret->bytes = (size_t)bytes;
	ret->memory = mmap(NULL, ret->bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
			   ret->subscribed.memory_fd, 0);
	assert_true(ret->memory != MAP_FAILED);
	close(ret->subscribed.memory_fd);
	return 0;
}

static struct wire_delivery *page_of(const struct client *client)
{
	return (struct wire_delivery *)(void *)client->memory;
}

/* The header of a buffer in the memory. */
static const struct wire_buffer_header *buffer_at(const struct client *client, uint64_t number)
{
	const struct wire_delivery *page = page_of(client);

	return (const void *)(client->memory + page->slots_at +
			      number % page->slot_count * page->slot_bytes);
}

/* A piece of these tests takes a slot. */
static void give_back(const struct client *client, uint64_t pieces)
{
	store_release(&page_of(client)->released_pieces, pieces);
	store_release(&page_of(client)->released, pieces);
}

static void begin(struct scene *scene)
{
	const struct wire_session_config config = parts_realtime();

	*scene = (struct scene){0};
	fixture_open(&scene->fixture);
	parts_open(&scene->parts, &scene->fixture, &config, 1);
}

static void end(struct scene *scene)
{
	if (scene->client.memory)
		munmap(scene->client.memory, scene->client.bytes);
	parts_close(&scene->parts);
	fixture_close(&scene->fixture);
}

/* Puts as many bytes into output 0 as an event, and hands them out. Returns whether the record changed. */
static bool hand_out(struct parts *parts, uint64_t loss, bool is_sealed)
{
	struct etw_state_record *record = parts->outputs.all[0].record;
	const struct etw_delivery_piece piece = {
		.buffer = parts->outputs.all[0].buffer,
		.record = record,
		.loss = loss,
		.is_sealed = is_sealed,
	};
	bool result;

	record->fill += 0x60;
	record->piece_events++;
	etw_delivery_lock(&parts->consumers);
	result = etw_delivery_piece(&parts->consumers, &piece);
	etw_state_commit(&parts->context.state, 0, record);
	etw_delivery_unlock(&parts->consumers);
	if (record->fill > 3000)
		record->fill = record->delivered = WIRE_BUFFER_HEADER_BYTES;
	return result;
}

static void announce(struct parts *parts, bool is_end)
{
	etw_delivery_lock(&parts->consumers);
	etw_delivery_announce(&parts->consumers, 77, 5, is_end);
	etw_delivery_unlock(&parts->consumers);
}

static void test_consumers__a_piece_is_a_buffer_in_the_memory(void **state)
{
	static struct scene scene;
	struct client *client = &scene.client;
	struct etw_state_record *record;

	(void)state;
	begin(&scene);
	record = scene.parts.outputs.all[0].record;
	assert_int_equal(subscribe(&scene.parts, CONSUMER, client), 0);
	assert_true(hand_out(&scene.parts, 0, false));
	assert_int_equal(record->delivered, record->fill);
	assert_int_equal(record->piece_events, 0);
	assert_int_equal(record->counts.pieces, 1);
	assert_int_equal(record->counts.piece_events, 1);
	assert_int_equal(record->counts.slow_pieces, 0);
	assert_int_equal(record->written[0], 1);
	assert_int_equal(client->batches, 0); /* it is not told before the batch is closed */
	assert_int_equal(load_acquire(&page_of(client)->written), 0);
	assert_true(hand_out(&scene.parts, 9, false)); /* events were lost before it */
	announce(&scene.parts, false);
	assert_int_equal(client->batches, 1);
	assert_int_equal(client->last.batch, 1);
	assert_int_equal(client->last.first_slot, 0);
	assert_int_equal(client->last.buffer_count, 2);
	assert_int_equal(client->last.watermark_raw, 77);
	assert_int_equal(client->last.events_lost, 5);
	assert_int_equal(client->last.pieces, 2);
	assert_int_equal(client->last.events, 2);
	assert_int_equal(load_acquire(&page_of(client)->written), 2);
	assert_int_equal(le16_get(buffer_at(client, 0)->flags) & WIRE_BUFFER_EVENTS_LOST, 0);
	assert_int_not_equal(le16_get(buffer_at(client, 1)->flags) & WIRE_BUFFER_EVENTS_LOST, 0);
	assert_int_equal(le16_get(buffer_at(client, 0)->flags) & WIRE_BUFFER_FLUSH_MARKER, 0);
	assert_int_not_equal(le16_get(buffer_at(client, 1)->flags) & WIRE_BUFFER_FLUSH_MARKER, 0);
	end(&scene);
}

static void test_consumers__a_full_memory_loses_pieces_and_says_so(void **state)
{
	static struct scene scene;
	struct client *client = &scene.client;
	struct etw_subscriber *subscriber;
	uint32_t slots;

	(void)state;
	begin(&scene);
	assert_int_equal(subscribe(&scene.parts, CONSUMER, client), 0);
	subscriber = client->subscribed.subscriber;
	slots = page_of(client)->slot_count;
	for (uint32_t i = 0; i < slots + 3; i++)
		(void)hand_out(&scene.parts, 0, false);
	assert_int_equal(etw_consumers_lost(&scene.parts.consumers, subscriber), 3);
	assert_int_equal(parts_counts(&scene.parts).slow_pieces, 3);
	announce(&scene.parts, false);
	/* What it gives back is believed as far as it was told. */
	give_back(client, UINT64_MAX);
	etw_subscriber_look(subscriber);
	assert_int_equal(subscriber->released.slots, slots);
	assert_int_equal(subscriber->released.pieces, slots);
	(void)hand_out(&scene.parts, 0, false);
	assert_int_not_equal(le16_get(buffer_at(client, slots)->flags) & WIRE_BUFFER_BUFFER_LOST,
			     0);
	(void)hand_out(&scene.parts, 0, false);
	assert_int_equal(le16_get(buffer_at(client, slots + 1)->flags) & WIRE_BUFFER_BUFFER_LOST,
			 0);
	/* It never goes back. */
	give_back(client, UINT64_C(0));
	etw_subscriber_look(subscriber);
	assert_int_equal(subscriber->released.slots, slots);
	end(&scene);
}

/* What the host itself writes, such as which of the kernel's events are not collected. */
static void test_consumers__a_note_that_does_not_arrive_is_no_lost_event(void **state)
{
	static struct scene scene;
	struct client *client = &scene.client;
	struct etw_state_record *record;
	uint32_t slots;

	(void)state;
	begin(&scene);
	record = scene.parts.outputs.all[0].record;
	assert_int_equal(subscribe(&scene.parts, CONSUMER, client), 0);
	slots = page_of(client)->slot_count;
	record->piece_events++;
	record->piece_notes++;
	(void)hand_out(&scene.parts, 0, false);
	assert_int_equal(record->piece_notes, 0);
	assert_int_equal(le64_get(buffer_at(client, 0)->reference_start), 1);
	for (uint32_t i = 1; i < slots; i++)
		(void)hand_out(&scene.parts, 0, false);
	assert_int_equal(le64_get(buffer_at(client, 1)->reference_start), 0);
	record->piece_events += 2;
	record->piece_notes += 2;
	(void)hand_out(&scene.parts, 0, false); /* finds no room */
	announce(&scene.parts, false);
	assert_int_equal(client->last.pieces, slots + 1);
	assert_int_equal(client->last.events, slots + 1);
	assert_int_equal(parts_counts(&scene.parts).slow_pieces, 1);
	assert_int_equal(parts_counts(&scene.parts).slow_events, 1);
	end(&scene);
}

static uint32_t real_time_buffers_lost(struct parts *parts)
{
	struct wire_session_info info;

	etw_account_info(&parts->sets, &info);
	return info.real_time_buffers_lost;
}

/* Without consumers pieces wait for some until the buffer is sealed; then they are kept for the first that comes. */
static void test_consumers__whole_buffers_are_kept_for_the_first_consumer(void **state)
{
	static struct scene scene;
	struct etw_state_record *record;
	struct client second;

	(void)state;
	begin(&scene);
	record = scene.parts.outputs.all[0].record;
	assert_false(hand_out(&scene.parts, 0, false));
	assert_int_equal(record->delivered, WIRE_BUFFER_HEADER_BYTES);
	assert_int_equal(scene.parts.consumers.pieces, 0);
	assert_true(hand_out(&scene.parts, 0, true));
	assert_true(hand_out(&scene.parts, 3, true)); /* events were lost before it */
	assert_int_equal(record->counts.unheard_pieces, 0);
	assert_int_equal(record->counts.piece_events, 3);
	assert_int_equal(scene.parts.consumers.pieces, 2);
	assert_int_equal(scene.parts.consumers.subscriber_count, 0);
	assert_int_equal(fixture_kept_count(&scene.fixture, "session-7/delivery-"), 1);
	assert_int_equal(subscribe(&scene.parts, CONSUMER, &scene.client), 0);
	assert_int_equal(scene.client.subscribed.next_slot, 0);
	assert_int_equal(scene.client.subscribed.pieces, 0);
	assert_int_equal(scene.client.subscribed.events, 0);
	assert_true(scene.parts.consumers.batch_bytes >= ETW_SUBSCRIBER_BATCH_BYTES_MAX); /* due */
	assert_int_equal(subscribe(&scene.parts, CONSUMER + 1, &second), 0);
	assert_int_equal(second.subscribed.pieces, 2); /* from now on */
	announce(&scene.parts, false);
	assert_int_equal(scene.client.last.first_slot, 0);
	assert_int_equal(scene.client.last.buffer_count, 2);
	assert_int_equal(second.last.buffer_count, 0);
	assert_int_not_equal(le16_get(buffer_at(&scene.client, 1)->flags) & WIRE_BUFFER_EVENTS_LOST,
			     0);
	assert_int_equal(real_time_buffers_lost(&scene.parts), 0);
	munmap(second.memory, second.bytes);
	end(&scene);
}

/* No more than one consumer's memory holds: the newest are lost, and it is told so. */
static void test_consumers__buffers_are_kept_within_bounds(void **state)
{
	static struct scene scene;
	struct client *client = &scene.client;
	struct wire_consumer_statistics told[WIRE_STATISTICS_CONSUMERS];
	uint32_t slots = 0;

	(void)state;
	begin(&scene);
	while (parts_counts(&scene.parts).unheard_pieces < 3 && slots++ < 1000000)
		(void)hand_out(&scene.parts, 0, true);
	slots -= 3;
	assert_int_equal(real_time_buffers_lost(&scene.parts), 3);
	assert_int_equal(parts_counts(&scene.parts).unheard_events, 3);
	etw_consumers_tell(&scene.parts.consumers, told);
	assert_int_equal(told[0].state, WIRE_CONSUMER_FUTURE);
	assert_int_equal(told[0].waiting, slots);
	assert_int_equal(told[0].lost, 3);
	assert_int_equal(subscribe(&scene.parts, CONSUMER, client), 0);
	assert_int_equal(page_of(client)->slot_count, slots);
	announce(&scene.parts, false);
	assert_int_equal(client->last.buffer_count, slots);
	assert_int_equal(client->last.pieces - client->subscribed.pieces - slots, 3);
	give_back(client, (uint64_t)slots);
	(void)hand_out(&scene.parts, 0, false);
	assert_int_not_equal(le16_get(buffer_at(client, slots)->flags) & WIRE_BUFFER_BUFFER_LOST,
			     0);
	end(&scene);
}

static void test_consumers__places(void **state)
{
	static struct scene scene;
	struct client clients[ETW_STATE_CONSUMERS + 1];

	(void)state;
	begin(&scene);
	for (uint32_t i = 0; i < ETW_STATE_CONSUMERS; i++)
		assert_int_equal(subscribe(&scene.parts, 100 + i, &clients[i]), 0);
	assert_int_equal(scene.parts.consumers.subscriber_count, ETW_STATE_CONSUMERS);
	assert_int_equal(fixture_kept_count(&scene.fixture, "session-7/delivery-"),
			 ETW_STATE_CONSUMERS);
	assert_int_equal(subscribe(&scene.parts, 99, &clients[ETW_STATE_CONSUMERS]), -EBUSY);
	etw_consumers_unsubscribe(&scene.parts.consumers, clients[3].subscribed.subscriber);
	etw_consumers_unsubscribe(&scene.parts.consumers, NULL);
	assert_int_equal(fixture_kept_count(&scene.fixture, "session-7/delivery-3"), 0);
	assert_int_equal(subscribe(&scene.parts, 101, &clients[ETW_STATE_CONSUMERS]), -EBUSY);
	munmap(clients[3].memory, clients[3].bytes);
	assert_int_equal(subscribe(&scene.parts, 99, &clients[3]), 0);
	assert_int_equal(clients[3].subscribed.subscriber->place, 3);
	for (uint32_t i = 0; i < ETW_STATE_CONSUMERS; i++)
		munmap(clients[i].memory, clients[i].bytes);
	end(&scene);
}

static void test_consumers__the_end_is_for_everybody(void **state)
{
	static struct scene scene;
	struct client late;

	(void)state;
	begin(&scene);
	assert_int_equal(subscribe(&scene.parts, CONSUMER, &scene.client), 0);
	etw_outputs_close_batch(&scene.parts.outputs, 1, /* is_end= */ true);
	assert_int_equal(scene.client.batches, 1);
	assert_int_equal(scene.client.ends, 1);
	assert_int_equal(subscribe(&scene.parts, 1, &late), -ESHUTDOWN);
	assert_int_equal(fixture_kept_count(&scene.fixture, "session-7/delivery-"), 1);
	end(&scene);
}

/* A host dies, and the next one has its state. */
static void change_host(struct scene *scene)
{
	int fd = dup(scene->parts.context.state.fd);

	parts_close(&scene->parts);
	parts_adopt(&scene->parts, &scene->fixture, fd);
}

static void test_consumers__a_consumer_comes_back_to_its_memory(void **state)
{
	static struct scene scene;
	struct client *client = &scene.client, again;

	(void)state;
	begin(&scene);
	assert_int_equal(subscribe(&scene.parts, CONSUMER, client), 0);
	for (int i = 0; i < 3; i++)
		(void)hand_out(&scene.parts, 0, false);
	announce(&scene.parts, false);
	give_back(client, UINT64_C(2));
	change_host(&scene);
	assert_int_equal(scene.parts.consumers.subscriber_count, 1);
	assert_int_equal(scene.parts.consumers.pieces, 3);
	assert_true(etw_consumers_are_awaited(&scene.parts.consumers, etw_monotonic_ns()));
	(void)hand_out(&scene.parts, 0, false); /* its memory is filled on */
	announce(&scene.parts, false);
	assert_int_equal(client->batches, 1);
	assert_int_equal(subscribe(&scene.parts, CONSUMER, &again), 0);
	assert_int_equal(again.subscribed.next_slot, 2);
	assert_false(etw_consumers_are_awaited(&scene.parts.consumers, etw_monotonic_ns()));
	announce(&scene.parts, false);
	assert_int_equal(again.last.first_slot, 2);
	assert_int_equal(again.last.buffer_count, 2);
	assert_int_equal(again.last.pieces, 4);
	munmap(again.memory, again.bytes);
	end(&scene);
}

/* One that does not come back is let go of; what it was for it counts as lost. */
static void test_consumers__nobody_is_waited_for_without_end(void **state)
{
	static struct scene scene;
	struct etw_session_consumers *consumers = &scene.parts.consumers;
	uint64_t now_ns;

	(void)state;
	begin(&scene);
	assert_int_equal(subscribe(&scene.parts, CONSUMER, &scene.client), 0);
	for (int i = 0; i < 3; i++)
		(void)hand_out(&scene.parts, 0, false);
	change_host(&scene);
	now_ns = consumers->adopted_ns;
	etw_delivery_lock(consumers);
	for (int i = 0; i < 9; i++)
		etw_consumers_expire(consumers, now_ns += ETW_CONSUMERS_WAIT_NS / 10);
	assert_int_equal(consumers->subscriber_count, 1);
	etw_consumers_expire(consumers, now_ns += ETW_CONSUMERS_WAIT_NS / 10);
	etw_consumers_expire(consumers, now_ns + 1);
	assert_int_equal(consumers->subscriber_count, 0);
	etw_delivery_unlock(consumers);
	assert_int_equal(real_time_buffers_lost(&scene.parts), 3);
	change_host(&scene);
	assert_int_equal(consumers->subscriber_count, 0);
	assert_int_equal(real_time_buffers_lost(&scene.parts), 3);
	end(&scene);
}

static void test_consumers__who_is_away_at_the_end_has_missed_what_it_has_not_read(void **state)
{
	static struct scene scene;
	struct etw_session_consumers *consumers = &scene.parts.consumers;
	struct wire_session_info info;

	(void)state;
	begin(&scene);
	assert_int_equal(subscribe(&scene.parts, CONSUMER, &scene.client), 0);
	for (int i = 0; i < 3; i++)
		(void)hand_out(&scene.parts, 0, false);
	announce(&scene.parts, false);
	give_back(&scene.client, UINT64_C(1));
	change_host(&scene);
	etw_delivery_lock(consumers);
	etw_delivery_end(consumers);
	etw_delivery_unlock(consumers);
	etw_account_info(&scene.parts.sets, &info);
	assert_int_equal(info.real_time_buffers_lost, 2);
	assert_int_equal(fixture_kept_count(&scene.fixture, "session-7/delivery-"), 0);
	end(&scene);
}

/* What is kept outlives the host, and goes on being filled; then somebody comes. */
static void test_consumers__what_is_kept_outlives_the_host(void **state)
{
	static struct scene scene;

	(void)state;
	begin(&scene);
	(void)hand_out(&scene.parts, 0, true);
	(void)hand_out(&scene.parts, 0, true);
	change_host(&scene);
	assert_int_equal(scene.parts.consumers.subscriber_count, 0);
	assert_false(etw_consumers_are_awaited(&scene.parts.consumers, etw_monotonic_ns()));
	(void)hand_out(&scene.parts, 0, true);
	assert_int_equal(subscribe(&scene.parts, CONSUMER, &scene.client), 0);
	announce(&scene.parts, false);
	assert_int_equal(scene.client.last.first_slot, 0);
	assert_int_equal(scene.client.last.buffer_count, 3);
	for (uint64_t i = 0; i < 3; i++)
		assert_int_equal(le64_get(buffer_at(&scene.client, i)->sequence), i + 1);
	/* It is the consumer's from now on. */
	change_host(&scene);
	assert_int_equal(scene.parts.consumers.subscriber_count, 1);
	assert_null(scene.parts.consumers.backlog);
	end(&scene);
}

/* Of the test below: what happens while a consumer's memory is made, and when it has given its place back. */
static struct scene *race_scene;
static struct client race_rival;
static bool is_race_kept, is_race_taken;

static int keep_while_a_buffer_comes(void *context, const char *name, int fd)
{
	if (!is_race_kept) {
		is_race_kept = true;
		(void)hand_out(&race_scene->parts, 0, true);
	}
	return race_scene->fixture.host.keep_fd(context, name, fd);
}

static void take_it_first(const char *name)
{
	if (is_race_taken || strcmp(name, "session.subscribe.place_given_back") != 0)
		return;
	is_race_taken = true;
	assert_int_equal(subscribe(&race_scene->parts, CONSUMER + 1, &race_rival), 0);
}

/* The one that comes second has no part in what is kept, but it is a consumer. Others come first in test builds alone. */
static void test_consumers__what_is_kept_may_be_taken_by_another(void **state)
{
	static struct scene scene;

	(void)state;
	begin(&scene);
	race_scene = &scene;
	scene.parts.context.host.keep_fd = keep_while_a_buffer_comes;
#ifdef ETW_SCHED_POINTS
	etw_sched_point_hook = take_it_first;
#else
	take_it_first("session.subscribe.place_given_back elsewhere");
#endif
	assert_int_equal(subscribe(&scene.parts, CONSUMER, &scene.client), 0);
#ifdef ETW_SCHED_POINTS
	etw_sched_point_hook = NULL;
#endif
	assert_true(is_race_kept);
	assert_null(scene.parts.consumers.backlog);
	assert_int_equal(scene.client.subscribed.pieces, is_race_taken ? 1 : 0);
	assert_int_equal(scene.parts.consumers.subscriber_count, is_race_taken ? 2 : 1);
	if (race_rival.memory)
		munmap(race_rival.memory, race_rival.bytes);
	end(&scene);
}

static struct etw_subscriber *come_back(struct scene *scene, uint64_t consumer, uint64_t pieces)
{
	const struct etw_session_subscribe request = {.consumer = consumer,
						      .last_batch = 1,
						      .pieces = pieces,
						      .notify = note_batch,
						      .context = &scene->client};
	struct etw_session_subscribed subscribed;

	assert_int_equal(etw_consumers_subscribe(&scene->parts.consumers, &request, &subscribed),
			 0);
	close(subscribed.memory_fd);
	assert_int_equal(subscribed.next_slot, 0);
	return subscribed.subscriber;
}

/* Hands out so many, which the client gives back before it leaves. */
static void read_and_leave(struct scene *scene, struct client *client, uint64_t count)
{
	for (uint64_t i = 0; i < count; i++)
		(void)hand_out(&scene->parts, 0, false);
	announce(&scene->parts, false);
	give_back(client, count);
	etw_consumers_unsubscribe(&scene->parts.consumers, client->subscribed.subscriber);
}

/* A consumer whose memory is gone comes back: it has missed what was neither in that nor kept. */
static void test_consumers__who_comes_back_late_gets_what_is_kept(void **state)
{
	static struct scene scene;
	struct etw_subscriber *again;
	struct client other;

	(void)state;
	begin(&scene);
	assert_int_equal(subscribe(&scene.parts, CONSUMER, &scene.client), 0);
	read_and_leave(&scene, &scene.client, 2);
	assert_int_equal(subscribe(&scene.parts, CONSUMER + 1, &other), 0);
	read_and_leave(&scene, &other, 3);
	assert_int_equal(real_time_buffers_lost(&scene.parts), 0);
	(void)hand_out(&scene.parts, 0, true);
	again = come_back(&scene, CONSUMER, 2);
	assert_int_equal(etw_consumers_lost(&scene.parts.consumers, again), 3);
	assert_int_equal(real_time_buffers_lost(&scene.parts), 3);
	change_host(&scene);
	assert_int_equal(real_time_buffers_lost(&scene.parts), 3);
	end(&scene);
}

/* How far a consumer had got is its claim: believed of one that was here, once, and of what went by since. */
static void test_consumers__a_claim_of_loss_is_bounded(void **state)
{
	static struct scene scene;
	struct etw_subscriber *again;

	(void)state;
	begin(&scene);
	assert_int_equal(subscribe(&scene.parts, CONSUMER, &scene.client), 0);
	/* Somebody who was never here: all that went by. */
	for (int i = 0; i < 4; i++)
		(void)hand_out(&scene.parts, 0, false);
	again = come_back(&scene, CONSUMER + 7, 0);
	assert_int_equal(real_time_buffers_lost(&scene.parts), 0);
	etw_consumers_unsubscribe(&scene.parts.consumers, again);
	/* One that was here says again and again that it had got nothing. */
	for (uint64_t i = 1; i <= 5; i++) {
		(void)hand_out(&scene.parts, 0, false);
		again = come_back(&scene, CONSUMER + 7, 0);
		assert_int_equal(real_time_buffers_lost(&scene.parts), i);
		etw_consumers_unsubscribe(&scene.parts.consumers, again);
	}
	/* Nor has it got what was not handed out yet. */
	again = come_back(&scene, CONSUMER + 7, UINT64_MAX);
	assert_int_equal(etw_consumers_lost(&scene.parts.consumers, again), 0);
	etw_consumers_unsubscribe(&scene.parts.consumers, again);
	assert_int_equal(real_time_buffers_lost(&scene.parts), 5);
	end(&scene);
}

/* What a consumer that died had been told of and did not read is lost; who leaves in good order gives it back. */
static void test_consumers__what_the_dead_have_not_read_is_lost(void **state)
{
	static struct scene scene;
	struct client *client = &scene.client, polite;
	struct wire_consumer_statistics told[WIRE_STATISTICS_CONSUMERS];

	(void)state;
	begin(&scene);
	assert_int_equal(subscribe(&scene.parts, CONSUMER, client), 0);
	assert_int_equal(subscribe(&scene.parts, CONSUMER + 1, &polite), 0);
	for (int i = 0; i < 5; i++)
		(void)hand_out(&scene.parts, 0, false);
	announce(&scene.parts, false);
	give_back(client, UINT64_C(1));
	give_back(&polite, load_acquire(&page_of(&polite)->written));
	etw_consumers_tell(&scene.parts.consumers, told);
	assert_int_equal(told[0].state, WIRE_CONSUMER_HERE);
	assert_int_equal(told[0].buffers, 5);
	assert_int_equal(told[0].waiting, 4);
	assert_int_equal(told[1].waiting, 0);
	assert_int_equal(told[2].state, WIRE_CONSUMER_NONE);
	etw_consumers_unsubscribe(&scene.parts.consumers, client->subscribed.subscriber);
	etw_consumers_unsubscribe(&scene.parts.consumers, polite.subscribed.subscriber);
	assert_int_equal(real_time_buffers_lost(&scene.parts), 4);
	munmap(polite.memory, polite.bytes);
	end(&scene);
}

/* A host that died while it let go of a place had counted, or the next one does; never both. */
static void test_consumers__a_place_is_let_go_of_once(void **state)
{
	static struct scene scene;
	struct etw_state_consumer *entry;

	(void)state;
	begin(&scene);
	assert_int_equal(subscribe(&scene.parts, CONSUMER, &scene.client), 0);
	entry = &scene.parts.context.state.head->consumers[0];
	entry->unread = 2;
	entry->unread_next = 9;
	entry->status = ETW_STATE_CONSUMER_LEAVING;
	assert_int_equal(real_time_buffers_lost(&scene.parts), 9);
	change_host(&scene);
	entry = &scene.parts.context.state.head->consumers[0];
	assert_int_equal(entry->status, ETW_STATE_CONSUMER_FREE);
	assert_int_equal(real_time_buffers_lost(&scene.parts), 9);
	assert_int_equal(fixture_kept_count(&scene.fixture, "session-7/delivery-"), 0);
	end(&scene);
}

/* Nobody ever came for it. */
static void test_consumers__what_is_kept_at_the_end_is_lost(void **state)
{
	static struct scene scene;

	(void)state;
	begin(&scene);
	(void)hand_out(&scene.parts, 0, true);
	(void)hand_out(&scene.parts, 0, true);
	etw_outputs_close_batch(&scene.parts.outputs, 1, /* is_end= */ true);
	assert_int_equal(real_time_buffers_lost(&scene.parts), 2);
	assert_int_equal(fixture_kept_count(&scene.fixture, "session-7/delivery-"), 0);
	end(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_consumers__a_piece_is_a_buffer_in_the_memory),
		cmocka_unit_test(test_consumers__a_full_memory_loses_pieces_and_says_so),
		cmocka_unit_test(test_consumers__a_note_that_does_not_arrive_is_no_lost_event),
		cmocka_unit_test(test_consumers__whole_buffers_are_kept_for_the_first_consumer),
		cmocka_unit_test(test_consumers__buffers_are_kept_within_bounds),
		cmocka_unit_test(test_consumers__what_is_kept_outlives_the_host),
		cmocka_unit_test(test_consumers__what_is_kept_may_be_taken_by_another),
		cmocka_unit_test(test_consumers__who_comes_back_late_gets_what_is_kept),
		cmocka_unit_test(test_consumers__a_claim_of_loss_is_bounded),
		cmocka_unit_test(test_consumers__what_the_dead_have_not_read_is_lost),
		cmocka_unit_test(test_consumers__a_place_is_let_go_of_once),
		cmocka_unit_test(test_consumers__what_is_kept_at_the_end_is_lost),
		cmocka_unit_test(test_consumers__places),
		cmocka_unit_test(test_consumers__the_end_is_for_everybody),
		cmocka_unit_test(test_consumers__a_consumer_comes_back_to_its_memory),
		cmocka_unit_test(test_consumers__nobody_is_waited_for_without_end),
		cmocka_unit_test(
			test_consumers__who_is_away_at_the_end_has_missed_what_it_has_not_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
