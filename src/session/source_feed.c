/* SPDX-License-Identifier: MIT */
/* The kernel's events of a session; see session/source_feed.h. */
#include "session/source_feed.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>
#include <time.h>
#include <unistd.h>

#include <evntrace.h>

#include "base/atomic.h"
#include "base/macros.h"
#include "base/time.h"
#include "session/notes.h"
#include "wire/kernel_flags.h"

#define POLL_NS          UINT64_C(10000000) /* times wait for the clock's sample as long */
#define OFFSET_TRIES     4
#define FLAG_NAMES_BYTES 352 /* all that are not built take 315 */
#define SENTENCE_BYTES   (WIRE_SESSION_NOTE_MESSAGE_MAX + 1)

/* The functions that a source is offered; its context is the session. */
static int64_t source_now(void *context)
{
	return etw_session_now(context);
}

/*
 * CLOCK_REALTIME is CLOCK_MONOTONIC plus a number that changes only when the clock is set: it stays the same
 * as long as readings allow it, so that times keep their order.
 */
static void check_realtime(struct etw_session *session)
{
	int64_t least = INT64_MIN, most = INT64_MAX;

	for (int i = 0; i < OFFSET_TRIES; i++) {
		int64_t before_ns = (int64_t)etw_time_read_ns(CLOCK_MONOTONIC);
		int64_t real_ns = (int64_t)etw_time_read_ns(CLOCK_REALTIME);
		int64_t after_ns = (int64_t)etw_time_read_ns(CLOCK_MONOTONIC);

		least = MAX(least, real_ns - after_ns);
		most = MIN(most, real_ns - before_ns);
	}
	if (session->realtime_offset_ns < least || session->realtime_offset_ns > most)
		session->realtime_offset_ns = least + (most - least) / 2;
}

/* The host converts to QPC. */
static int source_to_raw(void *context, uint64_t monotonic_ns, int64_t *ret)
{
	struct etw_session *session = context;
	int64_t raw;

	if (session->plan.clock_type == ETW_CLOCK_SYSTEM) {
		*ret = ETW_FILETIME_UNIX_EPOCH +
		       ((int64_t)monotonic_ns + session->realtime_offset_ns) / ETW_NS_PER_FT;
		return 0;
	}
	if (!session->host.to_raw)
		return -ENOSYS;
	TRY(session->host.to_raw(session->host.context, monotonic_ns, &raw));
	if (session->plan.clock_type == ETW_CLOCK_CYCLE)
		raw -= load_relaxed(&session->host.clock->page->offset);
	*ret = raw;
	return 0;
}

static int source_keep(void *context, const char *what, int fd)
{
	struct etw_session *session = context;
	char name[ETW_SESSION_NAME_BYTES];

	if (!session->host.keep_fd)
		return -ENOSYS;
	etw_session_name(session, name, "kernel-%s", what);
	return session->host.keep_fd(session->host.context, name, fd);
}

static int source_kept(void *context, const char *what)
{
	struct etw_session *session = context;
	char name[ETW_SESSION_NAME_BYTES];

	if (!session->host.kept_fd)
		return -ENOENT;
	etw_session_name(session, name, "kernel-%s", what);
	return session->host.kept_fd(session->host.context, name);
}

/* Where each processor's events were left: with one output its record has the marks of all. */
static struct etw_source_mark *collect_marks(const struct etw_session *session)
{
	struct etw_source_mark *marks = calloc(session->plan.cpu_count, sizeof(*marks));

	for (uint32_t i = 0; marks && i < session->plan.cpu_count; i++) {
		if (session->plan.output_count == 1)
			marks[i] = session->outputs[0].record->marks[i];
		else
			marks[i] = session->outputs[i].record->marks[0];
	}
	return marks;
}

static int make_streams(struct etw_session *session)
{
	session->source_streams = calloc(session->plan.cpu_count, sizeof(*session->source_streams));
	if (!session->source_streams)
		return -ENOMEM;
	for (uint32_t i = 0; i < session->plan.cpu_count; i++) {
		session->source_streams[i].source_cpu = i;
		session->source_streams[i].mark = session->plan.output_count == 1 ? i : 0;
		session->source_streams[i].floor_raw = session->state.head->t0_raw;
	}
	return 0;
}

static int open_source(struct etw_session *session, bool is_adopted, struct etw_fault *fault)
{
	CLEANUP(freep) struct etw_source_mark *marks = NULL;
	const struct etw_source_ops *ops = session->host.kernel;

	session->source_host = (struct etw_source_host){
		.context = session,
		.cpu_count = session->plan.cpu_count,
		.clock_type = session->plan.clock_type,
		.now_raw = source_now,
		.to_raw = source_to_raw,
		.keep_fd = source_keep,
		.kept_fd = source_kept,
	};
	/* Cycles and CLOCK_MONOTONIC have nothing in common where the clock is not made of them. */
	if (session->plan.clock_type == ETW_CLOCK_CYCLE &&
	    load_relaxed(&session->host.clock->page->kind) != WIRE_CLOCK_TSC)
		return etw_fault_set(fault, -EOPNOTSUPP, 0, "session", "ClientContext",
				     "the processors' counter is no clock on this machine; "
				     "record the kernel with clock 1 or 2");
	if (session->plan.clock_type == ETW_CLOCK_SYSTEM)
		check_realtime(session);
	TRY(make_streams(session));
	if (is_adopted) {
		marks = collect_marks(session);
		if (!marks)
			return -ENOMEM;
	}
	return ops->open(&session->source_host, marks, &session->source, fault);
}

static int start_source(struct etw_session *session, bool is_adopted, struct etw_fault *fault)
{
	const struct etw_source_ops *ops = session->host.kernel;
	struct etw_source_request request = {
		.group_masks = {session->state.head->config.enable_flags},
	};
	int result;

	TRY(open_source(session, is_adopted, fault));
	/* What could be enabled goes on, rundown included; the rest is the caller's complaint. */
	result = ops->enable(session->source, &request, fault);
	TRY(ops->rundown(session->source, /* is_end= */ false));
	return result;
}

/* A source that goes on with its counts has them still; one that begins anew adds to the former's. */
static void settle_former_loss(struct etw_session *session)
{
	struct etw_state_head *head = session->state.head;
	struct etw_source_loss loss = {0};

	session->host.kernel->loss(session->source, &loss);
	if (loss.no_buffer < head->source_now.no_buffer ||
	    loss.no_memory < head->source_now.no_memory) {
		head->source.no_buffer += head->source_now.no_buffer;
		head->source.no_memory += head->source_now.no_memory;
		head->source.incomplete += head->source_now.incomplete;
	}
	head->source_now = loss;
}

/*
 * What a session asked for and does not get: a complaint for whoever asks the session, a note for whoever reads
 * the trace later, unless a host before this one has written it.
 */
static void tell_missing(struct etw_session *session, uint32_t flags, bool is_adopted,
			 const char *sentence)
{
	const uint64_t numbers[WIRE_SESSION_NOTE_NUMBERS] = {flags};
	uint32_t noted = is_adopted ? session->outputs[0].record->noted_missing : 0;

	etw_session_complain(session, sentence, 0, NULL);
	if (!is_adopted || flags & ~noted)
		etw_notes_add(session, WIRE_NOTE_NOT_COLLECTED, numbers, "%s", sentence);
}

/* Flags that are not built are named in full: nobody else says that their events are missing. */
static void tell_unbuilt(struct etw_session *session, bool is_adopted)
{
	uint32_t wanted = etw_kernel_flags_events(session->state.head->config.enable_flags);
	uint32_t missing = wanted & ~session->host.kernel->flags;
	char names[FLAG_NAMES_BYTES], sentence[SENTENCE_BYTES];

	if (!missing)
		return;
	etw_kernel_flags_format(missing, names, sizeof(names));
	(void)snprintf(sentence, sizeof(sentence), "kernel events that are not collected: %s",
		       names);
	tell_missing(session, missing, is_adopted, sentence);
}

/* The source, or a part of it, does not work on this machine. */
static void tell_failed(struct etw_session *session, bool is_adopted, int error,
			const struct etw_fault *fault)
{
	bool has_fault = fault->sentence != NULL;
	/* A sentence that begins with what it is about, as "CAP_BPF is missing", names it once. */
	bool has_field = has_fault && fault->field &&
			 strncmp(fault->sentence, fault->field, strlen(fault->field)) != 0;
	uint32_t wanted = etw_kernel_flags_events(session->state.head->config.enable_flags);
	uint32_t missing = session->source ? wanted & EVENT_TRACE_FLAG_IMAGE_LOAD : wanted;
	char sentence[SENTENCE_BYTES];

	(void)snprintf(sentence, sizeof(sentence), "%s kernel events are not collected: %s%s%s",
		       session->source ? "some" : "the", has_field ? fault->field : "",
		       has_field ? ": " : "",
		       has_fault ? fault->sentence : strerrordesc_np(-error));
	tell_missing(session, missing, is_adopted, sentence);
}

int etw_source_feed_check(const struct etw_session_host *host, const struct etw_session_plan *plan,
			  uint32_t enable_flags, struct etw_fault *reterr)
{
	uint32_t wanted = etw_kernel_flags_events(enable_flags);

	/* A host without a source says so by complaint, as one whose machine does not allow it. */
	if (!plan->is_kernel || !wanted || !host->kernel || wanted & host->kernel->flags)
		return 0;
	return etw_fault_set(reterr, -EOPNOTSUPP, 0, "session configuration", "EnableFlags",
			     "none of the kernel events that are asked for is collected");
}

void etw_source_feed_open(struct etw_session *session, bool is_adopted)
{
	struct etw_fault fault = {0};
	int result;

	if (!session->plan.is_kernel)
		return;
	if (!session->host.kernel) {
		tell_missing(session, session->state.head->config.enable_flags, is_adopted,
			     "this host has no source of kernel events");
		return;
	}
	tell_unbuilt(session, is_adopted);
	result = start_source(session, is_adopted, &fault);
	if (result < 0) {
		tell_failed(session, is_adopted, result, &fault);
		/* What could be opened stays, when only a part of what was asked for is missing. */
		if (!session->source)
			return;
	}
	settle_former_loss(session);
}

void etw_source_feed_collect(struct etw_session *session)
{
	int64_t watermark = session->source_watermark_raw;
	int result;

	session->needs_source_retry = false;
	session->has_source_more = false;
	if (!session->source)
		return;
	if (session->plan.clock_type == ETW_CLOCK_SYSTEM)
		check_realtime(session);
	result = session->host.kernel->collect(session->source, &watermark);
	if (result < 0) {
		tell_missing(session, session->state.head->config.enable_flags, false,
			     "the source of kernel events failed: none are collected from here on");
		etw_source_feed_close(session);
		return;
	}
	session->has_source_more = result > 0;
	if (watermark > session->source_watermark_raw)
		session->source_watermark_raw = watermark;
}

void etw_source_feed_count_loss(struct etw_session *session)
{
	struct etw_source_loss loss = {0};
	struct etw_state_head *head = session->state.head;

	if (!session->source)
		return;
	session->host.kernel->loss(session->source, &loss);
	store_relaxed(&head->source_now.no_buffer, loss.no_buffer);
	store_relaxed(&head->source_now.no_memory, loss.no_memory);
	store_relaxed(&head->source_now.incomplete, loss.incomplete);
}

void etw_source_feed_release(struct etw_session *session)
{
	if (session->source)
		session->host.kernel->release(session->source);
}

uint64_t etw_source_feed_due_ns(const struct etw_session *session)
{
	return session->source ? POLL_NS : 0;
}

void etw_source_feed_stop(struct etw_session *session)
{
	int result;

	if (!session->source)
		return;
	result = session->host.kernel->rundown(session->source, /* is_end= */ true);
	if (result < 0)
		etw_session_complain(session, "the rundown at the end", result, NULL);
}

/* What was made before the end and that the last flush could not wait for is lost, and counts. */
static void reject_rest(struct etw_session *session)
{
	const struct etw_source_ops *ops = session->host.kernel;
	struct etw_source_event event;
	struct etw_source_mark mark;

	for (uint32_t i = 0; session->source_streams && i < session->plan.cpu_count; i++) {
		uint32_t at = session->plan.output_count == 1 ? 0 : i;
		struct etw_state_record *record = session->outputs[at].record;
		uint64_t before = record->counts.rejected;

		while (ops->peek(session->source, i, &event) &&
		       event.time_raw < session->flush_target_raw) {
			ops->pop(session->source, i, &mark);
			record->counts.rejected++;
		}
		if (record->counts.rejected != before)
			etw_state_commit(&session->state, at, record);
	}
}

void etw_source_feed_close(struct etw_session *session)
{
	if (session->source) {
		if (session->is_drained)
			reject_rest(session);
		etw_source_feed_count_loss(session);
		session->host.kernel->close(session->source);
		session->source = NULL;
	}
	for (uint32_t i = 0; session->outputs && i < session->plan.output_count; i++)
		session->outputs[i].stream_count = 0; /* gathered anew in the next round */
	free(session->source_streams);
	session->source_streams = NULL;
}
