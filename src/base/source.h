/* SPDX-License-Identifier: MIT */
/*
 * What every source of events is to the session engine: the kernel, and others. A source makes events in their final
 * .etl form; the engine pulls them, merges them with the rings by time and processor, and tells the source what is safe
 * in an output buffer. A session can have several, each with marks and an account of its own; each is opened when the
 * first thing of it is wanted.
 *
 * A source can own providers: no process registers these, and what EnableTraceEx2 asks of them the source gets.
 *
 * All functions are called by the session's own thread, one source object for each session.
 * Source: docs/design/recording.md "Sources".
 */
#ifndef ETW_BASE_SOURCE_H
#define ETW_BASE_SOURCE_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include <guiddef.h>

#include "base/announced.h"
#include "base/fault.h"
#include "base/loss.h"
#include "base/profile_source.h"

/* An event of a source, ready for a buffer. */
struct etw_source_event {
	const uint8_t *bytes; /* borrowed until the source's next pop or collect */
	uint32_t byte_count;  /* exact, header included */
	int64_t time_raw;     /* session clock; the same as in the header */
};

/*
 * Where a source stands, for the next host. Per processor: the last event popped; events that do not come
 * after it in (moment, number) are dropped when they are read again.
 */
struct etw_source_mark {
	uint64_t moment; /* of the source's own clock */
	uint64_t number; /* orders its events of one moment */
};

/* What the engine offers a source. */
struct etw_source_host {
	void *context;
	uint32_t cpu_count;
	uint32_t clock_type; /* of the session: enum etw_clock_type */
	/* Session clock now. */
	int64_t (*now_raw)(void *context);
	/*
	 * CLOCK_MONOTONIC as session clock, by interpolation. Returns 0; -EAGAIN while no sample lies
	 * behind @monotonic_ns yet: ask again after the next sample (10 ms).
	 */
	int (*to_raw)(void *context, uint64_t monotonic_ns, int64_t *ret);
	/*
	 * Keeps a descriptor where it outlives the host. @name: unique in the session. Borrowed.
	 * Returns 0 or negative errno; a source works without it.
	 */
	int (*keep_fd)(void *context, const char *name, int fd);
	/* A kept descriptor of the last host: owned by the caller, or -ENOENT. */
	int (*kept_fd)(void *context, const char *name);
};

/* How the kernel's source records. */
enum etw_source_option {
	ETW_SOURCE_UNWIND = 0x1, /* user stacks by DWARF tables, for code without frame pointers */
	ETW_SOURCE_ONLY_PID = 0x2, /* of a source alone: that only_pid is gone by */
};

#define ETW_SOURCE_STACK_HOOKS_MAX 256 /* as many kinds of events with stacks as Windows allows */

#define ETW_SOURCES_MAX           3  /* that a session can have at once */
#define ETW_SOURCE_PROVIDERS_MAX  32 /* that a session can have enabled of all of them */
#define ETW_SOURCE_PROVIDER_BYTES 8192

/* What is wanted of a provider that a source owns, as EnableTraceEx2 said it. */
struct etw_source_provider {
	GUID guid;
	uint64_t match_any, match_all;
	uint32_t property; /* EVENT_ENABLE_PROPERTY_* */
	uint32_t filter_bytes;
	uint8_t level;
	uint8_t reserved_pad[7];
	uint8_t filters[ETW_SOURCE_PROVIDER_BYTES - 48]; /* wire/filter_list.h, checked */
};

static_assert(sizeof(struct etw_source_provider) == ETW_SOURCE_PROVIDER_BYTES, "layout");

/* etw_source_provider_wants() - whether an event of this level and these keywords is wanted, by EnableTraceEx2's rules. */
static inline bool etw_source_provider_wants(const struct etw_source_provider *provider,
					     uint8_t level, uint64_t keyword)
{
	if (provider->level && level > provider->level)
		return false;
	if (!keyword) /* EVENT_ENABLE_PROPERTY_IGNORE_KEYWORD_0 */
		return !(provider->property & 0x10);
	return (!provider->match_any || (keyword & provider->match_any)) &&
	       (keyword & provider->match_all) == provider->match_all;
}

/* What a session wants of a source. */
struct etw_source_request {
	uint32_t group_masks
		[8]; /* kernel: as etw_group_masks_of_flags() fills them (wire/group_masks.h) */
	uint32_t profile_interval_ft; /* kernel: of the samples; 0: 1 ms */
	/* kernel: by what else is sampled, bits of places of base/profile_source.h; by place; 0: the source's own */
	uint32_t profile_sources;
	uint32_t source_intervals[ETW_PROFILE_SOURCES];
	uint32_t only_pid; /* this process and who descends from it from now on; 0: all */
	uint32_t options;  /* kernel: enum etw_source_option */
	uint32_t stack_hook_count;
	uint16_t stack_hooks[ETW_SOURCE_STACK_HOOKS_MAX]; /* kernel: (group << 8) | type */
	/* Those of the source's own that are enabled now, borrowed for the call. */
	uint32_t provider_count;
	const struct etw_source_provider *providers;
};

/*
 * What a source lost on one processor, by enum etw_loss_cause and enum etw_loss_class, cumulative: events, and events that
 * went out and lack something.
 */
struct etw_source_loss {
	uint64_t events[ETW_LOSS_CAUSES][ETW_LOSS_CLASSES]; /* of a session's causes 0 */
};

/* etw_source_loss_sum() - the events that are lost. */
static inline uint64_t etw_source_loss_sum(const struct etw_source_loss *loss)
{
	uint64_t sum = 0;

	for (unsigned cause = 0; cause < ETW_LOSS_CAUSES; cause++) {
		if (!etw_loss_is_event(cause))
			continue;
		for (unsigned i = 0; i < ETW_LOSS_CLASSES; i++)
			sum += loss->events[cause][i];
	}
	return sum;
}

/* Is handed an event that is not queued. @event: borrowed for the call */
typedef void etw_source_put_fn(void *context, uint32_t cpu, const struct etw_source_event *event);

struct etw_source; /* a source's own; starts with `const struct etw_source_ops *ops` */

struct etw_source_ops {
	const char *name; /* "kernel": of its descriptors, and of its events in sentences */
	/* Kernel: what is built, whether this machine allows it or not, as group_masks; and the events with stacks. */
	uint32_t masks[8];
	const uint16_t *stack_hooks; /* borrowed */
	uint32_t stack_hook_count;
	uint32_t options; /* enum etw_source_option, such as are gone by */
	/*
	 * How many descriptors it keeps with the host's keeper at most, and how many for each processor beside them: a session
	 * does not begin where there is no room for them. What a request makes it keep beyond that is kept while there is room.
	 */
	uint16_t kept_fds, kept_fds_per_cpu;
	/* What waits when a host dies, and what passes until the next one, is lost. Marks are then of CLOCK_MONOTONIC. */
	bool is_lost_with_host;

	/*
	 * open - a source for one session.
	 *
	 * @marks: cpu_count of them, borrowed and read at once; NULL for a new session
	 *
	 * Returns 0 with an owned source; -EACCES, -ENOSYS, -EOPNOTSUPP ... with @reterr naming what is
	 * missing.
	 */
	int (*open)(const struct etw_source_host *host, const struct etw_source_mark *marks,
		    struct etw_source **ret, struct etw_fault *reterr);
	void (*close)(struct etw_source *source); /* takes NULL */

	/* has_provider - whether it owns this provider. NULL: it owns none. Any thread. */
	bool (*has_provider)(const GUID *guid);

	/*
	 * check_provider - whether it can serve what is asked of a provider of its own: keywords, properties, filters. NULL: always.
	 * Any thread.
	 *
	 * Returns 0; -EOPNOTSUPP, -EINVAL with @reterr naming what it cannot.
	 */
	int (*check_provider)(const struct etw_source_provider *wanted, struct etw_fault *reterr);

	/*
	 * enable - sets what is wanted from now on; also starts (or at zero stops) collecting. After the start's
	 * rundown it also queues what that would have told for what is wanted only now.
	 */
	int (*enable)(struct etw_source *source, const struct etw_source_request *request,
		      struct etw_fault *reterr);

	/*
	 * capture - queues what a provider of its own tells of what is there: EVENT_CONTROL_CODE_CAPTURE_STATE. NULL: nothing.
	 *
	 * @wanted: level and keywords are the request's
	 *
	 * Returns 0 or negative errno.
	 */
	int (*capture)(struct etw_source *source, const struct etw_source_provider *wanted);

	/*
	 * retell - queues what a reader must know to decode the events from here on, for one that comes while the session goes
	 * on. NULL: nothing, or the source tells it by itself.
	 *
	 * Returns 0 or negative errno.
	 */
	int (*retell)(struct etw_source *source);

	/*
	 * missing - what of what was enabled last is built and cannot be had here, as group_masks. May be NULL, like when
	 * it is not known: then image loads are what is missing.
	 */
	void (*missing)(const struct etw_source *source, uint32_t ret[8]);

	/*
	 * rundown - queues events that describe what is there: at the start and at the end. At the start
	 * a source does nothing that goes on with what a former host collected: only it knows whether
	 * that one got so far.
	 */
	int (*rundown)(struct etw_source *source, bool is_end);

	/*
	 * describe - hands out what `rundown` at the end would queue, for a copy of the session so far: nothing of it is
	 * queued, and the session goes on. All of one processor.
	 *
	 * @time_raw: of every event
	 *
	 * Returns 0, -ENOMEM, or why what is there cannot be read.
	 */
	int (*describe)(struct etw_source *source, int64_t time_raw, etw_source_put_fn *put,
			void *context);

	/*
	 * account - hands out, when the last event was popped, what a reader is to know of the recording as a whole. May be
	 * NULL.
	 *
	 * @time_raw: of every event
	 */
	void (*account)(struct etw_source *source, int64_t time_raw, etw_source_put_fn *put,
			void *context);

	/*
	 * announce - code that processes told of; NULL: the source has no use for it. Once it was called it is called before
	 * each collect.
	 *
	 * @queue:    taken; may be empty
	 * @until_ns: CLOCK_MONOTONIC: what is told later is of this time or later
	 */
	void (*announce)(struct etw_source *source, struct etw_announced_queue *queue,
			 uint64_t until_ns);

	/*
	 * collect - reads what has come, and fixes the watermark: no later event will have a time before
	 * *@ret_watermark_raw. Bounded work, asked for every 10 ms. Returns 0, or 1 when there is more at once;
	 * negative errno.
	 */
	int (*collect)(struct etw_source *source, int64_t *ret_watermark_raw);

	/* peek - the next event of a processor, in order of time. Returns false when there is none. */
	bool (*peek)(struct etw_source *source, uint32_t cpu, struct etw_source_event *ret);

	/* pop - takes it. @ret_mark: what to remember for the next host. */
	void (*pop)(struct etw_source *source, uint32_t cpu, struct etw_source_mark *ret_mark);

	/* release - everything popped is safe: the kernel's memory may be reused. */
	void (*release)(struct etw_source *source);

	/*
	 * loss - the account so far.
	 *
	 * @ret: cpu_count of them, one for each processor, and one more for what no processor is known of
	 */
	void (*loss)(struct etw_source *source, struct etw_source_loss *ret);
};

/* etw_source_kept_fds() - of a session with @cpu_count processors. */
static inline unsigned etw_source_kept_fds(const struct etw_source_ops *ops, uint32_t cpu_count)
{
	return ops->kept_fds + ops->kept_fds_per_cpu * cpu_count;
}

#endif
