/* SPDX-License-Identifier: MIT */
#include "provider/own_sessions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <evntcons.h>
#include <evntrace.h>

#include "base/guid.h"
#include "base/macros.h"
#include "base/process_facts.h"
#include "provider/enable.h"
#include "provider/leave.h"
#include "provider/link_message.h"
#include "provider/poke.h"
#include "provider/registrations.h"
#include "wire/enable_request.h"

/* What a session wants of a provider. */
struct wish {
	struct wish *next;
	uint32_t session_id;
	GUID provider;
	GUID source;
	uint64_t match_any, match_all;
	uint32_t property;
	uint8_t level;
};

struct own_session {
	uint32_t id; /* 0: free */
	uint32_t ring_set;
	struct etw_ring_mapping *ring;
	bool is_ending; /* withdrawn: what another thread enables now would be written to rings that nobody reads */
};

/* Under the lock. */
static struct own_session sessions[ETW_OWN_SESSIONS_MAX];
static struct wish *wishes; /* in the order in which they came */

static struct own_session *find_session(uint32_t session_id)
{
	for (unsigned i = 0; i < ETW_OWN_SESSIONS_MAX; i++) {
		if (sessions[i].id == session_id)
			return &sessions[i];
	}
	return NULL;
}

static struct wish **find_wish(uint32_t session_id, const GUID *provider)
{
	struct wish **at = &wishes;

	while (*at &&
	       ((*at)->session_id != session_id || !etw_guid_equal(&(*at)->provider, provider)))
		at = &(*at)->next;
	return at;
}

static unsigned count_wishes(const GUID *provider)
{
	unsigned count = 0;

	for (const struct wish *i = wishes; i; i = i->next)
		count += etw_guid_equal(&i->provider, provider);
	return count;
}

static GUID provider_of(const struct etw_registration *registration)
{
	const uint64_t words[2] = {load_relaxed(&registration->provider[0]),
				   load_relaxed(&registration->provider[1])};
	GUID guid;

	memcpy(&guid, words, sizeof(guid));
	return guid;
}

/* What all sessions together want of a registration: the callback is told so, and @slots is what each wants. */
static void gather(const struct etw_registration *registration, struct etw_enable_wish *slots,
		   struct wire_enable *ret)
{
	const GUID provider = provider_of(registration);
	unsigned count = 0;

	memset(slots, 0, sizeof(*slots) * ETW_PRIVATE_SLOTS);
	*ret = (struct wire_enable){.control_code = EVENT_CONTROL_CODE_DISABLE_PROVIDER};
	for (const struct wish *i = wishes; i; i = i->next) {
		if (!etw_guid_equal(&i->provider, &provider))
			continue;
		if (registration->is_classic || count == 0) { /* that of the last one alone */
			count = 0;
			ret->level = 0;
			ret->match_any = 0;
			ret->match_all = UINT64_MAX;
		}
		slots[count] = (struct etw_enable_wish){
			.ring = find_session(i->session_id)->ring,
			.match_any = i->match_any,
			.match_all = i->match_all,
			.property = i->property,
			.level = i->level,
		};
		ret->slots[count].is_used = 1;
		ret->slots[count++].session_id = i->session_id;
		ret->control_code = EVENT_CONTROL_CODE_ENABLE_PROVIDER;
		ret->level = ret->level < i->level ? i->level : ret->level;
		ret->match_any |= i->match_any;
		ret->match_all &= i->match_all;
	}
	if (count == 0)
		ret->match_all = 0;
}

/* Makes the slots of a registration what the wishes are. Holding the lock. */
static void apply(struct etw_registration *registration, struct wire_enable *ret)
{
	struct etw_enable_link *link = &registration->links[ETW_PRIVATE_LINK];
	struct etw_enable_wish slots[ETW_PRIVATE_SLOTS];

	gather(registration, slots, ret);
	(void)etw_enable_set(registration, ETW_PRIVATE_LINK, slots);
	link->is_enabled = ret->control_code == EVENT_CONTROL_CODE_ENABLE_PROVIDER;
	link->level = ret->level;
	link->match_any = ret->match_any;
	link->match_all = ret->match_all;
}

/* The next registration of a provider behind @after; NULL: of any provider, from the beginning. Holding the lock. */
static struct etw_registration *next_of(const GUID *provider, struct etw_registration *after)
{
	struct etw_registration *i = after ? after + 1 : etw_registrations + 1;

	for (; i < etw_registration_end(); i++) {
		const GUID guid = provider_of(i);

		if (i->is_used && etw_guid_equal(&guid, provider))
			return i;
	}
	return NULL;
}

static void add_request(const struct wire_enable_provider *request, struct wire_enable *enable)
{
	const struct wire_filter filter = wire_filter_of_callback(request->filters);

	enable->source = request->source;
	enable->filter_type = filter.type;
	enable->filter = filter.data;
	if (request->code != EVENT_CONTROL_CODE_CAPTURE_STATE)
		return;
	enable->control_code = request->code;
	enable->level = request->level;
	enable->match_any = request->match_any;
	enable->match_all = request->match_all;
}

/* All slots first: whoever a callback makes write is heard by the session. */
static void apply_all(const struct wire_enable_provider *request)
{
	struct etw_registration *i = NULL;
	struct wire_enable enable;

	while ((i = next_of(&request->provider, i)))
		apply(i, &enable);
	while ((i = next_of(&request->provider, i))) { /* the lock is given up in between */
		struct etw_enable_wish slots[ETW_PRIVATE_SLOTS];

		gather(i, slots, &enable);
		add_request(request, &enable);
		etw_link_tell(i, ETW_PRIVATE_LINK, &enable);
	}
}

/* Without what this process has nothing to tell of. */
static uint32_t property_of(uint32_t property)
{
	struct etw_process_facts facts;

	if (!(property & EVENT_ENABLE_PROPERTY_SOURCE_CONTAINER_TRACKING))
		return property;
	(void)etw_process_facts_read((uint32_t)getpid(), &facts);
	return etw_enable_property_of(property, &facts.container);
}

static int make_wish(uint32_t session_id, const struct wire_enable_provider *enable,
		     struct wish **ret)
{
	struct etw_bytes filters = enable->filters;
	struct wire_filter filter;
	struct wish *wish;

	/* Processes are chosen already, and events are not filtered: docs/refused.md. */
	while (wire_filter_next(&filters, &filter)) {
		if (wire_filter_use_of(filter.type) != WIRE_FILTER_CALLBACK)
			return -EOPNOTSUPP;
	}
	wish = calloc(1, sizeof(*wish));
	if (!wish)
		return -ENOMEM;
	wish->session_id = session_id;
	wish->provider = enable->provider;
	wish->source = enable->source;
	wish->match_any = enable->match_any;
	wish->match_all = enable->match_all;
	wish->property = property_of(enable->property);
	wish->level = enable->level ? enable->level : UINT8_MAX;
	*ret = wish;
	return 0;
}

static void drop_wish(struct wish **at)
{
	struct wish *wish = *at;

	*at = wish->next;
	free(wish);
}

/* Whoever enables a provider again is the last one that did. */
static int note(uint32_t session_id, const struct wire_enable_provider *enable, bool *ret_is_told)
{
	struct wish **at = find_wish(session_id, &enable->provider);
	struct wish *wish;

	*ret_is_told = true;
	if (enable->code == EVENT_CONTROL_CODE_CAPTURE_STATE)
		return 0;
	if (enable->code == EVENT_CONTROL_CODE_DISABLE_PROVIDER) {
		*ret_is_told = *at != NULL;
		if (*at)
			drop_wish(at);
		return 0;
	}
	if (!*at && count_wishes(&enable->provider) == ETW_PRIVATE_SLOTS)
		return -ENOSPC;
	TRY(make_wish(session_id, enable, &wish));
	if (*at)
		drop_wish(at);
	while (*at)
		at = &(*at)->next;
	*at = wish;
	return 0;
}

bool etw_own_session_wants(uint32_t session_id, const struct wire_enable_provider *enable)
{
	const struct wish *wish = *find_wish(session_id, &enable->provider);

	return wish && wish->match_any == enable->match_any &&
	       wish->match_all == enable->match_all &&
	       wish->property == property_of(enable->property) &&
	       wish->level == (enable->level ? enable->level : UINT8_MAX);
}

int etw_own_session_enable(uint32_t session_id, const struct wire_enable_provider *enable)
{
	const struct own_session *session = session_id ? find_session(session_id) : NULL;
	bool is_told;

	if (!session || session->is_ending)
		return -ENOENT;
	TRY(note(session_id, enable, &is_told));
	if (is_told)
		apply_all(enable);
	return 0;
}

static int add_ring(uint32_t ring_set, const struct etw_ring_set_fds *fds,
		    const struct wire_clock_page *clock, struct etw_ring_mapping **ret)
{
	struct etw_ring_mapping *ring;
	int r;

	TRY(etw_provider_ring_sets_add(ETW_PRIVATE_LINK, ring_set, fds, clock));
	ring = etw_provider_ring_sets_find(ETW_PRIVATE_LINK, ring_set);
	r = etw_leave_add(&ring->set);
	if (r < 0)
		(void)etw_provider_ring_sets_retire(ring);
	else
		*ret = ring;
	return r;
}

int etw_own_session_open(uint32_t session_id, uint32_t ring_set, const struct etw_ring_set_fds *fds,
			 int clock_fd)
{
	struct own_session *session = find_session(0);
	const struct wire_clock_page *clock;
	struct etw_ring_mapping *ring;

	if (!session)
		return -ENOSPC;
	TRY(etw_provider_ring_sets_clock(ETW_PRIVATE_LINK, clock_fd, &clock));
	TRY(add_ring(ring_set, fds, clock, &ring));
	session->ring = ring;
	session->ring_set = ring_set;
	session->id = session_id;
	return 0;
}

/* Holding the lock. The listener looks when it may be freed, if that is not now. */
static void retire(struct etw_ring_mapping *ring)
{
	etw_leave_remove(&ring->set);
	(void)etw_enable_retire_ring(ring);
	etw_poke();
}

int etw_own_session_replace(uint32_t session_id, uint32_t ring_set,
			    const struct etw_ring_set_fds *fds)
{
	struct own_session *session = find_session(session_id);
	struct etw_ring_mapping *before, *ring;

	if (!session)
		return -ENOENT;
	before = session->ring;
	TRY(add_ring(ring_set, fds, load_relaxed(&before->clock), &ring));
	session->ring = ring;
	session->ring_set = ring_set;
	for (struct etw_registration *i = etw_registrations + 1; i < etw_registration_end(); i++) {
		struct wire_enable enable;

		if (i->is_used)
			apply(i, &enable);
	}
	retire(before);
	return 0;
}

/* The registrations that a session's wish for a provider concerned. */
static void end_wish(const GUID *provider, enum etw_own_news news)
{
	const struct wire_enable_provider request = {
		.provider = *provider,
		.code = EVENT_CONTROL_CODE_DISABLE_PROVIDER,
	};
	struct etw_registration *i = NULL;
	struct wire_enable enable;

	if (news == ETW_OWN_NEWS_NOW) {
		apply_all(&request);
		return;
	}
	while ((i = next_of(provider, i))) {
		apply(i, &enable);
		i->links[ETW_PRIVATE_LINK].is_news_due = news == ETW_OWN_NEWS_LATER;
	}
	etw_poke();
}

static struct wish **find_any_wish(uint32_t session_id)
{
	struct wish **at = &wishes;

	while (*at && (*at)->session_id != session_id)
		at = &(*at)->next;
	return at;
}

void etw_own_session_withdraw(uint32_t session_id, enum etw_own_news news)
{
	struct own_session *session = session_id ? find_session(session_id) : NULL;
	struct wish **at;

	if (!session)
		return;
	session->is_ending = true;
	while (*(at = find_any_wish(session_id))) {
		const GUID provider = (*at)->provider;

		drop_wish(at);
		end_wish(&provider, news);
	}
}

void etw_own_session_close(uint32_t session_id)
{
	struct own_session *session = session_id ? find_session(session_id) : NULL;

	if (!session)
		return;
	retire(session->ring);
	*session = (struct own_session){0};
}

void etw_own_sessions_meet(struct etw_registration *registration)
{
	const GUID provider = provider_of(registration);
	struct wire_enable enable;

	if (LIKELY(!wishes) || count_wishes(&provider) == 0)
		return;
	apply(registration, &enable);
	etw_link_tell(registration, ETW_PRIVATE_LINK, &enable);
}

void etw_own_sessions_tell(void)
{
	for (struct etw_registration *i = etw_registrations + 1; i < etw_registration_end(); i++) {
		struct wire_enable enable;

		if (!i->is_used || !i->links[ETW_PRIVATE_LINK].is_news_due)
			continue;
		i->links[ETW_PRIVATE_LINK].is_news_due = false;
		apply(i, &enable);
		etw_link_tell(i, ETW_PRIVATE_LINK, &enable);
	}
}

void etw_own_sessions_forget(void)
{
	static const struct etw_enable_wish nothing[ETW_PRIVATE_SLOTS];

	etw_leave_parents(etw_fork_fill());
	while (wishes)
		drop_wish(&wishes);
	for (struct etw_registration *i = etw_registrations + 1; i < etw_registration_end(); i++) {
		struct etw_enable_link *link = &i->links[ETW_PRIVATE_LINK];

		(void)etw_enable_set(i, ETW_PRIVATE_LINK, nothing);
		*link = (struct etw_enable_link){0};
	}
	/* Their rings stay mapped, private memory that is retired: a write of the parent's may go on here. */
	memset(sessions, 0, sizeof(sessions));
}
