/* SPDX-License-Identifier: MIT */
/* A source's events of a session; see session/source_feed.h. */
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
#include "session/source_feed_internal.h"
#include "wire/kernel_names.h"

#define POLL_NS      UINT64_C(10000000) /* times wait for the clock's sample as long */
#define OFFSET_TRIES 4

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
	return etw_context_keep(feed->context, fd, "%s-%s", feed->ops->name, what);
}

static int source_kept(void *context, const char *what)
{
	const struct etw_source_feed *feed = context;

	return etw_context_kept(feed->context, "%s-%s", feed->ops->name, what);
}

/* Where each processor's events were left: with one output its record has the marks of all. */
static struct etw_source_mark *collect_marks(const struct etw_source_feed *feed)
{
	struct etw_source_mark *marks = calloc(feed->context->plan.cpu_count, sizeof(*marks));

	for (uint32_t i = 0; marks && i < feed->context->plan.cpu_count; i++) {
		const struct etw_state *state = &feed->context->state;
		uint32_t output = feed->context->plan.output_count == 1 ? 0 : i;

		marks[i] = etw_state_holding(state, output)
				   ->marks[etw_state_mark(state, feed->number, i)];
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
		feed->streams[i].feed = feed;
		feed->streams[i].source_cpu = i;
		feed->streams[i].mark = etw_state_mark(&feed->context->state, feed->number, i);
		feed->streams[i].floor_raw = feed->context->state.head->t0_raw;
	}
	return 0;
}

static int open_source(struct etw_source_feed *feed, const struct etw_source_mark *marks,
		       struct etw_fault *fault)
{
	struct etw_state_head *head = feed->context->state.head;
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
				     "record what is not of programs with clock 1 or 2");
	if (feed->context->plan.clock_type == ETW_CLOCK_SYSTEM)
		check_realtime(feed);
	TRY(make_streams(feed));
	TRY(ops->open(&feed->host, marks, &feed->source, fault));
	store_relaxed(&head->sources_opened, head->sources_opened | UINT32_C(1) << feed->number);
	return 0;
}

static int enable_source(struct etw_source_feed *feed, struct etw_fault *fault)
{
	struct etw_source_request request;

	etw_kernel_request_translate(&feed->wanted, &request);
	if (feed->number) /* what of the kernel's request is of the session as a whole */
		request.only_pid = feed->context->state.head->config.kernel.only_pid;
	request.provider_count = feed->provider_count;
	request.providers = feed->providers;
	if (!request.profile_interval_ft && feed->context->host.profile_interval_ft)
		request.profile_interval_ft = load_relaxed(feed->context->host.profile_interval_ft);
	return feed->ops->enable(feed->source, &request, fault);
}

static int start_source(struct etw_source_feed *feed, bool is_adopted, struct etw_fault *fault)
{
	CLEANUP(freep) struct etw_source_mark *marks = NULL;
	int result;

	if (is_adopted) {
		marks = collect_marks(feed);
		if (!marks)
			return -ENOMEM;
	}
	TRY(open_source(feed, marks, fault));
	/* What could be enabled goes on, rundown included; the rest is the caller's complaint. */
	result = enable_source(feed, fault);
	if (is_adopted && feed->ops->is_lost_with_host && feed->provider_count)
		etw_source_tell_gap(feed, marks);
	TRY(feed->ops->rundown(feed->source, /* is_end= */ false));
	return result;
}

/* The account that the source gave last. */
static void take_loss(struct etw_source_feed *feed)
{
	for (uint32_t cpu = 0; cpu <= feed->context->plan.cpu_count; cpu++) {
		struct etw_state_source *source = etw_state_source(&feed->context->state,
								   feed->number, cpu);
		uint64_t *now = &source->now.events[0][0];
		const uint64_t *loss = &feed->losses[cpu].events[0][0];

		for (unsigned i = 0; i < ETW_LOSS_CAUSES * ETW_LOSS_CLASSES; i++)
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
		struct etw_state_source *source = etw_state_source(&feed->context->state,
								   feed->number, cpu);
		uint64_t *now = &source->now.events[0][0], *former = &source->former.events[0][0];
		const uint64_t *loss = &feed->losses[cpu].events[0][0];

		for (unsigned i = 0; i < ETW_LOSS_CAUSES * ETW_LOSS_CLASSES; i++)
			if (loss[i] < now[i])
				store_relaxed(&former[i], former[i] + now[i]);
	}
	take_loss(feed);
}

void etw_source_feed_init(struct etw_session_context *context, struct etw_session_notes *notes,
			  uint32_t number, struct etw_source_feed *ret)
{
	*ret = (struct etw_source_feed){
		.context = context,
		.notes = notes,
		.number = number,
		.ops = number ? context->host.sources[number - 1] : context->host.kernel,
	};
	(void)pthread_mutex_init(&ret->announced_lock, NULL);
}

void etw_source_feed_done(struct etw_source_feed *feed)
{
	free(feed->providers);
	feed->providers = NULL;
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

/* Whether there is anything that the source would have. */
static bool has_wish(const struct etw_source_feed *feed)
{
	uint32_t masks[WIRE_GROUP_MASKS_WORDS];

	return feed->provider_count || etw_source_select_events(feed, /* is_built= */ true, masks);
}

/* Opens the source for what is wanted. */
static void begin(struct etw_source_feed *feed, bool is_adopted)
{
	uint32_t masks[WIRE_GROUP_MASKS_WORDS];
	struct etw_fault fault = {0};
	int result;

	if (!feed->ops) {
		(void)etw_kernel_masks_events(feed->wanted.group_masks, masks);
		etw_source_tell_missing(feed, masks, is_adopted,
					"this host has no source of kernel events");
		return;
	}
	etw_source_tell_unbuilt(feed, is_adopted);
	/* One whose flags were taken away may have a source that goes on with what a former host collected. */
	if (!is_adopted && !has_wish(feed))
		return;
	result = start_source(feed, is_adopted, &fault);
	if (result < 0) {
		if (has_wish(feed))
			etw_source_tell_failed(feed, is_adopted, result, &fault);
		/* What could be opened stays, when only a part of what was asked for is missing. */
		if (!feed->source)
			return;
	}
	settle_former_loss(feed);
}

/* Those of the state that the source owns. */
static int take_providers(struct etw_source_feed *feed)
{
	const struct etw_source_provider *of_source[ETW_STATE_PROVIDERS];
	struct etw_source_provider *taken;
	uint32_t count = 0;

	for (uint32_t i = 0; i < ETW_STATE_PROVIDERS; i++) {
		const struct etw_source_provider *provider =
			etw_state_provider(&feed->context->state, i);

		if (provider && feed->ops && feed->ops->has_provider &&
		    feed->ops->has_provider(&provider->guid))
			of_source[count++] = provider;
	}
	taken = count ? malloc(count * sizeof(*taken)) : NULL;
	if (count && !taken)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++)
		taken[i] = *of_source[i];
	free(feed->providers);
	feed->providers = taken;
	feed->provider_count = count;
	return 0;
}

void etw_source_feed_open(struct etw_source_feed *feed, bool is_adopted)
{
	const struct etw_state_head *head = feed->context->state.head;
	bool is_open = is_adopted && feed->ops && head->sources_opened >> feed->number & 1;

	if (feed->number == 0 && feed->context->plan.is_kernel)
		feed->wanted = head->config.kernel;
	if (take_providers(feed) < 0)
		etw_context_complain(feed->context, "events of providers of the system", -ENOMEM,
				     NULL);
	if (etw_source_wants_events(feed) || feed->provider_count || is_open)
		begin(feed, is_adopted);
}

/* Something else is wanted than before. */
static void change(struct etw_source_feed *feed)
{
	struct etw_fault fault = {0};
	int result;

	if (!feed->source) {
		if (etw_source_wants_events(feed) || feed->provider_count)
			begin(feed, /* is_adopted= */ false);
		return;
	}
	etw_source_tell_unbuilt(feed, /* is_adopted= */ false);
	result = enable_source(feed, &fault);
	if (result < 0)
		etw_source_tell_failed(feed, /* is_adopted= */ false, result, &fault);
}

void etw_source_feed_change(struct etw_source_feed *feed, const struct wire_kernel_request *wanted)
{
	feed->wanted = *wanted;
	change(feed);
}

int etw_source_feed_change_providers(struct etw_source_feed *feed)
{
	if (!feed->ops || !feed->ops->has_provider)
		return 0;
	TRY(take_providers(feed));
	change(feed);
	return 0;
}

int etw_source_feed_capture(struct etw_source_feed *feed, const struct etw_source_provider *wanted)
{
	return feed->source && feed->ops->capture ? feed->ops->capture(feed->source, wanted) : 0;
}

void etw_source_feed_retell(struct etw_source_feed *feed)
{
	int result = feed->source && feed->ops->retell ? feed->ops->retell(feed->source) : 0;

	if (result < 0)
		etw_context_complain(feed->context, "what events are, for a new consumer", result,
				     NULL);
}

void etw_source_feed_collect(struct etw_source_feed *feed, struct etw_session_round *round)
{
	uint32_t masks[WIRE_GROUP_MASKS_WORDS];
	char sentence[ETW_SOURCE_SENTENCE_BYTES];
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
		(void)snprintf(sentence, sizeof(sentence),
			       "the source of %s events failed: none are collected from here on",
			       feed->ops->name);
		etw_source_tell_missing(feed, masks, false, sentence);
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
