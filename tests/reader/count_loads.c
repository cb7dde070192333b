/* SPDX-License-Identifier: MIT */
/*
 * Linked into `etw`: counts how often each buffer of a file is loaded and fetched, and at the end writes to the file
 * that ETW_TEST_LOADS names "BUFFERS LOADS MOST FETCHES KIB": buffers that were loaded, how often altogether, how often
 * the one that was loaded most, how many were fetched, and the most memory that was in use. ETW_TEST_MEMORY is the memory that traces may use, in bytes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "consumer/trace.h"
#include "etl/block.h"

int __real_etw_etl_block_load(const struct etw_etl_file *file, const struct etw_etl_buffer *buffer,
			      struct etw_etl_block *block, struct etw_findings *findings);
int __wrap_etw_etl_block_load(const struct etw_etl_file *file, const struct etw_etl_buffer *buffer,
			      struct etw_etl_block *block, struct etw_findings *findings);
int __real_etw_etl_block_fetch(const struct etw_etl_file *file, const struct etw_etl_buffer *buffer,
			       uint32_t count, bool needs_places, struct etw_etl_block *block);
int __wrap_etw_etl_block_fetch(const struct etw_etl_file *file, const struct etw_etl_buffer *buffer,
			       uint32_t count, bool needs_places, struct etw_etl_block *block);
void __real_etw_trace_keep(struct etw_trace *trace, size_t bytes);
void __wrap_etw_trace_keep(struct etw_trace *trace, size_t bytes);

#define BUFFERS_MAX 65536u

static struct {
	const struct etw_etl_file *file;
	uint64_t offset;
	unsigned loads;
} counts[BUFFERS_MAX];
static unsigned buffers, loads, most, fetches;

int __wrap_etw_etl_block_load(const struct etw_etl_file *file, const struct etw_etl_buffer *buffer,
			      struct etw_etl_block *block, struct etw_findings *findings)
{
	unsigned at = (unsigned)(buffer->offset * 2654435761u >> 8) % BUFFERS_MAX;

	if (!etw_etl_buffer_holds_events(buffer))
		return __real_etw_etl_block_load(file, buffer, block, findings);
	while (counts[at].loads && (counts[at].file != file || counts[at].offset != buffer->offset))
		at = (at + 1) % BUFFERS_MAX;
	if (buffers == BUFFERS_MAX - 1)
		abort();
	buffers += !counts[at].loads;
	counts[at].file = file;
	counts[at].offset = buffer->offset;
	counts[at].loads++;
	loads++;
	if (counts[at].loads > most)
		most = counts[at].loads;
	return __real_etw_etl_block_load(file, buffer, block, findings);
}

int __wrap_etw_etl_block_fetch(const struct etw_etl_file *file, const struct etw_etl_buffer *buffer,
			       uint32_t count, bool needs_places, struct etw_etl_block *block)
{
	fetches++;
	return __real_etw_etl_block_fetch(file, buffer, count, needs_places, block);
}

void __wrap_etw_trace_keep(struct etw_trace *trace, size_t bytes)
{
	const char *memory = getenv("ETW_TEST_MEMORY");

	__real_etw_trace_keep(trace, memory ? strtoul(memory, NULL, 10) : bytes);
}

/* Not getrusage(): that begins with the memory of whoever started the program. */
static unsigned long peak_kib(void)
{
	FILE *file = fopen("/proc/self/status", "r");
	unsigned long kib = 0;
	char line[256];

	while (file && fgets(line, sizeof(line), file)) {
		if (!strncmp(line, "VmHWM:", 6))
			kib = strtoul(line + 6, NULL, 10);
	}
	if (file)
		(void)fclose(file);
	return kib;
}

__attribute__((destructor)) static void report(void)
{
	const char *path = getenv("ETW_TEST_LOADS");
	FILE *file = path ? fopen(path, "w") : NULL;

	if (!file)
		return;
	(void)fprintf(file, "%u %u %u %u %lu\n", buffers, loads, most, fetches, peak_kib());
	(void)fclose(file);
}
