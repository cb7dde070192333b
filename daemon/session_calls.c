/* SPDX-License-Identifier: MIT */
/* See session_calls.h. */
#include "daemon/session_calls.h"

#include <stdlib.h>
#include <string.h>

#include "base/time.h"
#include "daemon/log.h"
#include "source/kernel/kernel_source.h"
#include "source/kernel/named/named_source.h"
#include "source/tracepoints/tracepoint_source.h"

static void tell(void *context, uint32_t session_id, const char *sentence)
{
	(void)context;
	etwd_log("session %u: %s", (unsigned)session_id, sentence);
}

static int keep_fd(void *context, const char *name, int fd)
{
	struct etwd_session_calls *calls = context;

	return etwd_keeper_keep(calls->store, name, fd);
}

static int keep_room(void *context, unsigned count)
{
	struct etwd_session_calls *calls = context;

	return etwd_keeper_room(calls->store, count);
}

static int kept_fd(void *context, const char *name)
{
	struct etwd_session_calls *calls = context;

	return etwd_keeper_take(calls->store, name);
}

static void forget_fd(void *context, const char *name)
{
	struct etwd_session_calls *calls = context;

	etwd_keeper_forget(calls->store, name);
}

static int to_raw(void *context, uint64_t monotonic_ns, int64_t *ret)
{
	struct etwd_session_calls *calls = context;

	return etw_time_pairs_convert(&calls->clock->pairs, monotonic_ns, ret);
}

static void suspends(void *context, struct etw_suspends *ret)
{
	struct etwd_session_calls *calls = context;

	etw_suspend_watch_sums(&calls->clock->page.watch, ret);
}

static bool may_write(void *context, uint32_t session_id, uid_t uid, const GUID *provider)
{
	struct etwd_session_calls *calls = context;
	const struct etwd_grant grant = {session_id, uid, *provider};

	return etwd_grants_has(calls->grants, &grant);
}

static bool may_write_classic(void *context, uint32_t session_id, uid_t uid)
{
	static const GUID classic = ETWD_GRANT_CLASSIC;

	return may_write(context, session_id, uid, &classic);
}

static bool may_be_pid(void *context, uid_t uid, uint32_t pid,
		       struct etw_session_pid_span *ret_span)
{
	struct etwd_session_calls *calls = context;

	return etwd_pids_may_be(calls->pids, uid, pid, etw_monotonic_ns(), ret_span);
}

static void describe_pid(void *context, uid_t uid, uint32_t pid, struct etw_process_facts *ret)
{
	struct etwd_session_calls *calls = context;

	etwd_pids_describe(calls->pids, uid, pid, ret);
}

struct ring_item {
	struct etwd_inbox_item item; /* first */
	const struct etwd_enable_parts *enable;
	uint32_t session_id;
	uint32_t ring_set;
	uid_t uid;
};

static void handle_replaced(struct etwd_inbox_item *item)
{
	struct ring_item *ring = (struct ring_item *)(void *)item;

	/* The new set first: between the two messages nothing of the process would be wanted. */
	if (etwd_enable_ring_replaced(ring->enable, ring->session_id, ring->uid) == 0)
		etwd_ring_holders_retire(ring->enable->ring_holders, ring->session_id,
					 ring->ring_set);
	free(ring);
}

static void ring_set_replaced(void *context, uint32_t session_id, uid_t uid, uint32_t ring_set)
{
	struct etwd_session_calls *calls = context;
	struct ring_item *item = malloc(sizeof(*item));

	if (!item) {
		etwd_log("rings of session %u could not be changed: no memory",
			 (unsigned)session_id);
		return;
	}
	*item = (struct ring_item){.item.handle = handle_replaced,
				   .enable = calls->enable,
				   .session_id = session_id,
				   .ring_set = ring_set,
				   .uid = uid};
	etwd_inbox_post(calls->inbox, &item->item);
}

struct full_item {
	struct etwd_inbox_item item; /* first */
	const struct etwd_session_parts *parts;
	uint32_t session_id;
};

static void handle_full(struct etwd_inbox_item *item)
{
	struct full_item *full = (struct full_item *)(void *)item;
	struct etwd_session *session = etwd_sessions_find(full->parts->sessions, full->session_id);

	/* It is said for each buffer, also while the session ends. */
	if (session && session->state == ETWD_SESSION_RUNNING) {
		etwd_log("session %u ends: its file is full", (unsigned)full->session_id);
		(void)etwd_session_stop(full->parts, session, NULL, 0);
	}
	free(full);
}

static void file_is_full(void *context, uint32_t session_id)
{
	struct etwd_session_calls *calls = context;
	struct full_item *item = malloc(sizeof(*item));

	if (!item)
		return; /* the next buffer says it again */
	*item = (struct full_item){.item.handle = handle_full,
				   .parts = calls->session_parts,
				   .session_id = session_id};
	etwd_inbox_post(calls->inbox, &item->item);
}

struct etw_session_host etwd_session_sources(void)
{
	return (struct etw_session_host){
		.kernel = &etw_kernel_source,
		.sources = {&etw_kernel_named_source, &etw_tracepoint_source_ops},
	};
}

void etwd_session_calls_init(struct etwd_session_calls *calls)
{
	const struct etw_session_host sources = etwd_session_sources();

	calls->environment = (struct etw_session_host){
		.context = calls,
		.clock = &calls->clock->page.clock,
		.kernel = sources.kernel,
		.message_sequence = &calls->message_sequence,
		.tell = tell,
		.keep_fd = keep_fd,
		.keep_room = keep_room,
		.kept_fd = kept_fd,
		.forget_fd = forget_fd,
		.suspends = suspends,
		.to_raw = to_raw,
		.may_write = may_write,
		.may_write_classic = may_write_classic,
		.may_be_pid = may_be_pid,
		.describe_pid = describe_pid,
		.ring_set_replaced = ring_set_replaced,
		.file_is_full = file_is_full,
	};
	memcpy(calls->environment.sources, sources.sources, sizeof(sources.sources));
}
