/* SPDX-License-Identifier: MIT */
/*
 * Hosts that are killed while their session's file wraps, or while they go from one file to the next. Writers go on
 * without them. At the end every event is in a file exactly once, or was overwritten and counted once.
 */
#include <time.h>

#include "base/macros.h"
#include "recovery_host.h"
#include "session/common/state.h"
#include "trace_reading.h"

#define WRITERS      3
#define RANDOM_KILLS 15
#define POINT_KILLS  3
#define CIRCULAR_KIB 64
#define SERIES_KIB   128

struct thread_writer {
	struct fixture_writer writer;
	pthread_t thread;
	uint32_t *is_done; /* atomic */
};

struct scene {
	struct fixture fixture;
	struct recovery recovery;
	struct thread_writer writers[WRITERS];
	uint32_t is_done;
};

static void *write_until_done(void *context)
{
	struct thread_writer *own = context;

	while (!load_relaxed(own->is_done)) {
		for (int i = 0; i < 8; i++)
			(void)fixture_write(&own->writer, 0x58 + 8 * own->writer.id);
		(void)usleep(500);
	}
	return NULL;
}

static void begin_scene(struct scene *scene, uint32_t mode, uint32_t kib)
{
	struct wire_session_config config;

	memset(scene, 0, sizeof(*scene));
	fixture_open(&scene->fixture);
	config = fixture_config(&scene->fixture);
	config.log_file_mode = mode | EVENT_TRACE_USE_KBYTES_FOR_SIZE;
	config.maximum_file_size = kib;
	config.maximum_buffers = 400; /* of 4 KB: enough for the time without a host */
	if (mode & EVENT_TRACE_FILE_MODE_NEWFILE)
		(void)snprintf(config.log_file, sizeof(config.log_file), "%s/%%d.etl",
			       scene->fixture.folder);
	recovery_open(&scene->fixture, &config, &scene->recovery);
	recovery_fork(&scene->recovery, NULL);
	assert_int_equal(scene->recovery.shared->failure, 0);
	for (uint32_t i = 0; i < WRITERS; i++) {
		struct thread_writer *own = &scene->writers[i];
		struct etw_ring_set_fds fds =
			fixture_kept_set(&scene->fixture, scene->recovery.shared->ring_sets[0]);

		own->is_done = &scene->is_done;
		own->writer = (struct fixture_writer){.clock = &scene->fixture.clock, .id = i};
		assert_int_equal(etw_ring_set_map(&fds, &own->writer.set), 0);
		etw_ring_set_close(&fds);
		own->thread = recovery_start_thread(write_until_done, own);
	}
}

/* Stops everything. Returns how many events were written, less those in gaps. */
static uint64_t stop_scene(struct scene *scene)
{
	const struct wire_session_info *info = &scene->recovery.shared->info;
	uint64_t written = 0, refused = 0;

	store_relaxed(&scene->is_done, 1u);
	for (uint32_t i = 0; i < WRITERS; i++) {
		pthread_join(scene->writers[i].thread, NULL);
		written += scene->writers[i].writer.written;
		refused += scene->writers[i].writer.refused;
		etw_ring_set_unmap(&scene->writers[i].writer.set);
	}
	recovery_stop(&scene->recovery);
	print_message("%lu events, %lu refused, %lu gaps, %lu overwritten\n", written, refused,
		      info->loss.gaps, info->overwritten);
	print_message("%lu disregarded, %lu rejected, %lu not in the file\n",
		      info->loss.disregarded, info->loss.rejected, info->loss.file);
	assert_int_equal(info->loss.no_buffer, refused);
	assert_int_equal(info->loss.disregarded + info->loss.rejected + info->loss.file, 0);
	assert_int_equal(info->file_status, 0);
	assert_int_equal(info->events + info->loss.gaps, written);
	return written - info->loss.gaps;
}

static void close_scene(struct scene *scene)
{
	recovery_close(&scene->recovery);
	fixture_close(&scene->fixture);
}

static void end_circular(struct scene *scene)
{
	const struct wire_session_info *info = &scene->recovery.shared->info;
	uint64_t written = stop_scene(scene);
	struct reading reading;

	read_trace(scene->fixture.path, &reading);
	assert_int_equal(reading.findings, 0);
	assert_int_equal(reading.doubled, 0);
	assert_true(info->overwritten > 3 * reading.events);
	assert_int_equal(reading.events + info->overwritten, written);
	reading_done(&reading);
	close_scene(scene);
}

/* The files from the first to the last one, as one. */
static void end_series(struct scene *scene)
{
	uint64_t written = stop_scene(scene);
	struct reading reading = {0};
	char path[128];
	uint32_t files = 0;

	for (;; files++) {
		(void)snprintf(path, sizeof(path), "%s/%u.etl", scene->fixture.folder, files + 1);
		if (access(path, F_OK) != 0)
			break;
		read_with(path, &reading);
		assert_int_equal(reading.findings, 0);
		assert_int_equal(unlink(path), 0);
	}
	print_message("%u files\n", files);
	assert_true(files >= 3);
	assert_int_equal(reading.doubled, 0);
	assert_int_equal(reading.out_of_order, 0);
	assert_int_equal(reading.events, written);
	reading_done(&reading);
	close_scene(scene);
}

static void kill_at_random(struct scene *scene)
{
	unsigned seed = (unsigned)time(NULL);

	print_message("seed %u\n", seed);
	for (int i = 0; i < RANDOM_KILLS; i++) {
		(void)usleep((useconds_t)(rand_r(&seed) % 60000));
		recovery_kill(&scene->recovery);
		recovery_fork(&scene->recovery, NULL);
	}
}

static void test_file_recovery__circular_killed_at_random(void **state)
{
	static struct scene scene;

	(void)state;
	begin_scene(&scene, EVENT_TRACE_FILE_MODE_CIRCULAR, CIRCULAR_KIB);
	kill_at_random(&scene);
	end_circular(&scene);
}

static void test_file_recovery__series_killed_at_random(void **state)
{
	static struct scene scene;

	(void)state;
	begin_scene(&scene, EVENT_TRACE_FILE_MODE_NEWFILE, SERIES_KIB);
	kill_at_random(&scene);
	end_series(&scene);
}

#ifdef ETW_SCHED_POINTS
static const char *const circular_points[] = {
	"session.seal.recorded", "session.seal.written",   "session.place.replaced",
	"session.place.filled",  "session.commit.written", "session.seal.done",
};

static const char *const series_points[] = {
	"session.seal.recorded",  "session.seal.written", "session.file.made", "session.file.ended",
	"session.file.described", "session.file.changed", "session.file.left",
};

static void kill_at(struct scene *scene, const char *const *points, size_t count)
{
	struct recovery_shared *shared = scene->recovery.shared;

	for (size_t i = 0; i < count * POINT_KILLS; i++) {
		recovery_kill(&scene->recovery);
		(void)snprintf(shared->point, sizeof(shared->point), "%s", points[i % count]);
		shared->countdown = (uint32_t)(1 + i / count);
		recovery_fork(&scene->recovery, NULL);
		(void)waitpid(scene->recovery.host, NULL, 0); /* it dies by itself */
	}
	shared->point[0] = '\0';
	recovery_fork(&scene->recovery, NULL);
}

/* Until most of what was written is overwritten. The memory that the host has kept says how many buffers were. */
static void await_rounds(struct scene *scene)
{
	int fd = fixture_kept(&scene->fixture, "session-7/state");
	struct etw_state_head *head = mmap(NULL, sizeof(*head), PROT_READ, MAP_SHARED, fd,
					   /* offset= */ 0);
	const struct etw_state state = {.head = head};

	assert_ptr_not_equal(head, MAP_FAILED);
	while (load_relaxed(&etw_state_file(&state)->buffers) <= 6 * head->plan.file_places)
		(void)usleep(1000);
	assert_int_equal(munmap(head, sizeof(*head)), 0);
	assert_int_equal(close(fd), 0);
}

static void test_file_recovery__circular_killed_at_points(void **state)
{
	static struct scene scene;

	(void)state;
	begin_scene(&scene, EVENT_TRACE_FILE_MODE_CIRCULAR, CIRCULAR_KIB);
	await_rounds(&scene);
	kill_at(&scene, circular_points, ARRAY_SIZE(circular_points));
	end_circular(&scene);
}

static void test_file_recovery__series_killed_at_points(void **state)
{
	static struct scene scene;

	(void)state;
	begin_scene(&scene, EVENT_TRACE_FILE_MODE_NEWFILE, SERIES_KIB);
	kill_at(&scene, series_points, ARRAY_SIZE(series_points));
	end_series(&scene);
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_file_recovery__circular_killed_at_random),
		cmocka_unit_test(test_file_recovery__series_killed_at_random),
#ifdef ETW_SCHED_POINTS
		cmocka_unit_test(test_file_recovery__circular_killed_at_points),
		cmocka_unit_test(test_file_recovery__series_killed_at_points),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
