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
	const struct etw_session_name *name; /* NULL: the next of the series */
};

static int name_next(const struct etw_session *session, const struct etw_session_name *name,
		     struct etw_state_file *next)
{
	const char *path = name->path, *shown = name->shown;
	const struct etw_state *state = &session->context.state;
	bool is_series = etw_session_file_is_in_series(&session->outputs.file);

	if (path[0] != '/' || (is_series && !etw_file_pattern_is_one(path)))
		return -EINVAL;
	if (strcmp(etw_state_file(state)->name, path) == 0)
		return -EEXIST;
	if (strlen(path) >= sizeof(next->name) || strlen(shown) >= sizeof(next->shown))
		return -ENAMETOOLONG;
	next->number = is_series ? 1 : 0;
	next->uid = name->uid;
	next->mode = name->mode;
	memcpy(next->name, path, strlen(path) + 1);
	memcpy(next->shown, shown, strlen(shown) + 1);
	return 0;
}

int etw_session_change_file_now(struct etw_session *session, const struct etw_session_name *name)
{
	CLEANUP(freep) struct etw_state_file *next = calloc(1, sizeof(*next));

	if (!next)
		return -ENOMEM;
	if (!session->context.plan.has_file)
		return -EINVAL;
	if (name)
		TRY(name_next(session, name, next));
	else if (!etw_session_file_is_in_series(&session->outputs.file))
		return -EINVAL;
	/* Since the flush before the order a little may have come. */
	etw_outputs_flush(&session->outputs);
	return etw_outputs_begin_file(&session->outputs, name ? next : NULL);
}

static int carry_out(void *what)
{
	const struct change *change = what;

	return etw_session_change_file_now(change->session, change->name);
}

int etw_session_change_file(struct etw_session *session, const char *path, const char *shown)
{
	const struct etw_session_name name = {
		.path = path,
		.shown = shown,
		.uid = session->context.state.head->uid,
		.mode = session->context.state.head->config.file_mode,
	};
	struct change change = {.session = session, .name = path ? &name : NULL};

	TRY(etw_session_flush(session));
	return etw_orders_give(&session->orders, carry_out, &change);
}
