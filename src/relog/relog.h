/* SPDX-License-Identifier: MIT */
/*
 * Relogging: traces are read together, by time, and what the caller puts is written into a new one. Filtering, cutting,
 * merging and injecting are all the same: the caller is shown each event, and puts that one, a changed one, another one, or
 * none. Source: docs/relogging.md.
 *
 * Context: one thread, but for etw_relog_cancel().
 */
#ifndef ETW_RELOG_RELOG_H
#define ETW_RELOG_RELOG_H

#include "base/fault.h"
#include "consumer/trace.h"
#include "relog/event.h"
#include "relog/head.h"

struct etw_relog;

/* etw_relog_create() - Returns 0 or -ENOMEM. */
int etw_relog_create(struct etw_relog **ret);

/* etw_relog_free() - takes NULL. Not within a pass. */
void etw_relog_free(struct etw_relog *relog);

/*
 * etw_relog_add_file() - one more input, a file; it is opened now.
 *
 * @path:       a Linux path
 * @context:    what UserContext of its events' records is
 * @ret_stream: its number, from 0
 *
 * Returns 0; -EBUSY within a pass; -E2BIG: there are ETW_RELOG_STREAMS_MAX; as etw_trace_open().
 */
#define ETW_RELOG_STREAMS_MAX 64
int etw_relog_add_file(struct etw_relog *relog, const char *path, void *context, size_t *ret_stream,
		       struct etw_fault *reterr);

/* etw_relog_add_session() - likewise a real-time session, of which the pass takes what comes until it ends. */
int etw_relog_add_session(struct etw_relog *relog, const char *session, void *context,
			  size_t *ret_stream);

/* etw_relog_streams() - how many inputs there are. */
size_t etw_relog_streams(const struct etw_relog *relog);

/*
 * etw_relog_stream_header() - what the header of an input says. Of a session that the pass has not attached yet, zeros.
 */
const struct etw_etl_header *etw_relog_stream_header(const struct etw_relog *relog, size_t stream);

/*
 * etw_relog_set_output() - where what is put goes; NULL: nowhere, and nothing can be put.
 *
 * @path: borrowed while it is set
 * @form: copied; its name is borrowed
 */
void etw_relog_set_output(struct etw_relog *relog, const char *path,
			  const struct etw_relog_form *form);

/* Whom a pass shows the events. Callbacks may be NULL, and stop the pass by returning other than 0. */
struct etw_relog_sink {
	void *context;
	/* Once for each input, before all events: @event is its header event. */
	int (*begin)(void *context, struct etw_relog_event *event);
	/* @event: borrowed for the call; may be changed, which counts for etw_relog_put() alone */
	int (*event)(void *context, struct etw_relog_event *event);
	/* Behind the last event, or where the pass was cancelled; events may still be put. */
	int (*end)(void *context);
};

/*
 * etw_relog_run() - a pass over all inputs. What was put is in the output when it returns, the output is closed, and a
 * trace that readers take for whole: also when the pass ended early, as far as the disk allows.
 *
 * Returns 0; what a callback returned; -ECANCELED; -EINVAL: no input, or files and sessions together; -ETXTBSY: the output
 * is one of the inputs; as etw_trace_process() and etw_relog_output_create(); the errno of writing.
 */
int etw_relog_run(struct etw_relog *relog, const struct etw_relog_sink *sink);

/*
 * etw_relog_put() - writes an event, at its place in time among those that were put of late (relog/window.h).
 *
 * @event: within a callback of the pass; one of an input, changed or not, a copy of one, or one of
 *         etw_relog_event_make(). The header event of an input is not taken, because the output has one of its own; nor are
 *         companions of the first input's header event, which are in the output's header buffer.
 *
 * Returns 0; -EINVAL: outside of a pass, or the pass has no output; -EMSGSIZE: too large for the output's buffers, or any
 * event; -EOPNOTSUPP of etw_relog_event_encode(); -ENOMEM; the errno of writing, which ends the pass.
 */
int etw_relog_put(struct etw_relog *relog, const struct etw_relog_event *event);

/* etw_relog_time() - of the event that is being shown, raw, on its own input's clock; before: of the header event. */
int64_t etw_relog_time(const struct etw_relog *relog, size_t stream);

/* etw_relog_cancel() - ends the pass, or the next one, soon. Any thread. */
void etw_relog_cancel(struct etw_relog *relog);

#endif
