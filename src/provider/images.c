/* SPDX-License-Identifier: MIT */
#include "provider/images.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "base/patience.h"
#include "base/time.h"
#include "provider/callback.h"
#include "provider/entry.h"
#include "provider/fork.h"
#include "provider/links.h"
#include "provider/listener.h"
#include "provider/lock.h"
#include "provider/own_images.h"
#include "provider/poke.h"

#define WAIT_MS 200

static uint32_t image_count, last_number; /* the lock */

/* Whether the host is there, or about to be, and has not yet answered. */
static bool is_awaited(const struct etw_link *link, const struct etw_own_image *image)
{
	const struct etw_image_told *told = &image->told[link->index];

	if (link->is_slow || told->status)
		return false;
	switch (link->state) {
	case ETW_LINK_UNKNOWN:
	case ETW_LINK_CONNECTING:
		return true;
	case ETW_LINK_CONNECTED:
		return told->messages < etw_own_image_messages(image) ||
		       (int32_t)(link->replied - told->request) < 0;
	default:
		return etw_link_has_new_host(link);
	}
}

static struct etw_link *find_awaited(const struct etw_own_image *image)
{
	for (unsigned i = 0; i < etw_links_count(); i++)
		if (is_awaited(etw_links_at(i), image))
			return etw_links_at(i);
	return NULL;
}

/* Returns 0, or what a host said. The lock is given up meanwhile. */
static int tell(uint32_t number)
{
	struct etw_patience patience = etw_patience_begin(WAIT_MS, etw_monotonic_ns());
	struct etw_own_image *image = etw_own_image_find(number);
	struct etw_link *link;

	for (unsigned i = 0; i < etw_links_count(); i++)
		if (etw_links_at(i)->state == ETW_LINK_CONNECTED)
			etw_own_images_pump(etw_links_at(i));
	if (etw_listener_is_caller() || etw_callback_is_caller())
		return 0;
	while (image && (link = find_awaited(image))) {
		if (link->state == ETW_LINK_ABSENT)
			etw_poke();
		etw_provider_wait_until(etw_patience_next_ns(&patience));
		if (etw_patience_look(&patience, etw_monotonic_ns())) {
			link->is_slow = true;
			break;
		}
		image = etw_own_image_find(number);
	}
	for (unsigned i = 0; image && i < etw_links_count(); i++)
		if (image->told[i].status)
			return image->told[i].status;
	return 0;
}

static void withdraw(struct etw_own_image *image)
{
	const struct wire_image gone = {.image = image->number, .code = WIRE_IMAGE_UNLOADED};
	struct etw_own_image **at = &etw_own_images;

	for (unsigned i = 0; i < etw_links_count(); i++) {
		struct wire_message head = {.type = WIRE_IMAGE};

		if (image->told[i].messages)
			(void)etw_link_send_image(etw_links_at(i), &head, &gone);
	}
	while (*at != image)
		at = &(*at)->next;
	*at = image->next;
	image_count--;
	etw_own_image_free(image);
}

/* What a host says of its limits is one thing to programs. */
static int limit_of(int status)
{
	return status == -ETOOMANYREFS || status == -EUSERS || status == -E2BIG ? -ENOSPC : status;
}

int etw_images_announce(const struct etw_images_request *request, uint32_t *ret)
{
	CLEANUP(etw_provider_entry_unlock) const bool is_held = etw_provider_entry_lock();
	struct etw_own_image *image;
	uint32_t number;
	int r;

	(void)is_held;
	if (image_count >= ETW_IMAGES_MAX)
		return -E2BIG;
	TRY(etw_fork_prepare());
	TRY(etw_listener_start());
	TRY(etw_own_image_make(request, &image));
	image->number = number = ++last_number;
	image->is_new = true;
	image->next = etw_own_images;
	etw_own_images = image;
	image_count++;
	r = tell(number);
	image = etw_own_image_find(number);
	if (!image)
		return -ENOENT; /* another thread has withdrawn it already */
	image->is_new = false;
	if (r < 0) {
		withdraw(image);
		return limit_of(r);
	}
	*ret = number;
	return 0;
}

int etw_images_add_symbols(uint32_t number, const struct etw_image_symbol *symbols, uint32_t count)
{
	CLEANUP(etw_provider_entry_unlock) const bool is_held = etw_provider_entry_lock();
	struct etw_own_image *image = etw_own_image_find(number);

	(void)is_held;
	if (!image)
		return -ENOENT;
	for (uint32_t i = 0; i < count; i++)
		if (symbols[i].offset >= image->byte_count ||
		    symbols[i].byte_count > image->byte_count - symbols[i].offset)
			return -EINVAL;
	TRY(etw_own_image_add(image, symbols, count));
	return limit_of(tell(number));
}

int etw_images_find(uint32_t number, uint64_t *ret_base, uint64_t *ret_byte_count)
{
	CLEANUP(etw_provider_entry_unlock) const bool is_held = etw_provider_entry_lock();
	const struct etw_own_image *image = etw_own_image_find(number);

	(void)is_held;
	if (!image)
		return -ENOENT;
	*ret_base = image->base;
	*ret_byte_count = image->byte_count;
	return 0;
}

int etw_images_withdraw(uint32_t number)
{
	CLEANUP(etw_provider_entry_unlock) const bool is_held = etw_provider_entry_lock();
	struct etw_own_image *image = etw_own_image_find(number);

	(void)is_held;
	if (!image)
		return -ENOENT;
	withdraw(image);
	return 0;
}
