/* SPDX-License-Identifier: MIT */
/* What the parts of end_to_end share: what is asked for, the writers, the session and its consumer. */
#ifndef ETW_BENCH_END_TO_END_BENCH_H
#define ETW_BENCH_END_TO_END_BENCH_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include <evntcons.h>
#include <evntprov.h>
#include <evntrace.h>

#define BENCH_PROVIDERS_MAX 64
#define BENCH_WRITERS_MAX   64
#define BENCH_SESSIONS_MAX  8 /* that a provider may be enabled in */
#define BENCH_BYTES_LEAST   16
#define BENCH_BYTES_MAX     65000
#define BENCH_THREE_FIELDS  26 /* bytes of the usual event: two numbers and ten bytes of text */
#define BENCH_EVENT_ID      3

struct bench_options {
	double seconds;
	uint32_t mib, buffer_kib; /* of the session's buffers, altogether and each */
	uint32_t providers;
	uint32_t writers;
	bool is_processes; /* each writer is a process, else a thread of this one */
	uint32_t bytes;    /* of payload */
	double rate;       /* events a second, all writers together; 0: full speed */
	bool is_timed;     /* each event carries the time */
};

/* In memory that writer processes share; counters are their writer's until it is done. */
struct bench_shared {
	struct bench_options options;
	uint32_t ready, go, is_over, done; /* atomic */
	struct bench_count {
		uint64_t written, refused;
		double cpu_ns;
	} writers[BENCH_WRITERS_MAX];
};

/* What was written, and how long that took from the first to the last event. */
struct bench_written {
	uint64_t written, refused;
	double seconds, cpu_ns;
};

/* A session as it ended. */
struct bench_ended {
	uint64_t events_lost, real_time_buffers_lost, buffers_written, delivered;
	double thread_seconds; /* of a processor, the session's thread */
	double took;           /* from the first event to the end of the session and its consumer */
};

struct bench_session {
	struct {
		EVENT_TRACE_PROPERTIES properties;
		char name[128];
		char file[256];
	} block;
	TRACEHANDLE handle, trace;
	pthread_t consumer;
	bool has_consumer;
	uint32_t buffer_bytes;
};

extern char bench_home[64]; /* a directory on tmpfs, which goes with the program */

/* main.c */
void bench_check(ULONG error, const char *what);
uint64_t bench_now_ns(void);

/* writers.c */
void bench_register(uint32_t providers);
void bench_unregister(uint32_t providers);
GUID bench_provider(uint32_t index);
REGHANDLE bench_handle(uint32_t index);
/* bench_write() - starts the writers, lets them write for options->seconds, and waits for their end. */
void bench_write(const struct bench_options *options, struct bench_written *ret);
/* bench_write_one() - one event of this process's provider 0. */
ULONG bench_write_one(uint64_t time_ns, uint64_t number);
/* bench_be_writer() - a writer process: @fd is the shared memory. */
int bench_be_writer(int fd, uint32_t index);

/* session.c */
void bench_start(const struct bench_options *options, uint32_t index, ULONG mode, ULONG flush_ms,
		 struct bench_session *ret);
/* @on_event: NULL: events are counted */
void bench_consume(struct bench_session *session, PEVENT_RECORD_CALLBACK on_event);
void bench_flush(struct bench_session *session);
void bench_stop(struct bench_session *session, struct bench_ended *ret);
double bench_thread_seconds(const struct bench_session *session);

/* rates.c */
void bench_rates(const char *name, const struct bench_options *options, ULONG mode);
void bench_by_size(const struct bench_options *options);
void bench_by_writers(const struct bench_options *options);
void bench_curve(const struct bench_options *options);
/* bench_raw() - plain writes of buffers of this size into the home; bytes a second. */
double bench_raw(uint32_t buffer_bytes);

/* waits.c */
void bench_latency(const struct bench_options *options);
void bench_wake(const struct bench_options *options);

/* costs.c */
void bench_memory(const struct bench_options *options);
void bench_sessions(const struct bench_options *options);

#endif
