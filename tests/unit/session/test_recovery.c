/* SPDX-License-Identifier: MIT */
/*
 * Hosts that are killed while they work. Writers go on without them; the next host takes the session over.
 * At the end every event is in the file exactly once, or was refused to its writer and counted.
 */
#include <time.h>

#include "fake_source.h"
#include "recovery_host.h"
#include "trace_reading.h"

#define WRITERS      4
#define RANDOM_KILLS 40
#define POINT_KILLS  3

struct thread_writer {
	struct fixture_writer writer;
	pthread_t thread;
	uint32_t *is_done; /* atomic */
};

static void *write_until_done(void *context)
{
	struct thread_writer *own = context;

	while (!load_relaxed(own->is_done)) {
		for (int i = 0; i < 16; i++)
			(void)fixture_write(&own->writer, 0x58 + 8 * own->writer.id);
		(void)usleep(100);
	}
	return NULL;
}

struct producer {
	const struct etw_clock_page *clock;
	uint32_t *is_done;
};

/* Never more than fits: in this test nothing takes events off the fake's memory. */
static void *produce_until_done(void *context)
{
	const struct producer *own = context;

	while (!load_relaxed(own->is_done)) {
		if (fake_source_memory->cpus[0].written < FAKE_SOURCE_EVENTS)
			fake_source_produce(own->clock, 0);
		(void)usleep(100);
	}
	return NULL;
}

static void map_ring_set(struct recovery *recovery, uint32_t uid, uint32_t id,
			 struct fixture_writer *ret)
{
	struct etw_ring_set_fds fds = fixture_kept_set(recovery->fixture,
						       recovery->shared->ring_sets[uid]);

	*ret = (struct fixture_writer){.clock = &recovery->fixture->clock, .id = id};
	assert_int_equal(etw_ring_set_map(&fds, &ret->set), 0);
	etw_ring_set_close(&fds);
}

struct scene {
	struct fixture fixture;
	struct recovery recovery;
	struct thread_writer writers[WRITERS];
	struct producer producer;
	pthread_t producer_thread;
	uint32_t is_done;
};

static void begin_scene(struct scene *scene)
{
	struct wire_session_config config;

	memset(scene, 0, sizeof(*scene));
	fixture_open(&scene->fixture);
	fake_source_attach(&scene->fixture);
	config = fixture_config(&scene->fixture);
	config.log_file_mode |= EVENT_TRACE_SYSTEM_LOGGER_MODE;
	config.enable_flags = EVENT_TRACE_FLAG_PROCESS;
	config.maximum_buffers = 400; /* of 4 KB: enough for the time without a host */
	recovery_open(&scene->fixture, &config, &scene->recovery);
	/* The clock must be the same for all, and the children's page is this one's copy: no change to it. */
	recovery_fork(&scene->recovery, &fake_source_ops);
	assert_int_equal(scene->recovery.shared->failure, 0);
	for (uint32_t i = 0; i < WRITERS; i++) {
		scene->writers[i].is_done = &scene->is_done;
		map_ring_set(&scene->recovery, i % RECOVERY_UIDS, i, &scene->writers[i].writer);
		scene->writers[i].thread = recovery_start_thread(write_until_done,
								 &scene->writers[i]);
	}
	scene->producer = (struct producer){&scene->fixture.clock, &scene->is_done};
	scene->producer_thread = recovery_start_thread(produce_until_done, &scene->producer);
}

static void end_scene(struct scene *scene)
{
	const struct wire_session_info *info = &scene->recovery.shared->info;
	struct reading reading;
	uint64_t written = 0, refused = 0;

	store_relaxed(&scene->is_done, 1u);
	pthread_join(scene->producer_thread, NULL);
	for (uint32_t i = 0; i < WRITERS; i++) {
		pthread_join(scene->writers[i].thread, NULL);
		written += scene->writers[i].writer.written;
		refused += scene->writers[i].writer.refused;
		etw_ring_set_unmap(&scene->writers[i].writer.set);
	}
	recovery_stop(&scene->recovery);
	read_trace(scene->fixture.path, &reading);
	print_message("%lu events, %lu of the source, %lu refused, %lu gaps\n", written,
		      fake_source_memory->cpus[0].written, refused, info->loss.gaps);
	assert_int_equal(info->loss.no_buffer + info->loss.others, refused);
	assert_int_equal(info->loss.disregarded, 0);
	assert_int_equal(info->loss.rejected, 0);
	assert_int_equal(info->loss.file, 0);
	assert_int_equal(reading.doubled, 0);
	assert_int_equal(reading.events + info->loss.gaps, written);
	assert_int_equal(reading.kernel_events, fake_source_memory->cpus[0].written);
	assert_int_equal(reading.kernel_disorder, 0);
	assert_int_equal(info->events, reading.events + reading.kernel_events + reading.notes);
	assert_int_equal(reading.out_of_order, 0);
	assert_int_equal(reading.findings, 0);
	reading_done(&reading);
	recovery_close(&scene->recovery);
	fake_source_detach();
	fixture_close(&scene->fixture);
}

/* What is wanted of the kernel outlives the host that was asked for it, masks and stacks and all. */
static void test_recovery__goes_on_wanting_the_same(void **state)
{
	static struct scene scene;
	const struct wire_kernel_request wanted = {
		.parts = WIRE_KERNEL_PARTS,
		.group_masks = {EVENT_TRACE_FLAG_PROCESS, 0x4, 0, 0, 0x8000},
		.profile_interval_ft = 2500,
		.only_pid = 77,
		.options = WIRE_KERNEL_UNWIND,
		.stack_hook_count = 2,
		.stack_hooks = {0x0501, 0x0524},
	};
	const struct etw_source_request *request;
	struct wire_session_config config;

	(void)state;
	memset(&scene, 0, sizeof(scene));
	fixture_open(&scene.fixture);
	fake_source_attach(&scene.fixture);
	config = fixture_config(&scene.fixture);
	config.log_file_mode |= EVENT_TRACE_SYSTEM_LOGGER_MODE;
	config.kernel = wanted;
	recovery_open(&scene.fixture, &config, &scene.recovery);
	recovery_fork(&scene.recovery, &fake_source_ops);
	recovery_kill(&scene.recovery);
	request = &fake_source_memory->request;
	memset(&fake_source_memory->request, 0, sizeof(fake_source_memory->request));
	recovery_fork(&scene.recovery, &fake_source_ops);
	recovery_stop(&scene.recovery);
	assert_memory_equal(request->group_masks, wanted.group_masks, sizeof(wanted.group_masks));
	assert_int_equal(request->profile_interval_ft, 2500);
	assert_int_equal(request->only_pid, 77);
	assert_int_equal(request->options, ETW_SOURCE_UNWIND);
	assert_int_equal(request->stack_hook_count, 2);
	assert_int_equal(request->stack_hooks[1], 0x0524);
	assert_int_equal(scene.recovery.shared->info.config.kernel.stack_hook_count, 2);
	recovery_close(&scene.recovery);
	fake_source_detach();
	fixture_close(&scene.fixture);
}

static void test_recovery__killed_at_random(void **state)
{
	static struct scene scene;
	unsigned seed = (unsigned)time(NULL);

	(void)state;
	print_message("seed %u\n", seed);
	begin_scene(&scene);
	for (int i = 0; i < RANDOM_KILLS; i++) {
		(void)usleep((useconds_t)(rand_r(&seed) % 20000));
		recovery_kill(&scene.recovery);
		recovery_fork(&scene.recovery, &fake_source_ops);
	}
	end_scene(&scene);
}

#ifdef ETW_SCHED_POINTS
static const char *const points[] = {
	"session.commit.before", "session.commit.written", "session.commit.done",
	"session.seal.recorded", "session.seal.written",   "session.seal.done",
	"ring.reader.finished",  "ring.reader.released",   "ring.reader.cleared",
	"ring.reader.assigned",  "ring.reader.queued",     "ring.reader.taken",
};

static void test_recovery__killed_at_points(void **state)
{
	static struct scene scene;
	struct recovery_shared *shared;

	(void)state;
	begin_scene(&scene);
	shared = scene.recovery.shared;
	for (size_t i = 0; i < ARRAY_SIZE(points) * POINT_KILLS; i++) {
		recovery_kill(&scene.recovery);
		(void)snprintf(shared->point, sizeof(shared->point), "%s",
			       points[i % ARRAY_SIZE(points)]);
		shared->countdown = (uint32_t)(1 + i * 3);
		recovery_fork(&scene.recovery, &fake_source_ops);
		(void)waitpid(scene.recovery.host, NULL, 0); /* it dies by itself */
	}
	shared->point[0] = '\0';
	recovery_fork(&scene.recovery, &fake_source_ops);
	end_scene(&scene);
}

#define REFUSED 100000 /* more than are believed of a ring that had a buffer */

static void fill(struct fixture_writer *writer, uint32_t refused)
{
	while (writer->refused < refused)
		(void)fixture_write(writer, 0x60);
}

/* One host frees a buffer and dies before, or just after, writers can see it. The next one was not there. */
static void refuse_and_kill(const char *point)
{
	static struct fixture fixture;
	struct recovery recovery;
	struct wire_session_config config;
	struct fixture_writer writer;
	const struct wire_session_info *info;

	fixture_open(&fixture);
	config = fixture_config(&fixture);
	config.log_file_mode |= EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING;
	recovery_open(&fixture, &config, &recovery);
	info = &recovery.shared->info;
	recovery_fork(&recovery, NULL);
	map_ring_set(&recovery, 0, 0, &writer);
	recovery_kill(&recovery);
	fill(&writer, 1);
	(void)snprintf(recovery.shared->point, sizeof(recovery.shared->point), "%s", point);
	recovery.shared->countdown = 1;
	recovery_fork(&recovery, NULL);
	(void)waitpid(recovery.host, NULL, 0); /* it dies by itself */
	fill(&writer, REFUSED);
	recovery.shared->point[0] = '\0';
	recovery_fork(&recovery, NULL);
	recovery_stop(&recovery);
	assert_int_equal(info->loss.no_buffer, writer.refused);
	assert_int_equal(info->loss.disregarded, 0);
	etw_ring_set_unmap(&writer.set);
	recovery_close(&recovery);
	fixture_close(&fixture);
}

static void test_recovery__what_was_refused_around_a_death_is_told(void **state)
{
	(void)state;
	refuse_and_kill("ring.reader.released");
	refuse_and_kill("ring.reader.assigned");
	refuse_and_kill("ring.reader.queued");
}
#endif

#ifdef ETW_SCHED_POINTS
static void convert(struct recovery *recovery, struct etw_session *session)
{
	(void)recovery;
	(void)etw_session_convert(session, NULL);
}

/* The host dies while it converts. The next one has the session's file, or has a session that is converted wholly. */
static void die_converting(const char *point, uint32_t countdown, bool is_converted)
{
	struct fixture fixture;
	struct recovery recovery;
	struct wire_session_config config;
	const struct etw_state_head *head;
	int fd;

	fixture_open(&fixture);
	config = fixture_config(&fixture);
	recovery_open(&fixture, &config, &recovery);
	(void)snprintf(recovery.shared->point, sizeof(recovery.shared->point), "%s", point);
	recovery.shared->countdown = countdown;
	recovery.on_session = convert;
	recovery_fork(&recovery, NULL);
	assert_int_equal(recovery.shared->ready, 0); /* it has died */
	recovery.on_session = NULL;
	recovery.shared->point[0] = '\0';
	recovery_fork(&recovery, NULL);
	fd = fixture_kept(&fixture, "session-7/state");
	head = mmap(NULL, sizeof(*head), PROT_READ, MAP_SHARED, fd, /* offset= */ 0);
	assert_ptr_not_equal(head, MAP_FAILED);
	recovery_stop(&recovery);
	assert_int_equal(head->plan.has_file, !is_converted);
	assert_int_equal(head->plan.is_realtime, is_converted);
	assert_int_equal(recovery.shared->info.config.log_file_mode,
			 is_converted ? EVENT_TRACE_REAL_TIME_MODE : config.log_file_mode);
	assert_string_equal(recovery.shared->info.config.log_file,
			    is_converted ? "" : config.log_file);
	assert_int_equal(munmap((void *)(uintptr_t)head, sizeof(*head)), 0);
	assert_int_equal(close(fd), 0);
	recovery_close(&recovery);
	fixture_close(&fixture);
}

static void test_recovery__conversion_is_whole_or_has_not_been(void **state)
{
	(void)state;
	die_converting("session.convert.ended", 1, /* is_converted= */ false);
	die_converting("session.plan.changing", 1, /* is_converted= */ true);
	die_converting("session.plan.changing", 2, /* is_converted= */ true);
	die_converting("session.convert.changed", 1, /* is_converted= */ true);
	die_converting("session.convert.forgotten", 1, /* is_converted= */ true);
}
#endif

/* Without its file the session goes on, and says that the file is lost. */
static void test_recovery__file_is_gone(void **state)
{
	struct fixture fixture;
	struct recovery recovery;
	struct wire_session_config config;

	(void)state;
	fixture_open(&fixture);
	config = fixture_config(&fixture);
	recovery_open(&fixture, &config, &recovery);
	recovery_fork(&recovery, NULL);
	recovery_kill(&recovery);
	fixture_forget(&fixture, "session-7/file-0");
	recovery_fork(&recovery, NULL);
	recovery_stop(&recovery);
	assert_int_equal(recovery.shared->info.file_status, -ENOENT);
	assert_non_null(
		strstr(recovery.shared->info.complaint, "the file of the last host is lost"));
	recovery_close(&recovery);
	fixture_close(&fixture);
}

/* What is no state of a session is refused. */
static void test_recovery__no_state(void **state)
{
	struct fixture fixture;
	struct etw_session *session;
	int fd;

	(void)state;
	fixture_open(&fixture);
	fd = memfd_create("x", MFD_CLOEXEC);
	assert_int_equal(etw_session_adopt(&fixture.host, fd, &session), -EPROTO);
	fd = memfd_create("x", MFD_CLOEXEC);
	assert_int_equal(ftruncate(fd, 1 << 20), 0);
	assert_int_equal(etw_session_adopt(&fixture.host, fd, &session), -EPROTO);
	fixture_close(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_recovery__goes_on_wanting_the_same),
		cmocka_unit_test(test_recovery__killed_at_random),
#ifdef ETW_SCHED_POINTS
		cmocka_unit_test(test_recovery__killed_at_points),
		cmocka_unit_test(test_recovery__what_was_refused_around_a_death_is_told),
		cmocka_unit_test(test_recovery__conversion_is_whole_or_has_not_been),
#endif
		cmocka_unit_test(test_recovery__file_is_gone),
		cmocka_unit_test(test_recovery__no_state),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
