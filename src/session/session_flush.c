/* SPDX-License-Identifier: MIT */
/* Flushing a session, into a file where it keeps its buffers in memory; see session/session.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "session/history.h"
#include "session/session_internal.h"

/* An order to the session's thread. */
struct dump {
	struct etw_session *session;
	struct etw_history_copy copy;
};

static void free_dumpp(struct dump **dump)
{
	if (*dump)
		etw_history_copy_done(&(*dump)->copy);
	free(*dump);
}

static int carry_out(void *what)
{
	struct dump *dump = what;

	return etw_history_copy(&dump->session->outputs, &dump->copy);
}

int etw_session_flush(struct etw_session *session)
{
	uint64_t ticket = etw_flushes_ask(&session->flushes);

	etw_context_kick(&session->context);
	return etw_flushes_await(&session->flushes, ticket);
}

int etw_session_flush_to(struct etw_session *session, const struct wire_session_config *target)
{
	CLEANUP(free_dumpp) struct dump *dump = NULL;

	TRY(etw_session_flush(session));
	if (session->context.plan.history_buffers == 0)
		return 0;
	if (target->log_file[0] != '/')
		return -EINVAL;
	dump = calloc(1, sizeof(*dump));
	if (!dump)
		return -ENOMEM;
	dump->session = session;
	memcpy(dump->copy.names.name, target->log_file, sizeof(dump->copy.names.name));
	memcpy(dump->copy.names.shown, target->log_file_shown, sizeof(dump->copy.names.shown));
	TRY(etw_orders_give(&session->orders, carry_out, dump));
	/* The session goes on meanwhile: a slow disk is not its writers' loss. */
	return etw_history_write(&session->outputs, &dump->copy);
}
