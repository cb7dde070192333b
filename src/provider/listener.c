/* SPDX-License-Identifier: MIT */
#include "provider/listener.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/time.h"
#include "provider/callback.h"
#include "provider/last_thread.h"
#include "provider/link_connect.h"
#include "provider/links.h"
#include "provider/lock.h"
#include "provider/own_sessions.h"
#include "provider/poke.h"
#include "provider/reclaim.h"
#include "provider/thread.h"
#include "ring/clock.h"

#define IS_BEING_RESET 2 /* no origin has it */
#define IS_WAITING     1u

static struct etw_ipc_message *message; /* the listener's */
static pthread_t listener;
static bool is_prepared; /* the lock */
static bool is_running;  /* the same; false in a forked child */
/* Origin of the process that all this is of (fork.h), | IS_BEING_RESET; 0: nobody's yet; atomic. */
static uint64_t owner_origin;
/*
 * Which listener it is, counted in steps of 2, | IS_WAITING while it waits for descriptors; atomic. A program that has
 * closed them cannot wake it any more: whoever takes the turn away from a waiting one starts another.
 */
static uint32_t turn;
static sigset_t starter_signals; /* what the thread that started the listener blocked */

bool etw_listener_is_running(void)
{
	return is_running;
}

bool etw_listener_is_caller(void)
{
	return is_running && pthread_equal(pthread_self(), listener);
}

static void lock_before_fork(void)
{
	etw_provider_lock();
}

static void unlock_in_parent(void)
{
	etw_provider_unlock();
}

/* Before a link is looked at that has to open or to receive something. Not holding the lock. */
static void release_if_needed(const bool *is_ready)
{
	bool is_needed = false;

	for (unsigned i = 0; i < etw_links_count(); i++)
		is_needed |= is_ready[i] || etw_links_at(i)->socket.number < 0;
	if (!is_needed)
		return;
	etw_provider_lock();
	etw_poke_release_reserve();
	etw_provider_unlock();
}

/*
 * The child keeps registrations, states and rings, and goes on writing. It has no listener, and must not
 * hold the parent's connection: the host would not see the parent end.
 */
static void forget_parent(void)
{
	etw_links_abandon();
	for (unsigned i = 0; i < etw_links_count(); i++)
		etw_links_at(i)->has_private = false; /* they are the parent's */
	/* Now: later these numbers may be those of files of the child's own. */
	etw_poke_close();
	etw_last_thread_reset_in_child();
	is_running = false;
	etw_clock_find_namespace();
	etw_callback_reset_in_child();
	store_relaxed(&turn, 0u);
	(void)etw_provider_wait_init();
}

static void reset_in_child(void)
{
	etw_ipc_message_done(message);
	forget_parent();
	etw_fork_wipe();
	etw_thread_after_fork();
	etw_own_sessions_forget();
	store_release(&owner_origin, UINT64_C(0));
	etw_provider_unlock();
}

/*
 * Nobody held the lock for this fork: a thread that the child does not have may have been anywhere. The message may
 * name descriptors that it had just closed, so that they are left alone.
 */
static void reset_in_unseen_child(void)
{
	etw_provider_lock_reset();
	etw_ipc_message_init(message);
	forget_parent();
	etw_own_sessions_forget();
}

void etw_listener_find_fork(void)
{
	uint64_t owner = load_acquire(&owner_origin);
	uint64_t origin;

	if (owner == 0) /* no listener has been started in this process */
		return;
	origin = etw_fork_fill();
	while (owner != origin && owner != 0) {
		if (owner == (origin | IS_BEING_RESET)) {
			(void)sched_yield(); /* another thread of this child is at it */
			owner = load_acquire(&owner_origin);
		} else if (cas_acq_rel(&owner_origin, &owner, origin | IS_BEING_RESET)) {
			reset_in_unseen_child();
			store_release(&owner_origin, origin);
			return;
		}
	}
}

static int prepare(void)
{
	if (is_prepared)
		return 0;
	if (!message) {
		message = malloc(sizeof(*message));
		if (!message)
			return -ENOMEM;
		etw_ipc_message_init(message);
	}
	TRY(etw_provider_wait_init());
	if (pthread_atfork(lock_before_fork, unlock_in_parent, reset_in_child))
		return -ENOMEM;
	is_prepared = true;
	return 0;
}

/* Milliseconds until something is due that nobody announces; -1: nothing is. */
static int due_in_ms(bool has_connection)
{
	const int last_thread_ms = etw_last_thread_due_ms(has_connection);
	const uint64_t now = etw_monotonic_ns();
	const uint64_t reclaim_ns = etw_reclaim_due_ns();
	uint64_t least = etw_links_due_ms(has_connection, now);

	if (last_thread_ms >= 0 && (uint64_t)last_thread_ms < least)
		least = (uint64_t)last_thread_ms;
	if (reclaim_ns != UINT64_MAX && etw_ms_until(reclaim_ns, now) < least)
		least = etw_ms_until(reclaim_ns, now);

	return least == UINT64_MAX ? -1 : (int)least;
}

/* A thread whose end matters ends. */
static void poke_at_end(void)
{
	etw_listener_find_fork();
	etw_provider_lock();
	if (is_running)
		etw_poke();
	etw_provider_unlock();
}

/* Returns whether the thread is still the listener. */
static bool wait_for_descriptors(struct pollfd *polls, nfds_t count, int ms, int *ret_ready)
{
	uint32_t own = load_relaxed(&turn) | IS_WAITING;

	store_release(&turn, own);
	*ret_ready = poll(polls, count, ms);
	return cas_acq_rel(&turn, &own, own & ~IS_WAITING); /* pairs with take_turn() */
}

/* Whether a link has something to receive, its end included. False: another thread is the listener now. */
static bool wait_for_all(bool *ret_ready, uint32_t seen_pokes)
{
	const unsigned count = etw_links_count();
	struct pollfd polls[ETW_PROVIDER_HOSTS + 2];
	bool has_connection = false;
	int ready;

	for (unsigned i = 0; i < count; i++) {
		ret_ready[i] = false;
		polls[i] = (struct pollfd){.fd = etw_links_at(i)->socket.number, .events = POLLIN};
		has_connection |= etw_links_at(i)->socket.number >= 0;
	}
	if (!has_connection) {
		etw_links_wait(due_in_ms(false), seen_pokes);
		return true;
	}
	polls[count] = (struct pollfd){.fd = etw_poke_fd(), .events = POLLIN};
	polls[count + 1] = (struct pollfd){.fd = etw_last_thread_fd(), .events = POLLIN};
	if (!wait_for_descriptors(polls, count + 2, due_in_ms(true), &ready))
		return false;
	if (ready <= 0)
		return true;
	if (polls[count].revents)
		etw_poke_take();
	for (unsigned i = 0; i < count; i++)
		ret_ready[i] = polls[i].fd >= 0 && polls[i].revents;
	return true;
}

/*
 * Once the main thread has called pthread_exit(), its program ends with the last thread, which is this one now. As the
 * C library would, with the signals that the program has.
 */
static void end_program_if_alone(void)
{
	if (etw_last_thread_due_ms(true) < 0 && etw_last_thread_fd() < 0)
		return;
	if (!etw_last_thread_is_caller())
		return;
	(void)pthread_sigmask(SIG_SETMASK, &starter_signals, NULL);
	exit(0);
}

static void tend(void)
{
	etw_provider_lock();
	etw_own_sessions_tell();
	etw_reclaim_advance(etw_monotonic_ns());
	etw_poke_hold_reserve();
	etw_provider_unlock();
}

static void *listen_forever(void *unused)
{
	bool is_ready[ETW_PROVIDER_HOSTS] = {false};

	(void)unused;
	etw_provider_lock();
	etw_callback_adopt_thread();
	etw_provider_unlock();
	for (;;) {
		/* Before the look, so that whoever pokes during it ends the wait; pairs with etw_poke(). */
		const uint32_t seen_pokes = etw_poke_count();

		release_if_needed(is_ready);
		for (unsigned i = 0; i < etw_links_count(); i++)
			etw_link_advance(etw_links_at(i), etw_monotonic_ns());
		tend();
		if (!wait_for_all(is_ready, seen_pokes))
			return NULL;
		release_if_needed(is_ready);
		for (unsigned i = 0; i < etw_links_count(); i++) {
			if (is_ready[i])
				etw_link_receive(etw_links_at(i), message);
		}
		end_program_if_alone();
	}
	return NULL;
}

/* Whether the program has closed what the listener hears with. */
static bool has_lost_socket(void)
{
	return etw_poke_has_lost_socket() || etw_links_have_lost_socket();
}

/*
 * Of a listener that sleeps and has lost a socket; one that is awake finds out by itself. It ends when something
 * wakes it, and lets go of the connection with that.
 */
static bool take_turn(void)
{
	uint32_t seen = load_relaxed(&turn) | IS_WAITING;

	if (!cas_acq_rel(&turn, &seen, (seen & ~IS_WAITING) + 2))
		return false;
	etw_links_abandon();
	is_running = false;
	return true;
}

int etw_listener_start(void)
{
	sigset_t all;
	int r;

	etw_last_thread_meet(poke_at_end);
	if (is_running && !(has_lost_socket() && take_turn()))
		return 0;
	TRY(prepare());
	TRY(etw_links_open());
	etw_reclaim_prepare();
	etw_poke_open();
	store_release(&owner_origin, etw_fork_fill());
	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &starter_signals);
	r = pthread_create(&listener, NULL, listen_forever, NULL);
	(void)pthread_sigmask(SIG_SETMASK, &starter_signals, NULL);
	if (r)
		return -r;
	(void)pthread_setname_np(listener, "etw-listener");
	(void)pthread_detach(listener);
	is_running = true;
	return 0;
}
