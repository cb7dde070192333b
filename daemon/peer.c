/* SPDX-License-Identifier: MIT */
/* See peer.h. */
#include "daemon/peer.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/macros.h"
#include "base/time.h"
#include "daemon/log.h"
#include "daemon/patient_clock.h"

/* Most of many at once are dead by then, and cost little; the rest waits for the next round. */
#define ACCEPTS_PER_ROUND  1024
#define ACCEPT_NS          UINT64_C(5000000)
#define MESSAGES_PER_ROUND 32
#define EVENTS_PER_ROUND   64
#define ACCEPT_PAUSE_MS    100
#define GROUPS_MAX         1024

static size_t cost_of(size_t byte_count)
{
	return sizeof(struct etwd_packet) + byte_count;
}

/* What it takes of the uid's budget while it waits. */
static int charge_packet(struct etwd_peer *peer, size_t byte_count, unsigned fd_count)
{
	struct etwd_budget *budget = peer->peers->budget;
	int r;

	TRY(etwd_budget_take(budget, peer->who.uid, ETWD_QUEUED_BYTES, cost_of(byte_count)));
	r = etwd_budget_take(budget, peer->who.uid, ETWD_QUEUED_FDS, fd_count);
	if (r < 0)
		etwd_budget_give(budget, peer->who.uid, ETWD_QUEUED_BYTES, cost_of(byte_count));
	return r;
}

static void uncharge_packet(struct etwd_peer *peer, size_t byte_count, unsigned fd_count)
{
	struct etwd_budget *budget = peer->peers->budget;

	etwd_budget_give(budget, peer->who.uid, ETWD_QUEUED_BYTES, cost_of(byte_count));
	etwd_budget_give(budget, peer->who.uid, ETWD_QUEUED_FDS, fd_count);
}

static void free_packet(struct etwd_packet *packet)
{
	for (unsigned i = 0; i < packet->fd_count; i++)
		close(packet->fds[i]);
	free(packet);
}

static void drop_first_packet(struct etwd_peer *peer)
{
	struct etwd_packet *packet = peer->first;

	peer->first = packet->next;
	if (!peer->first)
		peer->last = &peer->first;
	peer->queued_bytes -= packet->bytes;
	peer->queued_count--;
	uncharge_packet(peer, packet->bytes, packet->fd_count);
	free_packet(packet);
}

/* Sockets that wait in vain for a child to take them stay open; no new ones are accepted for a while. */
static void pause_accepting(struct etwd_peers *peers)
{
	struct epoll_event event = {.events = 0, .data.ptr = &peers->listener};

	/* A connection that stays in the queue would wake the loop all the time. */
	(void)epoll_ctl(peers->epoll_fd, EPOLL_CTL_MOD, peers->listener, &event);
	peers->accept_again_ms = etwd_patient_now_ms() + ACCEPT_PAUSE_MS;
}

static void close_socket(struct etwd_peers *peers, int fd, bool is_guarded,
			 const struct etw_peer *who)
{
	int r;

	if (!is_guarded || etw_ipc_is_closable(fd)) {
		close(fd);
		return;
	}
	if (etwd_budget_may_tell(peers->budget, who->uid, etw_monotonic_ms()))
		etwd_log("process %d of uid %u sent descriptors: they are not taken", (int)who->pid,
			 (unsigned)who->uid);
	r = etwd_park(&peers->parked, fd);
	if (r < 0) {
		etwd_log("a socket stays open for good: %s", strerror(-r));
		pause_accepting(peers);
	}
}

static void free_peer(struct etwd_peer *peer)
{
	while (peer->first)
		drop_first_packet(peer);
	close_socket(peer->peers, peer->fd, peer->is_guarded, &peer->who);
	free(peer);
}

/* Whether the process is in the group that may control this instance. */
static bool is_in_group(int fd, const struct etw_peer *who, uint32_t group)
{
	gid_t groups[GROUPS_MAX];
	socklen_t bytes = sizeof(groups);

	if (group == UINT32_MAX)
		return false;
	if (who->gid == group)
		return true;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, groups, &bytes) < 0)
		return false;
	for (size_t i = 0; i < bytes / sizeof(groups[0]); i++) {
		if (groups[i] == group)
			return true;
	}
	return false;
}

static int watch(struct etwd_peer *peer, int operation, bool is_writing)
{
	int epoll_fd = peer->is_trusted ? peer->peers->epoll_fd : peer->peers->others_fd;
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = peer};

	if (is_writing)
		event.events |= EPOLLOUT;
	peer->is_writing = is_writing;
	return epoll_ctl(epoll_fd, operation, peer->fd, &event) < 0 ? -errno : 0;
}

static struct etwd_peer **bucket_of_serial(struct etwd_peers *peers, uint64_t serial)
{
	return &peers->by_serial[serial % ETWD_PEER_BUCKETS];
}

static bool may_be_controller(const struct etwd_peer *peer)
{
	return peer->is_privileged && (peer->role == WIRE_ROLE_CONTROLLER || !peer->role);
}

static void add_silent(struct etwd_peers *peers, struct etwd_peer *peer)
{
	peer->at_silent = peers->last_silent;
	*peers->last_silent = peer;
	peers->last_silent = &peer->next_silent;
}

static void remove_silent(struct etwd_peers *peers, struct etwd_peer *peer)
{
	if (!peer->at_silent)
		return;
	*peer->at_silent = peer->next_silent;
	if (peer->next_silent)
		peer->next_silent->at_silent = peer->at_silent;
	else
		peers->last_silent = peer->at_silent;
	peer->at_silent = NULL;
	peer->next_silent = NULL;
}

static void link_peer(struct etwd_peers *peers, struct etwd_peer *peer)
{
	struct etwd_peer **of_serial = bucket_of_serial(peers, peer->serial);

	peer->next = peers->first;
	peer->at = &peers->first;
	if (peer->next)
		peer->next->at = &peer->next;
	peers->first = peer;
	peer->next_of_serial = *of_serial;
	*of_serial = peer;
	add_silent(peers, peer);
	etwd_pids_came(peers->pids, peer->who.uid, (uint32_t)peer->who.pid,
		       etw_time_read_ns(CLOCK_BOOTTIME));
	peers->count++;
	peers->controller_count += may_be_controller(peer);
}

static void unlink_peer(struct etwd_peers *peers, struct etwd_peer *peer)
{
	struct etwd_peer **of_serial = bucket_of_serial(peers, peer->serial);

	*peer->at = peer->next;
	if (peer->next)
		peer->next->at = peer->at;
	while (*of_serial != peer)
		of_serial = &(*of_serial)->next_of_serial;
	*of_serial = peer->next_of_serial;
	remove_silent(peers, peer);
	etwd_pids_went(peers->pids, peer->who.uid, (uint32_t)peer->who.pid, etw_monotonic_ns());
	peers->count--;
	peers->controller_count -= may_be_controller(peer);
	etwd_budget_give(peers->budget, peer->who.uid, ETWD_CONNECTIONS, 1);
}

void etwd_peers_init(struct etwd_peers *peers, struct etwd_budget *budget, struct etwd_pids *pids,
		     const struct etwd_peer_callbacks *callbacks, void *context)
{
	memset(peers, 0, sizeof(*peers));
	peers->budget = budget;
	peers->pids = pids;
	peers->callbacks = callbacks;
	peers->context = context;
	peers->group = UINT32_MAX;
	peers->listener = peers->epoll_fd = peers->others_fd = -1;
	peers->last_silent = &peers->silent;
	etw_ipc_message_init(&peers->incoming);
}

static int watch_in_loop(struct etwd_peers *peers, int *fd)
{
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = fd};

	return epoll_ctl(peers->epoll_fd, EPOLL_CTL_ADD, *fd, &event) < 0 ? -errno : 0;
}

int etwd_peers_open(struct etwd_peers *peers, int epoll_fd, int listener)
{
	peers->epoll_fd = epoll_fd;
	peers->listener = listener;
	peers->others_fd = epoll_create1(EPOLL_CLOEXEC);
	if (peers->others_fd < 0)
		return -errno;
	TRY(watch_in_loop(peers, &peers->others_fd));
	return watch_in_loop(peers, &peers->listener);
}

void etwd_peers_done(struct etwd_peers *peers)
{
	for (struct etwd_peer *peer = peers->first; peer; peer = peer->next)
		etwd_peer_doom(peer, NULL);
	while (etwd_peers_sweep(peers))
		;
	etw_ipc_message_done(&peers->incoming);
	if (peers->others_fd >= 0)
		close(peers->others_fd);
}

uint64_t etwd_peers_check_accept(struct etwd_peers *peers, uint64_t now_ms)
{
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = &peers->listener};

	if (now_ms < peers->accept_again_ms || !peers->accept_again_ms)
		return peers->accept_again_ms;
	peers->accept_again_ms = 0;
	(void)epoll_ctl(peers->epoll_fd, EPOLL_CTL_MOD, peers->listener, &event);
	return 0;
}

/* So that a controller can say why it is not served: a connection that just ends looks like a host that left. */
static void tell_refused(struct etwd_peers *peers, int fd, const struct etw_peer *who, int status)
{
	struct wire_message head = {.type = WIRE_WELCOME, .request = 1, .status = status};
	size_t bytes = wire_message_encode_plain(&head, peers->outgoing);

	(void)etw_ipc_send(fd, peers->outgoing, bytes, NULL, 0);
	if (etwd_budget_may_tell(peers->budget, who->uid, etw_monotonic_ms()))
		etwd_log("a connection of process %d of uid %u is refused: %s", (int)who->pid,
			 (unsigned)who->uid, etwd_peer_limit(status));
}

const char *etwd_peer_limit(int status)
{
	switch (status) {
	case -ETOOMANYREFS:
		return "the uid has as many as one may have";
	case -EUSERS:
		return "all uids together have as many as they may";
	default:
		return strerror(-status);
	}
}

void etwd_peer_refuse(const struct etwd_peer *peer, const char *what, int status)
{
	if (etwd_budget_may_tell(peer->peers->budget, peer->who.uid, etw_monotonic_ms()))
		etwd_log("process %d of uid %u does not get %s: %s", (int)peer->who.pid,
			 (unsigned)peer->who.uid, what, etwd_peer_limit(status));
}

static struct etwd_peer *make_peer(struct etwd_peers *peers, int fd, const struct etw_peer *who)
{
	struct etwd_peer *peer = calloc(1, peers->callbacks->bytes);

	if (!peer)
		return NULL;
	peer->peers = peers;
	peer->fd = fd;
	peer->who = *who;
	peer->last = &peer->first;
	peer->is_guarded = etw_ipc_guard(fd);
	peer->is_trusted = etwd_budget_trusts(peers->budget, who->uid);
	peer->is_privileged = peer->is_trusted || is_in_group(fd, who, peers->group);
	return peer;
}

int etwd_peers_add(struct etwd_peers *peers, int fd, const struct etw_peer *who,
		   struct etwd_peer **ret)
{
	struct etwd_peer *peer;
	int r = etwd_budget_take(peers->budget, who->uid, ETWD_CONNECTIONS, 1);

	/* Nothing is done yet for those whom a uid has too many of. */
	if (r < 0) {
		tell_refused(peers, fd, who, r);
		close_socket(peers, fd, etw_ipc_guard(fd), who);
		return r;
	}
	peer = make_peer(peers, fd, who);
	r = peer ? watch(peer, EPOLL_CTL_ADD, false) : -ENOMEM;
	if (r < 0) {
		etwd_budget_give(peers->budget, who->uid, ETWD_CONNECTIONS, 1);
		if (peer)
			free_peer(peer);
		else
			close_socket(peers, fd, etw_ipc_guard(fd), who);
		return r;
	}
	peer->serial = ++peers->last_serial;
	peer->hello_by_ms = etwd_patient_now_ms() + ETWD_HELLO_TIMEOUT_MS;
	link_peer(peers, peer);
	*ret = peer;
	return 0;
}

/* Whether the other end is closed and has left no message. */
static bool is_deserted(int fd)
{
	struct pollfd polled = {.fd = fd, .events = POLLIN};
	int bytes = 0;

	return poll(&polled, 1, 0) > 0 && (polled.revents & POLLHUP) &&
	       ioctl(fd, FIONREAD, &bytes) == 0 && bytes == 0;
}

/*
 * Who connects waits behind all that did so before, whoever they are: the kernel has one queue. Those who only
 * connect and close must be out of it in no time: they are never peers.
 */
static void take_socket(struct etwd_peers *peers, int fd)
{
	struct etw_peer who = {0};
	struct etwd_peer *peer;

	if (etw_ipc_peer(fd, &who) < 0 || is_deserted(fd))
		close_socket(peers, fd, etw_ipc_guard(fd), &who);
	else
		(void)etwd_peers_add(peers, fd, &who, &peer);
}

void etwd_peers_accept(struct etwd_peers *peers)
{
	const uint64_t end_ns = etw_monotonic_ns() + ACCEPT_NS;

	for (int i = 0; i < ACCEPTS_PER_ROUND && !peers->accept_again_ms; i++) {
		int fd = -1;
		int r = etw_ipc_accept(peers->listener, &fd);

		if (r == -EAGAIN)
			return;
		if (r == -EMFILE || r == -ENFILE || r == -ENOMEM || r == -ENOBUFS) {
			pause_accepting(peers);
			etwd_log("no connection can be taken now: %s", strerror(-r));
			return;
		}
		if (r == 0)
			take_socket(peers, fd);
		if (etw_monotonic_ns() >= end_ns)
			return;
	}
}

/*
 * One event at a time: epoll puts what it has handed out behind all others, and only who had a turn must go
 * there. With several, those behind the first would lose theirs each time that one uses up the round.
 */
void etwd_peers_ready(struct etwd_peers *peers)
{
	for (int i = 0; i < EVENTS_PER_ROUND; i++) {
		struct epoll_event event;

		if (!etwd_budget_has_turns(peers->budget, etw_monotonic_ns()) ||
		    epoll_wait(peers->others_fd, &event, 1, 0) <= 0)
			return;
		etwd_peer_ready(event.data.ptr, event.events);
	}
}

/*
 * What a doomed peer has many of is released first, so much a round; then it leaves the list. Letting one go may
 * doom others, which are met in the same sweep or the next.
 */
bool etwd_peers_sweep(struct etwd_peers *peers)
{
	size_t left = ETWD_SWEEP_PIECES_MAX;

	for (int i = 0; i < ETWD_SWEEP_PEERS_MAX && peers->doomed; i++) {
		struct etwd_peer *peer = peers->doomed;

		if (!peers->callbacks->release(peer, &left))
			break;
		peers->doomed = peer->next_doomed;
		unlink_peer(peers, peer);
		peers->callbacks->gone(peer);
		free_peer(peer);
	}
	return peers->doomed;
}

uint64_t etwd_peers_check_hello(struct etwd_peers *peers, uint64_t now_ms)
{
	while (peers->silent && peers->silent->hello_by_ms <= now_ms)
		etwd_peer_doom(peers->silent, "said nothing");
	return peers->silent ? peers->silent->hello_by_ms : UINT64_MAX;
}

void etwd_peer_greeted(struct etwd_peer *peer, uint32_t role)
{
	struct etwd_peers *peers = peer->peers;

	peers->controller_count -= may_be_controller(peer);
	peer->role = role;
	peers->controller_count += may_be_controller(peer);
	remove_silent(peers, peer);
}

struct etwd_peer *etwd_peer_find(struct etwd_peers *peers, uint64_t serial)
{
	struct etwd_peer *peer = *bucket_of_serial(peers, serial);

	while (peer && peer->serial != serial)
		peer = peer->next_of_serial;
	return peer && !peer->is_doomed ? peer : NULL;
}

void etwd_peer_doom(struct etwd_peer *peer, const char *why)
{
	struct etwd_peers *peers = peer->peers;

	if (peer->is_doomed)
		return;
	if (why && etwd_budget_may_tell(peers->budget, peer->who.uid, etw_monotonic_ms()))
		etwd_log("process %d of uid %u %s and was disconnected", (int)peer->who.pid,
			 (unsigned)peer->who.uid, why);
	peer->is_doomed = true;
	remove_silent(peers, peer);
	peer->next_doomed = peers->doomed;
	peers->doomed = peer;
	(void)epoll_ctl(peer->is_trusted ? peers->epoll_fd : peers->others_fd, EPOLL_CTL_DEL,
			peer->fd, NULL);
}

/* Copies of descriptors, as many as there can be. */
static int copy_fds(struct etwd_packet *packet, const int *fds, unsigned fd_count)
{
	for (; packet->fd_count < fd_count; packet->fd_count++) {
		packet->fds[packet->fd_count] = fcntl(fds[packet->fd_count], F_DUPFD_CLOEXEC, 0);
		if (packet->fds[packet->fd_count] < 0)
			return -errno;
	}
	return 0;
}

static struct etwd_packet *make_packet(const uint8_t *bytes, size_t byte_count, const int *fds,
				       unsigned fd_count)
{
	struct etwd_packet *packet = malloc(sizeof(*packet) + byte_count);

	if (!packet)
		return NULL;
	packet->next = NULL;
	packet->bytes = byte_count;
	packet->fd_count = 0;
	memcpy(packet->body, bytes, byte_count);
	if (copy_fds(packet, fds, fd_count) == 0)
		return packet;
	free_packet(packet);
	return NULL;
}

static int queue_packet(struct etwd_peer *peer, const uint8_t *bytes, size_t byte_count,
			const int *fds, unsigned fd_count)
{
	struct etwd_packet *packet;

	if (peer->queued_count >= ETWD_QUEUE_MESSAGES_MAX ||
	    peer->queued_bytes + byte_count > ETWD_QUEUE_BYTES_MAX ||
	    charge_packet(peer, byte_count, fd_count) < 0)
		return -ENOBUFS;
	packet = make_packet(bytes, byte_count, fds, fd_count);
	if (!packet) {
		uncharge_packet(peer, byte_count, fd_count);
		return -ENOMEM;
	}
	*peer->last = packet;
	peer->last = &packet->next;
	peer->queued_bytes += byte_count;
	peer->queued_count++;
	return peer->is_writing ? 0 : watch(peer, EPOLL_CTL_MOD, true);
}

void etwd_peer_send(struct etwd_peer *peer, size_t bytes, int fd)
{
	etwd_peer_send_fds(peer, bytes, &fd, fd >= 0 ? 1 : 0);
}

void etwd_peer_send_fds(struct etwd_peer *peer, size_t bytes, const int *fds, unsigned fd_count)
{
	int r = -EAGAIN;

	if (peer->is_doomed)
		return;
	if (bytes == 0) {
		etwd_peer_doom(peer, "would have got a message that is too large");
		return;
	}
	if (!peer->first)
		r = etw_ipc_send(peer->fd, peer->peers->outgoing, bytes, fds, fd_count);
	if (r == -EAGAIN)
		r = queue_packet(peer, peer->peers->outgoing, bytes, fds, fd_count);
	if (r == -ENOBUFS)
		etwd_peer_doom(peer, "does not read its messages");
	else if (r < 0)
		etwd_peer_doom(peer, r == -EPIPE ? NULL : "could not be sent a message");
}

static void flush_packets(struct etwd_peer *peer)
{
	while (peer->first) {
		struct etwd_packet *packet = peer->first;
		int r = etw_ipc_send(peer->fd, packet->body, packet->bytes, packet->fds,
				     packet->fd_count);

		if (r == -EAGAIN)
			return;
		if (r < 0) {
			etwd_peer_doom(peer, r == -EPIPE ? NULL : "could not be sent a message");
			return;
		}
		drop_first_packet(peer);
	}
	(void)watch(peer, EPOLL_CTL_MOD, false);
}

void etwd_peer_ready(struct etwd_peer *peer, uint32_t events)
{
	struct etw_ipc_message *message = &peer->peers->incoming;

	if (!peer->is_doomed && (events & EPOLLOUT))
		flush_packets(peer);
	if (!(events & (EPOLLIN | EPOLLHUP | EPOLLERR)))
		return;
	for (int i = 0; i < MESSAGES_PER_ROUND && !peer->is_doomed; i++) {
		int r;

		/* Its socket is read on in the next round. */
		if (!etwd_budget_take_turn(peer->peers->budget, peer->who.uid, etw_monotonic_ns()))
			return;
		r = etw_ipc_receive_bare(peer->fd, peer->is_guarded, message);

		if (r == -EAGAIN)
			return;
		if (r == 0)
			r = peer->peers->callbacks->handle(peer, message);
		if (r == -EPROTO)
			etwd_peer_doom(peer, "sent what is no message");
		else if (r < 0)
			etwd_peer_doom(peer, NULL);
	}
}

void etwd_peer_answer(struct etwd_peer *peer, uint32_t type, uint32_t request, int status)
{
	struct wire_message head = {.type = type, .request = request, .status = status};

	if (request)
		etwd_peer_send(peer, wire_message_encode_plain(&head, peer->peers->outgoing), -1);
}
