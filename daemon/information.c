/* SPDX-License-Identifier: MIT */
/* See information.h. */
#include "daemon/information.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <evntrace.h>
#include <wmistr.h>

#include "base/macros.h"
#include "daemon/access.h"
#include "daemon/patient_clock.h"
#include "daemon/source_providers.h"
#include "session/common/config.h"
#include "source/kernel/kernel_source.h"

#define MS_PER_S 1000

/* What a query answers; @at borrowed. */
static int answer(struct etwd_peer *peer, uint32_t request, const void *at, size_t bytes)
{
	const struct wire_message head = {.type = WIRE_INFORMATION, .request = request};
	const struct wire_run run = {{at, bytes}};

	etwd_peer_send(peer, wire_message_encode_run(&head, &run, peer->peers->outgoing), -1);
	return 0;
}

static int answer_number(struct etwd_peer *peer, uint32_t request, uint32_t number)
{
	const le32 stored = le32_of(number);

	return answer(peer, request, &stored, sizeof(stored));
}

/* An array of GUIDs, as it lies in the caller's memory. NULL for none. */
static int copy_guids(struct etw_bytes bytes, GUID **ret, size_t *ret_count)
{
	GUID *guids = NULL;

	if (bytes.left) {
		guids = malloc(bytes.left);
		if (!guids)
			return -ENOMEM;
		memcpy(guids, bytes.at, bytes.left);
	}
	*ret = guids;
	*ret_count = bytes.left / sizeof(GUID);
	return 0;
}

static int check_captured(const struct etwd_enable_parts *parts, const struct etwd_peer *peer,
			  struct etw_bytes guids)
{
	for (; guids.left; (void)etw_bytes_take(&guids, sizeof(GUID))) {
		GUID guid;

		memcpy(&guid, guids.at, sizeof(guid));
		TRY(etwd_access_check(parts->sessions->security, peer, &guid, TRACELOG_GUID_ENABLE,
				      "capture the state of"));
	}
	return 0;
}

/* Without bytes nothing is captured any more. */
static int set_captured(const struct etwd_enable_parts *parts, const struct etwd_peer *peer,
			struct etwd_session *session, struct etw_bytes bytes)
{
	struct etwd_session_settings *settings = &session->settings;
	TRACE_PERIODIC_CAPTURE_STATE_INFO info = {0};
	GUID *guids = NULL;
	size_t count = 0;

	if (bytes.left) {
		if (bytes.left < sizeof(info))
			return -EMSGSIZE;
		memcpy(&info, etw_bytes_take(&bytes, sizeof(info)), sizeof(info));
		if (bytes.left != info.ProviderCount * sizeof(GUID))
			return -EMSGSIZE;
		if (info.CaptureStateFrequencyInSeconds < WIRE_CAPTURE_SECONDS_MIN ||
		    info.ProviderCount == 0 || info.ProviderCount > WIRE_CAPTURE_PROVIDERS_MAX)
			return -EINVAL;
		TRY(check_captured(parts, peer, bytes));
	}
	TRY(copy_guids(bytes, &guids, &count));
	free(settings->captured);
	settings->captured = guids;
	settings->captured_count = count;
	settings->capture_s = info.CaptureStateFrequencyInSeconds;
	settings->capture_next_ms = etwd_patient_now_ms() +
				    (uint64_t)settings->capture_s * MS_PER_S;
	return 0;
}

/* Without bytes nothing is disallowed. */
static int set_disallowed(const struct etwd_enable_parts *parts, struct etwd_session *session,
			  struct etw_bytes bytes)
{
	GUID *guids;
	size_t count;

	if (bytes.left % sizeof(GUID))
		return -EMSGSIZE;
	if (bytes.left / sizeof(GUID) > WIRE_DISALLOWED_MAX)
		return -EINVAL;
	TRY(copy_guids(bytes, &guids, &count));
	etwd_enable_disallow(parts, session, guids, count);
	return 0;
}

static int set(const struct etwd_enable_parts *parts, struct etwd_peer *peer,
	       const struct wire_inform *body, uint32_t request)
{
	struct etwd_session *session;

	TRY(etwd_sessions_find_for(parts->sessions, peer, ETWD_ACT_CONTROL, body->handle,
				   &session));
	switch (body->class_) {
	case TraceSetDisallowList:
		TRY(set_disallowed(parts, session, body->bytes));
		break;
	case TracePeriodicCaptureStateListInfo:
		TRY(set_captured(parts, peer, session, body->bytes));
		break;
	default:
		return -EOPNOTSUPP;
	}
	TRY(etwd_handover_write(parts->handover));
	return answer(peer, request, NULL, 0);
}

static int answer_built(struct etwd_peer *peer, uint32_t request)
{
	const struct etw_source_ops *ops = &etw_kernel_source;
	uint8_t room[WIRE_GROUP_MASKS_WORDS * 4 + ETW_SOURCE_STACK_HOOKS_MAX * 2];
	uint8_t *at = room;

	for (size_t i = 0; i < WIRE_GROUP_MASKS_WORDS; i++, at += 4)
		etw_store32(at, ops->masks[i]);
	for (uint32_t i = 0; i < ops->stack_hook_count && i < ETW_SOURCE_STACK_HOOKS_MAX;
	     i++, at += 2)
		etw_store16(at, ops->stack_hooks[i]);
	return answer(peer, request, room, (size_t)(at - room));
}

static int query(const struct etwd_enable_parts *parts, struct etwd_peer *peer,
		 const struct wire_inform *body, uint32_t request)
{
	struct etwd_session *session;

	if (body->class_ == TraceMaxLoggersQuery)
		return answer_number(peer, request,
				     (uint32_t)peer->peers->budget->limits[ETWD_SESSIONS].all);
	if (body->class_ == WIRE_INFORM_KERNEL_BUILT)
		return answer_built(peer, request);
	TRY(etwd_sessions_find_for(parts->sessions, peer, ETWD_ACT_QUERY, body->handle, &session));
	if (body->class_ == TraceDisallowListQuery)
		return answer(peer, request, session->settings.disallowed,
			      session->settings.disallowed_count * sizeof(GUID));
	if (body->class_ == TraceStreamCount)
		return answer_number(peer, request,
				     session->has_one_stream ? 1 : etw_session_cpu_count());
	return -EOPNOTSUPP;
}

int etwd_information_handle(const struct etwd_enable_parts *parts, struct etwd_peer *peer,
			    const struct etw_ipc_message *message)
{
	struct wire_inform body;
	int r;

	TRY(wire_message_decode_inform(message->datagram, &body));
	r = body.is_set ? set(parts, peer, &body, message->head.request)
			: query(parts, peer, &body, message->head.request);
	if (r < 0)
		etwd_peer_answer(peer, WIRE_INFORMATION, message->head.request, r);
	return 0;
}

static void capture_one(const struct etwd_session_parts *parts, struct etwd_session *session,
			const GUID *guid)
{
	if (etwd_enable_is_source(parts->enable, guid))
		etwd_source_provider_capture(parts, session, guid);
	else
		etwd_enable_capture(parts->enable, session, guid);
}

/* One that comes late, as behind a host's death, is not caught up with. */
static void capture(const struct etwd_session_parts *parts, struct etwd_session *session,
		    uint64_t now_ms)
{
	struct etwd_session_settings *settings = &session->settings;

	for (size_t i = 0; i < settings->captured_count; i++)
		capture_one(parts, session, &settings->captured[i]);
	settings->capture_next_ms = now_ms + (uint64_t)settings->capture_s * MS_PER_S;
}

uint64_t etwd_information_check(const struct etwd_session_parts *parts, uint64_t now_ms)
{
	uint64_t next_ms = 0;

	for (size_t i = 0; i < ETWD_SESSIONS_MAX; i++) {
		struct etwd_session *session = parts->sessions->table[i];

		if (!session || session->state != ETWD_SESSION_RUNNING ||
		    !session->settings.captured_count)
			continue;
		if (session->settings.capture_next_ms <= now_ms)
			capture(parts, session, now_ms);
		if (!next_ms || session->settings.capture_next_ms < next_ms)
			next_ms = session->settings.capture_next_ms;
	}
	return next_ms;
}
