/* SPDX-License-Identifier: MIT */
#include "fake_host/fake_session.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/macros.h"
#include "base/time.h"

int fake_session_open(struct fake_session *session, uint32_t id, uint32_t buffer_count,
		      uint32_t buffer_bytes, uint32_t flags)
{
	const uint32_t cpus = (uint32_t)sysconf(_SC_NPROCESSORS_CONF);
	const struct etw_ring_set_config config = {
		.cpu_count = flags & WIRE_RING_ONE_STREAM ? 1 : cpus,
		.buffer_count = buffer_count,
		.buffer_bytes = buffer_bytes,
		.session_id = id,
		.uid = geteuid(),
		.clock_type = ETW_CLOCK_QPC,
		.flags = flags,
	};

	*session = (struct fake_session){.id = id, .fds = {-1, -1}};
	TRY(etw_ring_set_create(&config, &session->fds));
	TRY(etw_ring_set_map(&session->fds, &session->set));
	session->readers = config.cpu_count;
	session->durables = calloc(session->readers, sizeof(*session->durables));
	session->at = calloc(session->readers, sizeof(*session->at));
	if (!session->durables || !session->at)
		return -ENOMEM;
	for (uint32_t i = 0; i < session->readers; i++)
		TRY(etw_ring_reader_open(&session->set, i, &session->durables[i],
					 (struct etw_ring_position){0}, &session->at[i]));
	return 0;
}

void fake_session_close(struct fake_session *session)
{
	for (uint32_t i = 0; i < session->readers; i++)
		etw_ring_reader_close(session->at[i]);
	etw_ring_set_unmap(&session->set);
	free(session->durables);
	free(session->at);
	etw_ring_set_close(&session->fds);
	*session = (struct fake_session){.fds = {-1, -1}};
}

static uint64_t now_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static int64_t take_ring(struct etw_ring_reader *reader, fake_session_visit visit, void *context)
{
	static _Thread_local struct fake_event copy;
	struct etw_ring_event event;
	int64_t count = 0;
	int r;

	TRY(etw_ring_reader_look(reader, ETW_RING_LOOK_BUMP, INT64_MIN));
	while ((r = etw_ring_reader_peek(reader, now_ns(), &event)) == 0) {
		if (visit) {
			copy.bytes = event.bytes;
			memcpy(copy.data, event.at, event.bytes);
			visit(context, &copy);
		}
		etw_ring_reader_take(reader, true);
		count++;
	}
	etw_ring_reader_release(reader);
	return r == ETW_END || r == -EAGAIN ? count : r;
}

int64_t fake_session_take(struct fake_session *session, fake_session_visit visit, void *context)
{
	int64_t sum = 0;

	for (uint32_t i = 0; i < session->readers; i++) {
		int64_t count = take_ring(session->at[i], visit, context);

		if (count < 0)
			return count;
		sum += count;
	}
	return sum;
}

uint64_t fake_session_lost(const struct fake_session *session)
{
	struct etw_ring_counts counts;
	uint64_t sum = 0;

	for (uint32_t i = 0; i < session->readers; i++) {
		etw_ring_reader_counts(session->at[i], &counts);
		sum += counts.lost_no_buffer + counts.lost_too_large;
	}
	return sum;
}
