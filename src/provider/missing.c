/* SPDX-License-Identifier: MIT */
#include "provider/missing.h"

#include <string.h>

#include "base/atomic.h"
#include "base/macros.h"

struct missing {
	_Alignas(
		64) struct wire_ring_set page; /* `is_retired` and `refused` are all that is used */
	struct etw_ring_mapping ring;          /* over the page; all but the link is fixed */
	uint32_t session_id;                   /* 0: free */
	int status;
	bool is_told;
	uint64_t told;
	uint64_t serial; /* grows with each new session */
};

static struct missing all[ETW_MISSING_SESSIONS]; /* lock; but for what writers use */
static uint64_t last_serial;

static struct missing *find(unsigned link, uint32_t session_id)
{
	for (unsigned i = 0; i < ETW_MISSING_SESSIONS; i++) {
		if (all[i].session_id == session_id && all[i].ring.link == link)
			return &all[i];
	}
	return NULL;
}

static struct missing *choose(void)
{
	struct missing *oldest = &all[0];

	for (unsigned i = 1; i < ETW_MISSING_SESSIONS; i++) {
		if (all[i].serial < oldest->serial)
			oldest = &all[i];
	}
	return oldest;
}

/* Several CPUs "write" to it: so the path of every event leaves it to the one that looks at is_retired first. */
static void open_set(struct missing *missing, unsigned link, uint32_t session_id)
{
	store_release(&missing->page.is_retired, 1u);
	store_release(&missing->page.refused, UINT64_C(0));
	missing->ring.set.memory = (uint8_t *)&missing->page;
	missing->ring.set.rings = missing->ring.set.memory;
	missing->ring.set.cpu_count = 1;
	missing->ring.set.session_id = session_id; /* by which writers of classic events find it */
	missing->ring.set.is_shared = 1;
	missing->ring.set.flags = WIRE_RING_INDEPENDENT | WIRE_RING_ONE_STREAM;
	missing->ring.link = link;
	missing->session_id = session_id;
	missing->is_told = false;
	missing->told = 0;
	missing->serial = ++last_serial;
}

const struct etw_ring_mapping *etw_missing_find(unsigned link, uint32_t session_id, int status)
{
	struct missing *missing = find(link, session_id);

	if (!missing) {
		missing = choose();
		open_set(missing, link, session_id);
		missing->status = status;
	}
	if (status < 0 && missing->status != status) {
		missing->status = status;
		missing->is_told = false;
	}
	return &missing->ring;
}

uint64_t etw_missing_count(const struct etw_ring_mapping *ring)
{
	return wire_ring_refused(load_acquire(&etw_ring_set_page(&ring->set)->refused));
}

bool etw_missing_next(unsigned link, struct wire_undelivered *ret, int *ret_status)
{
	for (unsigned i = 0; i < ETW_MISSING_SESSIONS; i++) {
		struct missing *missing = &all[i];
		uint64_t count;

		if (missing->session_id == 0 || missing->ring.link != link)
			continue;
		count = etw_missing_count(&missing->ring);
		if (missing->is_told && count == missing->told)
			continue;
		*ret = (struct wire_undelivered){.session_id = missing->session_id,
						 .events = count - missing->told};
		*ret_status = missing->status;
		missing->is_told = true;
		missing->told = count;
		return true;
	}
	return false;
}

void etw_missing_forget_told(unsigned link)
{
	for (unsigned i = 0; i < ETW_MISSING_SESSIONS; i++) {
		if (all[i].ring.link != link)
			continue;
		all[i].is_told = false;
		all[i].told = 0;
	}
}
