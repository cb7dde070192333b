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
#include "session/common/kernel_request.h"
#include "session/common/notes.h"
#include "wire/kernel_names.h"
#include "wire/kernel_stacks.h"

#define POLL_NS        UINT64_C(10000000) /* times wait for the clock's sample as long */
#define OFFSET_TRIES   4
#define NAMES_BYTES    352 /* leaves room for the rest of the sentence */
#define SENTENCE_BYTES (WIRE_SESSION_NOTE_MESSAGE_MAX + 1)

/* The functions that a source is offered; its context is the feed. */
static int64_t source_now(void *context)
{
	const struct etw_source_feed *feed = context;

	return etw_context_now(feed->context);
}

/*
 * CLOCK_REALTIME is CLOCK_MONOTONIC plus a number that changes only when the clock is set: it stays the same
 * as long as readings allow it, so that times keep their order.
 */
static void check_realtime(struct etw_source_feed *feed)
{
	int64_t least = INT64_MIN, most = INT64_MAX;

	for (int i = 0; i < OFFSET_TRIES; i++) {
		int64_t before_ns = (int64_t)etw_time_read_ns(CLOCK_MONOTONIC);
		int64_t real_ns = (int64_t)etw_time_read_ns(CLOCK_REALTIME);
		int64_t after_ns = (int64_t)etw_time_read_ns(CLOCK_MONOTONIC);

		least = MAX(least, real_ns - after_ns);
		most = MIN(most, real_ns - before_ns);
	}
	if (feed->realtime_offset_ns < least || feed->realtime_offset_ns > most)
		feed->realtime_offset_ns = least + (most - least) / 2;
}

/* The host converts to QPC. */
static int source_to_raw(void *context, uint64_t monotonic_ns, int64_t *ret)
{
	struct etw_source_feed *feed = context;
	int64_t raw;

	if (feed->context->plan.clock_type == ETW_CLOCK_SYSTEM) {
		*ret = ETW_FILETIME_UNIX_EPOCH +
		       ((int64_t)monotonic_ns + feed->realtime_offset_ns) / ETW_NS_PER_FT;
		return 0;
	}
	if (!feed->context->host.to_raw)
		return -ENOSYS;
	TRY(feed->context->host.to_raw(feed->context->host.context, monotonic_ns, &raw));
	if (feed->context->plan.clock_type == ETW_CLOCK_CYCLE)
		raw -= etw_clock_offset_at(feed->context->host.clock->page, monotonic_ns);
	*ret = raw;
	return 0;
}

static int source_keep(void *context, const char *what, int fd)
{
	const struct etw_source_feed *feed = context;

	if (!feed->context->host.keep_fd)
		return -ENOSYS;
	return etw_context_keep(feed->context, fd, "kernel-%s", what);
}

static int source_kept(void *context, const char *what)
{
	const struct etw_source_feed *feed = context;

	return etw_context_kept(feed->context, "kernel-%s", what);
}

/* Where each processor's events were left: with one output its record has the marks of all. */
static struct etw_source_mark *collect_marks(const struct etw_source_feed *feed)
{
	struct etw_source_mark *marks = calloc(feed->context->plan.cpu_count, sizeof(*marks));

	for (uint32_t i = 0; marks && i < feed->context->plan.cpu_count; i++) {
		const struct etw_state *state = &feed->context->state;

		if (feed->context->plan.output_count == 1)
			marks[i] = etw_state_holding(state, 0)->marks[i];
		else
			marks[i] = etw_state_holding(state, i)->marks[0];
	}
	return marks;
}

static int make_streams(struct etw_source_feed *feed)
{
	feed->streams = calloc(feed->context->plan.cpu_count, sizeof(*feed->streams));
	feed->losses = calloc(feed->context->plan.cpu_count + 1, sizeof(*feed->losses));
	if (!feed->streams || !feed->losses)
		return -ENOMEM;
	for (uint32_t i = 0; i < feed->context->plan.cpu_count; i++) {
		feed->streams[i].source_cpu = i;
		feed->streams[i].mark = feed->context->plan.output_count == 1 ? i : 0;
		feed->streams[i].floor_raw = feed->context->state.head->t0_raw;
	}
	return 0;
}

static int open_source(struct etw_source_feed *feed, bool is_adopted, struct etw_fault *fault)
{
	CLEANUP(freep) struct etw_source_mark *marks = NULL;
	const struct etw_source_ops *ops = feed->ops;

	feed->host = (struct etw_source_host){
		.context = feed,
		.cpu_count = feed->context->plan.cpu_count,
		.clock_type = feed->context->plan.clock_type,
		.now_raw = source_now,
		.to_raw = source_to_raw,
		.keep_fd = source_keep,
		.kept_fd = source_kept,
	};
	/* Cycles and CLOCK_MONOTONIC have nothing in common where the clock is not made of them. */
	if (feed->context->plan.clock_type == ETW_CLOCK_CYCLE &&
	    load_relaxed(&feed->context->host.clock->page->kind) != WIRE_CLOCK_TSC)
		return etw_fault_set(fault, -EOPNOTSUPP, 0, "session", "ClientContext",
				     "the processors' counter is no clock on this machine; "
				     "record the kernel with clock 1 or 2");
	if (feed->context->plan.clock_type == ETW_CLOCK_SYSTEM)
		check_realtime(feed);
	TRY(make_streams(feed));
	if (is_adopted) {
		marks = collect_marks(feed);
		if (!marks)
			return -ENOMEM;
	}
	return ops->open(&feed->host, marks, &feed->source, fault);
}

static int enable_source(struct etw_source_feed *feed, struct etw_fault *fault)
{
	struct etw_source_request request;

	etw_kernel_request_translate(&feed->wanted, &request);
	if (!request.profile_interval_ft && feed->context->host.profile_interval_ft)
		request.profile_interval_ft = load_relaxed(feed->context->host.profile_interval_ft);
	return feed->ops->enable(feed->source, &request, fault);
}

static int start_source(struct etw_source_feed *feed, bool is_adopted, struct etw_fault *fault)
{
	int result;

	TRY(open_source(feed, is_adopted, fault));
	/* What could be enabled goes on, rundown included; the rest is the caller's complaint. */
	result = enable_source(feed, fault);
	TRY(feed->ops->rundown(feed->source, /* is_end= */ false));
	return result;
}

/* The account that the source gave last. */
static void take_loss(struct etw_source_feed *feed)
{
	for (uint32_t cpu = 0; cpu <= feed->context->plan.cpu_count; cpu++) {
		struct etw_state_source *source = etw_state_source(&feed->context->state, cpu);
		uint64_t *now = &source->now.events[0][0];
		const uint64_t *loss = &feed->losses[cpu].events[0][0];

		for (unsigned i = 0; i < ETW_LOSS_SOURCE_COUNTS * ETW_LOSS_CLASSES; i++)
			store_relaxed(&now[i], loss[i]);
		store_relaxed(&source->lost, etw_source_loss_sum(&source->former) +
						     etw_source_loss_sum(&source->now));
	}
}

/* Count by count: a source that goes on with one has it still; one that begins anew adds to the former's. */
static void settle_former_loss(struct etw_source_feed *feed)
{
	feed->ops->loss(feed->source, feed->losses);
	for (uint32_t cpu = 0; cpu <= feed->context->plan.cpu_count; cpu++) {
		struct etw_state_source *source = etw_state_source(&feed->context->state, cpu);
		uint64_t *now = &source->now.events[0][0], *former = &source->former.events[0][0];
		const uint64_t *loss = &feed->losses[cpu].events[0][0];

		for (unsigned i = 0; i < ETW_LOSS_SOURCE_COUNTS * ETW_LOSS_CLASSES; i++)
			if (loss[i] < now[i])
				store_relaxed(&former[i], former[i] + now[i]);
	}
	take_loss(feed);
}

/*
 * What a session asked for and does not get: a complaint for whoever asks the session, a note for whoever reads
 * the trace later, unless a host before this one has written it.
 */
static void tell_missing(struct etw_source_feed *feed, const uint32_t masks[WIRE_GROUP_MASKS_WORDS],
			 bool is_adopted, const char *sentence)
{
	const struct etw_state_record *record = etw_state_holding(&feed->context->state, 0);
	uint64_t numbers[WIRE_SESSION_NOTE_NUMBERS] = {0};
	struct wire_session_note note;
	uint32_t fresh = 0;

	etw_context_complain(feed->context, sentence, 0, NULL);
	for (unsigned i = 0; i < WIRE_GROUP_MASKS_WORDS; i++)
		fresh |= masks[i] & ~record->noted_missing[i];
	if (is_adopted && !fresh)
		return;
	wire_session_note_set_masks(numbers, masks);
	etw_note_make(&note, WIRE_NOTE_NOT_COLLECTED, numbers, "%s", sentence);
	etw_notes_put(feed->notes, &note);
}

/* Those of the events that are wanted which the source has, or has not. Returns whether there is one. */
static bool select_events(const struct etw_source_feed *feed, bool is_built,
			  uint32_t ret[WIRE_GROUP_MASKS_WORDS])
{
	uint32_t any = 0;

	(void)etw_kernel_masks_events(feed->wanted.group_masks, ret);
	for (unsigned i = 0; i < WIRE_GROUP_MASKS_WORDS; i++) {
		ret[i] &= is_built ? feed->ops->masks[i] : ~feed->ops->masks[i];
		any |= ret[i];
	}
	return any != 0;
}

static bool wants_events(const struct etw_source_feed *feed)
{
	uint32_t masks[WIRE_GROUP_MASKS_WORDS];

	return etw_kernel_masks_events(feed->wanted.group_masks, masks);
}

static bool has_stacks(const struct etw_source_ops *ops, uint16_t hook)
{
	for (uint32_t i = 0; i < ops->stack_hook_count; i++) {
		if (ops->stack_hooks[i] == hook)
			return true;
	}
	return false;
}

/* A kind of events whose stacks will not come: they cannot be taken, or the events are not wanted. */
static bool lacks_stacks(const struct etw_source_feed *feed, uint16_t hook)
{
	const struct etw_kernel_stack *stack = etw_kernel_stack_of(hook);

	return !has_stacks(feed->ops, hook) ||
	       (stack && stack->bits && !(feed->wanted.group_masks[stack->word] & stack->bits));
}

static void tell_stacks(struct etw_source_feed *feed, bool is_adopted)
{
	uint16_t missing[WIRE_STACK_HOOKS_MAX];
	uint64_t numbers[WIRE_SESSION_NOTE_NUMBERS] = {0};
	char names[NAMES_BYTES], sentence[SENTENCE_BYTES];
	struct wire_session_note note;
	uint32_t count = 0;

	for (uint32_t i = 0; i < feed->wanted.stack_hook_count; i++) {
		if (lacks_stacks(feed, feed->wanted.stack_hooks[i]))
			missing[count++] = feed->wanted.stack_hooks[i];
	}
	if (!count)
		return;
	etw_kernel_stacks_format(missing, count, names, sizeof(names));
	(void)snprintf(sentence, sizeof(sentence), "no stacks, as not recorded or not served: %s",
		       names);
	etw_context_complain(feed->context, sentence, 0, NULL);
	if (is_adopted && etw_state_holding(&feed->context->state, 0)->noted_stacks == count)
		return;
	numbers[0] = count;
	etw_note_make(&note, WIRE_NOTE_NO_STACKS, numbers, "%s", sentence);
	etw_notes_put(feed->notes, &note);
}

/* How it is to be recorded, and is not. */
static void tell_options(struct etw_source_feed *feed, bool is_adopted)
{
	uint64_t numbers[WIRE_SESSION_NOTE_NUMBERS] = {0};
	struct etw_source_request request;
	struct wire_session_note note;
	const char *sentence;
	uint32_t missing;

	etw_kernel_request_translate(&feed->wanted, &request);
	missing = request.options | (request.only_pid ? ETW_SOURCE_ONLY_PID : 0);
	missing &= ~feed->ops->options;
	if (!missing)
		return;
	sentence = missing & ETW_SOURCE_ONLY_PID
			   ? "kernel events of all processes are recorded: they cannot be told "
			     "apart yet"
			   : "user stacks are followed by frame pointers: DWARF tables cannot be "
			     "used yet";
	etw_context_complain(feed->context, sentence, 0, NULL);
	if (is_adopted && etw_state_holding(&feed->context->state, 0)->noted_options == missing)
		return;
	numbers[0] = missing;
	etw_note_make(&note, WIRE_NOTE_NOT_AS_ASKED, numbers, "%s", sentence);
	etw_notes_put(feed->notes, &note);
}

/* How stacks were followed, which they do not show: where they end depends on it. */
static void tell_tables(struct etw_source_feed *feed, bool is_adopted)
{
	struct etw_source_request request;
	struct wire_session_note note;

	etw_kernel_request_translate(&feed->wanted, &request);
	if (!feed->wanted.stack_hook_count ||
	    !(request.options & feed->ops->options & ETW_SOURCE_UNWIND) ||
	    (is_adopted && etw_state_holding(&feed->context->state, 0)->noted_tables))
		return;
	etw_note_make(&note, WIRE_NOTE_STACKS_BY_TABLES, /* numbers= */ NULL,
		      "stacks of programs were followed by their tables of unwinding (DWARF)");
	etw_notes_put(feed->notes, &note);
}

/* What is not built is named: nobody else says that its events are missing. */
static void tell_unbuilt(struct etw_source_feed *feed, bool is_adopted)
{
	uint32_t missing[WIRE_GROUP_MASKS_WORDS];
	char names[NAMES_BYTES], sentence[SENTENCE_BYTES];

	if (select_events(feed, /* is_built= */ false, missing)) {
		etw_kernel_masks_format(missing, names, sizeof(names));
		(void)snprintf(sentence, sizeof(sentence),
			       "kernel events that are not collected: %s", names);
		tell_missing(feed, missing, is_adopted, sentence);
	}
	tell_stacks(feed, is_adopted);
	tell_options(feed, is_adopted);
	tell_tables(feed, is_adopted);
}

/* What of it is missing when a source could be enabled in part. */
static void missing_of_source(const struct etw_source_feed *feed,
			      uint32_t ret[WIRE_GROUP_MASKS_WORDS])
{
	memset(ret, 0, WIRE_GROUP_MASKS_WORDS * sizeof(ret[0]));
	if (feed->ops->missing)
		feed->ops->missing(feed->source, ret);
	else
		ret[0] = feed->wanted.group_masks[0] & EVENT_TRACE_FLAG_IMAGE_LOAD;
}

/* The source, or a part of it, does not work on this machine. */
static void tell_failed(struct etw_source_feed *feed, bool is_adopted, int error,
			const struct etw_fault *fault)
{
	bool has_fault = fault->sentence != NULL;
	/* A sentence that begins with what it is about, as "CAP_BPF is missing", names it once. */
	bool has_field = has_fault && fault->field &&
			 strncmp(fault->sentence, fault->field, strlen(fault->field)) != 0;
	uint32_t missing[WIRE_GROUP_MASKS_WORDS];
	char sentence[SENTENCE_BYTES];

	if (feed->source)
		missing_of_source(feed, missing);
	else
		(void)etw_kernel_masks_events(feed->wanted.group_masks, missing);
	(void)snprintf(sentence, sizeof(sentence), "%s kernel events are not collected: %s%s%s",
		       feed->source ? "some" : "the", has_field ? fault->field : "",
		       has_field ? ": " : "",
		       has_fault ? fault->sentence : strerrordesc_np(-error));
	tell_missing(feed, missing, is_adopted, sentence);
}

void etw_source_feed_init(struct etw_session_context *context, struct etw_session_notes *notes,
			  struct etw_source_feed *ret)
{
	*ret = (struct etw_source_feed){
		.context = context, .notes = notes, .ops = context->host.kernel};
	(void)pthread_mutex_init(&ret->announced_lock, NULL);
}

void etw_source_feed_done(struct etw_source_feed *feed)
{
	etw_announced_clear(&feed->announced);
	(void)pthread_mutex_destroy(&feed->announced_lock);
}

int etw_source_feed_announce(struct etw_source_feed *feed, struct etw_announced_image *image,
			     enum etw_announced_act act)
{
	int r;

	if (!feed->context->plan.is_kernel || !feed->ops || !feed->ops->announce)
		return 0;
	pthread_mutex_lock(&feed->announced_lock);
	r = etw_announced_put(&feed->announced, image, act, etw_monotonic_ns());
	pthread_mutex_unlock(&feed->announced_lock);
	return r;
}

/* What was announced up to now: whatever is announced later is later. */
static void hand_on_announced(struct etw_source_feed *feed)
{
	struct etw_announced_queue queue = {0};
	uint64_t until_ns;

	if (!feed->ops || !feed->ops->announce)
		return;
	pthread_mutex_lock(&feed->announced_lock);
	etw_announced_append(&queue, &feed->announced);
	until_ns = etw_monotonic_ns();
	pthread_mutex_unlock(&feed->announced_lock);
	if (feed->source)
		feed->ops->announce(feed->source, &queue, until_ns);
	etw_announced_clear(&queue);
}

/* Opens the source for what is wanted. */
static void begin(struct etw_source_feed *feed, bool is_adopted)
{
	uint32_t masks[WIRE_GROUP_MASKS_WORDS];
	struct etw_fault fault = {0};
	int result;

	if (!feed->ops) {
		(void)etw_kernel_masks_events(feed->wanted.group_masks, masks);
		tell_missing(feed, masks, is_adopted, "this host has no source of kernel events");
		return;
	}
	tell_unbuilt(feed, is_adopted);
	/* One whose flags were taken away may have a source that goes on with what a former host collected. */
	if (!is_adopted && !select_events(feed, /* is_built= */ true, masks))
		return;
	result = start_source(feed, is_adopted, &fault);
	if (result < 0) {
		if (select_events(feed, /* is_built= */ true, masks))
			tell_failed(feed, is_adopted, result, &fault);
		/* What could be opened stays, when only a part of what was asked for is missing. */
		if (!feed->source)
			return;
	}
	settle_former_loss(feed);
}

void etw_source_feed_open(struct etw_source_feed *feed, bool is_adopted)
{
	feed->wanted = feed->context->state.head->config.kernel;
	if (feed->context->plan.is_kernel && (wants_events(feed) || (is_adopted && feed->ops)))
		begin(feed, is_adopted);
}

void etw_source_feed_change(struct etw_source_feed *feed, const struct wire_kernel_request *wanted)
{
	struct etw_fault fault = {0};
	int result;

	feed->wanted = *wanted;
	if (!feed->source) {
		if (wants_events(feed))
			begin(feed, /* is_adopted= */ false);
		return;
	}
	tell_unbuilt(feed, /* is_adopted= */ false);
	result = enable_source(feed, &fault);
	if (result < 0)
		tell_failed(feed, /* is_adopted= */ false, result, &fault);
}

void etw_source_feed_collect(struct etw_source_feed *feed, struct etw_session_round *round)
{
	uint32_t masks[WIRE_GROUP_MASKS_WORDS];
	int64_t watermark = feed->watermark_raw;
	int result;

	hand_on_announced(feed);
	if (!feed->source)
		return;
	if (feed->context->plan.clock_type == ETW_CLOCK_SYSTEM)
		check_realtime(feed);
	result = feed->ops->collect(feed->source, &watermark);
	if (result < 0) {
		(void)etw_kernel_masks_events(feed->wanted.group_masks, masks);
		tell_missing(feed, masks, false,
			     "the source of kernel events failed: none are collected from here on");
		etw_source_feed_close(feed);
		return;
	}
	if (result > 0)
		round->has_more = true;
	if (watermark > feed->watermark_raw)
		feed->watermark_raw = watermark;
}

void etw_source_feed_count_loss(struct etw_source_feed *feed)
{
	if (!feed->source)
		return;
	feed->ops->loss(feed->source, feed->losses);
	take_loss(feed);
}

void etw_source_feed_release(struct etw_source_feed *feed)
{
	if (feed->source)
		feed->ops->release(feed->source);
}

uint64_t etw_source_feed_due_ns(const struct etw_source_feed *feed)
{
	return feed->source ? POLL_NS : 0;
}

int etw_source_feed_describe(struct etw_source_feed *feed, int64_t time_raw, etw_source_put_fn *put,
			     void *context)
{
	return feed->source ? feed->ops->describe(feed->source, time_raw, put, context) : 0;
}

void etw_source_feed_account(struct etw_source_feed *feed, int64_t time_raw, etw_source_put_fn *put,
			     void *context)
{
	if (feed->source && feed->ops->account)
		feed->ops->account(feed->source, time_raw, put, context);
}

void etw_source_feed_stop(struct etw_source_feed *feed)
{
	int result;

	hand_on_announced(feed);
	if (!feed->source)
		return;
	result = feed->ops->rundown(feed->source, /* is_end= */ true);
	if (result < 0)
		etw_context_complain(feed->context, "the rundown at the end", result, NULL);
}

void etw_source_feed_close(struct etw_source_feed *feed)
{
	if (feed->source) {
		etw_source_feed_count_loss(feed);
		feed->ops->close(feed->source);
		feed->source = NULL;
	}
	free(feed->streams);
	free(feed->losses);
	feed->streams = NULL;
	feed->losses = NULL;
}
