/* SPDX-License-Identifier: MIT */
#include "fake_host/fake_host.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <evntprov.h>
#include <evntrace.h>

#include "base/guid.h"
#include "base/macros.h"
#include "ipc/connection.h"
#include "wire/filter_header.h"

static uint8_t room[WIRE_MESSAGE_BYTES_MAX]; /* the host's lock */

static int make_clock(struct fake_host *host)
{
	const struct wire_clock_page page = {.magic = WIRE_CLOCK_PAGE_MAGIC,
					     .version = 1,
					     .kind = WIRE_CLOCK_TSC,
					     .frequency = 1000000000};

	host->clock_fd = memfd_create("clock", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (host->clock_fd < 0 || ftruncate(host->clock_fd, WIRE_CLOCK_PAGE_BYTES) < 0 ||
	    pwrite(host->clock_fd, &page, sizeof(page), 0) != sizeof(page) ||
	    fcntl(host->clock_fd, F_ADD_SEALS, F_SEAL_SHRINK) < 0)
		return -errno;
	return etw_clock_page_map(host->clock_fd, &host->clock);
}

int fake_host_init(struct fake_host *host)
{
	pthread_condattr_t attributes;

	memset(host, 0, sizeof(*host));
	(void)pthread_mutex_init(&host->lock, NULL);
	(void)pthread_condattr_init(&attributes);
	(void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	(void)pthread_cond_init(&host->changed, &attributes);
	(void)snprintf(host->directory, sizeof(host->directory), "%s/fake-host-XXXXXX",
		       getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
	if (!mkdtemp(host->directory) || setenv("ETW_RUNTIME_DIR", host->directory, 1))
		return -errno;
	host->listener = -1;
	for (unsigned i = 0; i < FAKE_PEERS; i++)
		host->peers[i].fd = -1;
	TRY(make_clock(host));
	return etw_runtime_prepare(host->directory, &host->page);
}

static void send_fds(struct fake_peer *peer, size_t bytes, const int *fds, unsigned fd_count)
{
	if (!bytes || etw_ipc_send(peer->fd, room, bytes, fds, fd_count) < 0)
		(void)shutdown(peer->fd, SHUT_RDWR);
}

static void send_to(struct fake_peer *peer, size_t bytes, int fd)
{
	send_fds(peer, bytes, &fd, fd >= 0 ? 1 : 0);
}

static void reply(struct fake_peer *peer, uint32_t request, int32_t status)
{
	const struct wire_message head = {WIRE_REPLY, request, status};

	send_to(peer, wire_message_encode_plain(&head, room), -1);
}

static void give_set(struct fake_peer *peer, const struct fake_session *session)
{
	const struct wire_message head = {.type = WIRE_RING_SET};
	const struct wire_ring_set_ref ref = {session->id};
	const int fds[] = {session->fds.page, session->fds.rings};

	if (fds[0] < 0)
		return;
	for (uint32_t i = 0; i < peer->known_set_count; i++) {
		if (peer->known_sets[i] == session->id)
			return;
	}
	peer->known_sets[peer->known_set_count++] = session->id;
	send_fds(peer, wire_message_encode_ring_set_ref(&head, &ref, room), fds, ARRAY_SIZE(fds));
}

static void describe(const struct fake_enable *enable, struct wire_enable *ret)
{
	ret->slots[enable->slot] = (struct wire_enable_slot){
		.is_used = 1,
		.session_id = enable->session->id,
		.ring_set = enable->session->fds.page < 0 ? 0 : enable->session->id,
		.level = enable->level ? enable->level : 0xFF,
		.property = enable->property,
		.match_any = enable->match_any,
		.match_all = enable->match_all,
		.filters = enable->filters,
	};
	if (ret->level < ret->slots[enable->slot].level)
		ret->level = ret->slots[enable->slot].level;
	ret->match_any |= enable->match_any;
	ret->match_all |= enable->match_all;
	ret->control_code = EVENT_CONTROL_CODE_ENABLE_PROVIDER;
}

static void add_block(const struct fake_enable *enable, struct wire_filter_blocks *blocks,
		      struct wire_enable *state)
{
	const EVENT_FILTER_HEADER header = {.Size = sizeof(header)};
	const struct etw_bytes block = {(const uint8_t *)&header, sizeof(header)};

	if (!enable->has_block ||
	    !wire_filter_blocks_add(blocks, block, UINT64_C(1) << enable->slot))
		return;
	state->filter_type = EVENT_FILTER_TYPE_SCHEMATIZED;
	state->filter = (struct etw_bytes){blocks->at, blocks->bytes};
}

/* Sends the whole state of one registration, with the sets that it names. */
static void send_state(struct fake_host *host, struct fake_peer *peer, unsigned index,
		       uint32_t control_code)
{
	const struct wire_message head = {.type = WIRE_ENABLE, .request = ++host->next_request};
	struct wire_enable state = {.registration = peer->registrations[index].number,
				    .has_callback = 1};
	uint8_t bytes[WIRE_ENABLE_SLOTS * sizeof(EVENT_FILTER_HEADER)];
	struct wire_filter_blocks blocks = {.at = bytes, .room = sizeof(bytes)};

	for (unsigned i = 0; i < FAKE_ENABLES; i++) {
		const struct fake_enable *enable = &host->enables[i];

		if (!enable->is_used ||
		    !etw_guid_equal(&enable->provider, &peer->registrations[index].provider))
			continue;
		give_set(peer, enable->session);
		describe(enable, &state);
		add_block(enable, &blocks, &state);
	}
	if (control_code == EVENT_CONTROL_CODE_CAPTURE_STATE)
		state.control_code = control_code;
	if (state.control_code == 0 && control_code == EVENT_CONTROL_CODE_ENABLE_PROVIDER)
		return;
	peer->asked = head.request;
	send_to(peer, wire_message_encode_enable(&head, &state, room), -1);
}

static void on_register(struct fake_host *host, struct fake_peer *peer,
			const struct etw_ipc_message *message)
{
	struct wire_register body;
	unsigned index = peer->registration_count;

	if (wire_message_decode_register(message->datagram, &body) < 0 ||
	    index == FAKE_REGISTRATIONS) {
		reply(peer, message->head.request, -ENOSPC);
		return;
	}
	peer->registrations[index].number = body.registration;
	peer->registrations[index].provider = body.provider;
	peer->registrations[index].traits_bytes = (uint16_t)body.traits.left;
	peer->registration_count++;
	host->registered++;
	reply(peer, message->head.request, 0);
	send_state(host, peer, index, EVENT_CONTROL_CODE_ENABLE_PROVIDER);
}

static void on_traits(struct fake_peer *peer, const struct etw_ipc_message *message)
{
	struct wire_register body;
	int32_t status = -ENOENT;

	if (wire_message_decode_register(message->datagram, &body) < 0)
		return;
	for (uint32_t i = 0; i < peer->registration_count; i++) {
		if (peer->registrations[i].number != body.registration)
			continue;
		peer->registrations[i].traits_bytes = (uint16_t)body.traits.left;
		status = 0;
	}
	reply(peer, message->head.request, status);
}

static void on_unregister(struct fake_host *host, struct fake_peer *peer,
			  const struct etw_ipc_message *message)
{
	struct wire_unregister body;
	int32_t status = -ENOENT;

	if (wire_message_decode_unregister(message->datagram, &body) < 0)
		return;
	for (uint32_t i = 0; i < peer->registration_count; i++) {
		if (peer->registrations[i].number != body.registration)
			continue;
		peer->registrations[i] = peer->registrations[--peer->registration_count];
		host->unregistered++;
		status = 0;
		break;
	}
	reply(peer, message->head.request, status);
}

static void on_hello(struct fake_host *host, struct fake_peer *peer,
		     const struct etw_ipc_message *message)
{
	const struct wire_message head = {.type = WIRE_WELCOME, .request = message->head.request};
	struct etw_peer credentials = {0};
	struct wire_welcome welcome = {.protocol = WIRE_PROTOCOL_VERSION};

	(void)etw_ipc_peer(peer->fd, &credentials);
	peer->pid = (uint32_t)credentials.pid;
	welcome.pid = host->told_pid ? host->told_pid : peer->pid;
	welcome.uid = credentials.uid;
	welcome.incarnation = host->incarnation;
	send_to(peer, wire_message_encode_welcome(&head, &welcome, room), host->clock_fd);
}

static void handle(struct fake_host *host, struct fake_peer *peer,
		   const struct etw_ipc_message *message)
{
	if (host->is_mute)
		return;
	switch (message->head.type) {
	case WIRE_HELLO:
		on_hello(host, peer, message);
		break;
	case WIRE_REGISTER:
		on_register(host, peer, message);
		break;
	case WIRE_UNREGISTER:
		on_unregister(host, peer, message);
		break;
	case WIRE_TRAITS:
		on_traits(peer, message);
		break;
	case WIRE_ENABLE_DONE:
		peer->done = message->head.request;
		if (message->head.status < 0)
			host->last_done_status = message->head.status;
		break;
	case WIRE_UNDELIVERED:
		break;
	case WIRE_RING_RETIRED:
		host->retired++;
		if (message->head.status < 0)
			host->last_done_status = message->head.status;
		break;
	default:
		(void)shutdown(peer->fd, SHUT_RDWR);
	}
	(void)pthread_cond_broadcast(&host->changed);
}

static void drop(struct fake_peer *peer)
{
	if (peer->fd >= 0)
		(void)close(peer->fd);
	*peer = (struct fake_peer){.fd = -1};
}

static void take_peer(struct fake_host *host)
{
	int fd;

	if (etw_ipc_accept(host->listener, &fd) < 0)
		return;
	for (unsigned i = 0; i < FAKE_PEERS; i++) {
		if (host->peers[i].fd >= 0)
			continue;
		host->peers[i].fd = fd;
		return;
	}
	(void)close(fd);
}

static void serve_peer(struct fake_host *host, struct fake_peer *peer,
		       struct etw_ipc_message *message)
{
	int r = etw_ipc_receive(peer->fd, message);

	if (r == 0)
		handle(host, peer, message);
	else if (r != -EAGAIN && r != -EINTR)
		drop(peer);
	(void)pthread_cond_broadcast(&host->changed);
}

static void *serve(void *context)
{
	struct fake_host *host = context;
	struct etw_ipc_message *message = malloc(sizeof(*message));
	struct pollfd polls[2 + FAKE_PEERS];

	if (!message)
		abort();
	etw_ipc_message_init(message);
	(void)pthread_mutex_lock(&host->lock);
	while (host->is_running) {
		polls[0] = (struct pollfd){.fd = host->wake[0], .events = POLLIN};
		polls[1] = (struct pollfd){.fd = host->listener, .events = POLLIN};
		for (unsigned i = 0; i < FAKE_PEERS; i++)
			polls[2 + i] = (struct pollfd){.fd = host->peers[i].fd, .events = POLLIN};
		(void)pthread_mutex_unlock(&host->lock);
		(void)poll(polls, ARRAY_SIZE(polls), -1);
		(void)pthread_mutex_lock(&host->lock);
		if (polls[1].revents)
			take_peer(host);
		for (unsigned i = 0; i < FAKE_PEERS; i++) {
			if (polls[2 + i].fd >= 0 && polls[2 + i].revents)
				serve_peer(host, &host->peers[i], message);
		}
	}
	(void)pthread_mutex_unlock(&host->lock);
	etw_ipc_message_done(message);
	free(message);
	return NULL;
}

int fake_host_start(struct fake_host *host)
{
	if (host->listener < 0)
		TRY(etw_runtime_listen(host->directory, &host->listener));
	if (pipe2(host->wake, O_CLOEXEC) < 0)
		return -errno;
	host->is_running = true;
	host->incarnation++;
	if (pthread_create(&host->thread, NULL, serve, host))
		return -EAGAIN;
	etw_runtime_announce(host->page, true);
	return 0;
}

static void stop(struct fake_host *host)
{
	(void)pthread_mutex_lock(&host->lock);
	host->is_running = false;
	(void)pthread_mutex_unlock(&host->lock);
	(void)!write(host->wake[1], "", 1);
	(void)pthread_join(host->thread, NULL);
	(void)close(host->wake[0]);
	(void)close(host->wake[1]);
	for (unsigned i = 0; i < FAKE_PEERS; i++)
		drop(&host->peers[i]);
}

void fake_host_die(struct fake_host *host)
{
	stop(host);
}

void fake_host_lose_keeper(struct fake_host *host)
{
	(void)close(host->listener);
	host->listener = -1;
}

void fake_host_leave(struct fake_host *host)
{
	etw_runtime_announce(host->page, false);
	stop(host);
	fake_host_lose_keeper(host);
}

void fake_host_done(struct fake_host *host)
{
	static const char *const names[] = {ETW_RUNTIME_SOCKET, ETW_RUNTIME_PAGE, "lock"};
	char path[PATH_MAX + 16];

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		(void)snprintf(path, sizeof(path), "%s/%s", host->directory, names[i]);
		(void)unlink(path);
	}
	(void)rmdir(host->directory);
	etw_runtime_page_unmap(host->page);
	etw_clock_page_unmap(&host->clock);
	(void)close(host->clock_fd);
}

static struct timespec deadline_of_now(void)
{
	struct timespec deadline;

	(void)clock_gettime(CLOCK_MONOTONIC, &deadline);
	deadline.tv_sec += FAKE_WAIT_MS / 1000;
	return deadline;
}

/* Waits until every process has answered the last ENABLE that it got. */
static int wait_for_answers_locked(struct fake_host *host)
{
	const struct timespec deadline = deadline_of_now();

	for (unsigned i = 0; i < FAKE_PEERS; i++) {
		const struct fake_peer *peer = &host->peers[i];

		while (peer->fd >= 0 && peer->done != peer->asked) {
			if (pthread_cond_timedwait(&host->changed, &host->lock, &deadline))
				return -ETIMEDOUT;
		}
	}
	return 0;
}

/* Waits until *@counter is at least @target. */
static int wait_for_locked(struct fake_host *host, const uint32_t *counter, uint32_t target)
{
	const struct timespec deadline = deadline_of_now();

	while ((int32_t)(*counter - target) < 0) {
		if (pthread_cond_timedwait(&host->changed, &host->lock, &deadline))
			return -ETIMEDOUT;
	}
	return 0;
}

/* Holding the lock. Tells every process that has it, and waits for all. */
static int send_all(struct fake_host *host, const GUID *provider, uint32_t control_code)
{
	host->last_done_status = 0;
	for (unsigned p = 0; p < FAKE_PEERS; p++) {
		struct fake_peer *peer = &host->peers[p];

		for (uint32_t i = 0; i < peer->registration_count; i++) {
			if (peer->fd >= 0 &&
			    etw_guid_equal(&peer->registrations[i].provider, provider))
				send_state(host, peer, i, control_code);
		}
	}
	TRY(wait_for_answers_locked(host));
	return host->last_done_status;
}

static struct fake_enable *find_enable(struct fake_host *host, const GUID *provider,
				       const struct fake_session *session)
{
	struct fake_enable *unused = NULL;
	uint32_t slots = 0;

	for (unsigned i = 0; i < FAKE_ENABLES; i++) {
		struct fake_enable *enable = &host->enables[i];

		if (!enable->is_used) {
			unused = unused ? unused : enable;
			continue;
		}
		if (!etw_guid_equal(&enable->provider, provider))
			continue;
		if (enable->session == session)
			return enable;
		slots |= 1u << enable->slot;
	}
	if (!unused)
		abort();
	unused->slot = (uint32_t)__builtin_ctz(~slots);
	return unused;
}

int fake_host_enable(struct fake_host *host, const GUID *provider, struct fake_session *session,
		     struct fake_wish wish)
{
	struct fake_enable *enable;
	int r;

	(void)pthread_mutex_lock(&host->lock);
	enable = find_enable(host, provider, session);
	*enable = (struct fake_enable){
		.is_used = true,
		.provider = *provider,
		.session = session,
		.slot = enable->slot,
		.level = wish.level,
		.property = wish.property,
		.match_any = wish.match_any,
		.match_all = wish.match_all,
		.has_block = wish.has_block,
		.filters = wish.filters,
	};
	r = send_all(host, provider, EVENT_CONTROL_CODE_ENABLE_PROVIDER);
	(void)pthread_mutex_unlock(&host->lock);
	return r;
}

int fake_host_disable(struct fake_host *host, const GUID *provider, struct fake_session *session)
{
	int r;

	(void)pthread_mutex_lock(&host->lock);
	find_enable(host, provider, session)->is_used = false;
	r = send_all(host, provider, EVENT_CONTROL_CODE_DISABLE_PROVIDER);
	(void)pthread_mutex_unlock(&host->lock);
	return r;
}

int fake_host_capture(struct fake_host *host, const GUID *provider)
{
	int r;

	(void)pthread_mutex_lock(&host->lock);
	r = send_all(host, provider, EVENT_CONTROL_CODE_CAPTURE_STATE);
	(void)pthread_mutex_unlock(&host->lock);
	return r;
}

int fake_host_retire(struct fake_host *host, struct fake_session *session)
{
	const struct wire_message head = {.type = WIRE_RING_RETIRE, .request = 1};
	const struct wire_ring_set_ref ref = {session->id};
	uint32_t target;
	int r;

	(void)pthread_mutex_lock(&host->lock);
	host->last_done_status = 0;
	target = host->retired;
	for (unsigned i = 0; i < FAKE_PEERS; i++) {
		if (host->peers[i].fd < 0)
			continue;
		send_to(&host->peers[i], wire_message_encode_ring_set_ref(&head, &ref, room), -1);
		host->peers[i].known_set_count = 0; /* a test retires the only one */
		target++;
	}
	r = wait_for_locked(host, &host->retired, target);
	(void)pthread_mutex_unlock(&host->lock);
	return r < 0 ? r : host->last_done_status;
}

static int wait_for(struct fake_host *host, const uint32_t *counter, uint32_t target)
{
	int r;

	(void)pthread_mutex_lock(&host->lock);
	r = wait_for_locked(host, counter, target);
	(void)pthread_mutex_unlock(&host->lock);
	return r;
}

uint32_t fake_host_registered(struct fake_host *host)
{
	uint32_t registered;

	(void)pthread_mutex_lock(&host->lock);
	registered = host->registered;
	(void)pthread_mutex_unlock(&host->lock);
	return registered;
}

int fake_host_wait_registered(struct fake_host *host, uint32_t registered)
{
	return wait_for(host, &host->registered, registered);
}

int fake_host_wait_unregistered(struct fake_host *host, uint32_t unregistered)
{
	return wait_for(host, &host->unregistered, unregistered);
}
