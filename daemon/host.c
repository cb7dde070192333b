/* SPDX-License-Identifier: MIT */
/* See host.h. */
#include "daemon/host.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/macros.h"
#include "base/time.h"
#include "daemon/information.h"
#include "daemon/log.h"
#include "daemon/patient_clock.h"
#include "daemon/session_start.h"
#include "daemon/user_groups.h"
#include "ipc/runtime.h"
#include "session/common/owner.h"
#include "session/rings/budget.h"
#include "wire/well_known.h"

#define EVENTS_PER_ROUND 64
#define SETTLE_MS        100
#define FILES_DEFAULT    1024
#define LEAVE_MS         10000 /* for sessions to end when the host is told to leave */

/* Opening and closing. */

static int watch(struct etwd_host *host, int fd, void *tag)
{
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = tag};

	return epoll_ctl(host->epoll_fd, EPOLL_CTL_ADD, fd, &event) < 0 ? -errno : 0;
}

static int open_signals(struct etwd_host *host)
{
	sigset_t signals;

	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGHUP);
	sigaddset(&signals, SIGCHLD); /* the keeper's; nothing here waits for children */
	sigaddset(&signals, SIGPIPE);
	if (sigprocmask(SIG_BLOCK, &signals, NULL) < 0)
		return -errno;
	sigdelset(&signals, SIGCHLD);
	sigdelset(&signals, SIGPIPE);
	host->signal_fd = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
	return host->signal_fd < 0 ? -errno : 0;
}

static uint32_t find_group(void)
{
	const struct group *group = getgrnam(WIRE_CONTROL_GROUP);

	return group ? group->gr_gid : UINT32_MAX;
}

/* Says to each part which parts below it uses. */
static void connect_parts(struct etwd_host *host)
{
	host->handover.store = &host->store;
	host->handover.sessions = &host->sessions;
	host->handover.providers = &host->providers;
	host->handover.grants = &host->grants;
	host->handover.private_table = &host->private_table;
	host->ring_holders.sessions = &host->sessions;
	host->realtime = (struct etwd_realtime){
		.sessions = &host->sessions, .peers = &host->peers, .inbox = &host->inbox};
	host->enable_parts = (struct etwd_enable_parts){
		.peers = &host->peers,
		.providers = &host->providers,
		.grants = &host->grants,
		.sessions = &host->sessions,
		.handover = &host->handover,
		.ring_holders = &host->ring_holders,
		.waits = &host->waits,
		.environment = &host->calls.environment,
	};
	host->private_parts = (struct etwd_private_parts){
		.peers = &host->peers,
		.table = &host->private_table,
		.providers = &host->providers,
		.handover = &host->handover,
		.waits = &host->waits,
		.security = &host->security,
	};
	host->calls.store = &host->store;
	host->calls.clock = &host->clock;
	host->calls.grants = &host->grants;
	host->calls.pids = &host->pids;
	host->calls.inbox = &host->inbox;
	host->calls.enable = &host->enable_parts;
	host->calls.session_parts = &host->session_parts;
	etwd_session_calls_init(&host->calls);
	etwd_profile_interval_open(&host->profile_interval, host->options->directory);
	host->calls.environment.profile_interval_ft = &host->profile_interval.ft;
	host->jobs = (struct etwd_jobs){&host->inbox, &host->calls.environment};
	host->images = (struct etwd_image_table){
		.sessions = &host->sessions, .budget = &host->budget, .pids = &host->pids};
	host->session_parts = (struct etwd_session_parts){
		.peers = &host->peers,
		.sessions = &host->sessions,
		.images = &host->images,
		.grants = &host->grants,
		.handover = &host->handover,
		.ring_holders = &host->ring_holders,
		.realtime = &host->realtime,
		.waits = &host->waits,
		.store = &host->store,
		.enable = &host->enable_parts,
		.jobs = &host->jobs,
		.private_parts = &host->private_parts,
	};
	host->dispatch_parts = (struct etwd_dispatch_parts){
		.is_system = host->options->is_system,
		.clock = &host->clock,
		.enable = &host->enable_parts,
		.session = &host->session_parts,
		.private_parts = &host->private_parts,
		.security = &host->security,
		.profile_interval = &host->profile_interval,
	};
}

struct etwd_host *etwd_host_make(const struct etwd_options *options)
{
	struct etwd_host *host = calloc(1, sizeof(*host));
	struct rlimit files;

	if (!host)
		return NULL;
	host->options = options;
	host->epoll_fd = host->signal_fd = -1;
	host->clock.page.fd = -1;
	host->clock.set_fd = -1;
	host->store.socket = -1;
	if (getrlimit(RLIMIT_NOFILE, &files) < 0)
		files.rlim_cur = FILES_DEFAULT;
	etwd_budget_init(&host->budget, geteuid(), files.rlim_cur);
	etwd_grants_init(&host->grants, &host->budget);
	etwd_pids_init(&host->pids);
	etwd_peers_init(&host->peers, &host->budget, &host->pids, &etwd_dispatch_callbacks,
			&host->dispatch_parts);
	if (options->is_system)
		host->peers.group = find_group();
	etwd_providers_init(&host->providers, &host->budget);
	etwd_descriptors_init(&host->security, options->security);
	etwd_sessions_init(&host->sessions, &host->budget, &host->security, options->is_system);
	if (options->session_limit)
		etwd_budget_set_sessions(&host->budget, options->session_limit);
	if (options->system_logger_limit)
		host->sessions.system_logger_limit = options->system_logger_limit;
	etwd_private_table_init(&host->private_table, options->is_system);
	etwd_handover_init(&host->handover);
	connect_parts(host);
	return host;
}

static int open_budget(struct etwd_host *host)
{
	const uint64_t total = (uint64_t)host->options->ring_mib << 20;
	const struct etw_budget_limits limits = etw_budget_limits_of(total);
	const struct etw_budget_limits owners = etw_budget_owner_limits_of(total);

	TRY(etw_budget_create(&limits, &host->calls.environment.budget));
	return etw_budget_create(&owners, &host->calls.environment.owners);
}

int etwd_host_open(struct etwd_host *host, int socket)
{
	etw_owner_use_groups(etwd_user_groups);
	TRY(etwd_keeper_store_init(&host->store, socket));
	TRY(etwd_inbox_init(&host->inbox));
	host->store.wake_fd = host->inbox.event_fd;
	TRY(open_signals(host));
	host->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (host->epoll_fd < 0)
		return -errno;
	TRY(watch(host, host->signal_fd, &host->signal_fd));
	TRY(watch(host, host->inbox.event_fd, &host->inbox));
	if (host->store.socket >= 0)
		TRY(watch(host, host->store.socket, &host->store));
	TRY(etwd_peers_open(&host->peers, host->epoll_fd, host->options->listener));
	TRY(open_budget(host));
	TRY(etwd_pids_open(&host->pids, &host->store, etw_monotonic_ns()));
	TRY(etwd_descriptors_load(&host->security));
	TRY(etwd_clock_open(&host->clock, &host->store));
	TRY(watch(host, host->clock.set_fd, &host->clock));
	TRY(etwd_handover_open(&host->handover));
	etwd_handover_recall_grants(&host->handover);
	/* Before sessions begin: those that are adopted went through what another host did not see. */
	(void)etwd_clock_look(&host->clock);
	etwd_session_adopt_all(&host->session_parts);
	etwd_handover_recall(&host->handover);
	etwd_autologgers_start(&host->autologgers, host->options->is_system, &host->session_parts);
	return 0;
}

void etwd_host_close(struct etwd_host *host)
{
	etwd_peers_done(&host->peers);
	etwd_autologgers_done(&host->autologgers);
	etwd_providers_done(&host->providers);
	etwd_private_table_done(&host->private_table);
	etwd_grants_done(&host->grants);
	etwd_descriptors_done(&host->security);
	etwd_pids_done(&host->pids);
	etwd_handover_done(&host->handover);
	etwd_clock_done(&host->clock);
	etwd_inbox_done(&host->inbox);
	etwd_keeper_store_done(&host->store);
	etw_budget_free(host->calls.environment.budget);
	etw_budget_free(host->calls.environment.owners);
	close(host->signal_fd);
	close(host->epoll_fd);
	etwd_images_done(&host->images);
	etwd_budget_done(&host->budget);
	free(host);
}

/* The loop. */

static void take_signals(struct etwd_host *host)
{
	struct signalfd_siginfo info;

	while (read(host->signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		if (host->sessions.is_closed)
			continue;
		etwd_log("told to leave by signal %u", (unsigned)info.ssi_signo);
		host->sessions.is_closed = true;
		host->leave_by_ms = etwd_patient_now_ms() + LEAVE_MS;
		etwd_session_stop_all(&host->session_parts);
	}
}

/* Returns when to look again, or 0: the host leaves now. */
static uint64_t check_idle(struct etwd_host *host, uint64_t now_ms)
{
	bool has_sessions = etwd_sessions_count(&host->sessions) != 0;

	if (host->sessions.is_closed) {
		if (has_sessions && now_ms >= host->leave_by_ms)
			etwd_log("the host leaves although sessions have not ended in time");
		return has_sessions && now_ms < host->leave_by_ms ? host->leave_by_ms : 0;
	}
	/* Who may control nothing does not keep the host. */
	if (has_sessions || etwd_private_table_count(&host->private_table) ||
	    host->peers.controller_count) {
		host->idle_since_ms = 0;
		return UINT64_MAX;
	}
	if (!host->idle_since_ms)
		host->idle_since_ms = now_ms;
	if (now_ms - host->idle_since_ms < host->options->idle_ms)
		return host->idle_since_ms + host->options->idle_ms;
	etwd_log("nobody needs the host: it leaves");
	return 0;
}

/* Does what is due. Returns how long to wait, in ms, or -1: the host leaves. */
static int run_timers(struct etwd_host *host)
{
	uint64_t now_ms = etwd_patient_now_ms();
	uint64_t next_ms, idle_ms;
	bool has_more;

	if (etwd_clock_look(&host->clock)) {
		etwd_log("the machine was suspended");
		etwd_sessions_wake(&host->sessions);
	}
	next_ms = etwd_clock_check(&host->clock, etwd_sessions_has_kernel(&host->sessions), now_ms);
	next_ms = etw_earlier_zero_is_none(next_ms, etwd_peers_check_accept(&host->peers, now_ms));
	next_ms = etw_earlier_zero_is_none(next_ms, etwd_keeper_retry(&host->store, now_ms));
	next_ms = etw_earlier_zero_is_none(next_ms, etwd_waits_check(&host->waits, now_ms));
	next_ms = etw_earlier_zero_is_none(next_ms,
					   etwd_session_check_leases(&host->session_parts, now_ms));
	next_ms = etw_earlier_zero_is_none(next_ms,
					   etwd_information_check(&host->session_parts, now_ms));
	next_ms = etw_earlier_zero_is_none(next_ms, etwd_enable_check(&host->enable_parts, now_ms));
	next_ms = etw_earlier_zero_is_none(next_ms, etwd_peers_check_hello(&host->peers, now_ms));
	has_more = etwd_peers_sweep(&host->peers);
	idle_ms = check_idle(host, now_ms);
	if (idle_ms == 0)
		return -1;
	next_ms = etw_earlier_zero_is_none(next_ms, idle_ms);
	if (has_more || next_ms <= now_ms)
		return 0;
	return next_ms - now_ms < 60000 ? (int)(next_ms - now_ms) : 60000;
}

/* What the keeper has no room for. */
static void hear_keeper(struct etwd_host *host)
{
	char name[ETWD_KEPT_NAME_BYTES];

	while (etwd_keeper_hear(&host->store, name) == 1)
		etwd_session_not_kept(&host->session_parts, name);
}

static void handle_event(struct etwd_host *host, const struct epoll_event *event)
{
	if (event->data.ptr == &host->signal_fd)
		take_signals(host);
	else if (event->data.ptr == &host->store)
		hear_keeper(host);
	else if (event->data.ptr == &host->clock)
		etwd_clock_rearm(&host->clock);
	else if (event->data.ptr == &host->inbox)
		etwd_inbox_run(&host->inbox);
	else if (event->data.ptr == &host->peers.listener)
		etwd_peers_accept(&host->peers);
	else if (event->data.ptr == &host->peers.others_fd)
		etwd_peers_ready(&host->peers);
	else
		etwd_peer_ready(event->data.ptr, event->events);
}

int etwd_host_step(struct etwd_host *host, int wait_max_ms)
{
	struct epoll_event events[EVENTS_PER_ROUND];
	int wait_ms = run_timers(host);
	int count;

	if (wait_ms < 0)
		return 1;
	if (wait_ms > wait_max_ms)
		wait_ms = wait_max_ms;
	count = epoll_wait(host->epoll_fd, events, EVENTS_PER_ROUND, wait_ms);
	etwd_patient_round_ended(etw_monotonic_ms(), (uint64_t)wait_ms);
	if (count < 0 && errno != EINTR)
		return -errno;
	etwd_budget_next_round(&host->budget);
	etwd_images_settle(&host->images);
	/* Peers that are doomed on the way are freed behind this, in run_timers(). */
	for (int i = 0; i < count; i++)
		handle_event(host, &events[i]);
	return 0;
}

static void detach_from_terminal(const struct etwd_options *options)
{
	int null = options->is_foreground ? -1 : open("/dev/null", O_RDWR | O_CLOEXEC);

	if (null < 0)
		return;
	(void)dup2(null, STDERR_FILENO);
	close(null);
}

/* Who connects now is refused, and starts another host or waits for one. */
static void leave(struct etwd_host *host)
{
	etwd_keeper_leaving(&host->store);
	etw_runtime_announce(host->options->page, false);
	if (!host->options->is_socket_foreign)
		(void)shutdown(host->options->listener, SHUT_RDWR);
}

static void fail(struct etwd_host *host, const char *what, int error)
{
	char sentence[ETWD_KEPT_NAME_BYTES];

	(void)snprintf(sentence, sizeof(sentence), "%s: %s", what, strerror(error));
	etwd_log("%s", sentence);
	etwd_keeper_failed(&host->store, error, sentence);
}

int etwd_host_main(const struct etwd_options *options, int socket)
{
	struct etwd_host *host = etwd_host_make(options);
	int r;

	if (!host) {
		etwd_log("the host cannot start: no memory");
		return 1;
	}
	r = etwd_host_open(host, socket);
	if (r < 0) {
		fail(host, "the host cannot start", -r);
		return 1; /* the process ends, and with it all that is half open */
	}
	host->waits.settle_ms = etwd_patient_now_ms() + SETTLE_MS;
	etw_runtime_announce(options->page, true);
	etwd_keeper_ready(&host->store);
	etwd_log("the host of %s accepts connections", options->directory);
	detach_from_terminal(options);
	while ((r = etwd_host_step(host, INT_MAX)) == 0)
		;
	if (r < 0) {
		fail(host, "the host cannot go on", -r);
		return 1;
	}
	leave(host);
	if (etwd_sessions_count(&host->sessions))
		return 0; /* their threads still use the host */
	etwd_host_close(host);
	return 0;
}
