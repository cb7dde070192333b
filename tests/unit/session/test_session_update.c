/* SPDX-License-Identifier: MIT */
/* A session that is changed while it runs: timer, buffers, real-time mode; and what is refused. */
#include <sched.h>

#include "fake_source.h"
#include "session/session_internal.h"
#include "trace_reading.h"

struct scene {
	struct fixture fixture;
	struct wire_session_config config;
	struct wire_session_info info;
	struct wire_session_config wanted;
	struct etw_fault fault;
	struct etw_session *session;
};

static void begin(struct scene *scene, uint32_t mode)
{
	memset(scene, 0, sizeof(*scene));
	fixture_open(&scene->fixture);
	scene->config = fixture_config(&scene->fixture);
	scene->config.log_file_mode = mode;
	if (!(mode & EVENT_TRACE_FILE_MODE_SEQUENTIAL))
		scene->config.log_file[0] = '\0';
	scene->session = fixture_start(&scene->fixture, &scene->config);
	scene->wanted.log_file_mode = mode;
}

static void end(struct scene *scene)
{
	etw_session_stop(scene->session, &scene->info);
	etw_session_free(scene->session);
	fixture_close(&scene->fixture);
}

static int update(struct scene *scene)
{
	int result = etw_session_update(scene->session, &scene->wanted, getuid(), &scene->fault);

	etw_session_info(scene->session, &scene->info);
	return result;
}

static void test_session_update__nothing_is_asked_for(void **state)
{
	static struct scene scene;
	static struct wire_session_config before;

	(void)state;
	begin(&scene, EVENT_TRACE_FILE_MODE_SEQUENTIAL);
	etw_session_info(scene.session, &scene.info);
	before = scene.info.config;
	assert_int_equal(update(&scene), 0);
	assert_memory_equal(&before, &scene.info.config, sizeof(before));
	end(&scene);
}

static void test_session_update__timer_writes_what_is_there(void **state)
{
	static struct scene scene;
	struct fixture_writer writer;

	(void)state;
	begin(&scene, EVENT_TRACE_FILE_MODE_SEQUENTIAL | 0x10); /* in ms */
	fixture_attach(&scene.fixture, scene.session, getuid(), 0, &writer);
	assert_int_equal(fixture_write(&writer, 0x60), 0);
	assert_int_equal(scene.session->context.plan.file_flush_ns, 0);
	scene.wanted.flush_timer = 1;
	assert_int_equal(update(&scene), 0);
	assert_int_equal(scene.info.config.flush_timer, 1);
	while (scene.info.buffers_written < 2)
		etw_session_info(scene.session, &scene.info);
	scene.wanted.flush_timer = 0;
	assert_int_equal(update(&scene), 0);
	assert_int_equal(scene.info.config.flush_timer, 1);
	etw_ring_set_unmap(&writer.set);
	end(&scene);
}

/* Whoever writes is sent to new rings; what is in the old ones is taken. */
static void test_session_update__maximum_buffers(void **state)
{
	static struct scene scene;
	struct fixture_writer writer, second;
	struct reading reading;

	(void)state;
	begin(&scene, EVENT_TRACE_FILE_MODE_SEQUENTIAL | EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING);
	fixture_attach(&scene.fixture, scene.session, getuid(), 0, &writer);
	assert_int_equal(fixture_write(&writer, 0x60), 0);
	scene.wanted.maximum_buffers = 100;
	assert_int_equal(update(&scene), 0);
	assert_int_equal(scene.info.config.maximum_buffers, 100);
	assert_int_equal(scene.fixture.replaced, 1);
	fixture_attach(&scene.fixture, scene.session, getuid(), 1, &second);
	assert_int_equal(second.set.buffer_count, 100);
	assert_int_equal(fixture_write(&second, 0x60), 0);
	assert_int_equal(fixture_write(&writer, 0x60), 0);
	etw_session_ring_set_gone(scene.session, scene.fixture.last_replaced);
	/* The same once more changes nothing, and too few are as many as there have to be. */
	assert_int_equal(update(&scene), 0);
	assert_int_equal(scene.fixture.replaced, 1);
	scene.wanted.maximum_buffers = 1;
	assert_int_equal(update(&scene), 0);
	assert_int_equal(scene.info.config.maximum_buffers, 22);
	assert_int_equal(scene.info.config.minimum_buffers, 2);
	etw_session_stop(scene.session, &scene.info);
	assert_int_equal(scene.info.events, 3);
	assert_int_equal(scene.info.events_lost, 0);
	read_trace(scene.fixture.path, &reading);
	assert_int_equal(reading.events, 3);
	reading_done(&reading);
	etw_ring_set_unmap(&writer.set);
	etw_ring_set_unmap(&second.set);
	end(&scene);
}

struct consumer {
	uint32_t ends; /* atomic */
	uint64_t events;
};

static void on_batch(void *context, const struct wire_batch *batch, bool is_end)
{
	struct consumer *consumer = context;

	consumer->events = batch->events;
	(void)add_acq_rel(&consumer->ends, (uint32_t)is_end);
}

static int subscribe(struct scene *scene, struct consumer *consumer,
		     struct etw_session_subscribed *ret)
{
	const struct etw_session_subscribe request = {.notify = on_batch, .context = consumer};
	int result;

	*consumer = (struct consumer){0};
	result = etw_session_subscribe(scene->session, &request, ret);
	if (result == 0) {
		close(ret->memory_fd);
		free(ret->header_buffer);
	}
	return result;
}

/* On, off with a consumer that gets all there was, and on again with another one. */
static void test_session_update__real_time(void **state)
{
	const uint32_t file = EVENT_TRACE_FILE_MODE_SEQUENTIAL;
	static struct scene scene;
	struct etw_session_subscribed subscribed[2];
	struct consumer consumers[2];
	struct fixture_writer writer;

	(void)state;
	begin(&scene, file);
	fixture_attach(&scene.fixture, scene.session, getuid(), 0, &writer);
	assert_int_equal(subscribe(&scene, &consumers[0], &subscribed[0]), -EINVAL);
	scene.wanted.log_file_mode = EVENT_TRACE_REAL_TIME_MODE;
	assert_int_equal(update(&scene), 0);
	assert_int_equal(scene.info.config.log_file_mode, file | EVENT_TRACE_REAL_TIME_MODE);
	assert_int_equal(scene.info.config.flush_timer, 1);
	assert_int_equal(subscribe(&scene, &consumers[0], &subscribed[0]), 0);
	assert_int_equal(fixture_write(&writer, 0x60), 0);
	scene.wanted.log_file_mode = 0;
	assert_int_equal(update(&scene), 0);
	assert_int_equal(scene.info.config.log_file_mode, file);
	assert_int_equal(load_acquire(&consumers[0].ends), 1);
	assert_int_equal(consumers[0].events, 1);
	assert_int_equal(subscribe(&scene, &consumers[1], &subscribed[1]), -EINVAL);
	scene.wanted.log_file_mode = EVENT_TRACE_REAL_TIME_MODE;
	assert_int_equal(update(&scene), 0);
	assert_int_equal(subscribe(&scene, &consumers[1], &subscribed[1]), 0);
	assert_int_equal(fixture_write(&writer, 0x60), 0);
	etw_session_unsubscribe(scene.session, subscribed[0].subscriber);
	etw_session_stop(scene.session, &scene.info);
	assert_int_equal(load_acquire(&consumers[0].ends), 1);
	assert_int_equal(load_acquire(&consumers[1].ends), 1);
	assert_int_equal(consumers[1].events - subscribed[1].events, 1);
	assert_int_equal(scene.info.real_time_buffers_lost, 0);
	assert_int_equal(scene.info.loss.file, 0);
	etw_session_unsubscribe(scene.session, subscribed[1].subscriber);
	etw_ring_set_unmap(&writer.set);
	end(&scene);
}

/* The timer that consumers have by default is none of the file's, whatever else is changed. */
static void test_session_update__default_timer_is_of_consumers_alone(void **state)
{
	static struct scene scene;

	(void)state;
	begin(&scene, EVENT_TRACE_FILE_MODE_SEQUENTIAL | EVENT_TRACE_REAL_TIME_MODE);
	scene.wanted.maximum_buffers = 200;
	assert_int_equal(update(&scene), 0);
	assert_int_equal(scene.session->context.plan.file_flush_ns, 0);
	assert_int_equal(scene.session->context.plan.batch_flush_ns, 1000000000);
	scene.wanted.flush_timer = 3;
	assert_int_equal(update(&scene), 0);
	assert_int_equal(scene.session->context.state.head->plan.file_flush_ns, 3000000000);
	assert_int_equal(scene.session->context.state.head->plan.batch_flush_ns, 3000000000);
	end(&scene);
}

static void test_session_update__refused(void **state)
{
	static struct scene scene;

	(void)state;
	begin(&scene, EVENT_TRACE_REAL_TIME_MODE);
	/* It would collect for nobody. */
	scene.wanted.log_file_mode = 0;
	scene.wanted.flush_timer = 9;
	assert_int_equal(update(&scene), -EINVAL);
	assert_string_equal(scene.fault.field, "LogFileName");
	assert_int_equal(scene.info.config.flush_timer, 1);
	assert_int_equal(scene.info.config.log_file_mode, EVENT_TRACE_REAL_TIME_MODE);
	end(&scene);
}

/* Another file, and with it the rest; what is refused of the file leaves the rest as it is. */
static void test_session_update__another_file(void **state)
{
	static struct scene scene;
	char path[192];

	(void)state;
	begin(&scene, EVENT_TRACE_FILE_MODE_SEQUENTIAL);
	scene.wanted.flush_timer = 9;
	(void)snprintf(scene.wanted.log_file, sizeof(scene.wanted.log_file), "%s",
		       scene.fixture.path);
	assert_int_equal(update(&scene), -EEXIST);
	assert_int_equal(scene.info.config.flush_timer, 0);
	(void)snprintf(path, sizeof(path), "%s/other.etl", scene.fixture.folder);
	memcpy(scene.wanted.log_file, path, sizeof(path));
	assert_int_equal(update(&scene), 0);
	assert_int_equal(scene.info.config.flush_timer, 9);
	assert_string_equal(scene.info.config.log_file, path);
	end(&scene);
	assert_int_equal(unlink(path), 0);
	(void)rmdir(scene.fixture.folder);
}

/* The next host goes on with what the session was changed to. */
static void test_session_update__survives_the_host(void **state)
{
	static struct scene scene;
	struct etw_state_head *head;

	(void)state;
	begin(&scene, EVENT_TRACE_FILE_MODE_SEQUENTIAL);
	scene.wanted.flush_timer = 5;
	scene.wanted.log_file_mode = EVENT_TRACE_REAL_TIME_MODE;
	assert_int_equal(update(&scene), 0);
	head = scene.session->context.state.head;
	assert_int_equal(head->config.flush_timer, 5);
	assert_int_equal(head->plan.is_realtime, 1);
	assert_int_equal(head->plan.file_flush_ns, 5000000000);
	assert_int_equal(head->plan.batch_flush_ns, 5000000000);
	end(&scene);
}

static void test_session_update__enable_flags(void **state)
{
	static struct scene scene;

	(void)state;
	begin(&scene, EVENT_TRACE_FILE_MODE_SEQUENTIAL);
	scene.wanted.enable_flags = EVENT_TRACE_FLAG_PROCESS;
	assert_int_equal(update(&scene), -EINVAL);
	assert_string_equal(scene.fault.field, "EnableFlags");
	end(&scene);
	memset(&scene, 0, sizeof(scene));
	fixture_open(&scene.fixture);
	fake_source_attach(&scene.fixture);
	scene.config = fixture_config(&scene.fixture);
	scene.config.log_file_mode |= EVENT_TRACE_SYSTEM_LOGGER_MODE;
	scene.session = fixture_start(&scene.fixture, &scene.config);
	assert_int_equal(fake_source_memory->opened, 0);
	scene.wanted.enable_flags = EVENT_TRACE_FLAG_PROCESS;
	assert_int_equal(update(&scene), 0);
	assert_int_equal(fake_source_memory->enabled_flags, EVENT_TRACE_FLAG_PROCESS);
	assert_int_equal(scene.info.config.enable_flags, EVENT_TRACE_FLAG_PROCESS);
	/* What the machine does not allow is a complaint, as at the start. */
	fake_source_memory->enable_error = -EPERM;
	assert_int_equal(update(&scene), 0);
	assert_null(strstr(scene.info.complaint, "the fake cannot collect it"));
	scene.wanted.enable_flags |= EVENT_TRACE_FLAG_THREAD;
	assert_int_equal(update(&scene), 0);
	assert_non_null(strstr(scene.info.complaint, "the fake cannot collect it"));
	assert_int_equal(scene.info.config.enable_flags, scene.wanted.enable_flags);
	fake_source_memory->enable_error = 0;
	scene.wanted.enable_flags = EVENT_TRACE_FLAG_PROCESS;
	assert_int_equal(update(&scene), 0);
	scene.wanted.enable_flags = EVENT_TRACE_FLAG_CSWITCH; /* of which none is collected */
	assert_int_equal(update(&scene), 0);
	assert_int_equal(fake_source_memory->request.group_masks[0], 0);
	assert_int_equal(fake_source_memory->request.group_masks[1], 0x4);
	assert_non_null(strstr(scene.info.complaint, "CSWITCH"));
	assert_int_equal(scene.info.config.enable_flags, EVENT_TRACE_FLAG_CSWITCH);
	scene.wanted.enable_flags = 0;
	assert_int_equal(update(&scene), 0);
	assert_int_equal(fake_source_memory->enabled_flags, 0);
	assert_int_equal(scene.info.config.enable_flags, 0);
	etw_session_stop(scene.session, &scene.info);
	etw_session_free(scene.session);
	fake_source_detach();
	fixture_close(&scene.fixture);
}

/* The file is whole, and the session has none any more. */
static void test_session_update__conversion(void **state)
{
	static struct scene scene;
	struct etw_session_subscribed subscribed;
	struct consumer consumer;
	struct fixture_writer writer;
	struct reading reading;

	(void)state;
	begin(&scene, EVENT_TRACE_FILE_MODE_SEQUENTIAL);
	fixture_attach(&scene.fixture, scene.session, getuid(), 0, &writer);
	assert_int_equal(fixture_write(&writer, 0x60), 0);
	assert_int_equal(etw_session_convert(scene.session, &scene.fault), 0);
	read_trace(scene.fixture.path, &reading);
	assert_int_equal(reading.events, 1);
	assert_int_equal(reading.findings, 0);
	reading_done(&reading);
	assert_int_equal(fixture_kept_count(&scene.fixture, "session-7/file"), 0);
	assert_int_equal(subscribe(&scene, &consumer, &subscribed), 0);
	assert_int_equal(fixture_write(&writer, 0x60), 0);
	assert_int_equal(etw_session_convert(scene.session, &scene.fault), 0);
	/* Nor can it be without consumers now. */
	scene.wanted.log_file_mode = 0;
	assert_int_equal(update(&scene), -EINVAL);
	assert_int_equal(scene.info.config.log_file_mode, EVENT_TRACE_REAL_TIME_MODE);
	assert_string_equal(scene.info.config.log_file, "");
	etw_session_stop(scene.session, &scene.info);
	assert_int_equal(consumer.events - subscribed.events, 1);
	assert_int_equal(scene.info.events, 2);
	assert_int_equal(scene.info.events_lost, 0);
	etw_session_unsubscribe(scene.session, subscribed.subscriber);
	etw_ring_set_unmap(&writer.set);
	end(&scene);
	/* A buffering session has nothing that could end. */
	begin(&scene, EVENT_TRACE_BUFFERING_MODE);
	assert_int_equal(etw_session_convert(scene.session, &scene.fault), -EINVAL);
	end(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_session_update__nothing_is_asked_for),
		cmocka_unit_test(test_session_update__timer_writes_what_is_there),
		cmocka_unit_test(test_session_update__maximum_buffers),
		cmocka_unit_test(test_session_update__real_time),
		cmocka_unit_test(test_session_update__default_timer_is_of_consumers_alone),
		cmocka_unit_test(test_session_update__refused),
		cmocka_unit_test(test_session_update__conversion),
		cmocka_unit_test(test_session_update__another_file),
		cmocka_unit_test(test_session_update__enable_flags),
		cmocka_unit_test(test_session_update__survives_the_host),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
