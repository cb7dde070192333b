/* SPDX-License-Identifier: MIT */
#include "synthetic/maker_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "wire/etl_buffer.h"
#include "wire/etl_logfile.h"

#define VERSION_2 2

static const GUID rsds_guid = {0x5a1b3c2d, 0x1111, 0x4222, {1, 2, 3, 4, 5, 6, 7, 8}};

static void put_head(struct made_event *event, const struct maker_options *options,
		     const struct maker_totals *totals, int64_t end_ft)
{
	bool needs_2 = options->packing != MAKER_PLAIN || options->processors > 256 ||
		       options->buffer_bytes > 0x100000;
	struct wire_logfile_head head = {
		.buffer_bytes = le32_of(options->buffer_bytes),
		.os_major = (uint8_t)(options->os >> 8),
		.os_minor = (uint8_t)options->os,
		.layout_major = needs_2 ? 2 : 1,
		.layout_minor = needs_2                ? 0
				: options->os < 0x0601 ? 4
						       : 5,
		.os_build = le32_of(options->build),
		.processors = le32_of(options->processors),
		.end_ft = le64_of((uint64_t)end_ft),
		.timer_resolution = le32_of(156250),
		.maximum_file_size = le32_of(options->slots * (options->buffer_bytes / 1024)),
		.log_file_mode = le32_of(options->mode),
		.buffers_written = le32_of(totals->buffers),
		.start_buffers = le32_of(1),
		.pointer_bytes = le32_of(options->pointer_bytes),
		.events_lost = le32_of(totals->events_lost),
		.cpu_mhz = le32_of(options->mhz),
	};

	made_put(event, &head, sizeof(head));
}

static void put_tail(struct made_event *event, const struct maker_options *options,
		     const struct maker_totals *totals)
{
	struct wire_logfile_tail tail = {
		.boot_ft = le64_of((uint64_t)(options->start_ft - 36000 * ETW_FILETIME_PER_SECOND)),
		.perf_frequency = le64_of(options->frequency),
		.start_ft = le64_of((uint64_t)options->start_ft),
		.clock_type = le32_of(options->clock),
		.buffers_lost = le32_of(totals->buffers_lost),
	};

	etw_store32(tail.time_zone, (uint32_t)-60);
	etw_store32(tail.time_zone + 0xA8, (uint32_t)-60);
	made_put(event, &tail, sizeof(tail));
}

static void make_header_event(const struct maker_options *options,
			      const struct maker_totals *totals, struct made_event *event)
{
	struct made_ids ids = {options->header_pid, 11, 3, 4};
	struct etw_clock clock;
	uint64_t timer_sources[2] = {9, 6};

	etw_clock_init(&clock, options->clock, options->t0_raw, options->start_ft,
		       options->frequency, options->mhz);
	if (options->is_relogged)
		timer_sources[0] = timer_sources[1] = 0;
	made_system(event,
		    options->pointer_bytes == 8 ? WIRE_HEADER_SYSTEM64 : WIRE_HEADER_SYSTEM32,
		    0x0000, VERSION_2, options->t0_raw, &ids);
	put_head(event, options, totals,
		 totals->is_final ? etw_clock_to_filetime(&clock, totals->end_raw) + 10000 : 0);
	made_pointer(event, options->pointer_bytes, timer_sources[0]);
	made_pointer(event, options->pointer_bytes, timer_sources[1]);
	put_tail(event, options, totals);
	made_utf16(event, options->logger_name);
	made_utf16(event, options->log_file_name);
}

static void make_companion(const struct maker_options *options, unsigned companion,
			   struct made_event *event)
{
	struct made_ids ids = {options->header_pid, 11, 3, 4};
	static const uint16_t hooks[] = {0x0005, 0x0050, 0x0052, 0x0042, 0x0040};
	uint16_t hook = hooks[__builtin_ctz(companion)];

	if (companion == MAKER_GROUP_MASKS || companion == MAKER_PARTITION)
		made_system(event, WIRE_HEADER_SYSTEM64, hook, VERSION_2, options->t0_raw, &ids);
	else
		made_perfinfo(event, WIRE_HEADER_PERFINFO64, hook, VERSION_2, options->t0_raw, NULL,
			      0);
	switch (companion) {
	case MAKER_GROUP_MASKS:
		made_fill(event, 0, 32);
		made_u32(event, 0x46);
		break;
	case MAKER_PARTITION:
		made_fill(event, 0, 48);
		break;
	case MAKER_DROPPED_TIMES:
		made_u32(event, options->processors);
		made_u32(event, 0);
		made_fill(event, 0, 8 * (size_t)options->processors);
		break;
	case MAKER_BUILD_LAB:
		made_ansi(event, "19041.1.amd64fre.vb_release.191206-1406");
		break;
	default:
		made_guid(event, &rsds_guid);
		made_u32(event, 1);
		made_ansi(event, "synthetic.pdb");
	}
}

static uint32_t place(const struct maker_options *options, uint8_t *bytes, uint32_t at,
		      const struct made_event *event)
{
	uint32_t whole = (uint32_t)ALIGN_UP(event->count, WIRE_EVENT_ALIGNMENT);

	if (at + whole > options->buffer_bytes)
		abort();
	memset(bytes + at, 0, whole);
	memcpy(bytes + at, event->bytes, event->count);
	return at + whole;
}

uint32_t maker_header_events(const struct maker_options *options, const struct maker_totals *totals,
			     uint8_t *bytes, uint32_t *ret_first_end)
{
	struct made_event *event = malloc(sizeof(*event));
	uint32_t at = WIRE_BUFFER_HEADER_BYTES;

	if (!event)
		abort();
	memset(bytes, 0, at);
	make_header_event(options, totals, event);
	at = place(options, bytes, at, event);
	*ret_first_end = at;
	for (unsigned companion = 1; companion <= MAKER_RSDS; companion <<= 1) {
		if (!(options->companions & companion))
			continue;
		make_companion(options, companion, event);
		at = place(options, bytes, at, event);
	}
	free(event);
	return at;
}
