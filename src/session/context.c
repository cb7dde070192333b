/* SPDX-License-Identifier: MIT */
/* What all parts of a session share; see session/context.h. */
#include "session/context.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/time.h"

void etw_context_open(const struct etw_session_host *host, struct etw_session_context *ret)
{
	*ret = (struct etw_session_context){
		.host = *host, .host_uid = geteuid(), .state = {.fd = -1}};
	pthread_mutex_init(&ret->complaint_lock, NULL);
}

void etw_context_close(struct etw_session_context *context)
{
	etw_state_done(&context->state);
	pthread_mutex_destroy(&context->complaint_lock);
}

void etw_context_set_plan(struct etw_session_context *context, const struct etw_session_plan *plan)
{
	uint64_t frequency = context->host.clock->page->frequency;

	context->plan = *plan;
	if (plan->clock_type == ETW_CLOCK_SYSTEM)
		frequency = ETW_FILETIME_PER_SECOND;
	context->slack_raw = (int64_t)(frequency * (ETW_CONTEXT_SLACK_NS / 1000) / 1000000) + 1;
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
