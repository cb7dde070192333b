/* SPDX-License-Identifier: MIT */
#include "provider/link_message.h"

#include <errno.h>
#include <string.h>

#include <evntrace.h>

#include "provider/callback.h"
#include "provider/enable.h"
#include "provider/filters.h"
#include "provider/lock.h"
#include "provider/loggers.h"
#include "provider/missing.h"
#include "provider/outside.h"
#include "provider/own_images.h"
#include "provider/ring_sets.h"
#include "wire/filter_header.h"

/* @link: a host's */
static bool is_link_enabled(const struct etw_registration *registration, unsigned link)
{
	return load_relaxed(&registration->gate) >>
		       (ETW_GATE_SLOTS_SHIFT + link * WIRE_ENABLE_SLOTS) &
	       0xFF;
}

bool etw_link_has_states(const struct etw_link *link)
{
	bool has_states;

	etw_provider_lock();
	has_states = etw_provider_ring_sets_has(link->index) || link->has_private;
	for (struct etw_registration *i = etw_registrations + 1; i < etw_registration_end(); i++)
		has_states |= i->is_used &&
			      (is_link_enabled(i, link->index) || i->links[link->index].is_enabled);
	etw_provider_unlock();
	return has_states;
}

/*
 * A provider has one state for all hosts: enabled as long as one has it enabled, at the highest level and
 * with all keywords that any of them wants.
 */
static void merge_other_links(const struct etw_registration *registration, unsigned link,
			      struct etw_callback_news *news)
{
	for (unsigned i = 0; i < ETW_PROVIDER_LINKS; i++) {
		const struct etw_enable_link *other = &registration->links[i];

		if (i == link || !other->is_enabled)
			continue;
		if (news->control_code == EVENT_CONTROL_CODE_DISABLE_PROVIDER) {
			news->control_code = EVENT_CONTROL_CODE_ENABLE_PROVIDER;
			news->level = other->level;
			news->match_any = other->match_any;
			news->match_all = other->match_all;
			continue;
		}
		if (news->level < other->level)
			news->level = other->level;
		news->match_any |= other->match_any;
		news->match_all &= other->match_all;
	}
}

/*
 * A handle as Windows makes it for classic providers: the session's id (16 bits), level (8), zero (8), flags (32), so that
 * GetTraceEnableLevel() and GetTraceEnableFlags() find all in it. Source: the fields of TRACE_ENABLE_CONTEXT in evntrace.h.
 */
static uint64_t logger_handle_of(const struct wire_enable *enable)
{
	for (unsigned i = 0; i < WIRE_ENABLE_SLOTS; i++) {
		if (enable->slots[i].is_used)
			return (enable->slots[i].session_id & ETW_LOGGER_ID_MASK) |
			       (uint64_t)enable->level << 16 | enable->match_any << 32;
	}
	return 0;
}

/*
 * A classic provider is one session's: the last that enabled it, of whatever host. That another one ends, gives up
 * what it no longer has, or asks for its state, is no news.
 */
static void tell_classic(struct etw_registration *registration, unsigned link,
			 const struct wire_enable *enable)
{
	const bool is_on = enable->control_code == EVENT_CONTROL_CODE_ENABLE_PROVIDER;
	struct etw_callback_news news = {.control_code = enable->control_code};

	if (is_on) {
		registration->logger_handle = logger_handle_of(enable);
		registration->holder = (uint8_t)link;
	} else if (!registration->logger_handle || registration->holder != link) {
		return;
	}
	news.logger_handle = registration->logger_handle;
	if (enable->control_code == EVENT_CONTROL_CODE_DISABLE_PROVIDER)
		registration->logger_handle = 0;
	if (news.logger_handle)
		etw_callback_run(registration, &news);
}

void etw_link_tell(struct etw_registration *registration, unsigned link,
		   const struct wire_enable *enable)
{
	EVENT_FILTER_DESCRIPTOR filter = {
		.Ptr = (uintptr_t)enable->filter.at,
		.Size = (ULONG)enable->filter.left,
		.Type = enable->filter_type,
	};
	struct etw_callback_news news = {
		.control_code = enable->control_code,
		.level = enable->level,
		.match_any = enable->match_any,
		.match_all = enable->match_all,
		.source = enable->source,
		.filter = enable->filter_type || enable->filter.left ? &filter : NULL,
	};

	if (registration->is_classic) {
		tell_classic(registration, link, enable);
		return;
	}
	if (news.match_any == 0 && news.control_code == EVENT_CONTROL_CODE_ENABLE_PROVIDER)
		news.match_any = UINT64_MAX;
	if (news.control_code != EVENT_CONTROL_CODE_CAPTURE_STATE)
		merge_other_links(registration, link, &news);
	etw_callback_run(registration, &news);
}

/* What a registration has instead from now on; what it had is given back, as no gate leads there any more. */
static void own_filters(struct etw_registration *registration, unsigned link,
			struct etw_filters *const made[WIRE_ENABLE_SLOTS])
{
	for (unsigned i = 0; i < WIRE_ENABLE_SLOTS; i++) {
		struct etw_filters **owned =
			&registration->owned_filters[link * WIRE_ENABLE_SLOTS + i];
		struct etw_filters *before = *owned;

		if (before == made[i])
			continue;
		*owned = made[i];
		etw_filters_retire(before);
	}
}

/*
 * Looks the ring sets up. Returns 0, or why a session gets nothing; the host knows of -ENOENT.
 *
 * @ret_filters: what the wishes name, for own_filters()
 */
static int read_wishes(const struct etw_link *link, const struct etw_registration *registration,
		       const struct wire_enable *enable, struct etw_enable_wish *ret,
		       struct etw_filters **ret_filters)
{
	int r = 0;

	memset(ret, 0, sizeof(*ret) * WIRE_ENABLE_SLOTS);
	for (unsigned i = 0; i < WIRE_ENABLE_SLOTS; i++)
		ret_filters[i] = NULL;
	for (unsigned i = 0; i < WIRE_ENABLE_SLOTS; i++) {
		const struct wire_enable_slot *slot = &enable->slots[i];
		int status;

		if (!slot->is_used)
			continue;
		/* Without memory for them the session gets nothing, rather than more than it wants. */
		status = etw_filters_make(
			slot->filters,
			registration->owned_filters[link->index * WIRE_ENABLE_SLOTS + i],
			&ret_filters[i]);
		ret[i] = (struct etw_enable_wish){
			.ring = slot->ring_set
					? etw_provider_ring_sets_find(link->index, slot->ring_set)
					: NULL,
			.match_any = slot->match_any,
			.match_all = slot->match_all,
			.property = slot->property,
			.level = slot->level,
			.filter = ret_filters[i] ? &ret_filters[i]->filter : NULL,
		};
		if (ret[i].ring && status == 0)
			continue;
		r = slot->ring_set == 0 ? -ENOENT : status < 0 ? status : link->map_status;
		ret[i].ring = etw_missing_find(link->index, slot->session_id,
					       slot->ring_set ? r : 0);
	}
	return r;
}

static bool has_slot(const struct wire_enable *enable)
{
	for (unsigned i = 0; i < WIRE_ENABLE_SLOTS; i++) {
		if (enable->slots[i].is_used)
			return true;
	}
	return false;
}

/*
 * Notes what the host said. Returns whether the callback is to hear of it: what a new host repeats after
 * the death of the old one is no news.
 */
static bool note(struct etw_enable_link *info, const struct wire_enable *enable, bool is_changed)
{
	const bool is_enabled = has_slot(enable);
	const bool is_repeated = !info->is_confirmed && !is_changed && is_enabled &&
				 info->is_enabled && info->level == enable->level &&
				 info->match_any == enable->match_any &&
				 info->match_all == enable->match_all &&
				 enable->control_code == EVENT_CONTROL_CODE_ENABLE_PROVIDER;

	info->is_confirmed = true;
	info->is_enabled = is_enabled;
	info->level = enable->level;
	info->match_any = enable->match_any;
	info->match_all = enable->match_all;
	return enable->has_callback && !is_repeated;
}

void etw_link_report(struct etw_link *link)
{
	struct wire_message head = {.type = WIRE_UNDELIVERED};
	struct wire_undelivered body;
	int status;

	while (link->state == ETW_LINK_CONNECTED && etw_missing_next(link->index, &body, &status)) {
		head.status = status;
		if (etw_link_answer_undelivered(link, &head, &body) < 0)
			return;
	}
}

/*
 * A host numbers its own sessions from 0; the gate has those of further links above.
 *
 * @bytes: the datagram, in which @enable's filter lies
 */
static void number_instances(const struct etw_link *link, const struct wire_enable *enable,
			     uint8_t *bytes)
{
	if (link->index && enable->filter_type == EVENT_FILTER_TYPE_SCHEMATIZED)
		wire_filter_blocks_shift(bytes + (enable->filter.at - bytes), enable->filter.left,
					 link->index * WIRE_ENABLE_SLOTS);
}

static int handle_enable(struct etw_link *link, struct etw_ipc_message *message)
{
	struct wire_message answer = {.type = WIRE_ENABLE_DONE, .request = message->head.request};
	struct etw_enable_wish wishes[WIRE_ENABLE_SLOTS];
	struct etw_filters *filters[WIRE_ENABLE_SLOTS];
	struct etw_registration *registration;
	struct wire_enable enable;

	TRY(wire_message_decode_enable(message->datagram, &enable));
	number_instances(link, &enable, message->bytes);
	etw_provider_lock();
	registration = etw_registration_find(enable.registration);
	if (registration) { /* else it was unregistered meanwhile, and the host is about to hear it */
		bool is_changed;

		answer.status = read_wishes(link, registration, &enable, wishes, filters);
		is_changed = etw_enable_set(registration, link->index, wishes);
		own_filters(registration, link->index, filters);
		if (note(&registration->links[link->index], &enable, is_changed))
			etw_link_tell(registration, link->index, &enable);
	}
	etw_link_report(link); /* before a session that ends hears of the last process's answer */
	(void)etw_link_answer(link, &answer);
	etw_provider_unlock();
	return 0;
}

static void end_state(struct etw_link *link, struct etw_registration *registration)
{
	static const struct etw_enable_wish nothing[WIRE_ENABLE_SLOTS];
	static struct etw_filters *const no_filters[WIRE_ENABLE_SLOTS];
	const struct wire_enable enable = {.control_code = EVENT_CONTROL_CODE_DISABLE_PROVIDER,
					   .has_callback = 1};

	(void)etw_enable_set(registration, link->index, nothing);
	own_filters(registration, link->index, no_filters);
	(void)note(&registration->links[link->index], &enable, /* is_changed= */ true);
	etw_link_tell(registration, link->index, &enable);
}

static void retire_unannounced(unsigned link)
{
	struct etw_ring_mapping *next;

	for (struct etw_ring_mapping *i = etw_provider_ring_sets_unannounced(link, NULL); i;
	     i = next) {
		next = etw_provider_ring_sets_unannounced(link, i);
		(void)etw_enable_retire_ring(i);
	}
}

void etw_link_end_states(struct etw_link *link)
{
	for (struct etw_registration *i = etw_registrations + 1; i < etw_registration_end(); i++) {
		const struct etw_enable_link *info = &i->links[link->index];

		if (!i->is_used || (link->state == ETW_LINK_CONNECTED && info->is_confirmed) ||
		    !(info->is_enabled || is_link_enabled(i, link->index)))
			continue;
		end_state(link, i);
	}
	retire_unannounced(link->index);
	etw_outside_end(link);
}

/* The answer to a REGISTER or to TRAITS that says no. */
static void note_denied(const struct etw_link *link, uint32_t request)
{
	for (struct etw_registration *i = etw_registrations + 1; i < etw_registration_end(); i++) {
		struct etw_enable_link *info = &i->links[link->index];

		if (!i->is_used || !info->is_sent)
			continue;
		if (info->traits_request == request)
			info->is_join_denied = true;
		else if (info->sync_request == request)
			info->is_denied = true;
	}
}

static int handle_reply(struct etw_link *link, const struct wire_message *head)
{
	etw_provider_lock();
	link->replied = head->request;
	link->is_slow = false;
	if (head->status == -EACCES)
		note_denied(link, head->request);
	if (link->sync_sent && head->request == link->sync_sent) {
		link->sync_sent = 0;
		link->synced = head->request;
		if (link->is_confirming) {
			link->is_confirming = false;
			etw_link_end_states(link);
		}
		etw_provider_wake();
	}
	etw_link_pump(link);
	etw_own_images_replied(link, head->request, head->status);
	etw_provider_unlock();
	return 0;
}

static int handle_ring_set(struct etw_link *link, const struct etw_ipc_message *message)
{
	const struct etw_ring_set_fds fds = {message->fds[0], message->fds[1]};
	struct wire_ring_set_ref ref;
	int r;

	TRY(wire_message_decode_ring_set_ref(message->datagram, &ref));
	if (message->is_cut)
		r = -EMFILE;
	else if (fds.page < 0 || fds.rings < 0)
		return -EPROTO;
	etw_provider_lock();
	if (!message->is_cut)
		r = etw_provider_ring_sets_add(link->index, ref.ring_set, &fds, link->clock);
	/* What is enabled with it next is refused, and the host is told. */
	if (r < 0)
		link->map_status = r;
	etw_provider_unlock();
	return r == -EPROTO ? r : 0;
}

static int handle_ring_retire(struct etw_link *link, const struct etw_ipc_message *message)
{
	struct wire_message answer = {.type = WIRE_RING_RETIRED, .request = message->head.request};
	struct etw_ring_mapping *ring;
	struct wire_ring_set_ref ref;

	TRY(wire_message_decode_ring_set_ref(message->datagram, &ref));
	etw_provider_lock();
	ring = etw_provider_ring_sets_find(link->index, ref.ring_set);
	if (ring)
		answer.status = etw_enable_retire_ring(ring);
	(void)etw_link_answer_ring(link, &answer, &ref);
	etw_provider_unlock();
	return 0;
}

int etw_link_handle(struct etw_link *link, struct etw_ipc_message *message)
{
	switch (message->head.type) {
	case WIRE_REPLY:
		return handle_reply(link, &message->head);
	case WIRE_RING_SET:
		return handle_ring_set(link, message);
	case WIRE_ENABLE:
		return handle_enable(link, message);
	case WIRE_PRIVATE_START:
	case WIRE_PRIVATE_CONTROL:
	case WIRE_PRIVATE_ENABLE:
	case WIRE_PRIVATE_WISH:
		return etw_outside_handle(link, message);
	case WIRE_RING_RETIRE:
		return handle_ring_retire(link, message);
	default:
		return -EPROTO;
	}
}
