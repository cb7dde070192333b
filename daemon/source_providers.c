/* SPDX-License-Identifier: MIT */
/* See source_providers.h. */
#include "daemon/source_providers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <evntcons.h>
#include <evntrace.h>
#include <wmistr.h>

#include "base/macros.h"
#include "daemon/access.h"
#include "daemon/log.h"
#include "wire/enable_request.h"
#include "wire/well_known.h"

bool etwd_source_provider_is(const struct etwd_session_parts *parts,
			     const struct wire_enable_provider *body)
{
	return !(body->property & EVENT_ENABLE_PROPERTY_PROVIDER_GROUP) &&
	       etwd_enable_is_source(parts->enable, &body->provider);
}

static int check_rights(const struct etwd_session_parts *parts, const struct etwd_peer *peer,
			const GUID *provider)
{
	static const GUID kernel = WIRE_KERNEL_LOGGER_GUID;

	TRY(etwd_access_check(parts->sessions->security, peer, &kernel,
			      TRACELOG_ACCESS_KERNEL_LOGGER, "record the kernel by"));
	return etwd_access_check(parts->sessions->security, peer, provider, TRACELOG_GUID_ENABLE,
				 "enable");
}

/* Owned by the caller; NULL: no memory. */
static struct etw_session_provider_change *make_change(const struct wire_enable_provider *body)
{
	struct etw_session_provider_change *change = calloc(1, sizeof(*change));

	if (!change)
		return NULL;
	change->code = body->code;
	change->wanted.guid = body->provider;
	change->wanted.match_any = body->match_any;
	change->wanted.match_all = body->match_all;
	change->wanted.property = body->property;
	change->wanted.level = body->level;
	change->wanted.filter_bytes = (uint32_t)body->filters.left;
	if (body->filters.left)
		memcpy(change->wanted.filters, body->filters.at, body->filters.left);
	return change;
}

static int check_change(struct etwd_session *session,
			const struct etw_session_provider_change *change)
{
	struct etw_fault fault = {0};
	int r;

	if (change->code != EVENT_CONTROL_CODE_ENABLE_PROVIDER)
		return 0;
	r = etw_session_check_provider(session->engine, &change->wanted, &fault);
	if (r < 0)
		etwd_log("session %u: a provider is not enabled: %s%s%s", (unsigned)session->id,
			 fault.field ? fault.field : "", fault.field ? ": " : "",
			 fault.sentence ? fault.sentence : strerror(-r));
	return r;
}

static int enable(const struct etwd_session_parts *parts, struct etwd_session *session,
		  struct etwd_peer *peer, const struct wire_enable_provider *body, uint32_t request)
{
	CLEANUP(freep) struct etw_session_provider_change *change = NULL;

	/* No list of filters that could be applied is longer. */
	if (body->filters.left > sizeof(change->wanted.filters))
		return -EOPNOTSUPP;
	change = make_change(body);
	if (!change)
		return -ENOMEM;
	TRY(check_change(session, change));
	if (body->code == EVENT_CONTROL_CODE_ENABLE_PROVIDER)
		TRY(etwd_sessions_take_sources(parts->sessions, session));
	TRY(etwd_enable_note(parts->enable, session, body));
	return etwd_session_ask_provider(parts, session, peer, request, TAKE(change));
}

static int enable_for(const struct etwd_session_parts *parts, struct etwd_peer *peer,
		      const struct wire_enable_provider *body, uint32_t request)
{
	struct etwd_session *session;

	TRY(etw_enable_request_check(body));
	TRY(etwd_sessions_find_for(parts->sessions, peer, ETWD_ACT_CONTROL, body->handle,
				   &session));
	TRY(check_rights(parts, peer, &body->provider));
	return enable(parts, session, peer, body, request);
}

void etwd_source_provider_enable(const struct etwd_session_parts *parts, struct etwd_peer *peer,
				 const struct wire_enable_provider *body, uint32_t request)
{
	int r = enable_for(parts, peer, body, request);

	if (r < 0)
		etwd_peer_answer(peer, WIRE_REPLY, request, r);
}

int etwd_source_provider_enable_own(const struct etwd_session_parts *parts,
				    struct etwd_session *session,
				    const struct wire_enable_provider *body)
{
	TRY(etw_enable_request_check(body));
	return enable(parts, session, /* peer= */ NULL, body, /* request= */ 0);
}

void etwd_source_provider_capture(const struct etwd_session_parts *parts,
				  struct etwd_session *session, const GUID *guid)
{
	const struct etwd_provider *provider = etwd_providers_find(parts->enable->providers, guid);
	const struct etwd_enable *wish = provider && provider->enable_count
						 ? etwd_provider_enable_in(provider, session->id)
						 : NULL;
	struct wire_enable_provider body = {.provider = *guid,
					    .code = EVENT_CONTROL_CODE_CAPTURE_STATE};

	if (!wish)
		return;
	body.level = wish->level;
	body.match_any = wish->match_any;
	body.match_all = wish->match_all;
	(void)enable(parts, session, /* peer= */ NULL, &body, /* request= */ 0);
}
