/* SPDX-License-Identifier: MIT */
#include "daemon/jobs.h"

#include "unit/daemon/fixture.h"

static struct etwd_job *done_job;

static void take_done(struct etwd_inbox_item *item)
{
	done_job = (struct etwd_job *)(void *)item;
}

static bool is_done(void *context)
{
	(void)context;
	return done_job;
}

static struct etwd_job *make_job(enum etwd_job_kind kind, struct etw_session *engine)
{
	struct etwd_job *job = calloc(1, sizeof(*job));

	assert_non_null(job);
	job->kind = kind;
	job->session_id = 7;
	job->engine = engine;
	done_job = NULL;
	return job;
}

static void run(struct etwd_job *job)
{
	assert_int_equal(etwd_jobs_run(&fixture_host->jobs, job, take_done), 0);
	fixture_run_until(is_done, NULL);
	assert_ptr_equal(done_job, job);
}

static struct wire_session_config *copy_config(void)
{
	struct wire_session_config *config = malloc(sizeof(*config));

	assert_non_null(config);
	*config = *fixture_config("job");
	return config;
}

/* An engine's whole life, each step beside the loop. */
static void test_jobs__start_flush_stop(void **state)
{
	struct etwd_job *job = make_job(ETWD_JOB_START, NULL);
	struct etw_session *engine;

	(void)state;
	job->config = copy_config();
	run(job);
	assert_int_equal(job->result, 0);
	assert_non_null(job->engine);
	assert_string_equal(job->info.config.name, "job");
	engine = job->engine;
	etwd_job_free(job);

	job = make_job(ETWD_JOB_FLUSH, engine);
	run(job);
	assert_int_equal(job->result, 0);
	etwd_job_free(job);

	job = make_job(ETWD_JOB_STOP, engine);
	run(job);
	assert_string_equal(job->info.config.name, "job");
	etwd_job_free(job);
	etw_session_free(engine);
}

static void test_jobs__a_start_that_fails_has_no_engine(void **state)
{
	struct etwd_job *job = make_job(ETWD_JOB_START, NULL);

	(void)state;
	job->config = copy_config();
	job->config->log_file_mode = 0;
	snprintf(job->config->log_file, sizeof(job->config->log_file), "/nowhere/at/all");
	run(job);
	assert_true(job->result < 0);
	assert_null(job->engine);
	etwd_job_free(job);
	etwd_job_free(NULL);
}

#define TEST(name) \
	cmocka_unit_test_setup_teardown(test_jobs__##name, fixture_set_up, fixture_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(start_flush_stop),
		TEST(a_start_that_fails_has_no_engine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
