/* SPDX-License-Identifier: MIT */
/*
 * The kernel's source without a session: a small engine that prints each event as a line of tab-separated
 * words, until standard input closes.
 *
 *     watch_kernel FLAGS [TAKEOVERS [HOOKS [PID]]]
 *
 * FLAGS: EVENT_TRACE_FLAG_* as a hexadecimal number, or several with commas between them: words of the group masks;
 *   "built": all that is built.
 * HOOKS: of events with stacks, likewise. PID: frequent events of this process and its descendants alone.
 * TAKEOVERS: so many times the source is dropped as if its host had died, in the middle of its events, and another takes over from its kept descriptors and the
 * marks of the last events. The session's clock is CLOCK_MONOTONIC in
 * nanoseconds, known up to the last sample (every 10 ms), as in the engine.
 * Lines: time, CPU, class.opcode, header's thread and process, then what the class has. "listed" and a time:
 * by then the source that took over has gone through /proc.
 * A source that keeps more descriptors than it promises is told on standard error.
 * Exit status: 0; 1 for that, and for a source that fails; 77 when the machine does not allow it, with the source's sentence.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
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

#define SKIPPED          77
#define CPUS_MAX         256
#define SAMPLE_NS        UINT64_C(10000000)
#define ROUND_MS         5
#define TOKEN_BYTES      16
#define KEPT_MAX         4096
#define IDENTITY_RSDS    36 /* opcode of DbgID_RSDS */
#define PROCESS_COUNTERS 32 /* and behind it those of the rundown */
#define THREAD_SET_NAME  72
#define TAKEOVER_EVENTS  700 /* between one death and the next */

struct engine {
	uint64_t sample_ns;
	int64_t last_raw[CPUS_MAX]; /* order per CPU */
	uint64_t event_count;
	uint64_t disordered_count;
	struct etw_source_mark marks[CPUS_MAX];
	uint64_t next_death; /* number of the event after which the host dies */
	uint32_t deaths_left;
	uint32_t kept_count;
	struct {
		char name[32];
		int fd;
	} kept[KEPT_MAX];
};

/* Sources of dead hosts: what they map stays, as the kernel's side of a death cannot be had in one process. */
static struct etw_source *dropped[1000];
static size_t dropped_count;

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

/* The keeper. */
static int keep_fd(void *context, const char *name, int fd)
{
	struct engine *engine = context;

	uint32_t i = 0;

	while (i < engine->kept_count && strcmp(engine->kept[i].name, name) != 0)
		i++;
	if (i == KEPT_MAX)
		return -ENOSPC;
	if (i < engine->kept_count)
		close(engine->kept[i].fd);
	else
		engine->kept_count++;
	snprintf(engine->kept[i].name, sizeof(engine->kept[0].name), "%s", name);
	engine->kept[i].fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	return 0;
}

/* Whether the source kept to what a session is told of it before it begins. */
static bool is_within_promise(const struct engine *engine, uint32_t cpu_count)
{
	unsigned promised = etw_source_kept_fds(&etw_kernel_source, cpu_count);

	if (engine->kept_count <= promised)
		return true;
	fprintf(stderr, "watch_kernel: the source keeps %u descriptors, and promises at most %u\n",
		engine->kept_count, promised);
	return false;
}

static int kept_fd(void *context, const char *name)
{
	struct engine *engine = context;

	for (uint32_t i = 0; i < engine->kept_count; i++)
		if (strcmp(engine->kept[i].name, name) == 0)
			return fcntl(engine->kept[i].fd, F_DUPFD_CLOEXEC, 3);
	return -ENOENT;
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
	printf("\t%" PRIx64, etw_load64(at));
}

/* Of 64 bits each; the last one may be shorter. */
static void print_numbers(const uint8_t *at, const uint8_t *end)
{
	while (at < end) {
		uint8_t bytes[8] = {0};
		size_t count = (size_t)(end - at) < 8 ? (size_t)(end - at) : 8;

		memcpy(bytes, at, count);
		printf("\t%" PRIx64, etw_load64(bytes));
		at += count;
	}
}

/* Faults, files, then bytes: peaks of size and of what is resident, both as they are, writable, private. */
static void print_counters(const uint8_t *at)
{
	static const uint8_t places[] = {16, 24, 56, 64, 72, 96};

	printf("\t%u\t%u\t%u", etw_load32(at), etw_load32(at + 4), etw_load32(at + 8));
	for (size_t i = 0; i < ARRAY_SIZE(places); i++)
		printf("\t%" PRIu64, etw_load64(at + places[i]));
}

/* Behind the name: priorities, affinity, and whether its stack and its entry are known. */
static void print_thread(unsigned type, const uint8_t *at, const uint8_t *end)
{
	printf("\t%u\t%u", etw_load32(at), etw_load32(at + 4));
	if (type == THREAD_SET_NAME) {
		print_wide(at + 8, end);
		return;
	}
	print_wide(at + 72, end);
	printf("\t%u\t%u\t%" PRIx64 "\t%" PRIx64 "\t%" PRIx64, at[68], at[70], etw_load64(at + 40),
	       etw_load64(at + 24), etw_load64(at + 48));
}

static bool is_view(unsigned group, unsigned type)
{
	return group == 0x04 && type >= 37 && type <= 40;
}

#define NETWORK_FAIL    17
#define NETWORK_CONNECT 12
#define NETWORK_ACCEPT  15
#define IPV6_TYPES      26 /* from here on */

/* The connection, the owner, bytes, the peer and the own end; of Connect and Accept what was agreed on. */
static void print_network(unsigned type, const uint8_t *at, const uint8_t *end)
{
	bool is_ipv6 = type >= IPV6_TYPES;
	size_t address_bytes = is_ipv6 ? 16 : 4;
	const uint8_t *ports = at + 8 + 2 * address_bytes;
	unsigned event = type - (is_ipv6 ? 16 : 0);

	if (type == NETWORK_FAIL) {
		printf("\t%u\t%x", etw_load16(at), etw_load16(at + 2));
		return;
	}
	printf("\t%" PRIx64 "\t%u\t%u", etw_load64(end - 8), etw_load32(at), etw_load32(at + 4));
	for (unsigned side = 0; side < 2; side++) {
		char text[INET6_ADDRSTRLEN];

		inet_ntop(is_ipv6 ? AF_INET6 : AF_INET, at + 8 + side * address_bytes, text,
			  sizeof(text));
		printf("\t%s\t%u", text, ports[2 * side] << 8 | ports[2 * side + 1]);
	}
	printf("\t%x", etw_load32(end - 12));
	at = ports + 4;
	if (event == NETWORK_CONNECT || event == NETWORK_ACCEPT)
		printf("\t%u\t%u\t%u\t%u\t%u\t%u\t%u", etw_load16(at), etw_load16(at + 2),
		       etw_load16(at + 4), etw_load16(at + 6), etw_load32(at + 8),
		       etw_load16(at + 12), etw_load16(at + 14));
}

static void print_payload(unsigned group, unsigned type, const uint8_t *at, const uint8_t *end)
{
	if (group == 0 || group == 0x0B) {
		return; /* the session's own bookkeeping, the machine's configuration */
	} else if (group == 0x06 || group == 0x08) {
		print_network(type, at, end);
	} else if (group == 0x02 || group == 0x0F || group == 0x18 || is_view(group, type)) {
		print_numbers(at, end);
	} else if (group == 5 && (type == 48 || type == 49)) {
		printf("\t%u\t%u\t%u", etw_load32(at), at[4], at[5]);
	} else if (group == 0x04) { /* names of files */
		printf("\t%" PRIx64, etw_load64(at));
		print_wide(at + 8, end);
	} else if (group == 0x12) {
		printf("\t%u", etw_load32(at)); /* idle states */
	} else if (group == 5 && (type == 36 || type == 50)) {
		printf("\t%u\t%u", etw_load32(at), etw_load32(at + 4));
		if (type == 36)
			printf("\t%u", at[10]); /* PreviousCState */
	} else if (group == 3 && (type == PROCESS_COUNTERS || type == PROCESS_COUNTERS + 1)) {
		print_counters(at);
	} else if (group == 3 && type != 10) {
		print_process(at, end);
	} else if (group == 5) {
		print_thread(type, at, end);
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
	} else if (at[4] != IDENTITY_RSDS) {
		printf("\tid.%u\t-\t%u", at[4], etw_load32(at + 12));
	} else {
		printf("\tid.%u\t-\t%u\t%" PRIx64 "\t", at[4], etw_load32(at + 12),
		       etw_load64(at + 0x30));
		for (int i = 0; i < 16; i++)
			printf("%02x", at[0x30 + 12 + i]);
		printf("\t%s", (const char *)at + 0x30 + 32);
	}
	putchar('\n');
}

/* One round of the engine. @watermark_raw: events after it wait. Returns false when the host died. */
static bool drain(struct engine *engine, struct etw_source *source, uint32_t cpu_count,
		  int64_t watermark_raw)
{
	for (uint32_t cpu = 0; cpu < cpu_count; cpu++) {
		struct etw_source_event event;

		while (etw_kernel_source.peek(source, cpu, &event) &&
		       event.time_raw <= watermark_raw) {
			if (engine->deaths_left && engine->event_count >= engine->next_death)
				return false;
			if (event.time_raw < engine->last_raw[cpu])
				engine->disordered_count++;
			engine->last_raw[cpu] = event.time_raw;
			engine->event_count++;
			print_event(cpu, &event);
			etw_kernel_source.pop(source, cpu, &engine->marks[cpu]);
		}
	}
	etw_kernel_source.release(source);
	return true;
}

/* The next host: another source over the same kernel objects. */
static int take_over(struct engine *engine, const struct etw_source_host *host,
		     const struct etw_source_request *request, struct etw_source **source)
{
	struct etw_fault fault = {0};

	dropped[dropped_count++] = *source;
	*source = NULL;
	engine->deaths_left--;
	engine->next_death = engine->event_count + TAKEOVER_EVENTS;
	TRY(etw_kernel_source.open(host, engine->marks, source, &fault));
	TRY(etw_kernel_source.enable(*source, request, &fault));
	printf("listed\t%" PRIu64 "\n", read_clock());
	return 0;
}

static int collect_all(struct engine *engine, const struct etw_source_host *host,
		       const struct etw_source_request *request, struct etw_source **source)
{
	int64_t watermark_raw;
	int r;

	do {
		r = etw_kernel_source.collect(*source, &watermark_raw);
		if (r < 0) {
			fprintf(stderr, "watch_kernel: collect: %s\n", strerror(-r));
			return r;
		}
		if (!drain(engine, *source, host->cpu_count, watermark_raw)) {
			TRY(take_over(engine, host, request, source));
			r = 1;
		}
	} while (r > 0);
	return 0;
}

static bool is_input_closed(void)
{
	struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
	char byte;

	return poll(&input, 1, ROUND_MS) > 0 && read(STDIN_FILENO, &byte, 1) <= 0;
}

static int start(struct etw_source *source, const struct etw_source_request *request,
		 struct etw_fault *fault)
{
	int r = etw_kernel_source.enable(source, request, fault);

	if (r && r != -EOPNOTSUPP)
		return r;
	return etw_kernel_source.rundown(source, false);
}

static uint64_t sum_of_cause(const struct etw_source_loss *loss, enum etw_loss_cause cause)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < ETW_LOSS_CLASSES; i++)
		sum += loss->events[cause][i];
	return sum;
}

static int watch(struct engine *engine, const struct etw_source_host *host,
		 const struct etw_source_request *request, struct etw_source **source)
{
	struct etw_source_loss *losses = calloc(host->cpu_count + 1, sizeof(*losses));
	uint64_t lost = 0, no_memory = 0, no_fields = 0, no_stack = 0;

	if (!losses)
		return -ENOMEM;
	puts("ready");
	fflush(stdout);
	while (!is_input_closed())
		TRY(collect_all(engine, host, request, source));
	engine->deaths_left = 0;
	TRY(etw_kernel_source.rundown(*source, true));
	/* The clock's next samples, for what came last. */
	for (int i = 0; i < 10; i++) {
		usleep(10000);
		TRY(collect_all(engine, host, request, source));
	}
	etw_kernel_source.loss(*source, losses);
	for (uint32_t i = 0; i <= host->cpu_count; i++) {
		uint64_t own = sum_of_cause(&losses[i], ETW_LOSS_NO_MEMORY);

		no_memory += own;
		lost += etw_source_loss_sum(&losses[i]) - own;
		no_fields += sum_of_cause(&losses[i], ETW_LOSS_NO_FIELDS);
		no_stack += sum_of_cause(&losses[i], ETW_LOSS_NO_STACK);
	}
	free(losses);
	printf("end\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%zu\t%" PRIu64
	       "\n",
	       engine->event_count, engine->disordered_count, lost, no_memory, no_fields,
	       dropped_count, no_stack);
	return 0;
}

static uint32_t next_number(char **text)
{
	uint32_t number = (uint32_t)strtoul(*text, text, 16);

	*text += **text == ',';
	return number;
}

static void parse_request(int argument_count, char **arguments, struct etw_source_request *request)
{
	char *text = arguments[1];

	if (strcmp(text, "built") == 0)
		memcpy(request->group_masks, etw_kernel_source.masks, sizeof(request->group_masks));
	else
		for (size_t i = 0; i < ARRAY_SIZE(request->group_masks) && *text; i++)
			request->group_masks[i] = next_number(&text);
	text = argument_count > 3 ? arguments[3] : "";
	while (*text && request->stack_hook_count < ETW_SOURCE_STACK_HOOKS_MAX)
		request->stack_hooks[request->stack_hook_count++] = (uint16_t)next_number(&text);
	if (argument_count > 4)
		request->only_pid = (uint32_t)strtoul(arguments[4], NULL, 10);
}

int main(int argument_count, char **arguments)
{
	static struct engine engine;
	struct etw_source_host host = {
		.context = &engine,
		.cpu_count = (uint32_t)sysconf(_SC_NPROCESSORS_CONF),
		.clock_type = 1,
		.now_raw = now_raw,
		.to_raw = to_raw,
		.keep_fd = keep_fd,
		.kept_fd = kept_fd,
	};
	struct etw_source_request request = {0};
	struct etw_source *source = NULL;
	struct etw_fault fault = {0};
	int r;

	if (argument_count < 2 || argument_count > 5 || host.cpu_count > CPUS_MAX)
		return 2;
	parse_request(argument_count, arguments, &request);
	if (argument_count >= 3)
		engine.deaths_left = (uint32_t)strtoul(arguments[2], NULL, 10);
	if (engine.deaths_left > ARRAY_SIZE(dropped))
		return 2;
	engine.next_death = TAKEOVER_EVENTS;
	r = etw_kernel_source.open(&host, NULL, &source, &fault);
	if (!r)
		r = start(source, &request, &fault);
	if (r) {
		fprintf(stderr, "watch_kernel: %s: %s\n", strerror(-r),
			fault.sentence ? fault.sentence : "no sentence");
		etw_kernel_source.close(source);
		return r == -EACCES || r == -ENOSYS || r == -EOPNOTSUPP ? SKIPPED : 1;
	}
	r = watch(&engine, &host, &request, &source);
	etw_kernel_source.close(source);
	return r || !is_within_promise(&engine, host.cpu_count) ? 1 : 0;
}
