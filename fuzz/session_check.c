/* SPDX-License-Identifier: MIT */
/*
 * The validator of what a session copies out of memory that processes can write: of any bytes only whole events pass
 * that are of the uid's own process and of a provider that it may write, of a shape that user mode makes, without items
 * that only the host may add, in order of time; a run passes exactly the events that pass one by one.
 *
 * Input: four bytes of limits, then the run.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "session/common/check.h"
#include "session/common/host.h"
#include "target.h"
#include "wire/event_shape.h"

#define RUN_MAX 65536
#define OWN_UID 7
#define OWN_PID 4242
#define LATEST  INT64_C(1000000)

static const GUID allowed = {0x11223344, 0x5566, 0x7788, {1, 2, 3, 4, 5, 6, 7, 8}};

static bool may_write(void *context, uint32_t session_id, uid_t uid, const GUID *provider)
{
	(void)context;
	(void)session_id;
	return uid == OWN_UID && !memcmp(provider, &allowed, sizeof(allowed));
}

static bool may_be_pid(void *context, uid_t uid, uint32_t pid, struct etw_session_pid_span *ret)
{
	(void)context;
	(void)ret;
	return uid == OWN_UID && pid == OWN_PID;
}

static const struct etw_session_host host = {.may_write = may_write, .may_be_pid = may_be_pid};
static struct etw_check_cache cache;

static void reset(void)
{
	memset(&cache, 0, sizeof(cache));
	cache.host = &host;
	cache.session_id = 1;
	cache.uid = OWN_UID;
	cache.raw_per_second = 1e6;
}

static struct etw_check_limits limits_of(const uint8_t *data)
{
	return (struct etw_check_limits){
		.floor_raw = (int64_t)(data[0] | data[1] << 8),
		.bound_raw = LATEST,
		.latest_raw = LATEST,
		.slack_raw = data[2],
		.is_steppable = data[3] & 1,
		.now_ns = UINT64_C(1000000000),
	};
}

/* What passed may be believed. */
static void check_event(const uint8_t *event, uint32_t bytes, int64_t floor_raw)
{
	const struct wire_event_shape *shape = wire_event_ring_shape(event);
	int64_t raw;

	CHECK(shape && bytes >= shape->header_bytes);
	CHECK(bytes == (uint32_t)(event[0] | event[1] << 8));
	CHECK(etw_load32(event + shape->thread_at) != 0);
	CHECK(etw_load32(event + shape->thread_at + 4) == OWN_PID);
	CHECK(!memcmp(event + shape->provider_at, &allowed, sizeof(allowed)));
	raw = (int64_t)etw_load64(event + shape->time_at);
	CHECK(raw >= floor_raw && raw <= LATEST);
}

/* One by one, as the reader hands them out. Returns how many bytes passed. */
static uint32_t pass_singly(struct etw_check_limits limits, uint8_t *run, uint32_t bytes,
			    uint32_t *ret_count)
{
	uint32_t at = 0;

	*ret_count = 0;
	while (bytes - at >= 8) {
		uint32_t size = (uint32_t)(run[at] | run[at + 1] << 8);
		uint32_t padded = (size + 7) & ~7u;
		uint8_t *copy;
		int64_t raw;

		if (size < 8 || padded > bytes - at)
			break;
		/* Of exactly its size, so that a read too far is seen. */
		copy = malloc(size);
		CHECK(copy);
		memcpy(copy, run + at, size);
		if (etw_check_event(&cache, &limits, copy, size, &raw) == ETW_CHECK_REFUSED) {
			free(copy);
			break;
		}
		check_event(copy, size, limits.floor_raw);
		limits.floor_raw = raw;
		memcpy(run + at, copy, size);
		free(copy);
		at += padded;
		*ret_count += 1;
	}
	return at;
}

static void check_run(const uint8_t *data, uint32_t bytes, struct etw_check_limits limits)
{
	struct etw_check_limits own = limits;
	uint8_t *singly = malloc(bytes + 1), *whole = malloc(bytes + 1);
	struct etw_check_run run;
	uint32_t passed, count;

	CHECK(singly && whole);
	memcpy(singly, data, bytes);
	memcpy(whole, data, bytes);
	reset();
	passed = pass_singly(limits, singly, bytes, &count);
	reset();
	run = etw_check_run(&cache, &own, whole, bytes);
	CHECK(run.bytes == passed && run.count == count);
	for (uint32_t at = 0; at < passed;) {
		uint32_t size = (uint32_t)(whole[at] | whole[at + 1] << 8);

		CHECK(!memcmp(singly + at, whole + at, size));
		at += (size + 7) & ~7u;
	}
	free(singly);
	free(whole);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	if (bytes < 4 || bytes - 4 > RUN_MAX)
		return 0;
	check_run(data + 4, (uint32_t)(bytes - 4) & ~7u, limits_of(data));
	return 0;
}
