/* SPDX-License-Identifier: MIT */
/* Counts of replaced ring sets: their sum, across hosts and beyond the number of pages. No thread runs here. */
#include "fixture.h"

#include <sys/resource.h>

#include "session/common/account.h"
#include "session/common/config.h"
#include "session/rings/pages.h"
#include "session/rings/sets.h"

/* The ring sets of a session without the rest of it, and what its host keeps. */
struct scene {
	struct etw_session_context context;
	struct etw_session_sets sets;
	struct etw_session_plan plan;
	struct {
		uint32_t id;
		int fd;
	} kept[4];
	uint32_t forgotten, last_forgotten;
};

static int kept_fd(void *context, const char *name)
{
	const struct scene *scene = context;
	char expected[ETW_CONTEXT_NAME_BYTES];

	for (size_t i = 0; i < ARRAY_SIZE(scene->kept); i++) {
		etw_context_name(&scene->context, expected, ETW_SESSION_SETS_PAGE_NAME,
				 scene->kept[i].id);
		if (scene->kept[i].id && strcmp(name, expected) == 0)
			return dup(scene->kept[i].fd);
	}
	return -ENOENT;
}

static void forget_fd(void *context, const char *name)
{
	struct scene *scene = context;

	scene->forgotten++;
	assert_int_equal(sscanf(name, "session-7/page-%u", &scene->last_forgotten), 1);
}

static const struct wire_clock_page page_of_tests = {.frequency = 1000000000};
static const struct etw_clock_page clock_of_tests = {.page = &page_of_tests};

static void init(struct scene *scene)
{
	const struct etw_session_host host = {
		.context = scene,
		.clock = &clock_of_tests,
		.kept_fd = kept_fd,
		.forget_fd = forget_fd,
	};

	etw_context_open(&host, &scene->context);
	etw_context_set_plan(&scene->context, &scene->plan);
	etw_session_sets_open(&scene->context, &scene->sets);
}

static void begin(struct scene *scene)
{
	struct wire_session_config config = {
		.name = "pages", .log_file_mode = EVENT_TRACE_REAL_TIME_MODE, .buffer_kib = 4};

	*scene = (struct scene){0};
	assert_int_equal(etw_session_config_settle(&config, 1, &scene->plan, NULL), 0);
	init(scene);
	assert_int_equal(
		etw_state_create(7, getuid(), &config, &scene->plan, 0, &scene->context.state), 0);
}

/* A host that dies, and the next one. */
static void change_host(struct scene *scene)
{
	int fd = dup(scene->context.state.fd);

	etw_pages_free_all(&scene->sets);
	etw_session_sets_close(&scene->sets);
	etw_context_close(&scene->context);
	init(scene);
	assert_int_equal(etw_state_adopt(fd, &scene->context.state), 0);
	etw_pages_adopt(&scene->sets);
}

static void end(struct scene *scene)
{
	etw_pages_free_all(&scene->sets);
	etw_session_sets_close(&scene->sets);
	etw_context_close(&scene->context);
	for (size_t i = 0; i < ARRAY_SIZE(scene->kept); i++) {
		if (scene->kept[i].id)
			close(scene->kept[i].fd);
	}
}

static void make(struct etw_session_set *set, uint32_t id)
{
	const struct etw_ring_set_config config = {.cpu_count = 1,
						   .buffer_count = 2,
						   .buffer_bytes = 4096,
						   .session_id = 7,
						   .clock_type = 1};

	*set = (struct etw_session_set){.id = id};
	assert_int_equal(etw_ring_set_create(&config, &set->fds), 0);
	assert_int_equal(etw_ring_set_map(&set->fds, &set->map), 0);
}

static void drop(struct etw_session_set *set)
{
	etw_ring_set_unmap(&set->map);
	etw_ring_set_close(&set->fds);
}

static void keep(struct scene *scene, const struct etw_session_set *set)
{
	etw_pages_keep(&scene->sets, set->uid, set->id, set->fds.page);
}

static uint64_t lost(struct scene *scene)
{
	struct wire_session_loss loss;

	etw_account_loss(&scene->sets, &loss);
	assert_int_equal(etw_account_events_lost(&loss), loss.replaced);
	assert_int_equal(etw_account_lost_on_the_way(&loss), loss.replaced);
	return loss.replaced;
}

static void test_pages__counts_go_on_with_the_next_host(void **state)
{
	static struct scene scene;
	struct etw_session_set one, other;

	(void)state;
	begin(&scene);
	make(&one, 11);
	make(&other, 12);
	keep(&scene, &one);
	keep(&scene, &other);
	assert_true(etw_pages_has(&scene.sets, 11));
	assert_false(etw_pages_has(&scene.sets, 13));
	assert_int_equal(etw_ring_refuse(&one.map), -ENOBUFS);
	assert_int_equal(etw_ring_refuse(&other.map), -ENOBUFS);
	assert_int_equal(lost(&scene), 2);
	scene.kept[0].id = one.id;
	scene.kept[0].fd = dup(one.fds.page);
	/* Between the hosts, and with a word that a stopping host had left. */
	assert_int_equal(etw_ring_refuse(&one.map), -ENOBUFS);
	(void)or_acq_rel(&etw_ring_set_page(&one.map)->refused, WIRE_RING_OVER);
	change_host(&scene);
	/* The keeper had one of the two: what the other counted last is known, and a complaint says so. */
	assert_int_equal(lost(&scene), 3);
	assert_non_null(strstr(scene.context.complaint, "the count of a replaced ring set"));
	assert_false(etw_pages_has(&scene.sets, 12));
	assert_int_equal(etw_ring_refuse(&one.map), -ENOBUFS);
	/* Kept again, as when the last host died before the set was retired. */
	keep(&scene, &one);
	assert_int_equal(lost(&scene), 4);
	etw_pages_end(&scene.sets);
	assert_int_equal(scene.forgotten, 1);
	assert_int_equal(etw_ring_refuse(&one.map), 0);
	assert_int_equal(lost(&scene), 4);
	end(&scene);
	drop(&one);
	drop(&other);
}

static void test_pages__a_set_that_is_still_open_gives_its_page(void **state)
{
	static struct scene scene;
	struct etw_session_set one;
	int fd;

	(void)state;
	begin(&scene);
	make(&one, 11);
	keep(&scene, &one);
	assert_int_equal(etw_ring_refuse(&one.map), -ENOBUFS);
	fd = dup(scene.context.state.fd);
	end(&scene);
	init(&scene);
	assert_int_equal(etw_state_adopt(fd, &scene.context.state), 0);
	scene.sets.table[3] = &one; /* as etw_session_sets_adopt() leaves it */
	etw_pages_adopt(&scene.sets);
	scene.sets.table[3] = NULL;
	assert_int_equal(lost(&scene), 1);
	assert_int_equal(scene.context.complaint[0], 0);
	end(&scene);
	drop(&one);
}

/* A host that died while it dropped a page. */
static void test_pages__a_page_that_was_being_dropped_counts_once(void **state)
{
	static struct scene scene;
	struct etw_session_set one;
	struct etw_state_head *head;

	(void)state;
	begin(&scene);
	make(&one, 11);
	keep(&scene, &one);
	assert_int_equal(etw_ring_refuse(&one.map), -ENOBUFS);
	head = scene.context.state.head;
	head->pages[0].closed_next = 1;
	head->pages[0].status = ETW_STATE_PAGE_CLOSING;
	change_host(&scene);
	assert_int_equal(lost(&scene), 1);
	assert_int_equal(scene.forgotten, 1);
	assert_int_equal(scene.last_forgotten, 11);
	assert_int_equal(scene.context.complaint[0], 0);
	assert_false(etw_pages_has(&scene.sets, 11));
	change_host(&scene);
	assert_int_equal(lost(&scene), 1);
	end(&scene);
	drop(&one);
}

/* Beyond the number of pages those go that nobody writes to; then the oldest. What they counted stays. */
static void test_pages__the_oldest_unused_one_goes(void **state)
{
	static struct scene scene;
	struct etw_session_set first, second, set;
	uint32_t id = 100;

	(void)state;
	begin(&scene);
	make(&first, id++);
	make(&second, id++);
	keep(&scene, &first);
	keep(&scene, &second);
	assert_int_equal(etw_ring_refuse(&first.map), -ENOBUFS);
	for (uint32_t i = 2; i < ETW_STATE_PAGES; i++) {
		make(&set, id++);
		keep(&scene, &set);
		assert_int_equal(etw_ring_refuse(&set.map), -ENOBUFS);
		drop(&set);
	}
	assert_int_equal(scene.forgotten, 0);
	assert_int_equal(scene.context.complaint[0], 0);
	make(&set, id++);
	keep(&scene, &set);
	assert_int_equal(scene.last_forgotten, second.id);
	assert_non_null(strstr(scene.context.complaint, "so many rings were replaced"));
	assert_int_equal(etw_ring_refuse(&set.map), -ENOBUFS);
	assert_int_equal(lost(&scene), ETW_STATE_PAGES);
	drop(&set);
	make(&set, id++);
	keep(&scene, &set);
	assert_int_equal(scene.last_forgotten, first.id);
	assert_int_equal(scene.forgotten, 2);
	assert_int_equal(lost(&scene), ETW_STATE_PAGES);
	/* Its writers learn that their events are lost, though nobody counts them. */
	assert_int_equal(etw_ring_refuse(&first.map), -ENOBUFS);
	assert_int_equal(lost(&scene), ETW_STATE_PAGES);
	drop(&set);
	drop(&first);
	drop(&second);
	end(&scene);
}

static void test_pages__no_memory_is_a_complaint(void **state)
{
	static struct scene scene;
	struct etw_session_set one;
	struct rlimit limit, none;

	(void)state;
	begin(&scene);
	make(&one, 11);
	assert_int_equal(getrlimit(RLIMIT_AS, &limit), 0);
	none = limit;
	none.rlim_cur = 4096;
	assert_int_equal(setrlimit(RLIMIT_AS, &none), 0);
	keep(&scene, &one);
	assert_int_equal(setrlimit(RLIMIT_AS, &limit), 0);
	assert_non_null(strstr(scene.context.complaint, "not counted: Cannot allocate memory"));
	assert_false(etw_pages_has(&scene.sets, 11));
	end(&scene);
	drop(&one);
}

/* Processes write the counts: what cannot be true is not counted, and does not hide what is. */
static void test_pages__counts_that_cannot_be(void **state)
{
	static struct scene scene;
	struct etw_session_set sets[3];

	(void)state;
	begin(&scene);
	for (uint32_t i = 0; i < 3; i++) {
		make(&sets[i], 11 + i);
		keep(&scene, &sets[i]);
		assert_int_equal(etw_ring_refuse(&sets[i].map), -ENOBUFS);
		assert_int_equal(lost(&scene), i + 1);
	}
	for (uint32_t i = 0; i < 2; i++)
		store_relaxed(&etw_ring_set_page(&sets[i].map)->refused, UINT64_MAX / 4);
	assert_int_equal(lost(&scene), 3);
	assert_non_null(strstr(scene.context.complaint, "cannot have been"));
	store_relaxed(&etw_ring_set_page(&sets[2].map)->refused, UINT64_C(0));
	assert_int_equal(lost(&scene), 3);
	assert_int_equal(etw_ring_refuse(&sets[2].map), -ENOBUFS); /* it goes on from there */
	assert_int_equal(lost(&scene), 4);
	change_host(&scene);
	assert_int_equal(lost(&scene), 4);
	end(&scene);
	for (uint32_t i = 0; i < 3; i++)
		drop(&sets[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pages__counts_go_on_with_the_next_host),
		cmocka_unit_test(test_pages__a_set_that_is_still_open_gives_its_page),
		cmocka_unit_test(test_pages__a_page_that_was_being_dropped_counts_once),
		cmocka_unit_test(test_pages__the_oldest_unused_one_goes),
		cmocka_unit_test(test_pages__no_memory_is_a_complaint),
		cmocka_unit_test(test_pages__counts_that_cannot_be),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
