/* SPDX-License-Identifier: MIT */
/*
 * The table of a process's private sessions. The worker alone reads and changes it, so that it takes no lock; what runs
 * callbacks, enabling and withdrawing, is done on the caller's thread.
 */
#include "private/private.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include <evntcons.h>
#include <evntrace.h>

#include "base/atomic.h"
#include "base/macros.h"
#include "private/engine.h"
#include "private/worker.h"
#include "provider/entry.h"
#include "provider/fork.h"
#include "provider/outside.h"
#include "provider/own_sessions.h"

#define IN_PROC      (-1)
#define EXIT_WAIT_MS 10000 /* a program that ends does not wait for a disk for ever */

struct private_session {
	struct private_session *next;
	/* NULL: its file was full; the entry stays until its host names the session no more. */
	struct etw_private_engine *engine;
	uint32_t id;
	int link;       /* of the host that has started it; IN_PROC: this process has started it */
	uint32_t round; /* of the host's conversation in which it was named last */
	GUID guid;
	char name[WIRE_MESSAGE_NAME_MAX + 1];
};

/* The worker's. */
static struct private_session *sessions;
static struct private_session *of_parent; /* where its threads left them; never freed */
static uint32_t last_id = WIRE_PRIVATE_SESSION_ID_LAST;

/* Of the process that the table is of (provider/fork.h); 0: nobody has started a session. The provider's lock. */
static uint64_t owner_origin;

/* Whether this process has started a session; one that is a forked child forgets its parent's. */
static bool is_owner(void)
{
	CLEANUP(etw_provider_entry_unlock) const bool is_held = etw_provider_entry_lock();

	(void)is_held;
	if (owner_origin == 0)
		return false;
	if (owner_origin == etw_fork_fill())
		return true;
	of_parent = sessions;
	sessions = NULL;
	owner_origin = 0;
	etw_private_engines_forget();
	etw_private_worker_forget();
	return false;
}

static int become_owner(void)
{
	CLEANUP(etw_provider_entry_unlock) const bool is_held = etw_provider_entry_lock();

	(void)is_held;
	TRY(etw_fork_prepare());
	owner_origin = etw_fork_fill();
	return 0;
}

static void withdraw(uint32_t session_id, enum etw_own_news news)
{
	CLEANUP(etw_provider_entry_unlock) const bool is_held = etw_provider_entry_lock();

	(void)is_held;
	etw_own_session_withdraw(session_id, news);
}

static struct private_session **find_id(uint32_t id)
{
	struct private_session **at = &sessions;

	while (*at && (*at)->id != id)
		at = &(*at)->next;
	return at;
}

/* Of those with PRIVATE_IN_PROC. Names that differ in case alone are the same, as Windows has it. */
static struct private_session **find_name(const char *name)
{
	struct private_session **at = &sessions;

	while (*at && ((*at)->link != IN_PROC || strcasecmp((*at)->name, name) != 0))
		at = &(*at)->next;
	return at;
}

static uint32_t pick_id(void)
{
	do
		last_id = last_id == WIRE_PRIVATE_SESSION_ID_LAST ? WIRE_PRIVATE_SESSION_ID_FIRST
								  : last_id + 1;
	while (*find_id(last_id));
	return last_id;
}

static int check_count(int link)
{
	const bool is_in_proc = link == IN_PROC;
	unsigned count = 0;

	for (const struct private_session *i = sessions; i; i = i->next)
		count += (i->link == IN_PROC) == is_in_proc;
	return count < (is_in_proc ? ETW_PRIVATE_IN_PROC_MAX : ETW_PRIVATE_OTHERS_MAX) ? 0
										       : -EUSERS;
}

/* Takes the session out of the table and ends it. */
static void end(struct private_session **at, struct wire_session_info *ret)
{
	struct private_session *session = *at;

	*at = session->next;
	if (session->engine)
		etw_private_engine_stop(session->engine, ret);
	free(session);
}

/* Its file is full. What a host has started stays in the table, so that the next host does not start it anew. */
static void end_full(struct private_session **at, struct wire_session_info *info)
{
	struct private_session *session = *at;

	if (session->link == IN_PROC) {
		end(at, info);
		return;
	}
	if (session->engine)
		etw_private_engine_stop(session->engine, info);
	session->engine = NULL;
}

/* What a session's thread wants done to the session, which may be gone by then. */
struct notice {
	struct etw_private_job job; /* first */
	uint32_t session_id;
};

static void run_full(struct etw_private_job *job)
{
	struct notice *notice = (struct notice *)(void *)job;
	struct private_session **at = find_id(notice->session_id);
	struct wire_session_info *info = malloc(sizeof(*info));

	/* Posted for every buffer that has no room; the first does it all. The listener runs the callbacks. */
	if (*at) {
		withdraw(notice->session_id, ETW_OWN_NEWS_LATER);
		end_full(at, info);
	}
	free(info);
	free(notice);
}

static void run_worn_out(struct etw_private_job *job)
{
	struct notice *notice = (struct notice *)(void *)job;
	struct private_session *session = *find_id(notice->session_id);

	if (session && session->engine)
		etw_private_engine_renew(session->engine);
	free(notice);
}

static void post(uint32_t session_id, void (*run)(struct etw_private_job *job))
{
	struct notice *notice = calloc(1, sizeof(*notice));

	if (!notice)
		return;
	notice->job.run = run;
	notice->session_id = session_id;
	if (etw_private_worker_post(&notice->job) < 0)
		free(notice);
}

static void on_full(uint32_t session_id)
{
	post(session_id, run_full);
}

static void on_worn_out(uint32_t session_id)
{
	post(session_id, run_worn_out);
}

/* A call of the program; on its stack, while it waits. */
struct call {
	struct etw_private_job job; /* first */
	const struct wire_session_config *config;
	const struct wire_control *control;
	struct wire_session_info *info;
	uint32_t session_id; /* of START: 0: the next number for IN_PROC */
	int link;            /* of START */
	uint32_t round;
	GUID guid;
	int result;
};

static int query(const struct private_session *session, struct wire_session_info *ret)
{
	const struct wire_control question = {.code = WIRE_CONTROL_QUERY};

	return session->engine ? etw_private_engine_control(session->engine, &question, ret)
			       : -ENOENT;
}

static int start(struct call *call, struct private_session *session)
{
	static const struct etw_private_watch watch = {.full = on_full, .worn_out = on_worn_out};
	const struct wire_session_config *config = call->config;
	struct etw_fault fault;

	session->link = call->link;
	session->round = call->round;
	session->guid = config->guid;
	memcpy(session->name, config->name, sizeof(session->name));
	if (session->link == IN_PROC && *find_name(config->name))
		return -EEXIST;
	TRY(check_count(session->link));
	session->id = call->session_id ? call->session_id : pick_id();
	TRY(etw_private_engine_start(session->id, config, &watch, &session->engine, &fault));
	session->next = sessions;
	sessions = session;
	return query(session, call->info);
}

static void run_start(struct etw_private_job *job)
{
	struct call *call = (struct call *)(void *)job;
	struct private_session *session = calloc(1, sizeof(*session));

	call->result = session ? start(call, session) : -ENOMEM;
	if (call->result < 0)
		free(session);
}

static int run_call(struct call *call, void (*run)(struct etw_private_job *job))
{
	call->job.run = run;
	TRY(etw_private_worker_run(&call->job));
	return call->result;
}

int etw_private_start(const struct wire_session_config *config, struct wire_session_info *ret)
{
	struct call call = {.config = config, .info = ret, .link = IN_PROC};

	if (!is_owner())
		TRY(become_owner());
	return run_call(&call, run_start);
}

/* Which session a call is about. */
static void run_find(struct etw_private_job *job)
{
	struct call *call = (struct call *)(void *)job;
	const struct wire_control *control = call->control;
	const struct private_session *session = control->handle
							? *find_id((uint32_t)control->handle)
							: *find_name(control->name);

	call->result = session ? 0 : -ENOENT;
	if (!session)
		return;
	call->session_id = session->id;
	call->guid = session->guid;
}

static void run_control(struct etw_private_job *job)
{
	struct call *call = (struct call *)(void *)job;
	struct private_session **at = find_id(call->session_id);

	call->result = 0;
	if (!*at)
		call->result = -ENOENT;
	else if (call->control->code == WIRE_CONTROL_STOP)
		end(at, call->info);
	else if (!(*at)->engine)
		call->result = -ENOENT;
	else
		call->result = etw_private_engine_control((*at)->engine, call->control, call->info);
}

int etw_private_control(const struct wire_control *control, struct wire_session_info *ret)
{
	struct call call = {.control = control, .info = ret};

	if (!is_owner())
		return -ENOENT;
	TRY(run_call(&call, run_find));
	if (control->code == WIRE_CONTROL_STOP)
		withdraw(call.session_id, ETW_OWN_NEWS_NOW);
	return run_call(&call, run_control);
}

int etw_private_find(const char *name, GUID *ret)
{
	CLEANUP(freep) struct wire_control *control = NULL;
	struct call call = {0};

	if (!is_owner())
		return -ENOENT;
	control = calloc(1, sizeof(*control));
	if (!control)
		return -ENOMEM;
	memcpy(control->name, name, strnlen(name, WIRE_MESSAGE_NAME_MAX));
	call.control = control;
	TRY(run_call(&call, run_find));
	*ret = call.guid;
	return 0;
}

static int enable_locked(const struct wire_enable_provider *enable)
{
	CLEANUP(etw_provider_entry_unlock) const bool is_held = etw_provider_entry_lock();

	(void)is_held;
	return etw_own_session_enable((uint32_t)enable->handle, enable);
}

int etw_private_enable(const struct wire_enable_provider *enable)
{
	if (!is_owner())
		return -ENOENT;
	/* Microsoft's page "Provider Traits": private sessions cannot control groups. */
	if (enable->property & EVENT_ENABLE_PROPERTY_PROVIDER_GROUP)
		return -EOPNOTSUPP;
	return enable_locked(enable);
}

/* The file is each process's own: Microsoft's page on MS-PLA's ExtendedModes has the number behind the whole name. */
static int add_process_id(char *file)
{
	const size_t bytes = strlen(file);
	int count;

	if (!bytes)
		return 0;
	count = snprintf(file + bytes, WIRE_MESSAGE_NAME_MAX + 1 - bytes, "_%d", (int)getpid());
	return count > 0 && (size_t)count <= WIRE_MESSAGE_NAME_MAX - bytes ? 0 : -ENAMETOOLONG;
}

static int name_files(struct wire_session_config *config)
{
	TRY(add_process_id(config->log_file));
	return add_process_id(config->log_file_shown);
}

/*
 * Whether the process has the session that a host names; -ESRCH: it has not. One of the same number that is another
 * provider's was left by a former host of the same place: it is ended. -EEXIST: the number is that of a session of the
 * other place's host, which is not for this host to end: hosts that tell the truth have numbers of their own.
 */
static void run_meet(struct etw_private_job *job)
{
	struct call *call = (struct call *)(void *)job;
	struct private_session **at = find_id(call->session_id);

	call->result = *at && (*at)->link != call->link ? -EEXIST : -ESRCH;
	if (call->result == -EEXIST)
		return;
	if (*at && memcmp(&(*at)->guid, &call->guid, sizeof(GUID)) != 0) {
		withdraw(call->session_id, ETW_OWN_NEWS_LATER);
		end(at, call->info);
	} else if (*at) {
		(*at)->round = call->round;
		call->result = query(*at, call->info);
	}
}

/* Whether a number is one of sessions that hosts start: a host is not believed to have others. */
static bool is_outside(uint64_t handle)
{
	return handle >= WIRE_OUTSIDE_SESSION_ID_FIRST && handle <= WIRE_OUTSIDE_SESSION_ID_LAST;
}

static int start_outside(unsigned link, uint32_t round, const struct wire_session_info *wanted,
			 struct wire_session_info *ret)
{
	struct call call = {
		.info = ret,
		.session_id = (uint32_t)wanted->handle,
		.link = (int)link,
		.round = round,
		.guid = wanted->config.guid,
	};
	CLEANUP(freep) struct wire_session_config *config = NULL;
	int r;

	if (!is_outside(wanted->handle))
		return -EPROTO;
	if (!is_owner())
		TRY(become_owner());
	r = run_call(&call, run_meet);
	if (r != -ESRCH)
		return r;
	config = malloc(sizeof(*config));
	if (!config)
		return -ENOMEM;
	*config = wanted->config;
	TRY(name_files(config));
	call.config = config;
	return run_call(&call, run_start);
}

static void run_check_host(struct etw_private_job *job)
{
	struct call *call = (struct call *)(void *)job;
	const struct private_session *session = *find_id(call->session_id);

	call->result = session && session->link == call->link ? 0 : -ENOENT;
}

/* The session of a host's message is one that the same host has started. */
static int check_host(unsigned link, uint64_t handle)
{
	struct call call = {.session_id = (uint32_t)handle, .link = (int)link};

	return is_outside(handle) && is_owner() ? run_call(&call, run_check_host) : -ENOENT;
}

static int control_outside(unsigned link, const struct wire_control *control,
			   struct wire_session_info *ret)
{
	CLEANUP(freep) struct wire_control *own = malloc(sizeof(*own));

	if (!own)
		return -ENOMEM;
	TRY(check_host(link, control->handle));
	*own = *control;
	TRY(name_files(&own->config));
	return etw_private_control(own, ret);
}

static bool is_known(const struct wire_enable_provider *enable)
{
	CLEANUP(etw_provider_entry_unlock) const bool is_held = etw_provider_entry_lock();

	(void)is_held;
	return etw_own_session_wants((uint32_t)enable->handle, enable);
}

static int enable_outside(unsigned link, const struct wire_enable_provider *enable, bool is_news)
{
	TRY(check_host(link, enable->handle));
	return !is_news && is_known(enable) ? 0 : etw_private_enable(enable);
}

struct ending {
	struct etw_private_job job; /* first */
	int link;
	uint32_t round; /* that stays; 0: none */
};

static void run_ending(struct etw_private_job *job)
{
	struct ending *ending = (struct ending *)(void *)job;
	struct wire_session_info *info = malloc(sizeof(*info));
	struct private_session **at = &sessions;

	while (info && *at) {
		if ((*at)->link != ending->link || (*at)->round == ending->round) {
			at = &(*at)->next;
			continue;
		}
		withdraw((*at)->id, ETW_OWN_NEWS_LATER);
		end(at, info);
	}
	free(info);
	free(ending);
}

static void end_outside(unsigned link, uint32_t round)
{
	struct ending *ending = calloc(1, sizeof(*ending));

	if (!ending)
		return;
	ending->job.run = run_ending;
	ending->link = (int)link;
	ending->round = round;
	if (etw_private_worker_post(&ending->job) < 0)
		free(ending);
}

void etw_private_serve_hosts(void)
{
	static const struct etw_outside_handler handler = {start_outside, control_outside,
							   enable_outside, end_outside};

	etw_outside_set_handler(&handler);
}

static void run_end_all(struct etw_private_job *job)
{
	struct wire_session_info *info = malloc(sizeof(*info));

	(void)job;
	while (sessions) {
		withdraw(sessions->id, ETW_OWN_NEWS_NONE);
		end(&sessions, info);
	}
	free(info);
}

/*
 * The program ends: whatever was committed is in the files, and their headers say how they ended. What is written from now
 * on, by threads that still run and by later destructors, nobody wants.
 */
__attribute__((destructor)) static void end_with_program(void)
{
	static struct etw_private_job job; /* it may outlive the wait */

	/* As is_owner(), which takes a lock: a program that ends in a signal handler may hold it. */
	if (load_relaxed(&owner_origin) == 0 || owner_origin != etw_fork_fill())
		return;
	job.run = run_end_all;
	(void)etw_private_worker_run_for(&job, EXIT_WAIT_MS);
}
