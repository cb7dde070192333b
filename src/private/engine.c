/* SPDX-License-Identifier: MIT */
#include "private/engine.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <evntrace.h>

#include "base/macros.h"
#include "base/process_facts.h"
#include "provider/entry.h"
#include "provider/fork.h"
#include "provider/last_thread.h"
#include "provider/listener.h"
#include "provider/own_sessions.h"
#include "session/clock_host.h"
#include "session/session.h"

struct etw_private_engine {
	uint32_t id;
	uid_t uid;
	uint32_t ring_set;
	struct etw_private_watch watch;
	struct etw_session *session;
};

/* The worker's. */
static struct etw_clock_host clock_host = {.fd = -1};
static pthread_mutex_t watch_lock = PTHREAD_MUTEX_INITIALIZER; /* clock_host.watch */
static uint32_t message_sequence;                              /* of all sessions; atomic */

/* Nobody but this process maps the rings: whatever is in them is its own. */
static bool may_write(void *context, uint32_t session_id, uid_t uid, const GUID *provider)
{
	(void)context;
	(void)session_id;
	(void)uid;
	(void)provider;
	return true;
}

static bool may_write_classic(void *context, uint32_t session_id, uid_t uid)
{
	(void)context;
	(void)session_id;
	(void)uid;
	return true;
}

static bool may_be_pid(void *context, uid_t uid, uint32_t pid, struct etw_session_pid_span *ret)
{
	(void)context;
	(void)uid;
	(void)ret;
	return pid == etw_process_id(ETW_PRIVATE_LINK);
}

/* The process is this one, whatever number the host of a container has for it. */
static void describe_pid(void *context, uid_t uid, uint32_t pid, struct etw_process_facts *ret)
{
	(void)context;
	(void)uid;
	(void)pid;
	(void)etw_process_facts_read((uint32_t)getpid(), ret);
}

/*
 * Nobody but the sessions' threads watches the clocks here, each when it runs: one looks for all. Who finds another one
 * looking is told of what is new in its next round.
 */
static void suspends(void *context, struct etw_suspends *ret)
{
	int64_t gap;

	(void)context;
	if (pthread_mutex_trylock(&watch_lock) == 0) {
		(void)etw_suspend_watch_look(&clock_host.watch, &gap);
		(void)pthread_mutex_unlock(&watch_lock);
	}
	etw_suspend_watch_sums(&clock_host.watch, ret);
}

static void tell_worn_out(void *context, uint32_t session_id, uid_t uid, uint32_t ring_set)
{
	const struct etw_private_engine *engine = context;

	(void)uid;
	(void)ring_set;
	engine->watch.worn_out(session_id);
}

static void tell_full(void *context, uint32_t session_id)
{
	const struct etw_private_engine *engine = context;

	engine->watch.full(session_id);
}

static int open_for_providers(const struct etw_private_engine *engine,
			      const struct etw_ring_set_fds *fds)
{
	CLEANUP(etw_provider_entry_unlock) const bool is_held = etw_provider_entry_lock();

	(void)is_held;
	TRY(etw_fork_prepare());
	TRY(etw_listener_start());
	return etw_own_session_open(engine->id, engine->ring_set, fds, clock_host.fd);
}

static int replace_for_providers(const struct etw_private_engine *engine, uint32_t ring_set,
				 const struct etw_ring_set_fds *fds)
{
	CLEANUP(etw_provider_entry_unlock) const bool is_held = etw_provider_entry_lock();

	(void)is_held;
	return etw_own_session_replace(engine->id, ring_set, fds);
}

static void close_for_providers(uint32_t session_id)
{
	CLEANUP(etw_provider_entry_unlock) const bool is_held = etw_provider_entry_lock();

	(void)is_held;
	etw_own_session_close(session_id);
}

static int get_rings(const struct etw_private_engine *engine, uint32_t *ret_ring_set,
		     struct etw_ring_set_fds *ret)
{
	int refusal = 0;

	TRY(etw_session_ring_set(engine->session, engine->uid, ret_ring_set, ret, &refusal));
	if (refusal == 0)
		return 0;
	etw_ring_set_close(ret);
	return refusal;
}

static int open_rings(struct etw_private_engine *engine)
{
	CLEANUP(etw_ring_set_close) struct etw_ring_set_fds fds = {-1, -1};

	TRY(get_rings(engine, &engine->ring_set, &fds));
	return open_for_providers(engine, &fds);
}

static void free_engine(struct etw_private_engine **engine)
{
	if (!*engine)
		return;
	etw_session_free((*engine)->session);
	free(*engine);
}

static int start_session(struct etw_private_engine *engine,
			 const struct wire_session_config *config, struct etw_fault *reterr)
{
	const struct etw_session_host host = {
		.context = engine,
		.clock = &clock_host.clock,
		.is_private = true,
		.message_sequence = &message_sequence,
		.may_write = may_write,
		.may_write_classic = may_write_classic,
		.may_be_pid = may_be_pid,
		.describe_pid = describe_pid,
		.suspends = suspends,
		.ring_set_replaced = tell_worn_out,
		.file_is_full = tell_full,
	};

	return etw_session_start(&host, engine->id, engine->uid, config, &engine->session, reterr);
}

int etw_private_engine_start(uint32_t session_id, const struct wire_session_config *config,
			     const struct etw_private_watch *watch, struct etw_private_engine **ret,
			     struct etw_fault *reterr)
{
	CLEANUP(free_engine) struct etw_private_engine *engine = calloc(1, sizeof(*engine));

	if (!engine)
		return -ENOMEM;
	if (clock_host.fd < 0)
		TRY(etw_clock_host_make(NULL, &clock_host));
	engine->id = session_id;
	engine->uid = geteuid();
	engine->watch = *watch;
	TRY(start_session(engine, config, reterr));
	TRY(open_rings(engine));
	etw_last_thread_count_own(1);
	*ret = TAKE(engine);
	return 0;
}

void etw_private_engine_renew(struct etw_private_engine *engine)
{
	CLEANUP(etw_ring_set_close) struct etw_ring_set_fds fds = {-1, -1};
	const uint32_t before = engine->ring_set;
	uint32_t ring_set;

	/* Without others the present ones are written to until they are full, and count what they lose. */
	if (get_rings(engine, &ring_set, &fds) < 0 || ring_set == before ||
	    replace_for_providers(engine, ring_set, &fds) < 0)
		return;
	engine->ring_set = ring_set;
	etw_session_ring_set_gone(engine->session, before);
}

static int update(struct etw_private_engine *engine, const struct wire_session_config *to)
{
	struct wire_session_config *wanted = malloc(sizeof(*wanted));
	struct etw_fault fault;
	int r;

	if (!wanted)
		return -ENOMEM;
	*wanted = *to;
	wanted->maximum_buffers = 0;
	wanted->enable_flags = 0;
	wanted->kernel = (struct wire_kernel_request){0};
	r = etw_session_update(engine->session, wanted, engine->uid, &fault);
	free(wanted);
	return r;
}

static int change(struct etw_private_engine *engine, const struct wire_control *control)
{
	struct etw_fault fault;

	switch (control->code) {
	case WIRE_CONTROL_QUERY:
		return 0;
	case WIRE_CONTROL_FLUSH:
		return etw_session_flush_to(engine->session, &control->config, engine->uid);
	case WIRE_CONTROL_UPDATE:
		return update(engine, &control->config);
	case WIRE_CONTROL_INCREMENT_FILE:
		return etw_session_change_file(engine->session, NULL, NULL);
	case WIRE_CONTROL_CONVERT_TO_REALTIME:
		return etw_session_convert(engine->session, &fault);
	default:
		return -EINVAL;
	}
}

int etw_private_engine_control(struct etw_private_engine *engine,
			       const struct wire_control *control, struct wire_session_info *ret)
{
	TRY(change(engine, control));
	etw_session_info(engine->session, ret);
	return 0;
}

void etw_private_engine_stop(struct etw_private_engine *engine, struct wire_session_info *ret)
{
	/* First: who is in the middle of a write still commits to rings that are read. */
	etw_session_stop(engine->session, ret);
	close_for_providers(engine->id);
	etw_session_free(engine->session);
	etw_last_thread_count_own(-1);
	free(engine);
}

void etw_private_engines_forget(void)
{
	static const pthread_mutex_t fresh_lock = PTHREAD_MUTEX_INITIALIZER;

	clock_host = (struct etw_clock_host){.fd = -1};
	memcpy(&watch_lock, &fresh_lock, sizeof(watch_lock));
}
