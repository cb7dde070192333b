/* SPDX-License-Identifier: MIT */
#include "source/tracepoints/sample.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>

#include "base/macros.h"

/* In front of the stack. */
struct sample_head {
	uint32_t pid, tid;
	uint64_t time_ns;
	uint32_t cpu, reserved;
	uint64_t period;
};

struct lost_body {
	uint64_t id, lost_count;
};

/* Marks of where the kernel's or the user's part begins are no addresses. */
static bool is_mark(uint64_t frame)
{
	return frame >= (uint64_t)PERF_CONTEXT_MAX;
}

static bool take_u64(struct etw_bytes *left, uint64_t *ret)
{
	const uint8_t *at = etw_bytes_take(left, sizeof(*ret));

	if (at)
		*ret = etw_load64(at);
	return at != NULL;
}

static int take_stack(struct etw_bytes *left, struct etw_tracepoint_sample *ret)
{
	uint64_t count, frame = 0;

	if (!take_u64(left, &count) || count > left->left / sizeof(frame))
		return -EBADMSG;
	for (uint64_t i = 0; i < count; i++) {
		(void)take_u64(left, &frame);
		if (!is_mark(frame) && ret->frame_count < ETW_TRACEPOINT_FRAMES_MAX)
			ret->frames[ret->frame_count++] = frame;
	}
	return 0;
}

static int parse_sample(struct etw_bytes left, bool has_stack, struct etw_tracepoint_sample *ret)
{
	struct sample_head head;
	const uint8_t *at = etw_bytes_take(&left, sizeof(head));
	uint32_t bytes;

	if (!at)
		return -EBADMSG;
	memcpy(&head, at, sizeof(head));
	ret->pid = head.pid;
	ret->tid = head.tid;
	ret->time_ns = head.time_ns;
	if (has_stack)
		TRY(take_stack(&left, ret));
	if (!etw_bytes_u32(&left, &bytes) || bytes > left.left)
		return -EBADMSG;
	ret->record = (struct etw_bytes){left.at, bytes};
	return 1;
}

int etw_tracepoint_sample_parse(const uint8_t *at, uint32_t byte_count, bool has_stack,
				struct etw_tracepoint_sample *ret)
{
	struct perf_event_header header;
	struct etw_bytes left = {at, byte_count};
	struct lost_body lost;

	ret->is_lost = false;
	ret->frame_count = 0;
	if (!etw_bytes_take(&left, sizeof(header)))
		return -EBADMSG;
	memcpy(&header, at, sizeof(header));
	if (header.type == PERF_RECORD_SAMPLE)
		return parse_sample(left, has_stack, ret);
	if (header.type != PERF_RECORD_LOST)
		return 0;
	if (left.left < sizeof(lost))
		return -EBADMSG;
	memcpy(&lost, left.at, sizeof(lost));
	ret->is_lost = true;
	ret->lost_count = lost.lost_count;
	return 1;
}
