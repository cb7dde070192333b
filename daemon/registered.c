/* SPDX-License-Identifier: MIT */
/* See registered.h. */
#include "daemon/registered.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#define ROOM_MIN 64

static int grow(struct etwd_registered *registered)
{
	const size_t room = registered->room ? registered->room * 2 : ROOM_MIN;
	struct etwd_registered_place *grown = realloc(registered->places,
						      room * sizeof(*registered->places));

	if (!grown)
		return -ENOMEM;
	registered->places = grown;
	registered->room = room;
	return 0;
}

int etwd_registered_add(struct etwd_registered *registered, uint64_t serial,
			struct etwd_registration *registration)
{
	int r = registered->count == registered->room ? grow(registered) : 0;

	if (r < 0)
		return r;
	registered->places[registered->count++] = (struct etwd_registered_place){serial,
										 registration};
	return 0;
}

/* Places of those that are gone go, once they are half of all: so removing costs a few steps each. */
static void close_up(struct etwd_registered *registered)
{
	size_t kept = 0;

	if (registered->gone * 2 <= registered->count)
		return;
	for (size_t i = 0; i < registered->count; i++) {
		if (registered->places[i].registration)
			registered->places[kept++] = registered->places[i];
	}
	registered->count = kept;
	registered->gone = 0;
}

void etwd_registered_remove(struct etwd_registered *registered, uint64_t serial)
{
	const size_t at = etwd_registered_before(registered, serial);

	assert(at < registered->count && registered->places[at].serial == serial);
	registered->places[at].registration = NULL;
	registered->gone++;
	close_up(registered);
}

size_t etwd_registered_before(const struct etwd_registered *registered, uint64_t serial)
{
	size_t from = 0, to = registered->count;

	while (from < to) {
		const size_t middle = from + (to - from) / 2;

		if (registered->places[middle].serial < serial)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

void etwd_registered_done(struct etwd_registered *registered)
{
	free(registered->places);
	*registered = (struct etwd_registered){0};
}
