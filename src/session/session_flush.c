/* SPDX-License-Identifier: MIT */
/* Flushing a session, into a file where it keeps its buffers in memory; see session/session.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "base/sched_point.h"
#include "session/history.h"
#include "session/session_internal.h"

/* What the orders of a flush are about. */
struct flush {
	struct etw_session *session;
	struct etw_history_dump dump;
};

static void free_flushp(struct flush **flush)
{
	if (*flush)
		etw_history_done(&(*flush)->dump);
	free(*flush);
}

static int begin(void *what)
{
	struct flush *flush = what;

	return etw_history_begin(&flush->session->outputs, &flush->dump);
}

static int take(void *what)
{
	struct flush *flush = what;

	return etw_history_take(&flush->session->outputs, &flush->dump);
}

static int end(void *what)
{
	struct flush *flush = what;

	etw_history_end(&flush->session->outputs);
	return 0;
}

static int have_taken(void *what)
{
	struct flush *flush = what;

	return etw_orders_give(&flush->session->orders, take, flush);
}

int etw_session_flush(struct etw_session *session)
{
	uint64_t ticket = etw_flushes_ask(&session->flushes);

	etw_context_kick(&session->context);
	return etw_flushes_await(&session->flushes, ticket);
}

int etw_session_flush_to(struct etw_session *session, const struct wire_session_config *target,
			 uid_t uid)
{
	CLEANUP(free_flushp) struct flush *flush = NULL;
	int result;

	TRY(etw_session_flush(session));
	if (session->context.plan.history_buffers == 0)
		return 0;
	if (target->log_file[0] != '/')
		return -EINVAL;
	flush = calloc(1, sizeof(*flush));
	if (!flush)
		return -ENOMEM;
	flush->session = session;
	flush->dump.names.uid = uid;
	flush->dump.names.mode = target->file_mode;
	memcpy(flush->dump.names.name, target->log_file, sizeof(flush->dump.names.name));
	memcpy(flush->dump.names.shown, target->log_file_shown, sizeof(flush->dump.names.shown));
	TRY(etw_orders_give(&session->orders, begin, flush));
	SCHED_POINT("session.history.copied");
	/* The session goes on meanwhile: a slow disk is not its writers' loss. */
	result = etw_history_write(&session->outputs, &flush->dump, have_taken, flush);
	/* A session that has ended has forgotten it. */
	(void)etw_orders_give(&session->orders, end, flush);
	return result;
}
