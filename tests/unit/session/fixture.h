/* SPDX-License-Identifier: MIT */
/*
 * A host for tests: a clock page in memory, a keeper that is a table, answers that tests set; and writers
 * that map a ring set as a provider process does.
 */
#ifndef TESTS_UNIT_SESSION_FIXTURE_H
#define TESTS_UNIT_SESSION_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <evntrace.h>

#include "base/guid.h"
#include "ring/writer.h"
#include "session/session.h"
#include "wire/etl_event.h"

#define FIXTURE_FDS 128
#define SLOW_ASK_US 1100000 /* longer than a flush waits for a standstill */

struct fixture {
	struct wire_clock_page page;
	struct etw_clock_page clock;
	struct etw_session_host host;
	pthread_mutex_t lock;
	struct {
		char name[96];
		int fd;
	} kept[FIXTURE_FDS];
	bool refuses_provider, refuses_pid;
	uint32_t slow_asks; /* atomic: so many questions for a provider take SLOW_ASK_US yet */
	uint32_t replaced, last_replaced; /* atomic */
	char folder[64];
	char path[128];
};

static int fixture_keep(void *context, const char *name, int fd)
{
	struct fixture *fixture = context;
	int result = -ENOSPC;

	pthread_mutex_lock(&fixture->lock);
	for (int i = 0; i < FIXTURE_FDS && result; i++) {
		if (fixture->kept[i].name[0])
			continue;
		(void)snprintf(fixture->kept[i].name, sizeof(fixture->kept[i].name), "%s", name);
		fixture->kept[i].fd = dup(fd);
		result = 0;
	}
	pthread_mutex_unlock(&fixture->lock);
	return result;
}

static int fixture_kept(void *context, const char *name)
{
	struct fixture *fixture = context;
	int result = -ENOENT;

	pthread_mutex_lock(&fixture->lock);
	for (int i = 0; i < FIXTURE_FDS; i++) {
		if (!strcmp(fixture->kept[i].name, name))
			result = dup(fixture->kept[i].fd);
	}
	pthread_mutex_unlock(&fixture->lock);
	return result;
}

static void fixture_forget(void *context, const char *name)
{
	struct fixture *fixture = context;

	pthread_mutex_lock(&fixture->lock);
	for (int i = 0; i < FIXTURE_FDS; i++) {
		if (strcmp(fixture->kept[i].name, name) != 0)
			continue;
		fixture->kept[i].name[0] = '\0';
		close(fixture->kept[i].fd);
	}
	pthread_mutex_unlock(&fixture->lock);
}

/* How many descriptors are kept whose names begin so. */
static inline uint32_t fixture_kept_count(struct fixture *fixture, const char *prefix)
{
	uint32_t count = 0;

	pthread_mutex_lock(&fixture->lock);
	for (int i = 0; i < FIXTURE_FDS; i++)
		count += strncmp(fixture->kept[i].name, prefix, strlen(prefix)) == 0;
	pthread_mutex_unlock(&fixture->lock);
	return count;
}

/* Both descriptors of a ring set that was kept. To be closed. */
static inline struct etw_ring_set_fds fixture_kept_set(struct fixture *fixture, uint32_t set_id)
{
	struct etw_ring_set_fds fds;
	char name[96];

	(void)snprintf(name, sizeof(name), "session-7/page-%u", set_id);
	fds.page = fixture_kept(fixture, name);
	(void)snprintf(name, sizeof(name), "session-7/ring-%u", set_id);
	fds.rings = fixture_kept(fixture, name);
	return fds;
}

static bool fixture_may_write(void *context, uint32_t session_id, uid_t uid, const GUID *provider)
{
	struct fixture *fixture = context;
	uint32_t slow_asks = load_relaxed(&fixture->slow_asks);

	(void)session_id;
	(void)uid;
	(void)provider;
	if (slow_asks > 0) {
		store_relaxed(&fixture->slow_asks, slow_asks - 1);
		(void)usleep(SLOW_ASK_US);
	}
	return !fixture->refuses_provider;
}

static bool fixture_may_be_pid(void *context, uid_t uid, uint32_t pid,
			       struct etw_session_pid_span *ret_span)
{
	const struct fixture *fixture = context;

	(void)uid;
	(void)pid;
	(void)ret_span;
	return !fixture->refuses_pid;
}

static void fixture_replaced(void *context, uint32_t session_id, uid_t uid, uint32_t ring_set)
{
	struct fixture *fixture = context;

	(void)session_id;
	(void)uid;
	store_relaxed(&fixture->last_replaced, ring_set);
	(void)add_relaxed(&fixture->replaced, 1u);
}

/* CLOCK_MONOTONIC_RAW in ns: the same in every process, and no counter to calibrate. */
static inline void fixture_open(struct fixture *fixture)
{
	*fixture = (struct fixture){0};
	fixture->page = (struct wire_clock_page){
		.magic = WIRE_CLOCK_PAGE_MAGIC,
		.version = 1,
		.kind = WIRE_CLOCK_MONOTONIC_RAW,
		.frequency = 1000000000,
	};
	fixture->clock.page = &fixture->page;
	pthread_mutex_init(&fixture->lock, NULL);
	fixture->host = (struct etw_session_host){
		.context = fixture,
		.clock = &fixture->clock,
		.keep_fd = fixture_keep,
		.kept_fd = fixture_kept,
		.forget_fd = fixture_forget,
		.may_write = fixture_may_write,
		.may_be_pid = fixture_may_be_pid,
		.ring_set_replaced = fixture_replaced,
	};
	(void)snprintf(fixture->folder, sizeof(fixture->folder), "/tmp/etw-session-XXXXXX");
	assert_non_null(mkdtemp(fixture->folder));
	(void)snprintf(fixture->path, sizeof(fixture->path), "%s/out.etl", fixture->folder);
}

static inline void fixture_close(struct fixture *fixture)
{
	for (int i = 0; i < FIXTURE_FDS; i++) {
		if (fixture->kept[i].name[0])
			close(fixture->kept[i].fd);
	}
	(void)unlink(fixture->path);
	(void)rmdir(fixture->folder);
}

static inline struct wire_session_config fixture_config(const struct fixture *fixture)
{
	struct wire_session_config config = {
		.name = "test",
		.buffer_kib = 4,
		.log_file_mode = EVENT_TRACE_FILE_MODE_SEQUENTIAL,
		.controller_pid = 1,
		.controller_tid = 1,
	};

	(void)snprintf(config.log_file, sizeof(config.log_file), "%s", fixture->path);
	return config;
}

static inline struct etw_session *fixture_start(struct fixture *fixture,
						const struct wire_session_config *config)
{
	struct etw_session *session = NULL;
	struct etw_fault fault = {0};

	assert_int_equal(etw_session_start(&fixture->host, 7, getuid(), config, &session, &fault),
			 0);
	return session;
}

/* What events carry: who wrote it and how many he had written. */
struct fixture_payload {
	uint32_t writer;
	uint32_t number;
};

/* A writer's end. */
struct fixture_writer {
	struct etw_ring_set set;
	uint32_t provider; /* Data1 of its GUID */
	const struct etw_clock_page *clock;
	uint32_t id;
	uint32_t written, refused; /* events */
};

static const GUID fixture_provider = {0x11223344, 0x5566, 0x7788, {1, 2, 3, 4, 5, 6, 7, 8}};

static inline void fixture_make_event(uint8_t *event, uint32_t bytes, int64_t time_raw)
{
	memset(event, 0, sizeof(struct wire_event_header));
	etw_store16(event, (uint16_t)bytes);
	event[2] = WIRE_HEADER_EVENT64;
	event[3] = WIRE_EVENT_FLAG_TRACE;
	etw_store32(event + 0x08, 1);
	etw_store32(event + 0x0C, (uint32_t)getpid());
	etw_store64(event + 0x10, (uint64_t)time_raw);
	etw_guid_write(event + 0x18, &fixture_provider);
}

/* The number of the set that a uid has. Returns 0, or why it has none that takes events. */
static inline int fixture_ring_set(struct etw_session *session, uid_t uid, uint32_t *ret)
{
	int refusal, result = etw_session_ring_set(session, uid, ret, NULL, &refusal);

	return result < 0 ? result : refusal;
}

static inline void fixture_attach(struct fixture *fixture, struct etw_session *session, uid_t uid,
				  uint32_t id, struct fixture_writer *ret)
{
	struct etw_ring_set_fds fds;
	uint32_t ring_set;
	int refusal;

	*ret = (struct fixture_writer){
		.provider = fixture_provider.Data1, .clock = &fixture->clock, .id = id};
	assert_int_equal(etw_session_ring_set(session, uid, &ring_set, &fds, &refusal), 0);
	assert_int_equal(refusal, 0);
	assert_int_equal(etw_ring_set_map(&fds, &ret->set), 0);
	etw_ring_set_close(&fds);
}

static inline int fixture_write(struct fixture_writer *writer, uint32_t bytes)
{
	struct fixture_payload payload = {writer->id, writer->written};
	struct etw_ring_span span;
	int result = etw_ring_reserve(&writer->set, writer->clock, bytes, &span);

	if (result < 0) {
		writer->refused++;
		return result;
	}
	fixture_make_event(span.at, bytes, span.time_raw);
	etw_store32(span.at + 0x18, writer->provider);
	memcpy(span.at + sizeof(struct wire_event_header), &payload, sizeof(payload));
	etw_ring_commit(&span);
	writer->written++;
	return 0;
}

#endif
