/* SPDX-License-Identifier: MIT */
/* See jobs.h. */
#include "daemon/jobs.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

/* That there is no folder for a file must not read as that there is no session. */
static int of_file(int result)
{
	return result == -ENOENT ? -ENOTDIR : result;
}

static void *work(void *context)
{
	struct etwd_job *job = context;

	switch (job->kind) {
	case ETWD_JOB_START:
		job->result = etw_session_start(job->jobs->environment, job->session_id, job->uid,
						job->config, &job->engine, &job->fault);
		if (job->result == 0)
			etw_session_info(job->engine, &job->info);
		break;
	case ETWD_JOB_FLUSH:
		job->result = of_file(etw_session_flush_to(job->engine, job->config, job->uid));
		etw_session_info(job->engine, &job->info);
		break;
	case ETWD_JOB_UPDATE:
		job->result = of_file(
			etw_session_update(job->engine, job->config, job->uid, &job->fault));
		etw_session_info(job->engine, &job->info);
		break;
	case ETWD_JOB_INCREMENT_FILE:
		job->result = of_file(etw_session_change_file(job->engine, NULL, NULL));
		etw_session_info(job->engine, &job->info);
		break;
	case ETWD_JOB_CONVERT:
		job->result = etw_session_convert(job->engine, &job->fault);
		etw_session_info(job->engine, &job->info);
		break;
	case ETWD_JOB_KERNEL:
		job->result = etw_session_change_kernel(job->engine, job->change, &job->fault);
		etw_session_info(job->engine, &job->info);
		break;
	case ETWD_JOB_PROVIDER:
		job->result = etw_session_change_provider(job->engine, job->provider);
		break;
	case ETWD_JOB_STOP:
		etw_session_stop(job->engine, &job->info);
		break;
	}
	etwd_inbox_post(job->jobs->inbox, &job->item);
	return NULL;
}

int etwd_jobs_run(const struct etwd_jobs *jobs, struct etwd_job *job,
		  void (*done)(struct etwd_inbox_item *item))
{
	pthread_attr_t attributes;
	pthread_t thread;
	int error;

	job->jobs = jobs;
	job->item.handle = done;
	pthread_attr_init(&attributes);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	error = pthread_create(&thread, &attributes, work, job);
	pthread_attr_destroy(&attributes);
	return -error;
}

void etwd_job_free(struct etwd_job *job)
{
	if (!job)
		return;
	free(job->config);
	free(job->change);
	free(job->provider);
	free(job);
}
