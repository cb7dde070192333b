/* SPDX-License-Identifier: MIT */
#include "provider/outside.h"

#include <errno.h>
#include <stdlib.h>

#include "base/atomic.h"
#include "base/macros.h"
#include "base/process_rights.h"
#include "ipc/connection.h"
#include "provider/lock.h"

static const struct etw_outside_handler *handler; /* atomic */

void etw_outside_set_handler(const struct etw_outside_handler *to)
{
	store_release(&handler, to);
}

/*
 * The session's file is made with this process's rights. What these are more than a user's, a user's host or session may
 * not use: a server that acts for a user at times, and is root at others, makes files for root alone. A host that is not
 * root's may be anybody's whom this process once was, and what it says of whose the session is is not believed.
 */
static int check_rights(const struct etw_link *link, const struct wire_session_info *wanted)
{
	struct etw_peer host;

	if (etw_process_is_plain())
		return 0;
	if (!etw_own_fd_is_there(&link->socket))
		return -EPIPE;
	TRY(etw_ipc_peer(link->socket.number, &host));
	return host.uid == 0 && wanted->uid == 0 ? 0 : -EACCES;
}

static int start(struct etw_link *link, const struct etw_ipc_message *message,
		 const struct etw_outside_handler *with, struct wire_session_info *ret,
		 int *ret_status)
{
	CLEANUP(freep) struct wire_session_info *wanted = malloc(sizeof(*wanted));

	if (!wanted) {
		*ret_status = -ENOMEM;
		return 0;
	}
	TRY(wire_message_decode_session_info(message->datagram, wanted));
	*ret_status = check_rights(link, wanted);
	if (*ret_status < 0)
		return 0;
	etw_provider_lock();
	link->has_private = true;
	etw_provider_unlock();
	*ret_status = with->start(link->index, link->private_round, wanted, ret);
	return 0;
}

static int control(const struct etw_link *link, const struct etw_ipc_message *message,
		   const struct etw_outside_handler *with, struct wire_session_info *ret,
		   int *ret_status)
{
	CLEANUP(freep) struct wire_control *wanted = malloc(sizeof(*wanted));

	if (!wanted) {
		*ret_status = -ENOMEM;
		return 0;
	}
	TRY(wire_message_decode_control(message->datagram, wanted));
	*ret_status = with->control(link->index, wanted, ret);
	return 0;
}

static int enable(const struct etw_link *link, const struct etw_ipc_message *message,
		  const struct etw_outside_handler *with, int *ret_status)
{
	struct wire_enable_provider wanted;

	TRY(wire_message_decode_enable_provider(message->datagram, &wanted));
	*ret_status = with->enable(link->index, &wanted, message->head.type == WIRE_PRIVATE_ENABLE);
	return 0;
}

static int handle(struct etw_link *link, const struct etw_ipc_message *message,
		  struct wire_session_info *ret, int *ret_status)
{
	const struct etw_outside_handler *with = load_acquire(&handler);

	*ret_status = -EOPNOTSUPP;
	if (!with)
		return 0;
	switch (message->head.type) {
	case WIRE_PRIVATE_START:
		return start(link, message, with, ret, ret_status);
	case WIRE_PRIVATE_CONTROL:
		return control(link, message, with, ret, ret_status);
	default:
		return enable(link, message, with, ret_status);
	}
}

int etw_outside_handle(struct etw_link *link, const struct etw_ipc_message *message)
{
	const bool has_info = message->head.type == WIRE_PRIVATE_START ||
			      message->head.type == WIRE_PRIVATE_CONTROL;
	struct wire_message answer = {.type = WIRE_PRIVATE_DONE, .request = message->head.request};
	CLEANUP(freep) struct wire_session_info *info = calloc(1, sizeof(*info));
	int status = -ENOMEM;

	if (info)
		TRY(handle(link, message, info, &status));
	answer.status = status;
	if (!answer.request)
		return 0;
	etw_provider_lock();
	if (status == 0 && has_info)
		(void)etw_link_answer_session(link, &answer, info);
	else
		(void)etw_link_answer(link, &answer);
	etw_provider_unlock();
	return 0;
}

void etw_outside_end(struct etw_link *link)
{
	const struct etw_outside_handler *with = load_acquire(&handler);
	const bool is_there = link->state == ETW_LINK_CONNECTED;

	if (!link->has_private || !with)
		return;
	with->end(link->index, is_there ? link->private_round : 0);
	link->has_private = is_there;
}
