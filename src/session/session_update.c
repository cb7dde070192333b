/* SPDX-License-Identifier: MIT */
/* Changing a session that runs; see session/session.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <evntcons.h>
#include <evntrace.h>

#include "base/atomic.h"
#include "base/macros.h"
#include "base/sched_point.h"
#include "session/common/kernel_request.h"
#include "session/outputs.h"
#include "session/rings/turnover.h"
#include "session/session_internal.h"

/* An order to the session's thread. */
struct update {
	struct etw_session *session;
	const struct wire_session_config *wanted;
	uid_t uid; /* of who asks */
	struct etw_fault *reterr;
	bool is_check; /* nothing is to be changed yet */
};

static int refuse(struct etw_fault *reterr, const char *field)
{
	return etw_fault_set(reterr, -EOPNOTSUPP, 0, "session configuration", field,
			     "changing it is not built yet");
}

/* Into another file, when one is named. */
static int change_file(const struct update *update)
{
	const struct wire_session_config *wanted = update->wanted;

	/* A buffering session has none, and has flushed into the one that is named. */
	if (!*wanted->log_file || update->session->context.plan.history_buffers > 0)
		return 0;
	if (update->session->context.state.head->config.log_file_mode &
	    EVENT_TRACE_FILE_MODE_APPEND)
		return refuse(update->reterr, "LogFileName");
	return etw_session_change_file_now(update->session, &(const struct etw_session_name){
								    .path = wanted->log_file,
								    .shown = wanted->log_file_shown,
								    .uid = update->uid,
								    .mode = wanted->file_mode,
							    });
}

/*
 * First the source, then what the state says: a host that dies in between is followed by one that wants what was
 * wanted before, and the controller has no answer.
 */
static void change_source(struct etw_session *session, const struct wire_session_config *to)
{
	const struct etw_session_context *context = &session->context;

	if (context->plan.is_kernel &&
	    !etw_kernel_request_is_same(&to->kernel, &context->state.head->config.kernel))
		etw_source_feed_change(&session->feeds.all[0], &to->kernel);
}

/* An order of its own. */
struct kernel_change {
	struct etw_session *session;
	const struct etw_session_kernel_change *change;
	struct etw_fault *reterr;
};

static void complain_of_keywords(struct etw_session *session, uint64_t unknown)
{
	char sentence[96];

	if (!unknown)
		return;
	(void)snprintf(sentence, sizeof(sentence),
		       "keywords 0x%llx of a system provider stand for no kernel events here",
		       (unsigned long long)unknown);
	etw_context_complain(&session->context, sentence, 0, NULL);
}

/* The session's thread. */
static int carry_out_kernel(void *what)
{
	const struct kernel_change *order = what;
	const struct etw_session_kernel_change *change = order->change;
	struct etw_session *session = order->session;
	const struct wire_session_config *now = &session->context.state.head->config;
	CLEANUP(freep) struct wire_session_config *config = malloc(sizeof(*config));
	CLEANUP(freep) struct wire_session_config *wanted = malloc(sizeof(*wanted));
	struct etw_session_plan plan = session->context.plan;

	if (!config || !wanted)
		return -ENOMEM;
	if (!plan.is_kernel)
		return etw_fault_set(order->reterr, -EINVAL, 0, "session configuration",
				     "LoggerMode", "the session is no system logger");
	TRY(etw_kernel_request_check(&change->wanted, order->reterr));
	*config = *wanted = *now;
	wanted->kernel = change->wanted;
	for (unsigned i = 0; i < WIRE_GROUP_MASKS_WORDS && change->keeps_masks; i++)
		wanted->kernel.group_masks[i] |= now->kernel.group_masks[i] & ~change->without[i];
	etw_kernel_request_update(config, wanted);
	complain_of_keywords(session, change->unknown);
	if (change->wanted.parts)
		change_source(session, config);
	else
		etw_source_feed_change(&session->feeds.all[0], &config->kernel);
	etw_context_change(&session->context, config, &plan);
	return 0;
}

int etw_session_change_kernel(struct etw_session *session,
			      const struct etw_session_kernel_change *change,
			      struct etw_fault *reterr)
{
	struct kernel_change order = {session, change, reterr};

	return etw_orders_give(&session->orders, carry_out_kernel, &order);
}

/* An order of its own. */
struct provider_change {
	struct etw_session *session;
	const struct etw_session_provider_change *change;
};

/* The session's thread. */
static int carry_out_provider(void *what)
{
	const struct provider_change *order = what;

	return etw_source_feeds_change_provider(&order->session->feeds, order->change->code,
						&order->change->wanted);
}

bool etw_session_has_provider(const struct etw_session_host *host, const GUID *provider)
{
	return etw_source_feeds_of(host, provider) != NULL;
}

int etw_session_check_provider(struct etw_session *session,
			       const struct etw_source_provider *wanted, struct etw_fault *reterr)
{
	const struct etw_source_ops *ops = etw_source_feeds_of(&session->context.host,
							       &wanted->guid);
	int result = 0;

	if (!ops)
		return -ENOENT;
	if (ops->check_provider)
		result = ops->check_provider(wanted, reterr);
	if (result < 0)
		etw_context_complain(&session->context, "EnableTraceEx2", result, reterr);
	return result;
}

int etw_session_change_provider(struct etw_session *session,
				const struct etw_session_provider_change *change)
{
	struct provider_change order = {session, change};

	return etw_orders_give(&session->orders, carry_out_provider, &order);
}

bool etw_session_wants_sources(struct etw_session *session)
{
	const struct etw_state_head *head = session->context.state.head;

	for (uint32_t i = 0; i < ETW_STATE_PROVIDERS; i++) {
		if (load_acquire(&head->provider_serials[i]))
			return true;
	}
	return session->context.plan.is_kernel || load_relaxed(&head->sources_opened);
}

/* Those who consume have had everything up to now, and hear that this is the end. */
static void dismiss_consumers(struct etw_session *session)
{
	etw_outputs_close_batch(&session->outputs, session->round.now_ns, /* is_end= */ true);
	etw_consumers_dismiss(&session->consumers);
}

static void change_numbers(struct etw_session *session, const struct wire_session_config *config,
			   const struct etw_session_plan *plan)
{
	bool was_realtime = session->context.plan.is_realtime;

	if (was_realtime && !plan->is_realtime)
		dismiss_consumers(session);
	SCHED_POINT("session.update.dismissed");
	/* A plan without a file is what a conversion is carried out by: etw_session_convert_adopted(). */
	etw_context_change(&session->context, config, plan);
	if (!was_realtime && plan->is_realtime)
		etw_consumers_readmit(&session->consumers);
	etw_ring_turnover_resize(&session->sets);
	/* They begin anew, with the length that they have now. */
	session->flushes.next_file_flush_ns = 0;
	session->flushes.next_batch_ns = 0;
}

/* Everything that may be refused comes first. The session's thread. */
static int carry_out(void *what)
{
	struct update *update = what;
	struct etw_session_context *context = &update->session->context;
	CLEANUP(freep) struct wire_session_config *config = malloc(sizeof(*config));
	struct etw_session_plan plan = context->plan;

	if (!config)
		return -ENOMEM;
	*config = context->state.head->config;
	TRY(etw_session_config_update(config, &plan, update->wanted, update->reterr));
	if (update->is_check)
		return 0;
	TRY(change_file(update));
	SCHED_POINT("session.update.filed");
	change_source(update->session, config);
	change_numbers(update->session, config, &plan);
	SCHED_POINT("session.update.changed");
	return 0;
}

/* To consumers alone. The session's thread. */
static int carry_out_conversion(void *what)
{
	struct update *update = what;
	struct etw_session_context *context = &update->session->context;
	CLEANUP(freep) struct wire_session_config *config = malloc(sizeof(*config));
	struct etw_session_plan plan = context->plan;

	if (!config)
		return -ENOMEM;
	*config = context->state.head->config;
	if (plan.history_buffers > 0)
		return etw_fault_set(update->reterr, -EINVAL, 0, "session configuration",
				     "EVENT_TRACE_BUFFERING_MODE",
				     "a buffering session has no file to leave");
	if (!plan.has_file)
		return 0;
	TRY(etw_session_config_convert(config, &plan, update->reterr));
	etw_session_file_end(&update->session->outputs.file, 0);
	SCHED_POINT("session.convert.ended");
	change_numbers(update->session, config, &plan);
	SCHED_POINT("session.convert.changed");
	etw_session_file_leave(&update->session->outputs.file);
	return 0;
}

void etw_session_convert_adopted(struct etw_session *session)
{
	struct etw_state_head *head = session->context.state.head;

	if (head->plan.has_file || !etw_state_file(&session->context.state)->name[0])
		return;
	/* What comes of it has been no contradiction once already. */
	(void)etw_session_config_convert(&head->config, &head->plan, NULL);
	etw_session_file_leave(&session->outputs.file);
}

int etw_session_convert(struct etw_session *session, struct etw_fault *reterr)
{
	struct update update = {.session = session, .reterr = reterr};

	TRY(etw_session_flush(session));
	return etw_orders_give(&session->orders, carry_out_conversion, &update);
}

/* A whole file of what is kept. It may fail, so it comes before what is changed, and behind what is refused. */
static int flush_history(struct update *update)
{
	update->is_check = true;
	TRY(etw_orders_give(&update->session->orders, carry_out, update));
	update->is_check = false;
	return etw_session_flush_to(update->session, update->wanted, update->uid);
}

int etw_session_update(struct etw_session *session, const struct wire_session_config *wanted,
		       uid_t uid, struct etw_fault *reterr)
{
	struct update update = {.session = session, .wanted = wanted, .uid = uid, .reterr = reterr};
	bool dismisses = load_acquire(&session->context.plan.is_realtime) &&
			 !(wanted->log_file_mode & EVENT_TRACE_REAL_TIME_MODE);

	/* Consumers that are dismissed, and a file that ends, have everything that was committed before this call. */
	if (*wanted->log_file && session->context.plan.history_buffers > 0)
		TRY(flush_history(&update));
	else if (dismisses || *wanted->log_file)
		TRY(etw_session_flush(session));
	return etw_orders_give(&session->orders, carry_out, &update);
}
