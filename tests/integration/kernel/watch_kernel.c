/* SPDX-License-Identifier: MIT */
/*
 * The kernel's source without a session: a small engine that prints each event as a line of tab-separated
 * words, until standard input closes.
 *
 *     watch_kernel FLAGS
 *
 * FLAGS: EVENT_TRACE_FLAG_* as a hexadecimal number. The session's clock is CLOCK_MONOTONIC in
 * nanoseconds, known up to the last sample (every 10 ms), as in the engine.
 * Lines: time, CPU, class.opcode, header's thread and process, then what the class has.
 * Exit status: 0; 77 when the machine does not allow it, with the source's sentence.
 */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/macros.h"
#include "base/utf.h"
#include "source/kernel/kernel_source.h"
#include "wire/etl_event.h"

#define SKIPPED     77
#define CPUS_MAX    256
#define SAMPLE_NS   UINT64_C(10000000)
#define ROUND_MS    5
#define TOKEN_BYTES 16

struct engine {
	uint64_t sample_ns;
	int64_t last_raw[CPUS_MAX]; /* order per CPU */
	uint64_t event_count;
	uint64_t disordered_count;
};

static uint64_t read_clock(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

static int64_t now_raw(void *context)
{
	(void)context;
	return (int64_t)read_clock();
}

static int to_raw(void *context, uint64_t monotonic_ns, int64_t *ret)
{
	struct engine *engine = context;
	uint64_t now_ns = read_clock();

	if (now_ns - engine->sample_ns >= SAMPLE_NS)
		engine->sample_ns = now_ns;
	if (monotonic_ns > engine->sample_ns)
		return -EAGAIN;
	*ret = (int64_t)monotonic_ns;
	return 0;
}

static void print_wide(const uint8_t *at, const uint8_t *end)
{
	CLEANUP(freep)
	char *text = etw_utf16_to_utf8(at, etw_utf16_length(at, (size_t)(end - at) / 2));

	for (char *c = text; c && *c; c++)
		if (*c == '\n' || *c == '\t')
			*c = ' ';
	printf("\t%s", text ? text : "");
}

static void print_process(const uint8_t *at, const uint8_t *end)
{
	const uint8_t *name = at + 36 + TOKEN_BYTES + 16;

	printf("\t%u\t%u\t%u\t%u\t%s", etw_load32(at + 8), etw_load32(at + 12), etw_load32(at + 20),
	       etw_load32(at + 36 + TOKEN_BYTES + 12), (const char *)name);
	print_wide(name + strlen((const char *)name) + 1, end);
}

static void print_payload(unsigned group, unsigned type, const uint8_t *at, const uint8_t *end)
{
	if (group == 3 && type != 10) {
		print_process(at, end);
	} else if (group == 5) {
		printf("\t%u\t%u", etw_load32(at), etw_load32(at + 4));
		print_wide(at + 72, end);
	} else {
		printf("\t%u\t%" PRIx64 "\t%" PRIx64, etw_load32(at + 16), etw_load64(at),
		       etw_load64(at + 8));
		print_wide(at + 56, end);
	}
}

static void print_event(uint32_t cpu, const struct etw_source_event *event)
{
	const uint8_t *at = event->bytes, *end = at + event->byte_count;
	unsigned header_type = at[2];

	printf("%" PRId64 "\t%u", event->time_raw, cpu);
	if (header_type == WIRE_HEADER_SYSTEM64) {
		printf("\t%02x.%u\t%u\t%u", at[7], at[6], etw_load32(at + 8), etw_load32(at + 12));
		print_payload(at[7], at[6], at + 0x20, end);
	} else if (header_type == WIRE_HEADER_PERFINFO64) {
		printf("\t%02x.%u\t-\t-", at[7], at[6]);
		print_payload(at[7], at[6], at + 0x10, end);
	} else {
		printf("\tid.%u\t-\t%u\t%" PRIx64 "\t", at[4], etw_load32(at + 12),
		       etw_load64(at + 0x30));
		for (int i = 0; i < 16; i++)
			printf("%02x", at[0x30 + 12 + i]);
		printf("\t%s", (const char *)at + 0x30 + 32);
	}
	putchar('\n');
}

/* One round of the engine. @watermark_raw: events after it wait. */
static void drain(struct engine *engine, struct etw_source *source, uint32_t cpu_count,
		  int64_t watermark_raw)
{
	for (uint32_t cpu = 0; cpu < cpu_count; cpu++) {
		struct etw_source_event event;
		struct etw_source_mark mark;

		while (etw_kernel_source.peek(source, cpu, &event) &&
		       event.time_raw <= watermark_raw) {
			if (event.time_raw < engine->last_raw[cpu])
				engine->disordered_count++;
			engine->last_raw[cpu] = event.time_raw;
			engine->event_count++;
			print_event(cpu, &event);
			etw_kernel_source.pop(source, cpu, &mark);
		}
	}
	etw_kernel_source.release(source);
}

static int collect_all(struct engine *engine, struct etw_source *source, uint32_t cpu_count)
{
	int64_t watermark_raw;
	int r;

	do {
		r = etw_kernel_source.collect(source, &watermark_raw);
		if (r < 0) {
			fprintf(stderr, "watch_kernel: collect: %s\n", strerror(-r));
			return r;
		}
		drain(engine, source, cpu_count, watermark_raw);
	} while (r > 0);
	return 0;
}

static bool is_input_closed(void)
{
	struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
	char byte;

	return poll(&input, 1, ROUND_MS) > 0 && read(STDIN_FILENO, &byte, 1) <= 0;
}

static int start(struct etw_source *source, const char *flags, struct etw_fault *fault)
{
	struct etw_source_request request = {.group_masks = {(uint32_t)strtoul(flags, NULL, 16)}};
	int r = etw_kernel_source.enable(source, &request, fault);

	if (r && r != -EOPNOTSUPP)
		return r;
	return etw_kernel_source.rundown(source, false);
}

static int watch(struct engine *engine, struct etw_source *source, uint32_t cpu_count)
{
	struct etw_source_loss loss;

	puts("ready");
	fflush(stdout);
	while (!is_input_closed())
		TRY(collect_all(engine, source, cpu_count));
	TRY(etw_kernel_source.rundown(source, true));
	/* The clock's next samples, for what came last. */
	for (int i = 0; i < 10; i++) {
		usleep(10000);
		TRY(collect_all(engine, source, cpu_count));
	}
	etw_kernel_source.loss(source, &loss);
	printf("end\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\n",
	       engine->event_count, engine->disordered_count, loss.no_buffer, loss.no_memory,
	       loss.incomplete);
	return 0;
}

int main(int argument_count, char **arguments)
{
	struct engine engine = {0};
	struct etw_source_host host = {
		.context = &engine,
		.cpu_count = (uint32_t)sysconf(_SC_NPROCESSORS_CONF),
		.clock_type = 1,
		.now_raw = now_raw,
		.to_raw = to_raw,
	};
	struct etw_source *source = NULL;
	struct etw_fault fault = {0};
	int r;

	if (argument_count != 2 || host.cpu_count > CPUS_MAX)
		return 2;
	r = etw_kernel_source.open(&host, NULL, &source, &fault);
	if (!r)
		r = start(source, arguments[1], &fault);
	if (r) {
		fprintf(stderr, "watch_kernel: %s: %s\n", strerror(-r),
			fault.sentence ? fault.sentence : "no sentence");
		etw_kernel_source.close(source);
		return r == -EACCES || r == -ENOSYS || r == -EOPNOTSUPP ? SKIPPED : 1;
	}
	r = watch(&engine, source, host.cpu_count);
	etw_kernel_source.close(source);
	return r ? 1 : 0;
}
