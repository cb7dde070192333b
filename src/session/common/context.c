/* SPDX-License-Identifier: MIT */
/* What all parts of a session share; see session/common/context.h. */
#include "session/common/context.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/sched_point.h"
#include "base/time.h"
#include "session/common/file_pattern.h"

void etw_context_open(const struct etw_session_host *host, struct etw_session_context *ret)
{
	*ret = (struct etw_session_context){
		.host = *host, .host_uid = geteuid(), .state = {.fd = -1}};
	pthread_mutex_init(&ret->config_lock, NULL);
	pthread_mutex_init(&ret->complaint_lock, NULL);
}

void etw_context_close(struct etw_session_context *context)
{
	etw_state_done(&context->state);
	pthread_mutex_destroy(&context->complaint_lock);
	pthread_mutex_destroy(&context->config_lock);
}

void etw_context_set_plan(struct etw_session_context *context, const struct etw_session_plan *plan)
{
	uint64_t frequency = context->host.clock->page->frequency;

	context->plan = *plan;
	if (plan->clock_type == ETW_CLOCK_SYSTEM)
		frequency = ETW_FILETIME_PER_SECOND;
	context->slack_raw = (int64_t)(frequency * (ETW_CONTEXT_SLACK_NS / 1000) / 1000000) + 1;
}

static void change_plan(struct etw_session_plan *plan, const struct etw_session_plan *to)
{
	store_relaxed(&plan->ring_buffers, to->ring_buffers);
	store_relaxed(&plan->has_file, to->has_file);
	SCHED_POINT("session.plan.changing");
	store_relaxed(&plan->file_flush_ns, to->file_flush_ns);
	store_relaxed(&plan->batch_flush_ns, to->batch_flush_ns);
}

static void change_realtime(struct etw_session_context *context, uint32_t is_realtime)
{
	store_release(&context->state.head->plan.is_realtime, is_realtime);
	store_release(&context->plan.is_realtime, is_realtime);
}

void etw_context_change(struct etw_session_context *context,
			const struct wire_session_config *config,
			const struct etw_session_plan *plan)
{
	struct wire_session_config *now = &context->state.head->config;

	/* While a session is a real-time one it has a timer. */
	if (!plan->is_realtime)
		change_realtime(context, 0);
	change_plan(&context->state.head->plan, plan);
	change_plan(&context->plan, plan);
	pthread_mutex_lock(&context->config_lock);
	now->flush_timer = config->flush_timer;
	now->minimum_buffers = config->minimum_buffers;
	now->maximum_buffers = config->maximum_buffers;
	now->log_file_mode = config->log_file_mode;
	now->enable_flags = config->enable_flags;
	now->kernel = config->kernel;
	pthread_mutex_unlock(&context->config_lock);
	if (plan->is_realtime)
		change_realtime(context, 1);
}

void etw_context_config(struct etw_session_context *context, struct wire_session_config *ret)
{
	const struct etw_state_file *file;

	pthread_mutex_lock(&context->config_lock);
	*ret = context->state.head->config;
	file = etw_state_file(&context->state);
	(void)etw_file_pattern_expand(file->name, file->number, ret->log_file);
	(void)etw_file_pattern_expand(file->shown, file->shown[0] ? file->number : 0,
				      ret->log_file_shown);
	pthread_mutex_unlock(&context->config_lock);
}

void etw_context_kick(struct etw_session_context *context)
{
	add_acq_rel(&context->wake, 1u);
	/* Shared, as futex_waitv() waits for it beside the rings' words. */
	(void)syscall(SYS_futex, &context->wake, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

static void put_name(const struct etw_session_context *context, char name[ETW_CONTEXT_NAME_BYTES],
		     const char *format, va_list list)
{
	int used = snprintf(name, ETW_CONTEXT_NAME_BYTES, "session-%u/",
			    context->state.head->session_id);

	(void)vsnprintf(name + used, ETW_CONTEXT_NAME_BYTES - (size_t)used, format, list);
}

void etw_context_name(const struct etw_session_context *context, char name[ETW_CONTEXT_NAME_BYTES],
		      const char *format, ...)
{
	va_list list;

	va_start(list, format);
	put_name(context, name, format, list);
	va_end(list);
}

int etw_context_room(const struct etw_session_context *context, unsigned count)
{
	return context->host.keep_room ? context->host.keep_room(context->host.context, count) : 0;
}

int etw_context_keep(const struct etw_session_context *context, int fd, const char *format, ...)
{
	char name[ETW_CONTEXT_NAME_BYTES];
	va_list list;

	if (!context->host.keep_fd)
		return 0;
	va_start(list, format);
	put_name(context, name, format, list);
	va_end(list);
	return context->host.keep_fd(context->host.context, name, fd);
}

int etw_context_kept(const struct etw_session_context *context, const char *format, ...)
{
	char name[ETW_CONTEXT_NAME_BYTES];
	va_list list;

	if (!context->host.kept_fd)
		return -ENOENT;
	va_start(list, format);
	put_name(context, name, format, list);
	va_end(list);
	return context->host.kept_fd(context->host.context, name);
}

void etw_context_forget(const struct etw_session_context *context, const char *format, ...)
{
	char name[ETW_CONTEXT_NAME_BYTES];
	va_list list;

	if (!context->host.forget_fd)
		return;
	va_start(list, format);
	put_name(context, name, format, list);
	va_end(list);
	context->host.forget_fd(context->host.context, name);
}

void etw_context_complain(struct etw_session_context *context, const char *what, int error,
			  const struct etw_fault *fault)
{
	char sentence[ETW_CONTEXT_COMPLAINT_BYTES];
	size_t used;

	if (fault && fault->sentence)
		(void)snprintf(sentence, sizeof(sentence), "%s: %s%s%s", what,
			       fault->field ? fault->field : "", fault->field ? ": " : "",
			       fault->sentence);
	else if (error < 0)
		(void)snprintf(sentence, sizeof(sentence), "%s: %s", what, strerrordesc_np(-error));
	else
		(void)snprintf(sentence, sizeof(sentence), "%s", what);
	pthread_mutex_lock(&context->complaint_lock);
	used = strlen(context->complaint);
	(void)snprintf(context->complaint + used, sizeof(context->complaint) - used, "%s%s",
		       used ? "; " : "", sentence);
	pthread_mutex_unlock(&context->complaint_lock);
	if (context->host.tell && context->state.head)
		context->host.tell(context->host.context, context->state.head->session_id,
				   sentence);
}

void etw_context_complaint(struct etw_session_context *context, char *text, size_t bytes)
{
	pthread_mutex_lock(&context->complaint_lock);
	(void)snprintf(text, bytes, "%s", context->complaint);
	pthread_mutex_unlock(&context->complaint_lock);
}
