/* SPDX-License-Identifier: MIT */
/* See wishes.h. */
#include "daemon/wishes.h"

#include <string.h>

#include <evntcons.h>
#include <evntrace.h>

#include "base/guid.h"

bool etwd_wishes_exist(const struct etwd_registration *registration)
{
	return registration->provider->enable_count ||
	       (registration->group && registration->group->enable_count);
}

bool etwd_wishes_disallow(const struct etwd_sessions *sessions, uint32_t session_id,
			  const GUID *provider)
{
	const struct etwd_session *session = etwd_sessions_find(sessions, session_id);

	for (size_t i = 0; session && i < session->settings.disallowed_count; i++) {
		if (etw_guid_equal(&session->settings.disallowed[i], provider))
			return true;
	}
	return false;
}

const struct etwd_enable *etwd_wishes_of(const struct etwd_sessions *sessions,
					 const struct etwd_registration *registration,
					 uint32_t session_id)
{
	const struct etwd_enable *own = etwd_provider_enable_in(registration->provider, session_id);

	if (own || !registration->group ||
	    etwd_wishes_disallow(sessions, session_id, &registration->provider->guid))
		return own;
	return etwd_provider_enable_in(registration->group, session_id);
}

void etwd_wishes_read(const struct etwd_sessions *sessions,
		      const struct etwd_registration *registration, struct etwd_wishes *ret)
{
	const struct etwd_provider *provider = registration->provider;
	const struct etwd_provider *group = registration->group;

	ret->count = 0;
	for (unsigned i = 0; i < WIRE_ENABLE_SLOTS; i++) {
		if (provider->enables[i].session_id &&
		    etwd_enable_is_for(&provider->enables[i], registration))
			ret->enables[ret->count++] = &provider->enables[i];
	}
	for (unsigned i = 0; group && i < WIRE_ENABLE_SLOTS; i++) {
		const struct etwd_enable *enable = &group->enables[i];

		if (enable->session_id && etwd_enable_is_for(enable, registration) &&
		    !etwd_wishes_disallow(sessions, enable->session_id, &provider->guid))
			ret->enables[ret->count++] = enable;
	}
}

/* A session keeps the place that it has in its provider; those of a group take what is free. NULL: nothing is. */
static struct wire_enable_slot *find_slot(const struct etwd_provider *provider,
					  const struct etwd_enable *enable, struct wire_enable *ret)
{
	if (!(enable->property & EVENT_ENABLE_PROPERTY_PROVIDER_GROUP))
		return &ret->slots[enable - provider->enables];
	for (unsigned i = 0; i < WIRE_ENABLE_SLOTS; i++) {
		if (!ret->slots[i].is_used)
			return &ret->slots[i];
	}
	return NULL;
}

void etwd_wishes_describe(const struct etwd_sessions *sessions,
			  const struct etwd_registration *registration, struct wire_enable *ret,
			  struct etwd_described *ret_enables, struct etwd_wishes *ret_left_out)
{
	const struct etwd_enable *last = NULL;
	struct etwd_wishes wishes;

	etwd_wishes_read(sessions, registration, &wishes);
	memset(ret, 0, sizeof(*ret));
	memset(ret_enables, 0, sizeof(*ret_enables));
	ret_left_out->count = 0;
	if (wishes.count)
		ret->match_all = UINT64_MAX;
	for (size_t i = 0; i < wishes.count; i++) {
		const struct etwd_enable *enable = wishes.enables[i];
		struct wire_enable_slot *slot = find_slot(registration->provider, enable, ret);

		if (!slot) {
			ret_left_out->enables[ret_left_out->count++] = enable;
			continue;
		}
		etwd_enable_describe(enable, slot);
		ret_enables->enables[slot - ret->slots] = enable;
		if (slot->level > ret->level)
			ret->level = slot->level;
		ret->match_any |= slot->match_any;
		ret->match_all &= slot->match_all;
		if (!last || enable->serial > last->serial)
			last = enable;
	}
	ret->control_code = last ? EVENT_CONTROL_CODE_ENABLE_PROVIDER
				 : EVENT_CONTROL_CODE_DISABLE_PROVIDER;
	ret_enables->last = last;
}
