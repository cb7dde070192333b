/* SPDX-License-Identifier: MIT */
/*
 * Events a second from rings to a file, through one session: writers of this process on their own
 * processors, the session's thread on what is left.
 *
 *	session [--seconds N | --events N] [--writers N] [--bytes N] [--providers N] [--file PATH]
 *
 * With --events each writer writes so many, and waits for room instead of losing any: for counting instructions.
 * Without --writers and --bytes: by both, one run each, 1 to 8 writers and events of 96 bytes to 8 KiB.
 * Printed: events and bytes a second that reached the file, processor time of the session's thread an event,
 * and how many found no buffer.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <evntrace.h>

#include "base/guid.h"
#include "base/macros.h"
#include "ring/writer.h"
#include "session/session.h"
#include "wire/etl_event.h"

#define WRITERS_MAX     64
#define EVENT_BYTES     106 /* 26 bytes of payload */
#define EVENT_BYTES_MAX 16384

struct options {
	unsigned seconds, events, writers, bytes, providers;
	const char *file;
};

struct writer {
	pthread_t thread;
	struct etw_ring_set set;
	struct etw_clock_page clock;
	const struct options *options;
	uint64_t written, refused;
	int *is_done;
	unsigned *finished;
};

static const GUID provider = {0x11223344, 0x5566, 0x7788, {1, 2, 3, 4, 5, 6, 7, 8}};

static bool may_write(void *context, uint32_t session_id, uid_t uid, const GUID *guid)
{
	(void)context;
	(void)session_id;
	(void)uid;
	(void)guid;
	return true;
}

static bool may_be_pid(void *context, uid_t uid, uint32_t pid,
		       struct etw_session_pid_span *ret_span)
{
	(void)context;
	(void)uid;
	(void)pid;
	(void)ret_span;
	return true;
}

static void *run_writer(void *context)
{
	struct writer *writer = context;
	const struct options *options = writer->options;
	uint8_t event[EVENT_BYTES_MAX] = {0};
	struct etw_ring_span span;

	etw_store16(event, (uint16_t)options->bytes);
	event[2] = WIRE_HEADER_EVENT64;
	event[3] = WIRE_EVENT_FLAG_TRACE;
	etw_store32(event + 0x08, 1);
	etw_store32(event + 0x0C, (uint32_t)getpid());
	etw_guid_write(event + 0x18, &provider);
	while (!load_relaxed(writer->is_done) &&
	       (options->events == 0 || writer->written < options->events)) {
		if (etw_ring_reserve(&writer->set, &writer->clock, options->bytes, &span) < 0) {
			writer->refused++;
			if (options->events != 0)
				(void)usleep(1000);
			continue;
		}
		etw_store64(event + 0x10, (uint64_t)span.time_raw);
		event[0x18] = (uint8_t)(writer->written % options->providers);
		memcpy(span.at, event, options->bytes);
		etw_ring_commit(&span);
		writer->written++;
	}
	add_relaxed(writer->finished, 1u);
	return NULL;
}

static bool parse(int argc, char **argv, struct options *ret)
{
	for (int i = 1; i + 1 < argc; i += 2) {
		unsigned number = (unsigned)strtoul(argv[i + 1], NULL, 10);

		if (!strcmp(argv[i], "--seconds"))
			ret->seconds = number;
		else if (!strcmp(argv[i], "--events"))
			ret->events = number;
		else if (!strcmp(argv[i], "--providers"))
			ret->providers = number;
		else if (!strcmp(argv[i], "--writers"))
			ret->writers = number;
		else if (!strcmp(argv[i], "--bytes"))
			ret->bytes = number;
		else if (!strcmp(argv[i], "--file"))
			ret->file = argv[i + 1];
		else
			return false;
	}
	return argc % 2 == 1 && ret->writers <= WRITERS_MAX &&
	       (ret->bytes == 0 || ret->bytes >= sizeof(struct wire_event_header)) &&
	       ret->bytes <= EVENT_BYTES_MAX && ret->providers >= 1 && ret->providers <= 256;
}

static double seconds_of(const struct timespec *time)
{
	return (double)time->tv_sec + (double)time->tv_nsec / 1e9;
}

static double elapsed(const struct timespec *from)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return seconds_of(&now) - seconds_of(from);
}

/* Of the session's thread alone: user and system ticks, which is as fine as the seconds need. */
static double thread_seconds(uint32_t thread_id)
{
	char path[64], line[512];
	unsigned long user = 0, system = 0;
	FILE *file;

	(void)snprintf(path, sizeof(path), "/proc/self/task/%u/stat", thread_id);
	file = fopen(path, "re");
	if (!file)
		return 0;
	if (fgets(line, sizeof(line), file) && strrchr(line, ')'))
		(void)sscanf(strrchr(line, ')') + 2,
			     "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user, &system);
	(void)fclose(file);
	return (double)(user + system) / (double)sysconf(_SC_CLK_TCK);
}

static int run(struct etw_session *session, const struct etw_clock_page *clock,
	       const struct options *options)
{
	static struct writer writers[WRITERS_MAX];
	struct wire_session_info info;
	struct timespec start;
	uint64_t written = 0, refused = 0;
	double took, thread_took;
	struct etw_ring_set_fds fds;
	uint32_t id;
	unsigned finished = 0;
	int is_done = 0, refusal;

	if (etw_session_ring_set(session, getuid(), &id, &fds, &refusal) < 0)
		return EXIT_FAILURE;
	(void)clock_gettime(CLOCK_MONOTONIC, &start);
	for (unsigned i = 0; i < options->writers; i++) {
		writers[i] = (struct writer){.clock = *clock,
					     .options = options,
					     .is_done = &is_done,
					     .finished = &finished};
		if (etw_ring_set_map(&fds, &writers[i].set) < 0 ||
		    pthread_create(&writers[i].thread, NULL, run_writer, &writers[i]) != 0)
			return EXIT_FAILURE;
	}
	while (options->events ? load_relaxed(&finished) < options->writers
			       : elapsed(&start) < options->seconds)
		(void)usleep(10000);
	store_relaxed(&is_done, 1);
	for (unsigned i = 0; i < options->writers; i++) {
		pthread_join(writers[i].thread, NULL);
		written += writers[i].written;
		refused += writers[i].refused;
	}
	(void)etw_session_flush(session);
	took = elapsed(&start);
	etw_session_info(session, &info);
	thread_took = thread_seconds(info.logger_thread_id);
	etw_session_stop(session, &info);
	printf("%.2f million events/s, %.0f MB/s, %.1f ns of the session's thread an event\n",
	       (double)written / took / 1e6, (double)info.bytes / took / 1e6,
	       thread_took / (double)written * 1e9);
	printf("%" PRIu64 " written, %" PRIu64 " refused, %" PRIu64
	       " in buffers, %u lost, status %d\n",
	       written, refused, info.events, info.events_lost, info.file_status);
	return info.events == written && info.events_lost == (uint32_t)refused ? EXIT_SUCCESS
									       : EXIT_FAILURE;
}

/* A session, from its start to its end. */
static int measure(const struct options *options)
{
	static struct wire_clock_page page = {.magic = WIRE_CLOCK_PAGE_MAGIC,
					      .version = 1,
					      .kind = WIRE_CLOCK_TSC,
					      .frequency = UINT64_C(2000000000)};
	static struct etw_clock_page clock = {.page = &page};
	struct etw_session_host host = {
		.clock = &clock, .may_write = may_write, .may_be_pid = may_be_pid};
	static struct wire_session_config config = {.name = "bench"};
	struct etw_session *session;
	struct etw_fault fault = {0};
	int result;

	(void)snprintf(config.log_file, sizeof(config.log_file), "%s", options->file);
	result = etw_session_start(&host, 1, getuid(), &config, &session, &fault);
	if (result < 0) {
		fprintf(stderr, "session: %s\n",
			fault.sentence ? fault.sentence : strerrordesc_np(-result));
		return EXIT_FAILURE;
	}
	result = run(session, &clock, options);
	etw_session_free(session);
	(void)unlink(options->file);
	return result;
}

static int measure_all(struct options *options)
{
	static const unsigned writers[] = {1, 2, 4, 8}, sizes[] = {96, 106, 336, 1104, 4176, 8272};

	for (size_t i = 0; i < ARRAY_SIZE(writers); i++) {
		for (size_t j = 0; j < ARRAY_SIZE(sizes); j++) {
			options->writers = writers[i];
			options->bytes = sizes[j];
			printf("%u writers, events of %u bytes:\n", writers[i], sizes[j]);
			TRY(-measure(options));
		}
	}
	return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
	struct options options = {
		.seconds = 2, .providers = 1, .file = "/dev/shm/etw-bench-session.etl"};

	if (!parse(argc, argv, &options)) {
		fprintf(stderr, "session [--seconds N | --events N] [--writers N] [--bytes N]"
				" [--providers N] [--file PATH]\n");
		return 2;
	}
	if (options.writers == 0 && options.bytes == 0 && options.events == 0)
		return measure_all(&options) ? EXIT_FAILURE : EXIT_SUCCESS;
	options.writers += options.writers == 0;
	options.bytes += options.bytes == 0 ? EVENT_BYTES : 0;
	return measure(&options);
}
