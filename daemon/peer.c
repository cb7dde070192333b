/* SPDX-License-Identifier: MIT */
/* See peer.h. */
#include "daemon/peer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/macros.h"
#include "base/time.h"
#include "daemon/log.h"

#define ACCEPTS_PER_ROUND  64
#define MESSAGES_PER_ROUND 32
#define ACCEPT_PAUSE_MS    100
#define GROUPS_MAX         1024

static void free_packet(struct etwd_packet *packet)
{
	for (unsigned i = 0; i < packet->fd_count; i++)
		close(packet->fds[i]);
	free(packet);
}

static void free_packets(struct etwd_peer *peer)
{
	while (peer->first) {
		struct etwd_packet *packet = peer->first;

		peer->first = packet->next;
		free_packet(packet);
	}
	peer->last = &peer->first;
}

/*
 * A socket with descriptors in its queue stays open as long as the host lives: closing it would close them,
 * which may take as long as their sender likes. It is nobody's any more, and ended in both directions.
 */
static void park(struct etwd_host *host, int fd, const struct etw_peer *who)
{
	host->parked_count++;
	etwd_log("process %d of uid %u sent descriptors: its socket %d is kept, unread",
		 (int)who->pid, (unsigned)who->uid, fd);
}

static void close_socket(struct etwd_host *host, int fd, bool is_guarded,
			 const struct etw_peer *who)
{
	if (is_guarded && !etw_ipc_is_closable(fd))
		park(host, fd, who);
	else
		close(fd);
}

static void free_peer(struct etwd_peer *peer)
{
	free_packets(peer);
	free(peer->rings);
	free(peer->answers);
	close_socket(peer->host, peer->fd, peer->is_guarded, &peer->who);
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
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = peer};

	if (is_writing)
		event.events |= EPOLLOUT;
	peer->is_writing = is_writing;
	return epoll_ctl(peer->host->epoll_fd, operation, peer->fd, &event) < 0 ? -errno : 0;
}

/* Nobody but root may take all connections. */
static bool is_one_too_many(const struct etwd_host *host, uid_t uid)
{
	unsigned count = 0;

	if (host->peer_count + host->parked_count >= host->peers_max)
		return true;
	if (uid == 0 || uid == geteuid())
		return false;
	for (const struct etwd_peer *peer = host->peers; peer; peer = peer->next)
		count += peer->who.uid == uid;
	return count >= host->peers_max / 4;
}

static void link_peer(struct etwd_host *host, struct etwd_peer *peer)
{
	pthread_mutex_lock(&host->peers_lock);
	peer->next = host->peers;
	peer->at = &host->peers;
	if (peer->next)
		peer->next->at = &peer->next;
	host->peers = peer;
	host->peer_count++;
	pthread_mutex_unlock(&host->peers_lock);
}

static void unlink_peer(struct etwd_host *host, struct etwd_peer *peer)
{
	pthread_mutex_lock(&host->peers_lock);
	*peer->at = peer->next;
	if (peer->next)
		peer->next->at = peer->at;
	host->peer_count--;
	pthread_mutex_unlock(&host->peers_lock);
}

/* Takes the socket. */
static int add_peer(struct etwd_host *host, int fd)
{
	const bool is_guarded = etw_ipc_guard(fd);
	struct etwd_peer *peer = calloc(1, sizeof(*peer));
	struct etw_peer who = {0};
	int r = etw_ipc_peer(fd, &who);

	if (!peer) {
		close_socket(host, fd, is_guarded, &who);
		return -ENOMEM;
	}
	peer->host = host;
	peer->fd = fd;
	peer->is_guarded = is_guarded;
	peer->who = who;
	peer->last = &peer->first;
	if (r == 0 && is_one_too_many(host, peer->who.uid))
		r = -EUSERS;
	if (r == 0)
		r = watch(peer, EPOLL_CTL_ADD, false);
	if (r < 0) {
		free_peer(peer);
		return r;
	}
	peer->serial = host->next_peer_serial++;
	peer->hello_by_ms = etw_monotonic_ms() + ETWD_HELLO_TIMEOUT_MS;
	peer->is_privileged = peer->who.uid == 0 || peer->who.uid == geteuid() ||
			      is_in_group(fd, &peer->who, host->group);
	etwd_pids_came(&host->pids, peer->who.uid, (uint32_t)peer->who.pid);
	link_peer(host, peer);
	return 0;
}

void etwd_peers_accept(struct etwd_host *host)
{
	for (int i = 0; i < ACCEPTS_PER_ROUND; i++) {
		int fd = -1;
		int r = etw_ipc_accept(host->options->listener, &fd);

		if (r == -EAGAIN)
			return;
		if (r == -EMFILE || r == -ENFILE || r == -ENOMEM || r == -ENOBUFS) {
			struct epoll_event event = {.events = 0, .data.ptr = &host->options};

			/* The connection stays in the queue and would wake the loop all the time. */
			(void)epoll_ctl(host->epoll_fd, EPOLL_CTL_MOD, host->options->listener,
					&event);
			host->accept_again_ms = etw_monotonic_ms() + ACCEPT_PAUSE_MS;
			etwd_log("no connection can be taken now: %s", strerror(-r));
			return;
		}
		if (r == 0)
			r = add_peer(host, fd);
		if (r == -EUSERS)
			etwd_log("a connection was refused: there are too many");
	}
}

void etwd_peers_sweep(struct etwd_host *host)
{
	struct etwd_peer *peer, *next;

	/* Letting one go may doom others. */
	while (host->has_doomed_peers) {
		host->has_doomed_peers = false;
		for (peer = host->peers; peer; peer = next) {
			next = peer->next;
			if (!peer->is_doomed)
				continue;
			unlink_peer(host, peer);
			etwd_pids_went(&host->pids, peer->who.uid, (uint32_t)peer->who.pid,
				       etw_monotonic_ns());
			host->peer_callbacks->gone(peer);
			free_peer(peer);
		}
	}
}

uint64_t etwd_peers_check_hello(struct etwd_host *host, uint64_t now_ms)
{
	uint64_t next = UINT64_MAX;

	for (struct etwd_peer *peer = host->peers; peer; peer = peer->next) {
		if (peer->role || peer->is_doomed)
			continue;
		if (peer->hello_by_ms <= now_ms)
			etwd_peer_doom(peer, "said nothing");
		else if (peer->hello_by_ms < next)
			next = peer->hello_by_ms;
	}
	return next;
}

struct etwd_peer *etwd_peer_find(struct etwd_host *host, uint64_t serial)
{
	for (struct etwd_peer *peer = host->peers; peer; peer = peer->next) {
		if (peer->serial == serial)
			return peer->is_doomed ? NULL : peer;
	}
	return NULL;
}

void etwd_peer_doom(struct etwd_peer *peer, const char *why)
{
	if (peer->is_doomed)
		return;
	if (why)
		etwd_log("process %d of uid %u %s and was disconnected", (int)peer->who.pid,
			 (unsigned)peer->who.uid, why);
	peer->is_doomed = true;
	peer->host->has_doomed_peers = true;
	(void)epoll_ctl(peer->host->epoll_fd, EPOLL_CTL_DEL, peer->fd, NULL);
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

static int queue_packet(struct etwd_peer *peer, const uint8_t *bytes, size_t byte_count,
			const int *fds, unsigned fd_count)
{
	int r;

	struct etwd_packet *packet;

	if (peer->queued_count >= ETWD_QUEUE_MESSAGES_MAX ||
	    peer->queued_bytes + byte_count > ETWD_QUEUE_BYTES_MAX)
		return -ENOBUFS;
	packet = malloc(sizeof(*packet) + byte_count);
	if (!packet)
		return -ENOMEM;
	packet->next = NULL;
	packet->bytes = byte_count;
	packet->fd_count = 0;
	memcpy(packet->body, bytes, byte_count);
	r = copy_fds(packet, fds, fd_count);
	if (r < 0) {
		free_packet(packet);
		return r;
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
		r = etw_ipc_send(peer->fd, peer->host->room, bytes, fds, fd_count);
	if (r == -EAGAIN)
		r = queue_packet(peer, peer->host->room, bytes, fds, fd_count);
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
		peer->first = packet->next;
		if (!peer->first)
			peer->last = &peer->first;
		peer->queued_bytes -= packet->bytes;
		peer->queued_count--;
		free_packet(packet);
	}
	(void)watch(peer, EPOLL_CTL_MOD, false);
}

void etwd_peer_ready(struct etwd_peer *peer, uint32_t events)
{
	struct etw_ipc_message *message = &peer->host->incoming;

	if (!peer->is_doomed && (events & EPOLLOUT))
		flush_packets(peer);
	if (!(events & (EPOLLIN | EPOLLHUP | EPOLLERR)))
		return;
	for (int i = 0; i < MESSAGES_PER_ROUND && !peer->is_doomed; i++) {
		int r = etw_ipc_receive_bare(peer->fd, peer->is_guarded, message);

		if (r == -EAGAIN)
			return;
		if (r == 0)
			r = peer->host->peer_callbacks->handle(peer, message);
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
		etwd_peer_send(peer, wire_message_encode_plain(&head, peer->host->room), -1);
}
