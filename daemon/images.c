/* SPDX-License-Identifier: MIT */
/* See images.h. */
#include "daemon/images.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "base/time.h"
#include "wire/image_symbols.h"

#define ADDRESS_END \
	(UINT64_C(1) << 56) /* of programs, with as many bits as any of these machines has */

static uint64_t cost_of(const struct wire_image *body)
{
	return ETWD_IMAGE_BYTES + ETWD_IMAGE_PATHS * strlen(body->path) + body->symbols.left;
}

static void free_image(struct etwd_image *image)
{
	for (uint32_t i = 0; i < image->more_count; i++)
		etw_announced_image_unref(image->more[i]);
	free(image->more);
	etw_announced_image_unref(image->image);
	free(image);
}

static void tell_sessions(const struct etwd_image_table *table, struct etw_announced_image *image,
			  enum etw_announced_act act)
{
	for (size_t i = 0; i < ETWD_SESSIONS_MAX; i++) {
		const struct etwd_session *session = table->sessions->table[i];

		if (session && session->is_system_logger && etwd_session_is_usable(session))
			(void)etw_session_announce(session->engine, image, act);
	}
}

static struct etwd_image **find(struct etwd_images *images, uint32_t number)
{
	struct etwd_image **at = &images->first;

	while (*at && (*at)->number != number)
		at = &(*at)->next;
	return at;
}

static void remove_at(struct etwd_images *images, struct etwd_image **at)
{
	struct etwd_image *image = *at;

	*at = image->next;
	if (images->last == &image->next)
		images->last = at;
	free_image(image);
	if (--images->count)
		return;
	*images->at = images->next;
	if (images->next)
		images->next->at = images->at;
}

/* Where the new one lies nothing else does any more; sessions find that out by themselves. */
static void remove_below(struct etwd_images *images, const struct wire_image *body)
{
	struct etwd_image **at = &images->first;

	while (*at) {
		const struct etw_announced_image *other = (*at)->image;

		if (other->base < body->base + body->byte_count &&
		    body->base < other->base + other->byte_count)
			remove_at(images, at);
		else
			at = &(*at)->next;
	}
}

static void append(struct etwd_image_table *table, struct etwd_images *images,
		   struct etwd_image *image)
{
	if (!images->count++) {
		images->last = &images->first;
		images->next = table->first;
		images->at = &table->first;
		if (table->first)
			table->first->at = &images->next;
		table->first = images;
	}
	*images->last = image;
	images->last = &image->next;
}

static bool is_sound(const struct wire_image *body)
{
	return body->base && body->base < ADDRESS_END && body->byte_count &&
	       body->byte_count <= ADDRESS_END - body->base && body->path[0] &&
	       etw_image_symbols_unpack(body->symbols, body->byte_count, NULL, 0) != UINT32_MAX;
}

/* Whether the number that a peer connected with is still its own: another process may have its connection now. */
static bool is_itself(const struct etwd_image_table *table, const struct etwd_peer *peer)
{
	struct etw_session_pid_span span = {.until_ns = UINT64_MAX};

	return peer->who.pid > 0 &&
	       etwd_pids_may_be(table->pids, peer->who.uid, (uint32_t)peer->who.pid,
				etw_monotonic_ns(), &span) &&
	       span.until_ns == UINT64_MAX;
}

void etwd_images_settle(struct etwd_image_table *table)
{
	struct etw_announced_charge *charge;

	while (table->charges && (charge = etw_announced_charges_take(table->charges))) {
		etwd_budget_give(table->budget, charge->uid, ETWD_IMAGES, charge->bytes);
		free(charge);
	}
}

void etwd_images_done(struct etwd_image_table *table)
{
	etwd_images_settle(table);
	etw_announced_charges_unref(table->charges);
	table->charges = NULL;
}

/* What its uid pays for until the last reference is gone. */
static int make_charged(struct etwd_image_table *table, const struct etw_announced_image *head,
			const struct wire_image *body, uid_t uid, struct etw_announced_image **ret)
{
	const uint64_t cost = cost_of(body);
	struct etw_announced_image *image;

	if (!table->charges)
		table->charges = etw_announced_charges_new();
	if (!table->charges)
		return -ENOMEM;
	etwd_images_settle(table);
	TRY(etwd_budget_take(table->budget, uid, ETWD_IMAGES, cost));
	image = etw_announced_image_new(head, body->path, body->symbols.at);
	if (!image || etw_announced_image_charge(image, table->charges, uid, cost)) {
		etwd_budget_give(table->budget, uid, ETWD_IMAGES, cost);
		etw_announced_image_unref(image);
		return -ENOMEM;
	}
	*ret = image;
	return 0;
}

/* @known: the image that it has more symbols of; NULL: it is new */
static int make(struct etwd_image_table *table, const struct etwd_peer *peer,
		const struct wire_image *body, const struct etw_announced_image *known,
		struct etw_announced_image **ret)
{
	struct etw_announced_image head = {
		.pid = (uint32_t)peer->who.pid,
		.base = known ? known->base : body->base,
		.byte_count = known ? known->byte_count : body->byte_count,
		.path_bytes = known ? 0 : (uint32_t)strlen(body->path),
		.symbol_bytes = (uint32_t)body->symbols.left,
		.build_id_bytes = known ? 0 : (uint32_t)body->build_id.left,
	};

	if (head.build_id_bytes)
		memcpy(head.build_id, body->build_id.at, head.build_id_bytes);
	return make_charged(table, &head, body, peer->who.uid, ret);
}

static int load(struct etwd_image_table *table, struct etwd_images *images,
		const struct etwd_peer *peer, const struct wire_image *body)
{
	CLEANUP(freep) struct etwd_image *made = NULL;
	struct etwd_image *image;

	if (!is_sound(body))
		return -EINVAL;
	if (*find(images, body->image))
		return -EEXIST;
	if (images->count >= ETWD_IMAGES_PER_PROCESS_MAX)
		return -E2BIG;
	made = calloc(1, sizeof(*made));
	if (!made)
		return -ENOMEM;
	made->number = body->image;
	TRY(make(table, peer, body, NULL, &made->image));
	image = TAKE(made);
	remove_below(images, body);
	append(table, images, image);
	tell_sessions(table, image->image,
		      body->code == WIRE_IMAGE_LOADED ? ETW_ANNOUNCED_LOADED
						      : ETW_ANNOUNCED_IS_THERE);
	return 0;
}

static int add_more(struct etwd_image_table *table, struct etwd_images *images,
		    const struct etwd_peer *peer, const struct wire_image *body)
{
	struct etwd_image *image = *find(images, body->image);
	struct etw_announced_image *more;
	void *grown;

	if (!image)
		return -ENOENT;
	if (!body->symbols.left || etw_image_symbols_unpack(body->symbols, image->image->byte_count,
							    NULL, 0) == UINT32_MAX)
		return -EINVAL;
	TRY(make(table, peer, body, image->image, &more));
	grown = reallocarray(image->more, image->more_count + 1,
			     sizeof(struct etw_announced_image *));
	if (!grown) {
		etw_announced_image_unref(more);
		return -ENOMEM;
	}
	image->more = grown;
	image->more[image->more_count++] = more;
	tell_sessions(table, more, ETW_ANNOUNCED_MORE);
	return 0;
}

static int unload(struct etwd_image_table *table, struct etwd_images *images,
		  const struct wire_image *body)
{
	struct etwd_image **at = find(images, body->image);

	if (!*at)
		return -ENOENT;
	tell_sessions(table, (*at)->image, ETW_ANNOUNCED_UNLOADED);
	remove_at(images, at);
	etwd_images_settle(table);
	return 0;
}

static int handle(struct etwd_image_table *table, struct etwd_images *images,
		  const struct etwd_peer *peer, const struct wire_image *body)
{
	if (!is_itself(table, peer))
		return -EPERM;
	switch (body->code) {
	case WIRE_IMAGE_MORE:
		return add_more(table, images, peer, body);
	case WIRE_IMAGE_UNLOADED:
		return unload(table, images, body);
	default:
		return load(table, images, peer, body);
	}
}

int etwd_images_handle(struct etwd_image_table *table, struct etwd_images *images,
		       struct etwd_peer *peer, const struct etw_ipc_message *message)
{
	struct wire_image body;

	TRY(wire_message_decode_image(message->datagram, &body));
	etwd_peer_answer(peer, WIRE_REPLY, message->head.request,
			 handle(table, images, peer, &body));
	return 0;
}

void etwd_images_gone(struct etwd_image_table *table, struct etwd_images *images)
{
	while (images->count) {
		tell_sessions(table, images->first->image, ETW_ANNOUNCED_UNLOADED);
		remove_at(images, &images->first);
	}
	etwd_images_settle(table);
}

void etwd_images_meet(const struct etwd_image_table *table, const struct etwd_session *session)
{
	if (!session->is_system_logger || !etwd_session_is_usable(session))
		return;
	for (const struct etwd_images *images = table->first; images; images = images->next) {
		for (const struct etwd_image *image = images->first; image; image = image->next) {
			(void)etw_session_announce(session->engine, image->image,
						   ETW_ANNOUNCED_IS_THERE);
			for (uint32_t i = 0; i < image->more_count; i++)
				(void)etw_session_announce(session->engine, image->more[i],
							   ETW_ANNOUNCED_MORE);
		}
	}
}
