/* SPDX-License-Identifier: MIT */
/* Another file for a session that runs; see session/session.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <evntrace.h>

#include "base/macros.h"
#include "session/common/file_pattern.h"
#include "session/outputs.h"
#include "session/session_internal.h"

/* An order to the session's thread. */
struct change {
	struct etw_session *session;
	const char *path, *shown; /* NULL: the next of the series */
};

static int name_next(const struct etw_session *session, const char *path, const char *shown,
		     struct etw_state_file *next)
{
	const struct etw_state *state = &session->context.state;
	bool is_series = etw_session_has_series(session);

	if (path[0] != '/' || (is_series && !etw_file_pattern_is_one(path)))
		return -EINVAL;
	if (strcmp(etw_state_file(state)->name, path) == 0)
		return -EEXIST;
	if (strlen(path) >= sizeof(next->name) || strlen(shown) >= sizeof(next->shown))
		return -ENAMETOOLONG;
	next->number = is_series ? 1 : 0;
	memcpy(next->name, path, strlen(path) + 1);
	memcpy(next->shown, shown, strlen(shown) + 1);
	return 0;
}

int etw_session_go_on_in(struct etw_session *session, const char *path, const char *shown)
{
	CLEANUP(freep) struct etw_state_file *next = calloc(1, sizeof(*next));
	int result;

	if (!next)
		return -ENOMEM;
	if (!session->context.plan.has_file)
		return -EINVAL;
	if (path)
		TRY(name_next(session, path, shown, next));
	else if (!etw_session_has_series(session))
		return -EINVAL;
	/* Since the flush before the order a little may have come. */
	etw_outputs_flush(&session->outputs);
	result = etw_output_change_file(&session->outputs, path ? next : NULL);
	/* -ENOENT is for a session that there is not. */
	return result == -ENOENT ? -ENOTDIR : result;
}

static int carry_out(void *what)
{
	const struct change *change = what;

	return etw_session_go_on_in(change->session, change->path, change->shown);
}

int etw_session_change_file(struct etw_session *session, const char *path, const char *shown)
{
	struct change change = {.session = session, .path = path, .shown = shown};

	TRY(etw_session_flush(session));
	return etw_orders_give(&session->orders, carry_out, &change);
}
