/* SPDX-License-Identifier: MIT */
/*
 * Mappings of files, from perf's mapping records: a software event that never counts anything, on each
 * CPU, for the sake of its side band. perf also says when an exec throws the old program away, which the
 * exec tracepoint (later) does not, and tells the code that the kernel makes at run time.
 *
 * What may not be executed has an event and a ring of its own: the first piece of an ELF object, which says where its image
 * begins, is such a one, and so is every data file that a process reads. Whoever maps many of those, with long paths, would
 * fill the ring that tells of code.
 */
#ifndef ETW_SOURCE_KERNEL_PERF_MAPPINGS_H
#define ETW_SOURCE_KERNEL_PERF_MAPPINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/fault.h"
#include "base/source.h"
#include "source/kernel/perf/perf_ring.h"
#include "source/kernel/processes/images.h"

enum etw_kernel_perf_kind {
	ETW_KERNEL_PERF_OTHER = 0,
	ETW_KERNEL_PERF_MAP = 1,
	ETW_KERNEL_PERF_EXEC = 2,
	ETW_KERNEL_PERF_LOST = 3,
	ETW_KERNEL_PERF_SYMBOL = 4,
};

/* A function that the kernel made at run time, a BPF program or a trampoline, or is about to throw away. */
struct etw_kernel_made {
	uint64_t base;
	uint32_t byte_count;
	bool is_bpf; /* else another of the kernel's own pieces of code */
	bool is_loaded;
	const char *name; /* borrowed */
};

/* One record, as far as it is of use. */
struct etw_kernel_perf_record {
	enum etw_kernel_perf_kind kind;
	uint32_t tid, pid;
	uint64_t time_ns;
	uint64_t lost_count;               /* LOST */
	struct etw_kernel_mapping mapping; /* MAP; its path lies in the record */
	struct etw_kernel_made made;       /* SYMBOL; likewise its name */
};

/* Of which mappings a ring tells. */
enum etw_kernel_perf_what {
	ETW_KERNEL_PERF_CODE = 0, /* and of all that is no mapping */
	ETW_KERNEL_PERF_DATA = 1, /* what may not be executed */
};

/*
 * etw_kernel_perf_parse() - takes a record apart.
 *
 * @at:  @byte_count bytes, the header included; 8-aligned
 *
 * Returns 0; -EBADMSG for one that is too short for what it says.
 */
int etw_kernel_perf_parse(const uint8_t *at, uint32_t byte_count,
			  struct etw_kernel_perf_record *ret);

/*
 * etw_kernel_perf_open() - opens an event on @cpu, silent, or takes over a former host's.
 *
 * @data_bytes: a power of two and a multiple of the page; less is taken where the kernel allows no more
 *
 * Returns 0; -ENODEV when the CPU is offline; -EACCES without the privilege; else what the kernel said.
 */
int etw_kernel_perf_open(struct etw_kernel_perf_ring *ring, const struct etw_source_host *host,
			 uint32_t cpu, enum etw_kernel_perf_what what, uint64_t data_bytes,
			 struct etw_fault *reterr);

/* etw_kernel_perf_open_anew() - as etw_kernel_perf_open(), but takes nothing over: for a CPU that came back. */
int etw_kernel_perf_open_anew(struct etw_kernel_perf_ring *ring, const struct etw_source_host *host,
			      uint32_t cpu, enum etw_kernel_perf_what what, uint64_t data_bytes);

#endif
