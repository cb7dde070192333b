/* SPDX-License-Identifier: MIT */
/* A consumer's delivery memory: where pieces lie in it, and what is given back when. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/bytes.h"
#include "base/macros.h"
#include "consumer/live_memory.h"
#include "wire/etl_buffer.h"

#define SLOT_BYTES   4096
#define BUFFER_SLOTS 4
#define SLOTS_AT     4096

/* The session's end of it. */
struct scene {
	struct wire_delivery *page;
	size_t bytes;
	int fd;
	struct etw_live_memory *memory;
};

static void begin(struct scene *scene, uint32_t slots)
{
	scene->bytes = SLOTS_AT + (size_t)slots * SLOT_BYTES;
	scene->fd = memfd_create("delivery", MFD_CLOEXEC);
	assert_true(scene->fd >= 0);
	assert_int_equal(ftruncate(scene->fd, (off_t)scene->bytes), 0);
	scene->page = mmap(NULL, scene->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, scene->fd, 0);
	assert_true(scene->page != MAP_FAILED);
	*scene->page = (struct wire_delivery){.magic = WIRE_DELIVERY_MAGIC,
					      .version = WIRE_DELIVERY_VERSION,
					      .slot_count = slots,
					      .slot_bytes = SLOT_BYTES,
					      .slots_at = SLOTS_AT,
					      .buffer_slots = BUFFER_SLOTS};
	assert_int_equal(etw_live_memory_map(scene->fd, 0, 0, &scene->memory), 0);
}

static void end(struct scene *scene)
{
	etw_live_memory_free(scene->memory);
	munmap(scene->page, scene->bytes);
	close(scene->fd);
}

/* Puts a piece of so many bytes behind the others, as a session does. */
static void put(struct scene *scene, uint32_t bytes)
{
	struct wire_delivery *page = scene->page;
	uint64_t at = wire_delivery_begin(page->written, page->slot_count, page->buffer_slots);
	uint8_t *slot = (uint8_t *)page + SLOTS_AT + at % page->slot_count * SLOT_BYTES;

	memset(slot, 0, WIRE_BUFFER_HEADER_BYTES);
	etw_store32(slot + offsetof(struct wire_buffer_header, valid_bytes), bytes);
	page->written = at + ALIGN_UP(bytes, SLOT_BYTES) / SLOT_BYTES;
	page->written_pieces++;
}

/* Takes all that is there, as one batch. Returns where the first piece lies, as a slot. */
static uint64_t take(struct scene *scene, uint32_t pieces)
{
	struct etw_live_memory *memory = scene->memory;
	uint64_t first = 0;

	for (uint32_t i = 0; i < pieces; i++) {
		const uint8_t *at;
		uint32_t bytes;

		assert_int_equal(etw_live_memory_take(memory, scene->page->written, &at, &bytes),
				 0);
		assert_non_null(at);
		assert_true(etw_live_memory_has(memory, at));
		assert_int_equal(bytes,
				 etw_load32(at + offsetof(struct wire_buffer_header, valid_bytes)));
		if (i == 0)
			first = (size_t)(at - (const uint8_t *)memory->page - SLOTS_AT) /
				SLOT_BYTES;
	}
	etw_live_memory_end_batch(memory, scene->page->written, pieces);
	return first;
}

static void test_live_memory__pieces_lie_one_behind_the_other(void **state)
{
	struct scene scene;

	(void)state;
	begin(&scene, 10);
	put(&scene, 100);
	put(&scene, SLOT_BYTES + 1);
	put(&scene, BUFFER_SLOTS * SLOT_BYTES);
	assert_int_equal(scene.page->written, 7);
	assert_int_equal(take(&scene, 3), 0);
	assert_int_equal(scene.page->taken, 7);
	assert_int_equal(scene.page->taken_pieces, 3);
	for (uint32_t i = 0; i < 3; i++)
		etw_live_memory_give_back(scene.memory, i);
	assert_int_equal(scene.page->released, 7);
	/* Where a whole buffer would not fit none begins, however small it is. */
	put(&scene, 100);
	assert_int_equal(scene.page->written, 11);
	assert_int_equal(take(&scene, 1), 0);
	assert_int_equal(scene.page->released, 7);
	etw_live_memory_give_back(scene.memory, 3);
	assert_int_equal(scene.page->released, 11);
	assert_int_equal(scene.page->released_pieces, 4);
	end(&scene);
}

static void test_live_memory__what_is_held_holds_what_is_behind_it(void **state)
{
	struct scene scene;

	(void)state;
	begin(&scene, 400);
	for (int i = 0; i < 300; i++)
		put(&scene, 100);
	assert_int_equal(take(&scene, 300), 0);
	assert_true(etw_live_memory_is_scarce(scene.memory));
	for (uint32_t i = 1; i < 300; i++)
		etw_live_memory_give_back(scene.memory, i);
	assert_int_equal(scene.page->released, 0);
	assert_int_equal(scene.page->released_pieces, 0);
	etw_live_memory_give_back(scene.memory, 0);
	assert_int_equal(scene.page->released, 300);
	assert_int_equal(scene.page->released_pieces, 300);
	assert_false(etw_live_memory_is_scarce(scene.memory));
	etw_live_memory_give_back(scene.memory, 0); /* twice does no harm */
	assert_int_equal(scene.page->released, 300);
	end(&scene);
}

static void test_live_memory__a_batch_is_given_back_as_a_whole(void **state)
{
	struct scene scene;
	const uint8_t *at;
	uint32_t bytes;

	(void)state;
	begin(&scene, 10);
	put(&scene, 100);
	put(&scene, 100);
	assert_int_equal(etw_live_memory_take(scene.memory, 2, &at, &bytes), 0);
	etw_live_memory_give_back(scene.memory, 0);
	assert_int_equal(scene.page->released, 0); /* a host that comes now tells it all again */
	assert_int_equal(etw_live_memory_take(scene.memory, 2, &at, &bytes), 0);
	etw_live_memory_end_batch(scene.memory, 2, 2);
	assert_int_equal(scene.page->released, 1);
	assert_int_equal(scene.page->taken, 2);
	end(&scene);
}

/* What says of its size what cannot be hides the rest of its batch, and no more. */
static void test_live_memory__sizes_are_bounded(void **state)
{
	static const uint32_t wrong[] = {0, WIRE_BUFFER_HEADER_BYTES - 1,
					 BUFFER_SLOTS * SLOT_BYTES + 1, UINT32_MAX};
	struct scene scene;
	const uint8_t *at;
	uint32_t bytes;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		begin(&scene, 10);
		put(&scene, 100);
		etw_store32((uint8_t *)scene.page + SLOTS_AT +
				    offsetof(struct wire_buffer_header, valid_bytes),
			    wrong[i]);
		assert_int_equal(etw_live_memory_take(scene.memory, 1, &at, &bytes), 0);
		assert_null(at);
		etw_live_memory_end_batch(scene.memory, 1, 1);
		assert_int_equal(scene.page->released, 1);
		assert_int_equal(scene.page->released_pieces, 1);
		put(&scene, 100);
		assert_int_equal(take(&scene, 1), 1);
		end(&scene);
	}
}

static void test_live_memory__is_known_again(void **state)
{
	struct scene scene, other;

	(void)state;
	begin(&scene, 10);
	begin(&other, 10);
	assert_true(etw_live_memory_is(scene.memory, scene.fd));
	assert_false(etw_live_memory_is(scene.memory, other.fd));
	assert_false(etw_live_memory_is(scene.memory, -1));
	end(&other);
	end(&scene);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_live_memory__pieces_lie_one_behind_the_other),
		cmocka_unit_test(test_live_memory__what_is_held_holds_what_is_behind_it),
		cmocka_unit_test(test_live_memory__a_batch_is_given_back_as_a_whole),
		cmocka_unit_test(test_live_memory__sizes_are_bounded),
		cmocka_unit_test(test_live_memory__is_known_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
