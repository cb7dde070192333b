/* SPDX-License-Identifier: MIT */
/* See jobs.h. */
#include "daemon/jobs.h"

#include <stdlib.h>

static void *work(void *context)
{
	struct etwd_job *job = context;
	struct etwd_host *host = job->host;

	switch (job->kind) {
	case ETWD_JOB_START:
		job->result = etw_session_start(&host->session_host, job->session_id, job->uid,
						job->config, &job->engine, &job->fault);
		if (job->result == 0)
			etw_session_info(job->engine, &job->info);
		break;
	case ETWD_JOB_FLUSH:
		job->result = etw_session_flush(job->engine);
		etw_session_info(job->engine, &job->info);
		break;
	case ETWD_JOB_STOP:
		etw_session_stop(job->engine, &job->info);
		break;
	}
	etwd_inbox_post(&host->inbox, &job->item);
	return NULL;
}

int etwd_jobs_run(struct etwd_job *job, void (*done)(struct etwd_inbox_item *item))
{
	pthread_attr_t attributes;
	pthread_t thread;
	int error;

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
	free(job);
}
