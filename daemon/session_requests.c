/* SPDX-License-Identifier: MIT */
/* See session_requests.h. */
#include "daemon/session_requests.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <evntrace.h>
#include <wmistr.h>

#include "base/macros.h"
#include "daemon/only_pid.h"
#include "daemon/private_sessions.h"
#include "daemon/session_start.h"

/* By default a user's own host serves that user, and the system's serves root and its group. */
static int check_start(const struct etwd_sessions *sessions, const struct etwd_peer *peer,
		       const struct wire_session_config *config)
{
	TRY(etwd_access_may_start(sessions->security, peer, config));
	if (sessions->is_closed)
		return -EBUSY;
	/* Only sessions that the host starts from files of configuration may refuse to be stopped. */
	if (config->log_file_mode & EVENT_TRACE_NONSTOPPABLE_MODE)
		return -EINVAL;
	if (*config->log_file && config->log_file[0] != '/')
		return -EINVAL;
	return etwd_only_pid_check(peer, &config->kernel);
}

static bool is_private(const struct wire_session_config *config)
{
	return config->log_file_mode & EVENT_TRACE_PRIVATE_LOGGER_MODE;
}

/* Takes the configuration, also on an error. */
static int start(const struct etwd_session_parts *parts, struct etwd_peer *peer,
		 struct wire_session_config *config, uint32_t request)
{
	int r = check_start(parts->sessions, peer, config);

	if (r == 0 && !is_private(config))
		return etwd_session_start(parts, peer, config, request);
	/* In its own process a controller starts one without a host. */
	if (r == 0 && config->log_file_mode & EVENT_TRACE_PRIVATE_IN_PROC)
		r = -EINVAL;
	if (r == 0)
		r = etwd_private_start(parts->private_parts, peer, config, request);
	free(config);
	return r;
}

int etwd_session_handle_start(const struct etwd_session_parts *parts, struct etwd_peer *peer,
			      const struct etw_ipc_message *message)
{
	struct wire_session_config *config = malloc(sizeof(*config));
	int r = -ENOMEM;

	if (config) {
		r = wire_message_decode_session_config(message->datagram, config);
		if (r < 0) {
			free(config);
			return r;
		}
		r = start(parts, peer, config, message->head.request);
	}
	if (r < 0)
		etwd_peer_answer(peer, WIRE_SESSION, message->head.request, r);
	return 0;
}

static void answer_query(const struct etwd_session *session, struct etwd_peer *peer,
			 uint32_t request)
{
	struct wire_session_info info;

	memset(&info, 0, sizeof(info));
	etw_session_info(session->engine, &info);
	etwd_session_answer(session, peer, request, &info);
}

static int stop(const struct etwd_session_parts *parts, struct etwd_session *session,
		struct etwd_peer *peer, uint32_t request)
{
	return session->is_nonstoppable ? -EACCES
					: etwd_session_stop(parts, session, peer, request);
}

/*
 * A file is made with the rights of who names it. Another user than the owner has to be allowed what starting such a session
 * takes; a host that is not root has nobody's rights but its own, and makes files for nobody else.
 */
static int check_file(const struct etwd_sessions *sessions, const struct etwd_session *session,
		      const struct etwd_peer *peer, const struct wire_control *body)
{
	const bool makes_file = body->code == WIRE_CONTROL_UPDATE ||
				(body->code == WIRE_CONTROL_FLUSH && session->is_buffering);

	if (!makes_file || !*body->config.log_file || etwd_session_is_owned(session, peer))
		return 0;
	if (geteuid() != 0)
		return -EACCES;
	return etwd_access_check(sessions->security, peer, &session->guid, TRACELOG_CREATE_ONDISK,
				 "name a file of");
}

/* Making a session real-time takes what starting a real-time one does; its owner may change it in any way. */
static int check_realtime(const struct etwd_sessions *sessions, const struct etwd_session *session,
			  const struct etwd_peer *peer, const struct wire_control *body)
{
	const bool wants_realtime = body->code == WIRE_CONTROL_CONVERT_TO_REALTIME ||
				    (body->code == WIRE_CONTROL_UPDATE &&
				     body->config.log_file_mode & EVENT_TRACE_REAL_TIME_MODE);

	if (!wants_realtime || etwd_session_is_owned(session, peer))
		return 0;
	return etwd_access_check(sessions->security, peer, &session->guid, TRACELOG_CREATE_REALTIME,
				 "make real-time");
}

static int change_kernel(const struct etwd_session_parts *parts, struct etwd_session *session,
			 struct etwd_peer *peer, const struct wire_kernel_request *wanted,
			 uint32_t request)
{
	const struct etw_session_kernel_change change = {.wanted = *wanted};

	/* With nothing that counts it would be the host's own look at its settings. */
	if (!wanted->parts || !session->is_system_logger)
		return -EINVAL;
	return etwd_session_ask_kernel(parts, session, peer, request, /* is_plain= */ false,
				       &change);
}

static int control(const struct etwd_session_parts *parts, struct etwd_peer *peer,
		   const struct wire_control *body, uint32_t request)
{
	const enum etwd_act act = body->code == WIRE_CONTROL_QUERY ? ETWD_ACT_QUERY
								   : ETWD_ACT_CONTROL;
	struct etwd_session *session = NULL;
	int r;

	if (body->handle)
		r = etwd_sessions_find_for(parts->sessions, peer, act, body->handle, &session);
	else
		r = etwd_sessions_find_name_for(parts->sessions, peer, act, body->name, &body->guid,
						&session);
	/* What a session that ends has counted so far may be asked until the end. */
	if (r < 0 && !(r == -EBUSY && body->code == WIRE_CONTROL_QUERY))
		return r;
	TRY(check_file(parts->sessions, session, peer, body));
	TRY(check_realtime(parts->sessions, session, peer, body));
	if (body->code == WIRE_CONTROL_UPDATE || body->code == WIRE_CONTROL_KERNEL)
		TRY(etwd_only_pid_check(peer, &body->config.kernel));
	switch (body->code) {
	case WIRE_CONTROL_QUERY:
		answer_query(session, peer, request);
		return 0;
	case WIRE_CONTROL_STOP:
		return stop(parts, session, peer, request);
	case WIRE_CONTROL_FLUSH:
		return etwd_session_ask(parts, session, peer, request, ETWD_JOB_FLUSH,
					&body->config);
	case WIRE_CONTROL_UPDATE:
		return etwd_session_ask(parts, session, peer, request, ETWD_JOB_UPDATE,
					&body->config);
	case WIRE_CONTROL_INCREMENT_FILE:
		return etwd_session_ask(parts, session, peer, request, ETWD_JOB_INCREMENT_FILE,
					NULL);
	case WIRE_CONTROL_CONVERT_TO_REALTIME:
		return etwd_session_ask(parts, session, peer, request, ETWD_JOB_CONVERT, NULL);
	case WIRE_CONTROL_KERNEL:
		return change_kernel(parts, session, peer, &body->config.kernel, request);
	default:
		return -EINVAL;
	}
}

/* A private session is meant by its handle, by its name where the request says so, else by its name and GUID. */
static int control_any(const struct etwd_session_parts *parts, struct etwd_peer *peer,
		       const struct wire_control *body, uint32_t request)
{
	int r;

	if (etwd_private_is_handle(body->handle) || (!body->handle && is_private(&body->config)))
		return etwd_private_control(parts->private_parts, peer, body, request);
	r = control(parts, peer, body, request);
	if (r == -ENOENT && !body->handle && *body->name)
		r = etwd_private_control(parts->private_parts, peer, body, request);
	return r;
}

int etwd_session_handle_control(const struct etwd_session_parts *parts, struct etwd_peer *peer,
				const struct etw_ipc_message *message)
{
	struct wire_control *body = malloc(sizeof(*body));
	int r = -ENOMEM;

	if (body) {
		r = wire_message_decode_control(message->datagram, body);
		if (r < 0) {
			free(body);
			return r;
		}
		r = control_any(parts, peer, body, message->head.request);
		free(body);
	}
	if (r < 0)
		etwd_peer_answer(peer, WIRE_SESSION, message->head.request, r);
	return 0;
}

int etwd_session_handle_list(const struct etwd_session_parts *parts, struct etwd_peer *peer,
			     const struct etw_ipc_message *message)
{
	struct wire_message head = {.type = WIRE_SESSIONS, .request = message->head.request};
	struct wire_sessions sessions = {0};

	etwd_sessions_list(parts->sessions, peer, &sessions);
	etwd_peer_send(peer, wire_message_encode_sessions(&head, &sessions, peer->peers->outgoing),
		       -1);
	return 0;
}

/* What a session that ends has counted so far may be asked until the end. */
static int statistics(const struct etwd_session_parts *parts, struct etwd_peer *peer,
		      const struct wire_statistics_query *query, uint32_t request)
{
	struct wire_message head = {.type = WIRE_STATISTICS, .request = request};
	CLEANUP(freep) struct wire_statistics *body = malloc(sizeof(*body));
	struct etwd_session *session = NULL;
	int r = etwd_sessions_find_for(parts->sessions, peer, ETWD_ACT_QUERY, query->handle,
				       &session);

	if (r < 0 && r != -EBUSY)
		return r;
	if (!body)
		return -ENOMEM;
	etw_session_statistics(session->engine, query->first_cpu, body);
	body->handle = session->id;
	etwd_peer_send(peer, wire_message_encode_statistics(&head, body, peer->peers->outgoing),
		       -1);
	return 0;
}

int etwd_session_handle_statistics(const struct etwd_session_parts *parts, struct etwd_peer *peer,
				   const struct etw_ipc_message *message)
{
	struct wire_statistics_query query;
	int r;

	TRY(wire_message_decode_statistics_query(message->datagram, &query));
	r = statistics(parts, peer, &query, message->head.request);
	if (r < 0)
		etwd_peer_answer(peer, WIRE_STATISTICS, message->head.request, r);
	return 0;
}

static int lease(const struct etwd_session_parts *parts, const struct etwd_peer *peer,
		 uint64_t handle)
{
	struct etwd_session *session;

	TRY(etwd_sessions_find_for(parts->sessions, peer, ETWD_ACT_CONTROL, handle, &session));
	/* It would end with the process that has its lease. */
	if (session->is_nonstoppable)
		return -EACCES;
	TRY(etwd_lease_take(&session->lease, peer->serial, peer->who.uid));
	return etwd_handover_write(parts->handover);
}

int etwd_session_handle_lease(const struct etwd_session_parts *parts, struct etwd_peer *peer,
			      const struct etw_ipc_message *message)
{
	struct wire_lease body;

	TRY(wire_message_decode_lease(message->datagram, &body));
	etwd_peer_answer(peer, WIRE_REPLY, message->head.request, lease(parts, peer, body.handle));
	return 0;
}
