/* SPDX-License-Identifier: MIT */
/* Events that outlive their callback, in the same and in other threads. */
#include "reader_fixture.h"

#define KEPT_MAX 4096

struct keeper {
	struct libetw_event *kept[KEPT_MAX];
	size_t count, wanted;
	int result;
	pthread_mutex_t lock;
	pthread_cond_t more;
	bool is_over;
	uint64_t sum;
};

static int keep(void *context, struct libetw_event *event)
{
	struct keeper *keeper = context;
	struct libetw_event *kept;

	keeper->result = libetw_event_retain(event, &kept);
	if (keeper->result)
		return keeper->result;
	(void)pthread_mutex_lock(&keeper->lock);
	keeper->kept[keeper->count++] = kept;
	(void)pthread_cond_signal(&keeper->more);
	(void)pthread_mutex_unlock(&keeper->lock);
	return 0;
}

/* Reads every kept event by path, makes texts of it, and gives it back. */
static void *consume(void *context)
{
	struct keeper *keeper = context;

	for (size_t at = 0;; at++) {
		struct libetw_event *event;
		const char *text;
		uint32_t number, x;

		(void)pthread_mutex_lock(&keeper->lock);
		while (at == keeper->count && !keeper->is_over)
			(void)pthread_cond_wait(&keeper->more, &keeper->lock);
		event = at < keeper->count ? keeper->kept[at] : NULL;
		(void)pthread_mutex_unlock(&keeper->lock);
		if (!event)
			return NULL;
		if (!libetw_get_u32(event, "Numbers[0]", &number) &&
		    !libetw_get_i32(event, "One.x", (int32_t *)&x) && x == PAYLOAD_X &&
		    !libetw_get_text(event, "One", &text, NULL) && !strcmp(text, "{x=4660}") &&
		    libetw_event_title(event))
			keeper->sum += number;
		libetw_event_release(event);
	}
}

static void test_reader_kept__kept_events_go_to_other_threads(void **state)
{
	struct libetw_reader *reader = open_reader(&(struct made){0});
	struct keeper *keeper = calloc(1, sizeof(*keeper));
	struct libetw_stats stats;
	uint64_t expected = 0;
	pthread_t thread;

	(void)state;
	assert_non_null(keeper);
	for (int i = 0; i < EVENTS; i++)
		expected += i % 10 && i % 50 != 7 ? (uint64_t)i : 0;
	(void)pthread_mutex_init(&keeper->lock, NULL);
	(void)pthread_cond_init(&keeper->more, NULL);
	OK(libetw_reader_on(reader, libetw_and(libetw_provider(&test_provider), libetw_id(2)), keep,
			    keeper));
	assert_int_equal(pthread_create(&thread, NULL, consume, keeper), 0);
	OK(libetw_reader_run(reader));
	/* Some are still being read when the reader goes. */
	libetw_reader_stats(reader, &stats);
	assert_true(stats.pinned_bytes <= LIBETW_PIN_LIMIT_BYTES);
	libetw_reader_free(reader);
	(void)pthread_mutex_lock(&keeper->lock);
	keeper->is_over = true;
	(void)pthread_cond_signal(&keeper->more);
	(void)pthread_mutex_unlock(&keeper->lock);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(keeper->sum, expected);
	(void)pthread_cond_destroy(&keeper->more);
	(void)pthread_mutex_destroy(&keeper->lock);
	free(keeper);
}

/* Several threads use one event; it outlives the reader, and its buffer was used by none of the others. */
static void *read_shared(void *context)
{
	struct libetw_event *event = context;
	struct libetw_event *again;
	const char *text;

	for (int i = 0; i < 200; i++) {
		if (libetw_event_retain(event, &again) ||
		    libetw_get_text(event, "Numbers", &text, NULL) || strcmp(text, "[1]"))
			return "failed";
		libetw_event_release(again);
	}
	return NULL;
}

static void test_reader_kept__one_kept_event_serves_many_threads(void **state)
{
	struct libetw_reader *reader = open_reader(&(struct made){0});
	struct keeper *keeper = calloc(1, sizeof(*keeper));
	pthread_t threads[4];
	void *failed;

	(void)state;
	assert_non_null(keeper);
	OK(libetw_reader_on(
		reader,
		libetw_and(libetw_provider(&test_provider), libetw_unsigned_is("Numbers[0]", 1)),
		keep, keeper));
	OK(libetw_reader_run(reader));
	libetw_reader_free(reader);
	assert_int_equal(keeper->count, 1);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, read_shared, keeper->kept[0]),
				 0);
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(pthread_join(threads[i], &failed), 0);
		assert_null(failed);
	}
	libetw_event_release(keeper->kept[0]);
	free(keeper);
}

static void test_reader_kept__the_pin_limit_holds(void **state)
{
	struct libetw_reader *reader = open_reader(&(struct made){0});
	struct keeper *keeper = calloc(1, sizeof(*keeper));
	struct libetw_stats stats;

	(void)state;
	assert_non_null(keeper);
	libetw_reader_set_pin_limit(reader, 20000);
	OK(libetw_reader_on(reader, libetw_provider(&test_provider), keep, keeper));
	assert_int_equal(libetw_reader_run(reader), -ENOBUFS);
	assert_non_null(strstr(libetw_error(), "limit"));
	libetw_reader_stats(reader, &stats);
	assert_true(stats.pinned_bytes > 0 && stats.pinned_bytes <= 20000);
	for (size_t i = 0; i < keeper->count; i++)
		libetw_event_release(keeper->kept[i]);
	libetw_reader_stats(reader, &stats);
	assert_int_equal(stats.pinned_bytes, 0);
	libetw_reader_free(reader);
	free(keeper);
}

static int copy_one(void *context, struct libetw_event *event)
{
	OK(libetw_event_copy(event, context));
	return 7;
}

static void test_reader_kept__a_copy_pins_nothing(void **state)
{
	struct libetw_reader *reader = open_reader(&(struct made){0});
	struct libetw_event *copy = NULL;
	struct libetw_stats stats;
	uint32_t value;

	(void)state;
	libetw_reader_set_pin_limit(reader, 0);
	OK(libetw_reader_on(reader, libetw_provider(&test_provider), copy_one, &copy));
	assert_int_equal(libetw_reader_run(reader), 7);
	libetw_reader_stats(reader, &stats);
	assert_int_equal(stats.pinned_bytes, 0);
	libetw_reader_free(reader);
	OK(libetw_get_u32(copy, "One.x", &value));
	assert_int_equal(value, PAYLOAD_X);
	assert_int_equal(libetw_event_pid(copy), 44);
	assert_int_equal(libetw_event_tid(copy), 55);
	libetw_event_release(copy);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reader_kept__kept_events_go_to_other_threads),
		cmocka_unit_test(test_reader_kept__one_kept_event_serves_many_threads),
		cmocka_unit_test(test_reader_kept__the_pin_limit_holds),
		cmocka_unit_test(test_reader_kept__a_copy_pins_nothing),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
