/* SPDX-License-Identifier: MIT */
/*
 * What a session's numbers mean: which modes there are, which contradict each other, how sizes are rounded
 * and what 0 stands for.
 *
 * Buffers: BufferSize is 64 KB when it is 0, else 4 .. 16384 KB. MinimumBuffers is at least 2 a processor
 * (2 with one stream for all). MaximumBuffers is what was asked for when that is not below MinimumBuffers,
 * else MinimumBuffers + 20; when it is 0 it is what makes 4 MiB a processor, or less where 64 MiB in all would
 * be exceeded, but no less than MinimumBuffers + 20. It is then spread over the
 * processors evenly, rounded up: so many buffers has each ring. All uids' ring sets get the same number,
 * but for budgets (session/rings/budget.h). A set never takes more than a quarter of the machine's memory.
 * A buffering session keeps MinimumBuffers full buffers, the last ones; its rings are those of MaximumBuffers 0.
 * Source: docs/design/recording.md "The session engine".
 */
#ifndef ETW_SESSION_COMMON_CONFIG_H
#define ETW_SESSION_COMMON_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/fault.h"
#include "wire/message.h"

#define ETW_SESSION_BUFFER_KIB_MIN     4
#define ETW_SESSION_BUFFER_KIB_MAX     16384
#define ETW_SESSION_BUFFER_KIB_DEFAULT 64
#define ETW_SESSION_MINIMUM_PER_CPU    2
#define ETW_SESSION_MAXIMUM_ABOVE      20
#define ETW_SESSION_FILE_PLACES_MAX    (UINT64_C(1) << 26) /* of a circular file: 1 GiB of addresses */

/* What the numbers come to. */
struct etw_session_plan {
	uint32_t cpu_count;
	uint32_t output_count; /* cpu_count, or 1 */
	uint32_t buffer_bytes; /* of output buffers and files */
	uint32_t ring_buffers; /* of each ring */
	uint32_t clock_type;
	uint32_t ring_flags;  /* enum wire_ring_set_flag */
	uint32_t is_realtime; /* may have consumers */
	uint32_t has_file;
	uint32_t is_kernel;       /* a system logger: its EnableFlags mean something */
	uint32_t history_buffers; /* that a buffering session keeps; 0: it is none */
	uint64_t file_places;     /* for data buffers in a circular file; 0: it is none */
	uint64_t file_flush_ns;   /* 0: no timer */
	uint64_t batch_flush_ns;  /* 0: no consumers */
};

/*
 * etw_session_config_settle() - checks a configuration, rounds its numbers in place, and says what they
 * come to.
 *
 * @cpu_count: of the machine, 1 .. WIRE_RING_CPUS_MAX
 *
 * Returns 0; -EINVAL for modes that contradict each other, lack what they need, or do not exist, and for an interval of
 * samples that cannot be;
 * -EOPNOTSUPP for those that are not built. @reterr names the mode.
 */
int etw_session_config_settle(struct wire_session_config *config, uint32_t cpu_count,
			      struct etw_session_plan *ret, struct etw_fault *reterr);

/*
 * etw_session_config_update() - what a session's configuration and plan become by an UPDATE.
 *
 * @config, @plan: settled before; changed in place, also when it fails
 * @wanted:        as in etw_session_update()
 *
 * Returns 0; -EINVAL as etw_session_config_settle(), and for EnableFlags of a session that is no system logger, or anything
 * else of the kernel's.
 */
int etw_session_config_update(struct wire_session_config *config, struct etw_session_plan *plan,
			      const struct wire_session_config *wanted, struct etw_fault *reterr);

/* etw_session_config_convert() - the same, by EVENT_TRACE_CONTROL_CONVERT_TO_REALTIME: from a file to consumers. */
int etw_session_config_convert(struct wire_session_config *config, struct etw_session_plan *plan,
			       struct etw_fault *reterr);

/* etw_session_cpu_count() - processors that may ever run here: one more than the highest number. */
uint32_t etw_session_cpu_count(void);

#endif
