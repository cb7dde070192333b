/* SPDX-License-Identifier: MIT */
/* See private_sessions.h. */
#include "daemon/private_sessions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <evntcons.h>
#include <evntrace.h>
#include <wmistr.h>

#include "base/guid.h"
#include "base/macros.h"
#include "base/number.h"
#include "daemon/access.h"
#include "daemon/log.h"
#include "daemon/patient_clock.h"
#include "wire/enable_request.h"
#include "wire/system_providers.h"

/* What a controller waits for: the answers of all processes. */
struct call {
	struct etwd_wait wait; /* first */
	const struct etwd_private_parts *parts;
	uint64_t peer_serial;
	uint32_t request;
	uint32_t type; /* of the answer: SESSION or REPLY */
	uint32_t session_id;
	unsigned asked, done;
	int error; /* the first that a process said */
	bool is_start, is_stop;
	bool is_unheard; /* the controller waits for no callbacks: processes are not asked to answer */
	struct wire_session_info info; /* of those that have it, together */
};

static bool is_member(const struct etwd_client *client, uint32_t session_id)
{
	for (size_t i = 0; i < ETWD_PRIVATE_PER_PROCESS; i++) {
		if (client->private_sessions[i] == session_id)
			return true;
	}
	return false;
}

static bool change_member(struct etwd_client *client, uint32_t from, uint32_t to)
{
	for (size_t i = 0; i < ETWD_PRIVATE_PER_PROCESS; i++) {
		if (client->private_sessions[i] == from) {
			client->private_sessions[i] = to;
			return true;
		}
	}
	return false;
}

static void fill_info(const struct etwd_private_session *session, struct wire_session_info *info)
{
	info->handle = session->id;
	info->uid = session->uid;
	info->config.guid = session->config.guid;
	memcpy(info->config.name, session->config.name, sizeof(info->config.name));
	memcpy(info->config.log_file, session->config.log_file, sizeof(info->config.log_file));
	memcpy(info->config.log_file_shown, session->config.log_file_shown,
	       sizeof(info->config.log_file_shown));
}

/* What processes count is their claim: as large as it likes, but no sum of it is smaller than a part. */
static uint32_t add_count(uint32_t sum, uint32_t count)
{
	return etw_saturate32(etw_sum_saturated(sum, count));
}

/*
 * Microsoft's pages do not say whose numbers a controller is told; derived: counts are those of all processes together, what is
 * not a count is that of the first one, and the file is named as the controller named it.
 */
static void add_info(struct wire_session_info *sum, const struct wire_session_info *info,
		     bool is_first)
{
	if (is_first) {
		*sum = *info;
		return;
	}
	sum->number_of_buffers = add_count(sum->number_of_buffers, info->number_of_buffers);
	sum->free_buffers = add_count(sum->free_buffers, info->free_buffers);
	sum->events = etw_sum_saturated(sum->events, info->events);
	sum->bytes = etw_sum_saturated(sum->bytes, info->bytes);
	sum->overwritten = etw_sum_saturated(sum->overwritten, info->overwritten);
	sum->events_lost = add_count(sum->events_lost, info->events_lost);
	sum->buffers_written = add_count(sum->buffers_written, info->buffers_written);
	sum->log_buffers_lost = add_count(sum->log_buffers_lost, info->log_buffers_lost);
}

static void send_start(const struct etwd_private_parts *parts, struct etwd_client *client,
		       const struct etwd_private_session *session, struct etwd_wait *wait)
{
	struct wire_message head = {.type = WIRE_PRIVATE_START};
	CLEANUP(freep) struct wire_session_info *info = calloc(1, sizeof(*info));
	struct etwd_peer *peer = &client->peer;

	if (!info)
		return;
	info->handle = session->id;
	info->uid = session->uid;
	info->config = session->config;
	head.request = etwd_waits_expect(parts->waits, wait, &client->answers);
	etwd_peer_send(peer, wire_message_encode_session_info(&head, info, peer->peers->outgoing),
		       -1);
}

static void send_enable(const struct etwd_private_parts *parts, struct etwd_client *client,
			const struct wire_enable_provider *request, uint32_t type,
			struct etwd_wait *wait)
{
	struct wire_message head = {.type = type};
	struct etwd_peer *peer = &client->peer;

	head.request = etwd_waits_expect(parts->waits, wait, &client->answers);
	etwd_peer_send(peer,
		       wire_message_encode_enable_provider(&head, request, peer->peers->outgoing),
		       -1);
}

static bool may_reach(const struct etwd_private_session *session, const struct etwd_peer *peer)
{
	return !peer->is_doomed && (session->uid == 0 || session->uid == peer->who.uid);
}

/* Returns whether the process was told of a session that it had not. */
static bool join(const struct etwd_private_parts *parts, struct etwd_client *client,
		 const struct etwd_private_session *session, struct etwd_wait *wait)
{
	if (!may_reach(session, &client->peer) || is_member(client, session->id))
		return false;
	if (!change_member(client, 0, session->id)) {
		etwd_peer_refuse(&client->peer, "another private session", -EUSERS);
		return false;
	}
	send_start(parts, client, session, wait);
	for (const struct etwd_private_enable *i = session->enables; i; i = i->next)
		send_enable(parts, client, &i->request, WIRE_PRIVATE_WISH, NULL);
	return true;
}

static void send_control(struct call *call, struct etwd_client *client,
			 const struct wire_control *control)
{
	struct wire_message head = {.type = WIRE_PRIVATE_CONTROL};
	struct etwd_peer *peer = &client->peer;

	head.request = etwd_waits_expect(call->parts->waits, &call->wait, &client->answers);
	etwd_peer_send(peer, wire_message_encode_control(&head, control, peer->peers->outgoing),
		       -1);
	call->asked++;
}

/* Every process that has the session. @enable: NULL: @control */
static void send_to_members(struct call *call, const struct wire_control *control,
			    const struct wire_enable_provider *enable)
{
	const struct etwd_private_parts *parts = call->parts;

	for (struct etwd_peer *peer = parts->peers->first; peer; peer = peer->next) {
		struct etwd_client *client = etwd_client_of(peer);

		if (peer->is_doomed || !is_member(client, call->session_id))
			continue;
		if (enable) {
			send_enable(parts, client, enable, WIRE_PRIVATE_ENABLE,
				    call->is_unheard ? NULL : &call->wait);
			call->asked += !call->is_unheard;
		} else {
			send_control(call, client, control);
		}
		if (call->is_stop)
			(void)change_member(client, call->session_id, 0);
	}
}

/* Of a session that did not begin: processes that were too slow to say so may have it. */
static void take_back(const struct etwd_private_parts *parts, uint32_t session_id)
{
	const struct wire_message head = {.type = WIRE_PRIVATE_CONTROL};
	CLEANUP(freep) struct wire_control *stop = calloc(1, sizeof(*stop));

	if (!stop)
		return;
	stop->code = WIRE_CONTROL_STOP;
	stop->handle = session_id;
	for (struct etwd_peer *peer = parts->peers->first; peer; peer = peer->next) {
		if (peer->is_doomed || !change_member(etwd_client_of(peer), session_id, 0))
			continue;
		etwd_peer_send(peer,
			       wire_message_encode_control(&head, stop, peer->peers->outgoing), -1);
	}
}

static int result_of(const struct call *call, int status)
{
	if (call->done || !call->asked)
		return 0;
	return call->error ? call->error : status;
}

static void end_start(struct call *call, struct etwd_private_session *session, int result)
{
	if (result == 0) {
		session->state = ETWD_PRIVATE_RUNNING;
		etwd_log("private session %u of uid %u has started: \"%s\"", (unsigned)session->id,
			 (unsigned)session->uid, session->config.name);
	} else {
		etwd_log("private session \"%s\" of uid %u could not be started: %s",
			 session->config.name, (unsigned)session->uid, strerror(-result));
		take_back(call->parts, session->id);
		etwd_private_table_remove(call->parts->table, session);
	}
	(void)etwd_handover_write(call->parts->handover);
}

static void answer(const struct call *call, int result)
{
	struct wire_message head = {.type = WIRE_SESSION, .request = call->request};
	struct etwd_peer *peer = etwd_peer_find(call->parts->peers, call->peer_serial);

	if (!peer)
		return;
	if (result < 0 || call->type != WIRE_SESSION) {
		etwd_peer_answer(peer, call->type, call->request, result);
		return;
	}
	etwd_peer_send(peer,
		       wire_message_encode_session_info(&head, &call->info, peer->peers->outgoing),
		       -1);
}

static void end_call(struct etwd_wait *wait, int status)
{
	struct call *call = (struct call *)(void *)wait;
	struct etwd_private_session *session = etwd_private_table_find(call->parts->table,
								       call->session_id);
	int result = result_of(call, status);

	/* Where a file was full before, the session is over in that process, and not in others to come. */
	if (result == -ENOENT && !call->is_start)
		result = 0;
	if (session && !call->done)
		call->info.config = session->config;
	if (session)
		fill_info(session, &call->info);
	if (session && call->is_start)
		end_start(call, session, result);
	if (session && call->is_stop) {
		etwd_log("private session %u has ended", (unsigned)session->id);
		etwd_private_table_remove(call->parts->table, session);
		result = 0; /* who does not answer, or has ended, has no way back to it */
	}
	answer(call, result);
	free(call);
}

static struct call *new_call(const struct etwd_private_parts *parts, const struct etwd_peer *peer,
			     uint32_t session_id, uint32_t type, uint32_t request)
{
	struct call *call = calloc(1, sizeof(*call));

	if (!call)
		return NULL;
	call->parts = parts;
	call->peer_serial = peer->serial;
	call->request = request;
	call->type = type;
	call->session_id = session_id;
	return call;
}

static void wait_for_all(struct call *call, uint64_t limit_ms)
{
	etwd_waits_add(call->parts->waits, &call->wait,
		       limit_ms == UINT64_MAX ? UINT64_MAX : etwd_patient_now_ms() + limit_ms,
		       end_call);
}

static void start_in_processes(struct call *call, const struct etwd_private_session *session)
{
	const struct etwd_provider *provider = etwd_providers_find(call->parts->providers,
								   &session->config.guid);
	struct etwd_registration *i = provider ? provider->registrations : NULL;

	for (; i; i = i->next_of_provider)
		call->asked += join(call->parts, etwd_client_of(i->peer), session, &call->wait);
}

int etwd_private_start(const struct etwd_private_parts *parts, struct etwd_peer *peer,
		       const struct wire_session_config *config, uint32_t request)
{
	struct etwd_private_session *session = NULL;
	struct call *call;

	if (!*config->name || etw_guid_is_null(&config->guid))
		return -EINVAL;
	TRY(etwd_private_table_add(parts->table, 0, config, peer->who.uid, &session));
	call = new_call(parts, peer, session->id, WIRE_SESSION, request);
	if (!call) {
		etwd_private_table_remove(parts->table, session);
		return -ENOMEM;
	}
	call->is_start = true;
	wait_for_all(call, ETWD_PRIVATE_WAIT_MS);
	start_in_processes(call, session);
	etwd_waits_begin(parts->waits, &call->wait);
	return 0;
}

/* To who may do nothing with it there is none. */
static int check_act(const struct etwd_private_session *session, const struct etwd_peer *peer)
{
	if (!session || session->state == ETWD_PRIVATE_STARTING)
		return -ENOENT;
	if (!peer->is_trusted && peer->who.uid != session->uid)
		return -ENOENT;
	return session->state == ETWD_PRIVATE_STOPPING ? -EBUSY : 0;
}

/* Windows changes the timer and the file of a private session. Another user than its own names no file for its processes. */
static int check_control(const struct etwd_private_session *session, const struct etwd_peer *peer,
			 const struct wire_control *body)
{
	const char *file = body->config.log_file;
	const bool makes_file =
		(body->code == WIRE_CONTROL_UPDATE || body->code == WIRE_CONTROL_FLUSH) && *file;

	if (body->code > WIRE_CONTROL_INCREMENT_FILE || (makes_file && *file != '/'))
		return -EINVAL;
	return makes_file && peer->who.uid != session->uid && peer->who.uid != 0 ? -EACCES : 0;
}

int etwd_private_control(const struct etwd_private_parts *parts, struct etwd_peer *peer,
			 const struct wire_control *body, uint32_t request)
{
	const bool is_named = body->config.log_file_mode & EVENT_TRACE_PRIVATE_LOGGER_MODE;
	struct etwd_private_session *session =
		body->handle ? etwd_private_table_find(parts->table, body->handle)
			     : etwd_private_table_find_name(parts->table, body->name,
							    is_named ? NULL : &body->guid);
	CLEANUP(freep) struct wire_control *control = malloc(sizeof(*control));
	struct call *call;

	if (!control)
		return -ENOMEM;
	TRY(check_act(session, peer));
	TRY(check_control(session, peer, body));
	call = new_call(parts, peer, session->id, WIRE_SESSION, request);
	if (!call)
		return -ENOMEM;
	*control = *body;
	control->handle = session->id;
	if (body->code == WIRE_CONTROL_STOP) {
		call->is_stop = true;
		session->state = ETWD_PRIVATE_STOPPING;
		(void)etwd_handover_write(parts->handover);
	}
	wait_for_all(call, ETWD_PRIVATE_WAIT_MS);
	send_to_members(call, control, NULL);
	etwd_waits_begin(parts->waits, &call->wait);
	return 0;
}

static int enable(const struct etwd_private_parts *parts, struct etwd_peer *peer,
		  const struct wire_enable_provider *body, uint32_t request)
{
	struct etwd_private_session *session = etwd_private_table_find(parts->table, body->handle);
	struct call *call;
	int r;

	TRY(etw_enable_request_check(body));
	if (etw_system_provider_is(&body->provider))
		return -EINVAL;
	/* Microsoft's page "Provider Traits": private sessions cannot control groups. */
	if (body->property & EVENT_ENABLE_PROPERTY_PROVIDER_GROUP)
		return -EOPNOTSUPP;
	TRY(check_act(session, peer));
	TRY(etwd_access_check(parts->security, peer, &body->provider, TRACELOG_GUID_ENABLE,
			      "enable"));
	call = new_call(parts, peer, session->id, WIRE_REPLY, request);
	if (!call)
		return -ENOMEM;
	r = etwd_private_note(session, body);
	if (r < 0) {
		free(call);
		return r;
	}
	(void)etwd_handover_write(parts->handover);
	wait_for_all(call, body->timeout_ms == UINT32_MAX ? UINT64_MAX : body->timeout_ms);
	if (!body->timeout_ms)
		call->is_unheard = true;
	send_to_members(call, NULL, body);
	etwd_waits_begin(parts->waits, &call->wait);
	return 0;
}

int etwd_private_enable(const struct etwd_private_parts *parts, struct etwd_client *client,
			const struct etw_ipc_message *message)
{
	struct wire_enable_provider body;
	int r;

	TRY(wire_message_decode_enable_provider(message->datagram, &body));
	r = enable(parts, &client->peer, &body, message->head.request);
	if (r < 0)
		etwd_peer_answer(&client->peer, WIRE_REPLY, message->head.request, r);
	return 0;
}

void etwd_private_meet(const struct etwd_private_parts *parts, struct etwd_client *client)
{
	const struct etwd_registration *registration = client->registrations.first;

	for (size_t i = 0; registration && i < ETWD_PRIVATE_MAX; i++) {
		const struct etwd_private_session *session = parts->table->sessions[i];

		if (session && session->state != ETWD_PRIVATE_STOPPING &&
		    etw_guid_equal(&session->config.guid, &registration->provider->guid))
			(void)join(parts, client, session, NULL);
	}
}

int etwd_private_answered(const struct etwd_private_parts *parts, struct etwd_client *client,
			  const struct etw_ipc_message *message)
{
	struct etwd_wait *wait = etwd_waits_of(&client->answers, message->head.request);
	CLEANUP(freep) struct wire_session_info *info = NULL;
	struct call *call = (struct call *)(void *)wait;
	const int status = message->head.status;

	if (!wait || wait->end != end_call)
		return 0; /* too late */
	if (status == 0 && call->type == WIRE_SESSION) {
		info = malloc(sizeof(*info));
		if (!info)
			return 0;
		TRY(wire_message_decode_session_info(message->datagram, info));
		add_info(&call->info, info, call->done == 0);
	}
	call->done += status == 0;
	if (status < 0 && !call->error)
		call->error = status;
	if (status < 0 && call->is_start)
		(void)change_member(client, call->session_id, 0);
	etwd_waits_answered(parts->waits, &client->answers, message->head.request);
	return 0;
}
