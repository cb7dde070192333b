/* SPDX-License-Identifier: MIT */
/* The public functions of a session; see session/session.h. */
#include "session/session.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <evntrace.h>

#include "base/atomic.h"
#include "base/macros.h"
#include "base/time.h"
#include "etl/writer.h"
#include "session/common/account.h"
#include "session/outputs.h"
#include "session/rings/pages.h"
#include "session/rings/sets.h"
#include "session/session_internal.h"
#include "session/statistics.h"

static struct etw_session *new_session(const struct etw_session_host *host)
{
	struct etw_session *session = calloc(1, sizeof(*session));

	if (!session)
		return NULL;
	etw_context_open(host, &session->context);
	etw_notes_open(&session->context, &session->notes);
	etw_session_sets_open(&session->context, &session->sets);
	etw_source_feeds_init(&session->context, &session->notes, &session->feeds);
	etw_consumers_open(&session->context, &session->consumers);
	etw_outputs_init(&session->context,
			 &(const struct etw_outputs_parts){
				 .sets = &session->sets,
				 .feeds = &session->feeds,
				 .consumers = &session->consumers,
				 .notes = &session->notes,
			 },
			 &session->outputs);
	etw_flushes_open(&session->flushes);
	etw_orders_init(&session->context, &session->orders);
	return session;
}

static void freep_session(struct etw_session **session)
{
	etw_session_free(*session);
}

/* The thread has all signals blocked: they are for the host's main thread. */
static int start_thread(struct etw_session *session)
{
	sigset_t all, before;
	int result;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	result = -pthread_create(&session->thread, NULL, etw_session_thread, session);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (result < 0)
		return result;
	etw_flushes_await_ready(&session->flushes);
	return 0;
}

static int charge_state(struct etw_session *session, uid_t uid, uint64_t bytes,
			struct etw_fault *reterr)
{
	if (etw_charge_take(&session->context, uid, bytes, &session->charge) == 0)
		return 0;
	return etw_fault_set(reterr, -ENOMEM, 0, "session configuration", "MinimumBuffers",
			     "the host has no more memory for sessions of this user");
}

/* What it keeps from its start: its state; a file, and once the next one beside it; what the kernel's source keeps. */
static unsigned descriptors_of(const struct etw_session_context *context)
{
	const struct etw_session_plan *plan = &context->plan;
	const struct etw_source_ops *kernel = plan->is_kernel ? context->host.kernel : NULL;

	return 1u + (plan->has_file ? 2u : 0u) +
	       (kernel ? etw_source_kept_fds(kernel, plan->cpu_count) : 0u);
}

static int prepare(struct etw_session *session, uint32_t session_id, uid_t uid,
		   const struct wire_session_config *config, struct etw_fault *reterr)
{
	struct etw_session_context *context = &session->context;
	int64_t t0_raw, start_ft;

	/* Not begun where it could not be kept: its host's death would lose it without a word. */
	TRY(etw_context_room(context, descriptors_of(context)));
	t0_raw = etw_context_now(context);
	/* One moment in both units; where they are one unit, one number. */
	start_ft = context->plan.clock_type == ETW_CLOCK_SYSTEM ? t0_raw : etw_filetime_now();
	TRY(charge_state(session, uid, etw_state_memory(&context->plan), reterr));
	TRY(etw_state_create(session_id, uid, config, &context->plan, t0_raw, &context->state));
	context->state.head->start_ft = start_ft;
	context->state.head->hosts = 1;
	TRY(etw_outputs_open(&session->outputs));
	TRY(etw_session_file_create(&session->outputs.file));
	if (etw_context_keep(context, context->state.fd, "state") < 0)
		etw_context_complain(
			context, "the session is not kept and would not survive its host", 0, NULL);
	return 0;
}

/* Rounds the configuration in place, and says what it comes to; what is refused is refused here. */
static int settle(const struct etw_session_host *host, struct wire_session_config *config,
		  struct etw_session_plan *ret, struct etw_fault *reterr)
{
	const bool is_private = config->log_file_mode & EVENT_TRACE_PRIVATE_LOGGER_MODE;

	TRY(etw_session_config_settle(config, etw_session_cpu_count(), ret, reterr));
	if (is_private != host->is_private)
		return etw_fault_set(reterr, -EOPNOTSUPP, 0, "session configuration",
				     "EVENT_TRACE_PRIVATE_LOGGER_MODE",
				     "a private session is in the process of its providers alone");
	return 0;
}

int etw_session_check(const struct etw_session_host *host, const struct wire_session_config *config,
		      struct etw_fault *reterr)
{
	CLEANUP(freep) struct wire_session_config *settled = malloc(sizeof(*settled));
	struct etw_session_plan plan;

	if (!settled)
		return -ENOMEM;
	*settled = *config;
	return settle(host, settled, &plan, reterr);
}

int etw_session_start(const struct etw_session_host *host, uint32_t session_id, uid_t uid,
		      const struct wire_session_config *config, struct etw_session **ret,
		      struct etw_fault *reterr)
{
	CLEANUP(freep_session) struct etw_session *session = new_session(host);
	CLEANUP(freep) struct wire_session_config *settled = malloc(sizeof(*settled));
	struct etw_session_plan plan;

	if (!session || !settled)
		return -ENOMEM;
	*settled = *config;
	TRY(settle(host, settled, &plan, reterr));
	etw_context_set_plan(&session->context, &plan);
	if ((config->enable_flags || config->kernel.parts) && !plan.is_kernel)
		etw_context_complain(&session->context,
				     "EnableFlags have no effect: the session is no system logger",
				     0, NULL);
	TRY(prepare(session, session_id, uid, settled, reterr));
	TRY(start_thread(session));
	*ret = TAKE(session);
	return 0;
}

int etw_session_adopt(const struct etw_session_host *host, int state_fd, struct etw_session **ret)
{
	CLEANUP(freep_session) struct etw_session *session = new_session(host);
	struct etw_state *state;

	if (!session) {
		close(state_fd);
		return -ENOMEM;
	}
	state = &session->context.state;
	TRY(etw_state_adopt(state_fd, state));
	etw_session_convert_adopted(session);
	etw_context_set_plan(&session->context, &state->head->plan);
	etw_charge_adopt(&session->context, state->head->uid, etw_state_memory(&state->head->plan),
			 &session->charge);
	state->head->hosts++;
	etw_consumers_resume(&session->consumers);
	TRY(etw_outputs_open(&session->outputs));
	etw_session_file_adopt(&session->outputs.file);
	etw_consumers_adopt(&session->consumers);
	etw_outputs_recover(&session->outputs);
	etw_session_sets_adopt(&session->sets);
	etw_pages_adopt(&session->sets);
	TRY(start_thread(session));
	*ret = TAKE(session);
	return 0;
}

static void stop_thread(struct etw_session *session)
{
	etw_session_sets_forbid(&session->sets);
	if (!etw_flushes_ask_stop(&session->flushes))
		return;
	etw_context_kick(&session->context);
	pthread_join(session->thread, NULL);
	etw_flushes_mark_stopped(&session->flushes);
	/* Without a state nobody adopts it; what else of it the keeper has then is forgotten. */
	etw_context_forget(&session->context, "state");
	etw_context_forget(&session->context, "file-%u",
			   (unsigned)session->context.state.head->files_left & 1);
}

void etw_session_stop(struct etw_session *session, struct wire_session_info *ret)
{
	stop_thread(session);
	if (ret)
		etw_account_info(&session->sets, ret);
}

void etw_session_free(struct etw_session *session)
{
	if (!session)
		return;
	stop_thread(session);
	etw_consumers_close(&session->consumers);
	etw_session_sets_free_all(&session->sets);
	etw_pages_free_all(&session->sets);
	etw_session_sets_close(&session->sets);
	etw_outputs_close(&session->outputs);
	etw_source_feeds_done(&session->feeds);
	etw_loss_notes_done(&session->loss_notes);
	etw_notes_close(&session->notes);
	etw_flushes_close(&session->flushes);
	etw_orders_done(&session->orders);
	etw_context_close(&session->context);
	etw_charge_give(&session->charge);
	free(session);
}

void etw_session_wake(struct etw_session *session)
{
	etw_context_kick(&session->context);
}

/* A round that also looks into open buffers, so that the numbers are those of now; not waited for long. */
static void look(struct etw_session *session)
{
	uint64_t ticket = etw_flushes_ask_look(&session->flushes);

	etw_context_kick(&session->context);
	etw_flushes_await_look(&session->flushes, ticket);
}

void etw_session_info(struct etw_session *session, struct wire_session_info *ret)
{
	look(session);
	etw_account_info(&session->sets, ret);
}

void etw_session_statistics(struct etw_session *session, uint32_t first_cpu,
			    struct wire_statistics *ret)
{
	look(session);
	etw_statistics(&session->sets, &session->consumers, first_cpu, ret);
}

void etw_session_tell(struct etw_session *session, const struct wire_session_note *note)
{
	etw_notes_put(&session->notes, note);
}

int etw_session_announce(struct etw_session *session, struct etw_announced_image *image,
			 enum etw_announced_act act)
{
	return etw_source_feed_announce(&session->feeds.all[0], image, act);
}

int etw_session_ring_set(struct etw_session *session, uid_t uid, uint32_t *ret_ring_set,
			 struct etw_ring_set_fds *ret, int *ret_refusal)
{
	return etw_session_sets_get(&session->sets, uid, ret_ring_set, ret, ret_refusal);
}

void etw_session_ring_set_gone(struct etw_session *session, uint32_t ring_set)
{
	etw_session_sets_mark_gone(&session->sets, ring_set);
}

void etw_session_ring_set_unkept(struct etw_session *session, uint32_t ring_set)
{
	etw_session_sets_mark_unkept(&session->sets, ring_set);
}

void etw_session_ring_set_left(struct etw_session *session, uint32_t ring_set, bool is_last)
{
	etw_session_sets_mark_left(&session->sets, ring_set, is_last);
}

/* A copy of the header buffer, with what was lost so far. */
static int copy_header(struct etw_session *session, uint8_t **ret)
{
	const struct etw_state *state = &session->context.state;
	uint32_t bytes = session->context.plan.buffer_bytes;
	uint32_t buffers;
	uint8_t *header = malloc(bytes);
	struct wire_session_loss loss;
	uint64_t lost;

	if (!header)
		return -ENOMEM;
	pthread_mutex_lock(&session->context.config_lock);
	memcpy(header, etw_state_header_buffer(state), bytes);
	buffers = load_relaxed(&etw_state_file(state)->buffers);
	pthread_mutex_unlock(&session->context.config_lock);
	etw_account_loss(&session->sets, &loss);
	lost = etw_account_lost_on_the_way(&loss);
	(void)etw_etl_rewrite_header_buffer(header, bytes, 0, buffers > 0 ? buffers : 1,
					    lost < UINT32_MAX ? (uint32_t)lost : UINT32_MAX, 0);
	*ret = header;
	return 0;
}

int etw_session_subscribe(struct etw_session *session, const struct etw_session_subscribe *request,
			  struct etw_session_subscribed *ret)
{
	CLEANUP(freep) uint8_t *header = NULL;

	if (!load_acquire(&session->context.plan.is_realtime))
		return -EINVAL;
	TRY(copy_header(session, &header));
	TRY(etw_consumers_subscribe(&session->consumers, request, ret));
	ret->header_buffer = TAKE(header);
	ret->header_bytes = session->context.plan.buffer_bytes;
	return 0;
}

void etw_session_unsubscribe(struct etw_session *session, struct etw_subscriber *subscriber)
{
	etw_consumers_unsubscribe(&session->consumers, subscriber);
}
