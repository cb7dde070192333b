/* SPDX-License-Identifier: MIT */
/* Mapping records of perf. See mappings.h. */
#include "source/kernel/perf/mappings.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/macros.h"
#include "source/kernel/procfs/vdso.h"

/* Behind each record (sample_id_all): tid, time and CPU, in the order of the bits of sample_type. */
struct trailer {
	uint32_t pid, tid;
	uint64_t time_ns;
	uint32_t cpu, reserved;
};

struct map_record {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t start, byte_count, file_offset;
	uint8_t build_id_bytes; /* with PERF_RECORD_MISC_MMAP_BUILD_ID; else device and inode */
	uint8_t reserved[3];
	uint8_t build_id[ETW_KERNEL_BUILD_ID_BYTES];
	uint32_t protection, flags;
	/* the path follows, NUL-terminated, padded to 8 */
};

/* Of what may not be executed: the same, without what is known of the file. */
struct plain_map_record {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t start, byte_count, file_offset;
	/* the path follows, NUL-terminated, padded to 8 */
};

struct exec_record {
	struct perf_event_header header;
	uint32_t pid, tid;
};

struct lost_record {
	struct perf_event_header header;
	uint64_t id, lost_count;
};

struct symbol_record {
	struct perf_event_header header;
	uint64_t base;
	uint32_t byte_count;
	uint16_t type, flags;
	/* the name follows, NUL-terminated, padded to 8 */
};

static int parse_symbol(const uint8_t *at, uint32_t name_end, struct etw_kernel_perf_record *ret)
{
	struct symbol_record record;
	const char *name = (const char *)at + sizeof(record);

	if (name_end <= sizeof(record) || !memchr(name, '\0', name_end - sizeof(record)))
		return -EBADMSG;
	memcpy(&record, at, sizeof(record));
	ret->kind = ETW_KERNEL_PERF_SYMBOL;
	ret->made = (struct etw_kernel_made){
		.base = record.base,
		.byte_count = record.byte_count,
		.is_bpf = record.type == PERF_RECORD_KSYMBOL_TYPE_BPF,
		.is_loaded = !(record.flags & PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER),
		.name = name,
	};
	return 0;
}

/* @head_bytes: of the record in front of its path */
static int parse_plain_map(const uint8_t *at, uint32_t path_end, uint32_t head_bytes,
			   struct etw_kernel_perf_record *ret)
{
	const char *path = (const char *)at + head_bytes;
	struct plain_map_record record;

	if (path_end <= head_bytes || !memchr(path, '\0', path_end - head_bytes))
		return -EBADMSG;
	memcpy(&record, at, sizeof(record));
	ret->kind = ETW_KERNEL_PERF_MAP;
	ret->mapping = (struct etw_kernel_mapping){
		.start = record.start,
		.byte_count = record.byte_count,
		.file_offset = record.file_offset,
		.path = path,
		.is_executable = !(record.header.misc & PERF_RECORD_MISC_MMAP_DATA),
	};
	return 0;
}

static int parse_map(const uint8_t *at, uint32_t path_end, struct etw_kernel_perf_record *ret)
{
	struct map_record record;

	TRY(parse_plain_map(at, path_end, sizeof(record), ret));
	memcpy(&record, at, sizeof(record));
	if ((record.header.misc & PERF_RECORD_MISC_MMAP_BUILD_ID) &&
	    record.build_id_bytes <= ETW_KERNEL_BUILD_ID_BYTES) {
		ret->mapping.build_id_bytes = record.build_id_bytes;
		memcpy(ret->mapping.build_id, record.build_id, record.build_id_bytes);
	}
	etw_kernel_vdso_complete(&ret->mapping);
	return 0;
}

int etw_kernel_perf_parse(const uint8_t *at, uint32_t byte_count,
			  struct etw_kernel_perf_record *ret)
{
	struct perf_event_header header;
	struct etw_kernel_perf_record record = {0};
	struct lost_record lost;
	struct trailer trailer;

	if (byte_count < sizeof(header) + sizeof(trailer))
		return -EBADMSG;
	memcpy(&header, at, sizeof(header));
	memcpy(&trailer, at + byte_count - sizeof(trailer), sizeof(trailer));
	record.tid = trailer.tid;
	record.pid = trailer.pid;
	record.time_ns = trailer.time_ns;
	switch (header.type) {
	case PERF_RECORD_MMAP2:
		TRY(parse_map(at, byte_count - (uint32_t)sizeof(trailer), &record));
		break;
	case PERF_RECORD_MMAP:
		TRY(parse_plain_map(at, byte_count - (uint32_t)sizeof(trailer),
				    sizeof(struct plain_map_record), &record));
		break;
	case PERF_RECORD_KSYMBOL:
		TRY(parse_symbol(at, byte_count - (uint32_t)sizeof(trailer), &record));
		break;
	case PERF_RECORD_COMM:
		if (byte_count < sizeof(struct exec_record) + sizeof(trailer))
			return -EBADMSG;
		if (header.misc & PERF_RECORD_MISC_COMM_EXEC)
			record.kind = ETW_KERNEL_PERF_EXEC;
		break;
	case PERF_RECORD_LOST:
		if (byte_count < sizeof(lost) + sizeof(trailer))
			return -EBADMSG;
		memcpy(&lost, at, sizeof(lost));
		record.kind = ETW_KERNEL_PERF_LOST;
		record.lost_count = lost.lost_count;
		break;
	default:
		break;
	}
	*ret = record;
	return 0;
}

static int open_event(uint32_t cpu, enum etw_kernel_perf_what what)
{
	const bool is_code = what == ETW_KERNEL_PERF_CODE;
	struct perf_event_attr attributes = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attributes),
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU,
		.disabled = 1,
		.mmap = is_code,
		.mmap2 = is_code,
		/* The first piece of an object may only be read. Without the two above it tells of nothing else. */
		.mmap_data = !is_code,
		.build_id = is_code,
		.ksymbol = is_code,
		.comm = is_code,
		.comm_exec = is_code,
		.sample_id_all = 1,
		.watermark = 1,
		.wakeup_watermark = UINT32_MAX, /* nobody waits for it */
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
	};
	long fd = syscall(SYS_perf_event_open, &attributes, -1, (int)cpu, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0 && errno == EINVAL && is_code) { /* before Linux 5.12 */
		attributes.build_id = 0;
		fd = syscall(SYS_perf_event_open, &attributes, -1, (int)cpu, -1,
			     PERF_FLAG_FD_CLOEXEC);
	}
	return fd < 0 ? -errno : (int)fd;
}

#define CODE_BYTES_MIN (UINT64_C(512) << 10)
#define DATA_BYTES_MIN (UINT64_C(64) << 10)

static int map_ring(struct etw_kernel_perf_ring *ring, enum etw_kernel_perf_what what,
		    uint64_t data_bytes)
{
	return etw_kernel_perf_ring_map(
		ring, data_bytes, what == ETW_KERNEL_PERF_CODE ? CODE_BYTES_MIN : DATA_BYTES_MIN);
}

#define NAME_BYTES 32 /* of a kept descriptor */

static void name_kept(uint32_t cpu, enum etw_kernel_perf_what what, char ret[NAME_BYTES])
{
	const char *name = what == ETW_KERNEL_PERF_CODE ? "kernel-perf" : "kernel-perf-data";

	snprintf(ret, NAME_BYTES, "%s-%u", name, cpu);
}

int etw_kernel_perf_open_anew(struct etw_kernel_perf_ring *ring, const struct etw_source_host *host,
			      uint32_t cpu, enum etw_kernel_perf_what what, uint64_t data_bytes)
{
	char name[NAME_BYTES];
	int r;

	*ring = (struct etw_kernel_perf_ring){.fd = open_event(cpu, what), .cpu = cpu};
	r = ring->fd < 0 ? ring->fd : map_ring(ring, what, data_bytes);
	name_kept(cpu, what, name);
	if (r)
		etw_kernel_perf_ring_close(ring);
	else if (host->keep_fd)
		(void)host->keep_fd(host->context, name, ring->fd);
	return r;
}

static int take_over(struct etw_kernel_perf_ring *ring, int fd, uint32_t cpu,
		     enum etw_kernel_perf_what what, uint64_t data_bytes)
{
	int r;

	*ring = (struct etw_kernel_perf_ring){.fd = fd, .cpu = cpu};
	r = map_ring(ring, what, data_bytes);
	if (r)
		etw_kernel_perf_ring_close(ring);
	return r;
}

int etw_kernel_perf_open(struct etw_kernel_perf_ring *ring, const struct etw_source_host *host,
			 uint32_t cpu, enum etw_kernel_perf_what what, uint64_t data_bytes,
			 struct etw_fault *reterr)
{
	char name[NAME_BYTES];
	int fd = -ENOENT, r;

	name_kept(cpu, what, name);
	if (host->kept_fd)
		fd = host->kept_fd(host->context, name);
	if (fd >= 0)
		r = take_over(ring, fd, cpu, what, data_bytes);
	else
		r = etw_kernel_perf_open_anew(ring, host, cpu, what, data_bytes);
	if (r == -EACCES || r == -EPERM)
		return etw_fault_set(
			reterr, -EACCES, 0, "kernel source", "perf",
			"mapping records were refused: CAP_PERFMON is missing; an etwd that "
			"root started has it");
	if (r && r != -ENODEV)
		return etw_fault_set(reterr, r, 0, "kernel source", "perf",
				     "the kernel gives no mapping records (perf_event_open)");
	return r;
}
