/* SPDX-License-Identifier: MIT */
/* See system_providers.h. */
#include "daemon/system_providers.h"

#include <errno.h>

#include <evntcons.h>
#include <evntrace.h>
#include <wmistr.h>

#include "base/macros.h"
#include "daemon/access.h"
#include "wire/enable_request.h"
#include "wire/system_providers.h"

/* Its events have no level, no items and no filters but the session's. */
static int check(const struct wire_enable_provider *body)
{
	TRY(etw_enable_request_check(body));
	if (body->code == EVENT_CONTROL_CODE_CAPTURE_STATE)
		return -EOPNOTSUPP;
	if (body->code == EVENT_CONTROL_CODE_ENABLE_PROVIDER &&
	    (body->property || body->filters.left))
		return -EOPNOTSUPP;
	return 0;
}

static int enable(const struct etwd_session_parts *parts, struct etwd_peer *peer,
		  const struct wire_enable_provider *body, uint32_t request)
{
	struct etw_session_kernel_change change = {.wanted.parts = WIRE_KERNEL_MASKS,
						   .keeps_masks = true};
	struct etwd_session *session;

	TRY(check(body));
	TRY(etwd_sessions_find_for(parts->sessions, peer, ETWD_ACT_CONTROL, body->handle,
				   &session));
	if (!session->is_system_logger)
		return -EINVAL;
	TRY(etwd_access_check(parts->sessions->security, peer, &body->provider,
			      TRACELOG_GUID_ENABLE, "enable"));
	(void)etw_system_provider_masks(&body->provider, 0, change.without);
	if (body->code == EVENT_CONTROL_CODE_ENABLE_PROVIDER)
		change.unknown = etw_system_provider_masks(&body->provider, body->match_any,
							   change.wanted.group_masks);
	return etwd_session_ask_kernel(parts, session, peer, request, /* is_plain= */ true,
				       &change);
}

void etwd_system_provider_enable(const struct etwd_session_parts *parts, struct etwd_peer *peer,
				 const struct wire_enable_provider *body, uint32_t request)
{
	int r = enable(parts, peer, body, request);

	if (r < 0)
		etwd_peer_answer(peer, WIRE_REPLY, request, r);
}
