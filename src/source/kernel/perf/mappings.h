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

/* A ring of one CPU. */
struct etw_kernel_perf {
	int fd; /* owned; -1: the CPU is not there */
	uint32_t cpu;
	enum etw_kernel_perf_what what;
	void *map; /* owned: a page of positions, then the data */
	uint8_t *data;
	uint64_t byte_count; /* of the data; a power of two */
	uint64_t position;
	bool is_gone; /* its CPU went offline since it was opened: nothing more comes */
};

/* Bytes that a record may have; perf's size field has 16 bits. */
#define ETW_KERNEL_PERF_RECORD_MAX 65536

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
int etw_kernel_perf_open(struct etw_kernel_perf *perf, const struct etw_source_host *host,
			 uint32_t cpu, enum etw_kernel_perf_what what, uint64_t data_bytes,
			 struct etw_fault *reterr);

/*
 * etw_kernel_perf_map() - maps the ring of an event that is open already, of whatever it tells.
 *
 * @least: bytes that it may have; else as etw_kernel_perf_open()
 */
int etw_kernel_perf_map(struct etw_kernel_perf *perf, uint64_t data_bytes, uint64_t least);

/* etw_kernel_perf_open_anew() - as etw_kernel_perf_open(), but takes nothing over: for a CPU that came back. */
int etw_kernel_perf_open_anew(struct etw_kernel_perf *perf, const struct etw_source_host *host,
			      uint32_t cpu, enum etw_kernel_perf_what what, uint64_t data_bytes);

/* etw_kernel_perf_enable() - records from now on, or no more. Returns 0, also where it is not open; else negative errno. */
int etw_kernel_perf_enable(const struct etw_kernel_perf *perf, bool is_on);

/* etw_kernel_perf_close() - does nothing when it is not open. */
void etw_kernel_perf_close(struct etw_kernel_perf *perf);

/* etw_kernel_perf_end() - where the kernel writes next. */
uint64_t etw_kernel_perf_end(const struct etw_kernel_perf *perf);

/*
 * etw_kernel_perf_next() - copies the next record before @end out.
 *
 * @to: ETW_KERNEL_PERF_RECORD_MAX bytes, 8-aligned
 *
 * Returns its bytes; 0 at the end; -EBADMSG when the ring makes no sense.
 */
int etw_kernel_perf_next(struct etw_kernel_perf *perf, uint64_t end, uint8_t *to);

/* etw_kernel_perf_release() - the kernel may write over everything before @position. */
void etw_kernel_perf_release(struct etw_kernel_perf *perf, uint64_t position);

#endif
