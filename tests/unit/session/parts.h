/* SPDX-License-Identifier: MIT */
/*
 * The parts of a session for tests, as session.c puts them together, without its thread: whoever tests calls what a
 * round calls, with the times that it likes. The host is that of fixture.h.
 */
#ifndef TESTS_UNIT_SESSION_PARTS_H
#define TESTS_UNIT_SESSION_PARTS_H

#include "fixture.h"
#include "session/common/account.h"
#include "session/outputs.h"
#include "session/rings/pages.h"
#include "session/rings/sets.h"

#define PARTS_USER 4000 /* an ordinary uid, of whom nothing is trusted */

struct parts {
	struct etw_session_context context;
	struct etw_session_notes notes;
	struct etw_session_sets sets;
	struct etw_source_feeds feeds;
	struct etw_session_consumers consumers;
	struct etw_session_outputs outputs;
	struct etw_session_round round;
};

static inline void parts_init(struct parts *parts, const struct etw_session_host *host)
{
	*parts = (struct parts){0};
	etw_context_open(host, &parts->context);
	etw_notes_open(&parts->context, &parts->notes);
	etw_session_sets_open(&parts->context, &parts->sets);
	etw_source_feeds_init(&parts->context, &parts->notes, &parts->feeds);
	etw_consumers_open(&parts->context, &parts->consumers);
	etw_outputs_init(&parts->context,
			 &(const struct etw_outputs_parts){
				 .sets = &parts->sets,
				 .feeds = &parts->feeds,
				 .consumers = &parts->consumers,
				 .notes = &parts->notes,
			 },
			 &parts->outputs);
}

/* A new session's parts, of a machine with @cpu_count processors. */
static inline void parts_open(struct parts *parts, struct fixture *fixture,
			      const struct wire_session_config *config, uint32_t cpu_count)
{
	struct wire_session_config settled = *config;
	struct etw_session_context *context = &parts->context;
	struct etw_session_plan plan;
	struct etw_fault fault = {0};

	parts_init(parts, &fixture->host);
	assert_int_equal(etw_session_config_settle(&settled, cpu_count, &plan, &fault), 0);
	etw_context_set_plan(context, &plan);
	assert_int_equal(etw_state_create(7, getuid(), &settled, &plan, etw_context_now(context),
					  &context->state),
			 0);
	context->state.head->hosts = 1;
	assert_int_equal(etw_outputs_open(&parts->outputs), 0);
	assert_int_equal(etw_session_file_create(&parts->outputs.file), 0);
}

/* The parts of the next host, over the state that the last one left. */
static inline void parts_adopt(struct parts *parts, struct fixture *fixture, int state_fd)
{
	parts_init(parts, &fixture->host);
	assert_int_equal(etw_state_adopt(state_fd, &parts->context.state), 0);
	etw_context_set_plan(&parts->context, &parts->context.state.head->plan);
	parts->context.state.head->hosts++;
	etw_consumers_resume(&parts->consumers);
	assert_int_equal(etw_outputs_open(&parts->outputs), 0);
	etw_session_file_adopt(&parts->outputs.file);
	etw_consumers_adopt(&parts->consumers);
	etw_outputs_recover(&parts->outputs);
	etw_session_sets_adopt(&parts->sets);
	etw_pages_adopt(&parts->sets);
}

static inline void parts_close(struct parts *parts)
{
	etw_source_feeds_close(&parts->feeds);
	etw_consumers_close(&parts->consumers);
	etw_session_sets_free_all(&parts->sets);
	etw_pages_free_all(&parts->sets);
	etw_session_sets_close(&parts->sets);
	etw_outputs_close(&parts->outputs);
	etw_notes_close(&parts->notes);
	etw_context_close(&parts->context);
}

/* A real-time session without a file. */
static inline struct wire_session_config parts_realtime(void)
{
	return (struct wire_session_config){
		.name = "parts",
		.buffer_kib = 4,
		.log_file_mode = EVENT_TRACE_REAL_TIME_MODE |
				 EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING};
}

/* A writer of the uid's set. Returns the set. */
static inline struct etw_session_set *parts_attach(struct parts *parts, uid_t uid, uint32_t id,
						   struct fixture_writer *ret)
{
	struct etw_session_set *set;
	struct etw_ring_set_fds fds;
	uint32_t number;
	int refusal;

	*ret = (struct fixture_writer){
		.provider = fixture_provider.Data1, .clock = parts->context.host.clock, .id = id};
	assert_int_equal(etw_session_sets_get(&parts->sets, uid, &number, &fds, &refusal), 0);
	assert_int_equal(refusal, 0);
	assert_int_equal(etw_ring_set_map(&fds, &ret->set), 0);
	etw_ring_set_close(&fds);
	pthread_mutex_lock(&parts->sets.lock);
	set = etw_session_sets_find(&parts->sets, number);
	pthread_mutex_unlock(&parts->sets.lock);
	assert_non_null(set);
	return set;
}

/* What a round moves, at a time of CLOCK_MONOTONIC; @is_flush: out of open buffers, too. */
static inline bool parts_move(struct parts *parts, uint64_t now_ns, bool is_flush)
{
	parts->round = (struct etw_session_round){.now_raw = etw_context_now(&parts->context),
						  .now_ns = now_ns,
						  .is_flush = is_flush};
	return etw_outputs_move(&parts->outputs, &parts->round);
}

static inline struct etw_state_counts parts_counts(const struct parts *parts)
{
	struct etw_state_counts counts;

	etw_account_counts(&parts->context.state, &counts);
	return counts;
}

#endif
