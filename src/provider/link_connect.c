/* SPDX-License-Identifier: MIT */
#include "provider/link_connect.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/time.h"
#include "provider/link_message.h"
#include "provider/lock.h"
#include "provider/missing.h"
#include "provider/own_images.h"
#include "provider/ring_sets.h"

#define LOOK_MS          2000 /* where no page is */
#define BACKOFF_FIRST_MS 10
#define BACKOFF_LAST_MS  2000

static void set_state_locked(struct etw_link *link, enum etw_link_state state)
{
	link->state = state;
	etw_provider_wake();
}

/* Not holding the lock. */
static void set_state(struct etw_link *link, enum etw_link_state state)
{
	etw_provider_lock();
	if (link->state != state)
		set_state_locked(link, state);
	etw_provider_unlock();
}

/* What was written meanwhile is missing in every session that wants it now. */
static void tell_lateness(struct etw_link *link)
{
	const struct wire_message head = {.type = WIRE_UNDELIVERED, .status = link->short_status};
	const struct wire_undelivered body = {.late_ms = (etw_monotonic_ns() - link->short_ns) /
							 ETW_NS_PER_MS};

	if (link->short_ns && etw_link_answer_undelivered(link, &head, &body) == 0)
		link->short_ns = 0;
}

/* A host is there, or may be, and cannot be talked to for want of something of this process. */
static void note_shortage(struct etw_link *link, int r, uint64_t now_ns)
{
	if (!etw_is_shortage(r))
		return;
	link->short_status = r;
	if (!link->short_ns)
		link->short_ns = now_ns;
}

/* Holding the lock. */
static void begin(struct etw_link *link, const struct wire_welcome *welcome)
{
	link->requests = link->replied = link->synced = link->sync_sent = 0;
	link->is_slow = false;
	link->is_sync_due = link->is_confirming = true;
	if (++link->private_round == 0)
		link->private_round = 1;
	link->backoff_ms = 0;
	link->tried_epoch = 0;
	etw_fork_set_process_id(link->index, welcome->pid);
	etw_provider_ring_sets_forget_numbers(link->index);
	for (struct etw_registration *i = etw_registrations + 1; i < etw_registration_end(); i++)
		i->links[link->index].is_sent = i->links[link->index].is_confirmed = false;
	link->map_status = -ENOENT;
	if (link->incarnation != welcome->incarnation)
		etw_missing_forget_told(link->index);
	link->incarnation = welcome->incarnation;
	set_state_locked(link, ETW_LINK_CONNECTED);
	tell_lateness(link);
	etw_link_report(link);
	etw_link_pump(link);
	etw_own_images_meet(link);
}

/* Takes the socket, and the host's first answer in @message. */
static int meet_host(struct etw_link *link, const struct etw_ipc_message *message,
		     const struct wire_welcome *welcome)
{
	int r;

	etw_provider_lock();
	r = etw_provider_ring_sets_clock(link->index, message->fds[0], &link->clock);
	if (r == 0)
		begin(link, welcome);
	etw_provider_unlock();
	return r;
}

static void hang_up(struct etw_link *link)
{
	etw_provider_lock();
	etw_own_fd_close(&link->socket);
	set_state_locked(link, ETW_LINK_ABSENT);
	etw_provider_unlock();
}

static void try_again_later(struct etw_link *link, uint64_t now_ns)
{
	link->backoff_ms = link->backoff_ms ? link->backoff_ms * 2 : BACKOFF_FIRST_MS;
	if (link->backoff_ms > BACKOFF_LAST_MS)
		link->backoff_ms = BACKOFF_LAST_MS;
	link->retry_ns = now_ns + link->backoff_ms * ETW_NS_PER_MS;
	etw_provider_lock();
	link->tried_epoch = link->seen_epoch;
	set_state_locked(link, ETW_LINK_ABSENT);
	etw_provider_unlock();
}

/*
 * Whether @r, of a call, says that neither the host nor its keeper is left. A process that has moved to another root
 * directory does not see the place, and knows nothing.
 */
static bool is_nobody_left(const struct etw_link *link, int r)
{
	struct stat root;

	if (r == -ECONNREFUSED)
		return true;
	return (r == -ENOENT || r == -ENOTDIR) && stat("/", &root) == 0 &&
	       root.st_dev == link->root_device && root.st_ino == link->root_inode;
}

/* Not holding the lock. Returns whether nobody is left who holds what the last host has left. */
static bool try_to_call(struct etw_link *link, uint64_t now_ns)
{
	int fd;
	int r;

	set_state(link, ETW_LINK_CONNECTING);
	r = etw_runtime_call(etw_runtime_place(&link->places), WIRE_ROLE_PROVIDER, &fd);
	if (r < 0) {
		note_shortage(link, r, now_ns);
		try_again_later(link, now_ns);
		return is_nobody_left(link, r);
	}
	etw_provider_lock();
	link->socket = etw_own_fd_take(fd);
	etw_provider_unlock();
	return false;
}

static void end_leftovers(struct etw_link *link)
{
	etw_provider_lock();
	etw_provider_ring_sets_forget_numbers(link->index);
	etw_link_end_states(link);
	etw_provider_unlock();
}

static void look_for_page(struct etw_link *link, uint64_t now_ns)
{
	const struct wire_discovery_page *before = link->page;
	const struct wire_discovery_page *page;
	int r;

	if (before && now_ns - link->page_ns < ETW_LINK_PAGE_CHECK_MS * ETW_NS_PER_MS)
		return;
	r = etw_runtime_page(etw_runtime_place(&link->places), &page);
	note_shortage(link, r, now_ns);
	if (r < 0)
		return;
	etw_provider_lock();
	link->page = page;
	link->page_ns = now_ns;
	etw_provider_unlock();
	etw_runtime_page_unmap(before);
}

void etw_link_advance(struct etw_link *link, uint64_t now_ns)
{
	bool is_over;

	if (link->state == ETW_LINK_CONNECTED)
		return;
	look_for_page(link, now_ns);
	link->seen_epoch = link->page ? load_acquire(&link->page->epoch) : 0;
	/* A host that left took its sessions along. One that died is replaced as long as somebody has its socket. */
	is_over = link->page && !(link->seen_epoch & 1);
	if (link->socket.number >= 0) {
		if (!is_over)
			return; /* the call is waiting */
		hang_up(link);
	}
	if (link->seen_epoch & 1 &&
	    (link->seen_epoch != link->tried_epoch || now_ns >= link->retry_ns))
		is_over = try_to_call(link, now_ns);
	else
		set_state(link, ETW_LINK_ABSENT);
	if (!link->page)
		link->retry_ns = now_ns + LOOK_MS * ETW_NS_PER_MS;
	if (is_over && etw_link_has_states(link))
		end_leftovers(link);
}

/* The answer to the call. Returns as etw_link_handle(). */
static int receive_answer(struct etw_link *link, struct etw_ipc_message *message)
{
	struct wire_welcome welcome;
	int r = etw_runtime_answered(link->socket.number, message, &welcome);

	if (r == 0)
		r = meet_host(link, message, &welcome);
	if (r == 0 || r == -EAGAIN)
		return r;
	hang_up(link);
	note_shortage(link, r, etw_monotonic_ns());
	try_again_later(link, etw_monotonic_ns());
	return r;
}

void etw_link_receive(struct etw_link *link, struct etw_ipc_message *message)
{
	int r = 0;

	if (!etw_own_fd_is_there(&link->socket)) {
		hang_up(link); /* the program closed it; the number may be that of a file of its own */
		return;
	}
	if (link->state == ETW_LINK_CONNECTING)
		r = receive_answer(link, message);
	if (link->state != ETW_LINK_CONNECTED)
		return;
	while (r == 0) {
		r = etw_ipc_receive(link->socket.number, message);
		if (r == 0)
			r = etw_link_handle(link, message);
	}
	if (r != -EAGAIN)
		hang_up(link);
}
