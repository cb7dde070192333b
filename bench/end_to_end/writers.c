/* SPDX-License-Identifier: MIT */
/* Who writes: threads of this process, or processes with one thread each. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <winerror.h>

#include "base/atomic.h"
#include "bench/end_to_end/bench.h"

#define PACE_EVENTS 64

struct event {
	EVENT_DATA_DESCRIPTOR data[3];
	ULONG count;
	uint64_t time_ns, number;
	char text[10];
	uint8_t *bytes; /* owned: of an event in one field */
};

struct thread_writer {
	struct bench_shared *shared;
	uint32_t index;
};

static REGHANDLE handles[BENCH_PROVIDERS_MAX];
static const EVENT_DESCRIPTOR descriptor = {.Id = BENCH_EVENT_ID, .Level = 4, .Keyword = 1};

GUID bench_provider(uint32_t index)
{
	GUID guid = {0x9b1f36a0, 0x7c11, 0x4d0c, {0x8e, 0x2a, 0x55, 0x10, 0xcc, 0x37, 0x40, 0x00}};

	guid.Data4[7] = (unsigned char)index;
	return guid;
}

REGHANDLE bench_handle(uint32_t index)
{
	return handles[index];
}

void bench_register(uint32_t providers)
{
	for (uint32_t i = 0; i < providers; i++) {
		GUID guid = bench_provider(i);

		bench_check(EventRegister(&guid, NULL, NULL, &handles[i]), "EventRegister");
	}
}

void bench_unregister(uint32_t providers)
{
	for (uint32_t i = 0; i < providers; i++)
		bench_check(EventUnregister(handles[i]), "EventUnregister");
}

static void make_event(struct event *event, uint32_t bytes)
{
	*event = (struct event){.text = "a message"};
	if (bytes == BENCH_THREE_FIELDS) {
		EventDataDescCreate(&event->data[0], &event->time_ns, sizeof(event->time_ns));
		EventDataDescCreate(&event->data[1], &event->number, sizeof(event->number));
		EventDataDescCreate(&event->data[2], event->text, sizeof(event->text));
		event->count = 3;
		return;
	}
	event->bytes = calloc(1, bytes);
	if (!event->bytes)
		bench_check(ERROR_OUTOFMEMORY, "an event");
	EventDataDescCreate(&event->data[0], event->bytes, bytes);
	event->count = 1;
}

static ULONG write_event(struct event *event, REGHANDLE handle)
{
	if (event->bytes) {
		memcpy(event->bytes, &event->time_ns, sizeof(event->time_ns));
		memcpy(event->bytes + sizeof(event->time_ns), &event->number,
		       sizeof(event->number));
	}
	return EventWrite(handle, &descriptor, event->count, event->data);
}

ULONG bench_write_one(uint64_t time_ns, uint64_t number)
{
	struct event event;

	make_event(&event, BENCH_THREE_FIELDS);
	event.time_ns = time_ns;
	event.number = number;
	return write_event(&event, handles[0]);
}

static void await(uint32_t *word, uint32_t least)
{
	while (load_acquire(word) < least)
		usleep(200);
}

/* A process that has just started may not have heard of the session yet. */
static void await_enabled(uint32_t providers)
{
	for (uint32_t i = 0; i < providers; i++) {
		while (!EventProviderEnabled(handles[i], descriptor.Level, descriptor.Keyword))
			usleep(200);
	}
}

static void pace(const struct bench_shared *shared, uint64_t start_ns, uint64_t tried)
{
	const struct bench_options *options = &shared->options;
	uint64_t due = start_ns +
		       (uint64_t)((double)tried * options->writers / options->rate * 1e9);

	while (bench_now_ns() < due && !load_relaxed(&shared->is_over))
		usleep(100);
}

static double thread_cpu_ns(void)
{
	struct timespec time;

	(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static void write_until_over(struct bench_shared *shared, uint32_t index)
{
	const struct bench_options *options = &shared->options;
	struct bench_count count = {0};
	struct event event;
	uint64_t start_ns;
	uint32_t provider = 0;

	make_event(&event, options->bytes);
	await_enabled(options->providers);
	(void)add_relaxed(&shared->ready, 1u);
	await(&shared->go, 1);
	start_ns = bench_now_ns();
	count.cpu_ns = -thread_cpu_ns();
	for (uint64_t i = 0; !load_relaxed(&shared->is_over); i++) {
		event.number = i;
		if (options->is_timed)
			event.time_ns = bench_now_ns();
		if (options->rate > 0 && i % PACE_EVENTS == 0)
			pace(shared, start_ns, i);
		if (write_event(&event, handles[provider]))
			count.refused++;
		else
			count.written++;
		provider = provider + 1 < options->providers ? provider + 1 : 0;
	}
	count.cpu_ns += thread_cpu_ns();
	free(event.bytes);
	shared->writers[index] = count;
	(void)add_acq_rel(&shared->done, 1u);
}

static void *run_thread(void *context)
{
	const struct thread_writer *writer = context;

	write_until_over(writer->shared, writer->index);
	return NULL;
}

int bench_be_writer(int fd, uint32_t index)
{
	struct bench_shared *shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
					   MAP_SHARED, fd, 0);

	if (shared == MAP_FAILED || index >= BENCH_WRITERS_MAX)
		return 1;
	bench_register(shared->options.providers);
	write_until_over(shared, index);
	bench_unregister(shared->options.providers);
	return 0;
}

static pid_t start_process(int fd, uint32_t index)
{
	char fd_text[16], index_text[16];
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	(void)snprintf(fd_text, sizeof(fd_text), "%d", fd);
	(void)snprintf(index_text, sizeof(index_text), "%u", index);
	(void)execl("/proc/self/exe", "end_to_end", "--writer", fd_text, index_text, (char *)NULL);
	_exit(127);
}

/* Starts them, and has them write for as long as is asked for. */
static void drive(struct bench_shared *shared, int fd, struct bench_written *ret)
{
	uint32_t count = shared->options.writers;
	struct thread_writer writers[BENCH_WRITERS_MAX];
	pthread_t threads[BENCH_WRITERS_MAX];
	pid_t pids[BENCH_WRITERS_MAX];
	uint64_t start_ns;

	for (uint32_t i = 0; i < count; i++) {
		writers[i] = (struct thread_writer){.shared = shared, .index = i};
		if (shared->options.is_processes)
			pids[i] = start_process(fd, i);
		else
			bench_check(
				(ULONG)pthread_create(&threads[i], NULL, run_thread, &writers[i]),
				"a thread");
	}
	await(&shared->ready, count);
	start_ns = bench_now_ns();
	store_release(&shared->go, 1u);
	usleep((useconds_t)(shared->options.seconds * 1e6));
	store_release(&shared->is_over, 1u);
	await(&shared->done, count);
	ret->seconds = (double)(bench_now_ns() - start_ns) / 1e9;
	for (uint32_t i = 0; i < count; i++) {
		if (shared->options.is_processes)
			(void)waitpid(pids[i], NULL, 0);
		else
			pthread_join(threads[i], NULL);
	}
}

void bench_write(const struct bench_options *options, struct bench_written *ret)
{
	int fd = memfd_create("end_to_end", 0); /* for writer processes */
	struct bench_shared *shared = MAP_FAILED;

	if (fd >= 0 && ftruncate(fd, sizeof(*shared)) == 0)
		shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (shared == MAP_FAILED)
		bench_check(ERROR_OUTOFMEMORY, "shared memory");
	*ret = (struct bench_written){0};
	shared->options = *options;
	drive(shared, fd, ret);
	for (uint32_t i = 0; i < options->writers; i++) {
		ret->written += shared->writers[i].written;
		ret->refused += shared->writers[i].refused;
		ret->cpu_ns += shared->writers[i].cpu_ns;
	}
	munmap(shared, sizeof(*shared));
	close(fd);
}
