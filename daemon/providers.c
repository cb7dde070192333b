/* SPDX-License-Identifier: MIT */
/* See providers.h. */
#include "daemon/providers.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <evntcons.h>
#include <evntrace.h>

#include "base/guid.h"
#include "base/macros.h"

#define TRAIT_HEAD_BYTES 3 /* u16 size, u8 type */

/* Every registration may have a provider and a group of its own: what only those that are enabled need is apart. */
static_assert(sizeof(struct etwd_registration) + 2 * sizeof(struct etwd_provider) <=
		      ETWD_REGISTRATION_BYTES,
	      "as much as the budget says");

/* Of a provider that nobody has enabled. Never written. */
static const struct etwd_enable no_enables[WIRE_ENABLE_SLOTS];

static struct etwd_enable *nobodys_enables(void)
{
	return (struct etwd_enable *)(uintptr_t)no_enables;
}

void etwd_providers_init(struct etwd_providers *providers, struct etwd_budget *budget)
{
	memset(providers, 0, sizeof(*providers));
	providers->budget = budget;
	providers->next_serial = 1;
}

static struct etwd_provider **bucket_of(const struct etwd_providers *providers, const GUID *guid)
{
	size_t at = etw_guid_hash(guid) % ETWD_PROVIDERS_BUCKETS;

	return (struct etwd_provider **)(uintptr_t)&providers->buckets[at];
}

static struct etwd_provider *find(const struct etwd_providers *providers, const GUID *guid,
				  bool is_group)
{
	struct etwd_provider *provider = *bucket_of(providers, guid);

	while (provider &&
	       (provider->is_group != is_group || !etw_guid_equal(&provider->guid, guid)))
		provider = provider->next;
	return provider;
}

struct etwd_provider *etwd_providers_find(const struct etwd_providers *providers, const GUID *guid)
{
	return find(providers, guid, /* is_group= */ false);
}

struct etwd_provider *etwd_providers_find_group(const struct etwd_providers *providers,
						const GUID *guid)
{
	return find(providers, guid, /* is_group= */ true);
}

static struct etwd_provider *find_or_add(struct etwd_providers *providers, const GUID *guid,
					 bool is_group)
{
	struct etwd_provider *provider = find(providers, guid, is_group);
	struct etwd_provider **bucket = bucket_of(providers, guid);

	if (provider)
		return provider;
	provider = calloc(1, sizeof(*provider));
	if (!provider)
		return NULL;
	provider->guid = *guid;
	provider->is_group = is_group;
	provider->enables = nobodys_enables();
	provider->next = *bucket;
	*bucket = provider;
	return provider;
}

static void free_enables(struct etwd_provider *provider)
{
	if (provider->enables != no_enables)
		free(provider->enables);
	provider->enables = nobodys_enables();
}

/* A provider that nobody has registered or enabled is forgotten. */
static void drop_if_unused(struct etwd_providers *providers, struct etwd_provider *provider)
{
	struct etwd_provider **at = bucket_of(providers, &provider->guid);

	if (provider->registrations || provider->members || provider->enable_count)
		return;
	while (*at != provider)
		at = &(*at)->next;
	*at = provider->next;
	free_enables(provider);
	free(provider);
}

/* A limit is a limit, whoever meets it. */
static int charge(struct etwd_providers *providers, uid_t uid, enum etwd_resource resource,
		  uint64_t amount)
{
	int r = etwd_budget_take(providers->budget, uid, resource, amount);

	return r < 0 && r != -ENOMEM ? -ENOSPC : r;
}

struct etwd_registration *etwd_registrations_find(const struct etwd_registrations *own,
						  uint32_t number)
{
	struct etwd_registration *registration = own->first;

	while (registration && registration->number != number)
		registration = registration->next_of_peer;
	return registration;
}

static void link_registration(struct etwd_registration *registration,
			      struct etwd_registrations *own)
{
	struct etwd_provider *provider = registration->provider;

	registration->next_of_provider = provider->registrations;
	registration->at_of_provider = &provider->registrations;
	if (registration->next_of_provider)
		registration->next_of_provider->at_of_provider = &registration->next_of_provider;
	provider->registrations = registration;
	registration->next_of_peer = own->first;
	registration->at_of_peer = &own->first;
	if (registration->next_of_peer)
		registration->next_of_peer->at_of_peer = &registration->next_of_peer;
	own->first = registration;
	own->count++;
}

static struct etwd_enable *find_enable(struct etwd_provider *provider, uint32_t session_id)
{
	for (unsigned i = 0; i < WIRE_ENABLE_SLOTS; i++) {
		if (provider->enables[i].session_id == session_id)
			return &provider->enables[i];
	}
	return NULL;
}

static void clear_enable(struct etwd_providers *providers, struct etwd_enable *enable)
{
	providers->filter_bytes -= enable->filter_bytes;
	etwd_budget_give(providers->budget, enable->uid, ETWD_FILTER_BYTES, enable->filter_bytes);
	free(enable->filters);
	*enable = (struct etwd_enable){0};
}

static void drop_enable(struct etwd_providers *providers, struct etwd_provider *provider,
			struct etwd_enable *enable)
{
	etwd_budget_give(providers->budget, enable->uid, ETWD_ENABLES, 1);
	clear_enable(providers, enable);
	provider->enable_count--;
	providers->enable_count--;
	if (!provider->enable_count)
		free_enables(provider);
}

/* Others may not take a provider away from a user's sessions by what they register. */
static bool is_trusted(const struct etwd_registration *registration, uid_t uid)
{
	return registration->peer->who.uid == 0 || registration->peer->who.uid == uid;
}

/*
 * Whether a session of @uid shares the provider with no other: all who registered it did so by RegisterTraceGuids, and
 * @uid itself or root is among them. Each classic registration is told of the last session alone all the same.
 */
static bool is_classic_for(const struct etwd_provider *provider, uid_t uid)
{
	bool has_trusted = false;

	for (const struct etwd_registration *one = provider->registrations; one;
	     one = one->next_of_provider) {
		if (one->kind != WIRE_REGISTRATION_CLASSIC)
			return false;
		has_trusted |= is_trusted(one, uid);
	}
	return has_trusted;
}

static struct etwd_enable *find_last(struct etwd_provider *provider)
{
	struct etwd_enable *last = NULL;

	for (unsigned i = 0; i < WIRE_ENABLE_SLOTS; i++) {
		struct etwd_enable *enable = &provider->enables[i];

		if (enable->session_id && (!last || enable->serial > last->serial))
			last = enable;
	}
	return last;
}

/*
 * A classic provider's last session has it alone; who had it before hears nothing of that. @news: what has been
 * registered just now; NULL when it is the session that is new.
 */
static void take_over(struct etwd_providers *providers, struct etwd_provider *provider,
		      const struct etwd_registration *news)
{
	const struct etwd_enable *last = find_last(provider);

	for (unsigned i = 0; i < WIRE_ENABLE_SLOTS; i++) {
		struct etwd_enable *enable = &provider->enables[i];

		if (enable->session_id && enable != last &&
		    (!news || is_trusted(news, enable->uid)) &&
		    is_classic_for(provider, enable->uid))
			drop_enable(providers, provider, enable);
	}
}

const struct etwd_enable *etwd_provider_enable_in(const struct etwd_provider *provider,
						  uint32_t session_id)
{
	return find_enable((struct etwd_provider *)(uintptr_t)provider, session_id);
}

/* u16 size of all, a name with its NUL, then {u16 size, u8 type, data}: of type 1 the group's GUID. */
GUID etwd_traits_group(struct etw_bytes traits)
{
	const uint8_t *end;
	uint16_t size;

	if (!etw_bytes_u16(&traits, &size) || size != traits.left + sizeof(size))
		return (GUID){0};
	end = memchr(traits.at, 0, traits.left);
	if (!end)
		return (GUID){0};
	(void)etw_bytes_take(&traits, (size_t)(end - traits.at) + 1);
	while (etw_bytes_u16(&traits, &size) && size >= TRAIT_HEAD_BYTES) {
		const uint8_t *at = etw_bytes_take(&traits, size - sizeof(size));

		if (!at)
			break;
		if (at[0] == EtwProviderTraitTypeGroup && size == TRAIT_HEAD_BYTES + sizeof(GUID))
			return etw_guid_read(at + 1);
	}
	return (GUID){0};
}

static void leave_group(struct etwd_providers *providers, struct etwd_registration *registration)
{
	struct etwd_provider *group = registration->group;

	if (!group)
		return;
	*registration->at_of_group = registration->next_of_group;
	if (registration->next_of_group)
		registration->next_of_group->at_of_group = registration->at_of_group;
	registration->group = NULL;
	drop_if_unused(providers, group);
}

int etwd_providers_join(struct etwd_providers *providers, struct etwd_registration *registration,
			const GUID *group)
{
	struct etwd_provider *joined;

	if (registration->group && etw_guid_equal(&registration->group->guid, group))
		return 0;
	leave_group(providers, registration);
	if (etw_guid_is_null(group))
		return 0;
	joined = find_or_add(providers, group, /* is_group= */ true);
	if (!joined)
		return -ENOMEM;
	registration->group = joined;
	registration->next_of_group = joined->members;
	registration->at_of_group = &joined->members;
	if (registration->next_of_group)
		registration->next_of_group->at_of_group = &registration->next_of_group;
	joined->members = registration;
	return 0;
}

/* NULL: no memory. */
static struct etwd_registration *new_registration(struct etwd_providers *providers,
						  const GUID *provider)
{
	CLEANUP(freep) struct etwd_registration *registration = calloc(1, sizeof(*registration));

	if (!registration)
		return NULL;
	registration->provider = find_or_add(providers, provider, /* is_group= */ false);
	if (!registration->provider)
		return NULL;
	registration->serial = providers->next_serial;
	if (etwd_registered_add(&providers->registered, registration->serial, registration) < 0) {
		drop_if_unused(providers, registration->provider);
		return NULL;
	}
	providers->next_serial++;
	return TAKE(registration);
}

int etwd_providers_register(struct etwd_providers *providers, struct etwd_peer *peer,
			    struct etwd_registrations *own, const struct wire_register *body,
			    struct etwd_registration **ret)
{
	struct etwd_registration *registration;

	if (own->count >= ETWD_REGISTRATIONS_PER_PEER_MAX ||
	    providers->registration_count >= ETWD_REGISTRATIONS_MAX)
		return -ENOSPC;
	if (etwd_registrations_find(own, body->registration))
		return -EEXIST;
	TRY(charge(providers, peer->who.uid, ETWD_REGISTRATIONS, 1));
	registration = new_registration(providers, &body->provider);
	if (!registration) {
		etwd_budget_give(providers->budget, peer->who.uid, ETWD_REGISTRATIONS, 1);
		return -ENOMEM;
	}
	registration->peer = peer;
	registration->number = body->registration;
	registration->kind = body->kind;
	link_registration(registration, own);
	providers->registration_count++;
	/* What sessions wanted before anybody knew that the provider is a classic one; the last one has it. */
	if (registration->kind == WIRE_REGISTRATION_CLASSIC)
		take_over(providers, registration->provider, registration);
	*ret = registration;
	return 0;
}

static void remove_registration(struct etwd_providers *providers, struct etwd_registrations *own,
				struct etwd_registration *registration)
{
	*registration->at_of_provider = registration->next_of_provider;
	if (registration->next_of_provider)
		registration->next_of_provider->at_of_provider = registration->at_of_provider;
	*registration->at_of_peer = registration->next_of_peer;
	if (registration->next_of_peer)
		registration->next_of_peer->at_of_peer = registration->at_of_peer;
	own->count--;
	leave_group(providers, registration);
	etwd_registered_remove(&providers->registered, registration->serial);
	providers->registration_count--;
	etwd_budget_give(providers->budget, registration->peer->who.uid, ETWD_REGISTRATIONS, 1);
	drop_if_unused(providers, registration->provider);
	free(registration);
}

int etwd_providers_unregister(struct etwd_providers *providers, struct etwd_registrations *own,
			      uint32_t number)
{
	struct etwd_registration *registration = etwd_registrations_find(own, number);

	if (!registration)
		return -ENOENT;
	remove_registration(providers, own, registration);
	return 0;
}

size_t etwd_providers_unregister_some(struct etwd_providers *providers,
				      struct etwd_registrations *own, size_t count)
{
	size_t done = 0;

	for (; done < count && own->first; done++)
		remove_registration(providers, own, own->first);
	return done;
}

/* Where the enables of a provider that nobody had enabled go. */
static int make_enables(struct etwd_provider *provider)
{
	struct etwd_enable *made;

	if (provider->enables != no_enables)
		return 0;
	made = calloc(WIRE_ENABLE_SLOTS, sizeof(*made));
	if (!made)
		return -ENOMEM;
	provider->enables = made;
	return 0;
}

/* A new slot for a session. */
static int add_enable(struct etwd_providers *providers, struct etwd_provider *provider, uid_t uid,
		      struct etwd_enable **ret)
{
	struct etwd_enable *enable;

	TRY(make_enables(provider));
	enable = find_enable(provider, 0);
	if (!enable || providers->enable_count >= ETWD_ENABLES_MAX)
		return -ENOSPC;
	TRY(charge(providers, uid, ETWD_ENABLES, 1));
	provider->enable_count++;
	providers->enable_count++;
	*ret = enable;
	return 0;
}

/*
 * Puts @wanted, which owns its filters, into the session's slot. Leaves everything alone on an error. The new
 * filters are charged beside the old ones: who replaces them has room for both.
 */
static int place_enable(struct etwd_providers *providers, struct etwd_provider *provider,
			const struct etwd_enable *wanted)
{
	struct etwd_enable *enable = find_enable(provider, wanted->session_id);
	int r;

	TRY(charge(providers, wanted->uid, ETWD_FILTER_BYTES, wanted->filter_bytes));
	r = enable ? 0 : add_enable(providers, provider, wanted->uid, &enable);
	if (r < 0) {
		etwd_budget_give(providers->budget, wanted->uid, ETWD_FILTER_BYTES,
				 wanted->filter_bytes);
		if (!provider->enable_count)
			free_enables(provider);
		return r;
	}
	clear_enable(providers, enable);
	*enable = *wanted;
	enable->serial = providers->next_serial++;
	providers->filter_bytes += enable->filter_bytes;
	take_over(providers, provider, NULL);
	return 0;
}

static bool is_for_events(uint32_t type)
{
	return type == EVENT_FILTER_TYPE_PID || wire_filter_use_of(type) == WIRE_FILTER_EVENT;
}

/* In two rounds: what processes are sent comes first. */
static int copy_filters(const struct etwd_enable *wanted, struct etwd_enable *ret)
{
	size_t at = 0;

	ret->filters = NULL;
	ret->event_filter_bytes = 0;
	if (!wanted->filter_bytes)
		return 0;
	ret->filters = malloc(wanted->filter_bytes);
	if (!ret->filters)
		return -ENOMEM;
	for (int round = 0; round < 2; round++) {
		struct etw_bytes list = {wanted->filters, wanted->filter_bytes};
		struct wire_filter filter;

		while (wire_filter_next(&list, &filter)) {
			if (is_for_events(filter.type) == (round == 0))
				at += wire_filter_put(ret->filters + at, wanted->filter_bytes - at,
						      &filter);
		}
		if (round == 0)
			ret->event_filter_bytes = (uint32_t)at;
	}
	return 0;
}

int etwd_providers_enable(struct etwd_providers *providers, const GUID *guid,
			  const struct etwd_enable *wanted)
{
	struct etwd_enable copy = *wanted;
	struct etwd_provider *provider;
	int r;

	if (wanted->filter_bytes > ETWD_FILTER_BYTES_MAX - providers->filter_bytes)
		return -ENOSPC;
	TRY(copy_filters(wanted, &copy));
	provider = find_or_add(providers, guid,
			       wanted->property & EVENT_ENABLE_PROPERTY_PROVIDER_GROUP);
	r = provider ? place_enable(providers, provider, &copy) : -ENOMEM;
	if (r < 0)
		free(copy.filters);
	if (provider)
		drop_if_unused(providers, provider);
	return r;
}

int etwd_providers_disable(struct etwd_providers *providers, const struct etwd_enabled *what,
			   uint32_t session_id)
{
	struct etwd_provider *provider = find(providers, &what->guid, what->is_group);
	struct etwd_enable *enable;

	if (!provider || !session_id)
		return -ENOENT;
	enable = find_enable(provider, session_id);
	if (!enable)
		return -ENOENT;
	drop_enable(providers, provider, enable);
	drop_if_unused(providers, provider);
	return 0;
}

size_t etwd_providers_enabled(const struct etwd_providers *providers, uint32_t session_id,
			      struct etwd_enabled *ret, size_t room)
{
	size_t count = 0;

	for (size_t i = 0; i < ETWD_PROVIDERS_BUCKETS; i++) {
		for (struct etwd_provider *at = providers->buckets[i]; at; at = at->next) {
			if (!find_enable(at, session_id))
				continue;
			if (count < room)
				ret[count] = (struct etwd_enabled){at->guid, at->is_group};
			count++;
		}
	}
	return count;
}

bool etwd_enable_is_for(const struct etwd_enable *enable,
			const struct etwd_registration *registration)
{
	const struct etw_bytes filters = {enable->filters, enable->filter_bytes};

	return !enable->filter_bytes || !registration->process ||
	       etwd_scope_has(filters, &enable->scope, registration->process);
}

/* Zero as a level or as keywords means no limit, in what processes are told too. */
void etwd_enable_describe(const struct etwd_enable *enable, struct wire_enable_slot *ret)
{
	ret->is_used = 1;
	ret->session_id = enable->session_id;
	ret->level = enable->level ? enable->level : 0xFF;
	ret->property = enable->property;
	ret->match_any = enable->match_any ? enable->match_any : UINT64_MAX;
	ret->match_all = enable->match_all;
	ret->filters = (struct etw_bytes){enable->filters, enable->event_filter_bytes};
}

void etwd_provider_describe_classic(const struct etwd_registration *registration,
				    struct wire_enable *ret, struct etwd_described *ret_enables)
{
	const struct etwd_enable *last = find_last(registration->provider);
	struct wire_enable_slot *slot;

	memset(ret, 0, sizeof(*ret));
	memset(ret_enables, 0, sizeof(*ret_enables));
	ret->control_code = EVENT_CONTROL_CODE_DISABLE_PROVIDER;
	if (!last || !etwd_enable_is_for(last, registration))
		return;
	slot = &ret->slots[last - registration->provider->enables];
	ret_enables->enables[last - registration->provider->enables] = last;
	ret_enables->last = last;
	etwd_enable_describe(last, slot);
	slot->match_any = (uint32_t)last->match_any;
	slot->match_all = 0;
	ret->control_code = EVENT_CONTROL_CODE_ENABLE_PROVIDER;
	ret->level = last->level;
	ret->match_any = slot->match_any;
}

void etwd_providers_done(struct etwd_providers *providers)
{
	for (size_t i = 0; i < ETWD_PROVIDERS_BUCKETS; i++) {
		struct etwd_provider *provider = providers->buckets[i];

		while (provider) {
			struct etwd_provider *next = provider->next;
			struct etwd_registration *registration = provider->registrations;

			while (registration) {
				struct etwd_registration *following =
					registration->next_of_provider;

				free(registration);
				registration = following;
			}
			for (unsigned k = 0; k < WIRE_ENABLE_SLOTS; k++)
				free(provider->enables[k].filters);
			free_enables(provider);
			free(provider);
			provider = next;
		}
	}
	etwd_registered_done(&providers->registered);
	etwd_providers_init(providers, providers->budget);
}
