/* SPDX-License-Identifier: MIT */
#include "provider/link.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

#define REQUESTS_UNDER_WAY 32 /* so that neither end's queue overflows */
/* Symbols of more bytes are under way alone: beside one such message the socket has room for all others. */
#define SMALL_BYTES 2048

/* The message that is being sent. Under the lock. */
static uint8_t encoded[WIRE_MESSAGE_BYTES_MAX];

void etw_link_init(struct etw_link *link, unsigned index, const struct etw_runtime_places *places)
{
	struct stat root = {0};

	*link = (struct etw_link){.index = index, .socket = ETW_OWN_FD_NONE};
	(void)stat("/", &root);
	link->root_device = root.st_dev;
	link->root_inode = root.st_ino;
	memcpy(&link->places, places, sizeof(link->places));
}

void etw_link_abandon(struct etw_link *link)
{
	etw_own_fd_close(&link->socket);
	link->state = ETW_LINK_UNKNOWN;
	link->tried_epoch = 0;
	link->retry_ns = 0;
	link->backoff_ms = 0;
	link->is_slow = false;
}

/*
 * A host that cannot take a message now gets all of them anew, over a new connection.
 *
 * @can_wait: a full socket is no reason: it is sent again later
 */
static int send_or_wait(struct etw_link *link, size_t bytes, bool can_wait)
{
	int r = bytes ? -EBADF : -EMSGSIZE;

	if (!etw_own_fd_is_there(&link->socket))
		return -EBADF; /* the listener is about to see it */
	if (bytes)
		r = etw_ipc_send(link->socket.number, encoded, bytes, NULL, 0);
	if (r < 0 && !(r == -EAGAIN && can_wait))
		(void)shutdown(link->socket.number, SHUT_RDWR);
	return r;
}

static int send_message(struct etw_link *link, size_t bytes)
{
	return send_or_wait(link, bytes, /* can_wait= */ false);
}

int etw_link_answer(struct etw_link *link, const struct wire_message *head)
{
	if (link->state != ETW_LINK_CONNECTED)
		return -EPIPE;
	return send_message(link, wire_message_encode_plain(head, encoded));
}

int etw_link_answer_ring(struct etw_link *link, const struct wire_message *head,
			 const struct wire_ring_set_ref *ref)
{
	if (link->state != ETW_LINK_CONNECTED)
		return -EPIPE;
	return send_message(link, wire_message_encode_ring_set_ref(head, ref, encoded));
}

int etw_link_answer_session(struct etw_link *link, const struct wire_message *head,
			    const struct wire_session_info *info)
{
	if (link->state != ETW_LINK_CONNECTED)
		return -EPIPE;
	return send_message(link, wire_message_encode_session_info(head, info, encoded));
}

int etw_link_answer_undelivered(struct etw_link *link, const struct wire_message *head,
				const struct wire_undelivered *body)
{
	if (link->state != ETW_LINK_CONNECTED)
		return -EPIPE;
	return send_message(link, wire_message_encode_undelivered(head, body, encoded));
}

int etw_link_send_image(struct etw_link *link, struct wire_message *head,
			const struct wire_image *body)
{
	if (link->state != ETW_LINK_CONNECTED)
		return -EPIPE;
	if (link->requests - link->replied >=
		    (body->symbols.left > SMALL_BYTES ? 1 : REQUESTS_UNDER_WAY) &&
	    body->code != WIRE_IMAGE_UNLOADED)
		return -EAGAIN;
	head->request = link->requests + 1;
	/* Of what is under way an answer comes, upon which it is tried again. */
	TRY(send_or_wait(link, wire_message_encode_image(head, body, encoded),
			 body->code != WIRE_IMAGE_UNLOADED && link->requests != link->replied));
	link->requests++;
	return 0;
}

static int send_unregister(struct etw_link *link, uint32_t number)
{
	const struct wire_message head = {.type = WIRE_UNREGISTER, .request = link->requests + 1};
	const struct wire_unregister body = {.registration = number};

	TRY(send_message(link, wire_message_encode_unregister(&head, &body, encoded)));
	link->requests++;
	return 0;
}

/* Encodes what hosts are told of a registration. */
static size_t encode_registration(const struct wire_message *head,
				  const struct etw_registration *registration)
{
	const struct etw_traits *traits = load_relaxed(&registration->traits);
	const uint64_t words[2] = {load_relaxed(&registration->provider[0]),
				   load_relaxed(&registration->provider[1])};
	struct wire_register body = {
		.registration = etw_registration_number(registration),
		.kind = registration->is_classic ? WIRE_REGISTRATION_CLASSIC
						 : WIRE_REGISTRATION_MODERN,
	};

	memcpy(&body.provider, words, sizeof(body.provider));
	if (traits)
		body.traits = (struct etw_bytes){traits->data, traits->bytes};
	return wire_message_encode_register(head, &body, encoded);
}

static int send_register(struct etw_link *link, struct etw_registration *registration)
{
	const struct wire_message head = {.type = WIRE_REGISTER, .request = link->requests + 1};

	TRY(send_message(link, encode_registration(&head, registration)));
	link->requests++;
	registration->links[link->index].is_sent = true;
	registration->links[link->index].is_denied = false;
	registration->links[link->index].is_join_denied = false;
	registration->links[link->index].traits_request = 0;
	registration->links[link->index].sync_request = link->requests;
	link->is_sync_due = true;
	return 0;
}

void etw_link_pump(struct etw_link *link)
{
	struct etw_registration *i;

	if (link->state != ETW_LINK_CONNECTED)
		return;
	for (i = etw_registrations + 1; i < etw_registration_end(); i++) {
		if (!i->is_used || i->links[link->index].is_sent)
			continue;
		/* Answers that come in let the rest go. */
		if (link->requests - link->replied >= REQUESTS_UNDER_WAY ||
		    send_register(link, i) < 0)
			return;
	}
	if (link->is_sync_due && send_unregister(link, 0) == 0) {
		link->sync_sent = link->requests;
		link->is_sync_due = false;
	}
}

void etw_link_describe(struct etw_link *link, struct etw_registration *registration)
{
	const struct wire_message head = {.type = WIRE_TRAITS, .request = link->requests + 1};
	struct etw_enable_link *info = &registration->links[link->index];

	if (link->state != ETW_LINK_CONNECTED || !info->is_sent ||
	    send_message(link, encode_registration(&head, registration)) < 0)
		return;
	link->requests++;
	info->traits_request = link->requests;
	info->is_join_denied = false;
	info->sync_request = link->requests;
	link->is_sync_due = true;
}

void etw_link_withdraw(struct etw_link *link, const struct etw_registration *registration,
		       uint32_t number)
{
	if (link->state == ETW_LINK_CONNECTED && registration->links[link->index].is_sent)
		(void)send_unregister(link, number);
}

bool etw_link_has_new_host(const struct etw_link *link)
{
	const struct wire_discovery_page *page = link->page;
	uint32_t epoch;

	if (!page && etw_runtime_page(etw_runtime_place(&link->places), &page) < 0)
		return false;
	epoch = load_acquire(&page->epoch);
	if (page != link->page)
		etw_runtime_page_unmap(page);
	return epoch & 1 && epoch != link->tried_epoch;
}

bool etw_link_is_awaited(const struct etw_link *link, const struct etw_registration *registration)
{
	const struct etw_enable_link *info = &registration->links[link->index];

	if (link->is_slow)
		return false;
	switch (link->state) {
	case ETW_LINK_UNKNOWN:
	case ETW_LINK_CONNECTING:
		return true;
	case ETW_LINK_CONNECTED:
		return !info->is_sent || (int32_t)(link->synced - info->sync_request) <= 0;
	default: /* a host that has just come: the listener is about to see it, or is poked */
		return etw_link_has_new_host(link);
	}
}
