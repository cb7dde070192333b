/* SPDX-License-Identifier: MIT */
/*
 * The conversation between a process and the host: one datagram of a SOCK_SEQPACKET socket is one
 * message. What is sent is little-endian and packed by the functions at the end; these structs are what
 * both ends work with. Decoding copies names, which are UTF-8, and borrows runs of bytes from the datagram.
 * Source: docs/design/recording.md "Conversation".
 */
#ifndef ETW_WIRE_MESSAGE_H
#define ETW_WIRE_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <guiddef.h>

#include "base/bytes.h"
#include "base/profile_source.h"
#include "wire/filter_list.h"
#include "wire/group_masks.h"

#define WIRE_PROTOCOL_VERSION  12
#define WIRE_MESSAGE_BYTES_MAX (128 * 1024)
#define WIRE_MESSAGE_FDS_MAX   2
#define WIRE_MESSAGE_NAME_MAX  3072 /* bytes: 1024 UTF-16 units */
#define WIRE_ENABLE_SLOTS      8    /* sessions that one provider can be enabled in */
#define WIRE_FILTER_BYTES_MAX  WIRE_FILTER_LIST_BYTES_MAX
#define WIRE_SLOT_FILTERS_MAX  (13 * 1024) /* of one session: its filters of events */
#define WIRE_CALLBACK_DATA_MAX (9 * 1024)  /* of all sessions: a block of 1024 bytes of each */
#define WIRE_TRAITS_BYTES_MAX  (16 * 1024)
#define WIRE_LIST_SESSIONS_MAX 256

/*
 * Ids of private sessions, which no host gives to its own: those that a host has started in other processes, the system's
 * and a user's, and those that a process has started in itself.
 */
#define WIRE_OUTSIDE_SESSION_ID_FIRST      0xFE00
#define WIRE_OUTSIDE_SESSION_ID_FIRST_USER 0xFE80
#define WIRE_OUTSIDE_SESSION_ID_LAST       0xFEFF
#define WIRE_PRIVATE_SESSION_ID_FIRST      0xFF00
#define WIRE_PRIVATE_SESSION_ID_LAST       0xFFFE

/* p: provider process; c: controller; r: real-time consumer; h: host. Numbers never change meaning. */
enum wire_message_type {
	WIRE_HELLO = 1,   /* any -> h, first: struct wire_hello */
	WIRE_WELCOME = 2, /* h -> any: struct wire_welcome, fd: clock page */
	WIRE_REPLY =
		3, /* h -> any: answers a request that has no struct of its own: status alone */
	/* p -> h: struct wire_register; answered by REPLY, then ENABLE if enabled, before any later request is answered */
	WIRE_REGISTER = 10,
	/* p -> h: struct wire_unregister; answered by REPLY. There is never a registration 0: -ENOENT for it tells that
	 * the host has dealt with all before it. */
	WIRE_UNREGISTER = 11,
	WIRE_ENABLE = 12,       /* h -> p: struct wire_enable; the RING_SETs it names went before */
	WIRE_ENABLE_DONE = 13,  /* p -> h: the callback for the ENABLE of this request returned */
	WIRE_RING_SET = 14,     /* h -> p: struct wire_ring_set_ref, fds: control page, rings */
	WIRE_RING_RETIRE = 15,  /* h -> p: struct wire_ring_set_ref: unmap it */
	WIRE_RING_RETIRED = 16, /* p -> h: struct wire_ring_set_ref: nothing here writes to it */
	/* p -> h: struct wire_undelivered, status: why; a session wants events that the process cannot write to it */
	WIRE_UNDELIVERED = 17,
	/* p -> h: struct wire_register: what is registered has these traits now; answered by REPLY, -EACCES: it may not join
	 * their group. ENABLE as at REGISTER. */
	WIRE_TRAITS = 18,
	WIRE_START = 20,           /* c -> h: struct wire_session_config; answered by SESSION */
	WIRE_SESSION = 21,         /* h -> c: struct wire_session_info */
	WIRE_CONTROL = 22,         /* c -> h: struct wire_control; answered by SESSION */
	WIRE_ENABLE_PROVIDER = 23, /* c -> h: struct wire_enable_provider; answered by REPLY */
	WIRE_LIST = 24,            /* c -> h; answered by SESSIONS */
	WIRE_SESSIONS = 25,        /* h -> c: struct wire_sessions */
	WIRE_LEASE = 26,           /* c -> h: struct wire_lease; answered by REPLY */
	WIRE_SUBSCRIBE = 30,       /* r -> h: struct wire_subscribe; answered by SUBSCRIBED */
	WIRE_SUBSCRIBED = 31,      /* h -> r: struct wire_subscribed, fd: delivery memory */
	WIRE_BATCH = 32,           /* h -> r: struct wire_batch */
	WIRE_SESSION_END = 33, /* h -> r: struct wire_batch: the last one; the session is over */
	WIRE_STATISTICS_QUERY =
		40,           /* c -> h: struct wire_statistics_query; answered by STATISTICS */
	WIRE_STATISTICS = 41, /* h -> c: struct wire_statistics */
	WIRE_ACCESS = 50,     /* c -> h: struct wire_access; answered by DESCRIPTOR */
	WIRE_DESCRIPTOR = 51, /* h -> c: struct wire_run: the descriptor; empty after a change */
	WIRE_ENUMERATE = 52,  /* c -> h: struct wire_enumerate; answered by ENUMERATED */
	WIRE_ENUMERATED = 53, /* h -> c: struct wire_enumerated */
	WIRE_INFORM = 54,     /* c -> h: struct wire_inform; answered by INFORMATION */
	WIRE_INFORMATION =
		55, /* h -> c: struct wire_run: what was asked for; empty after a setting */
	/* h -> p: struct wire_session_info, of which handle and config count: a private session of this process; answered by
	 * PRIVATE_DONE, also where the process has it already. */
	WIRE_PRIVATE_START = 60,
	WIRE_PRIVATE_CONTROL = 61, /* h -> p: struct wire_control; answered by PRIVATE_DONE */
	WIRE_PRIVATE_ENABLE = 62,  /* h -> p: struct wire_enable_provider; as the above */
	/* h -> p: the same, not answered: what the session wants already; no news to a process that knows it */
	WIRE_PRIVATE_WISH = 63,
	/* p -> h: struct wire_session_info of START and CONTROL that were done; else status alone */
	WIRE_PRIVATE_DONE = 64,
	WIRE_IMAGE = 70, /* p -> h: struct wire_image; answered by REPLY */
};

/* Every message begins with it. */
struct wire_message {
	uint32_t type;    /* enum wire_message_type */
	uint32_t request; /* an answer has that of what it answers; 0: nothing is answered */
	int32_t status;   /* of answers and of UNDELIVERED: 0 or a negative errno; else 0 */
};

enum wire_role {
	WIRE_ROLE_PROVIDER = 1,
	WIRE_ROLE_CONTROLLER = 2,
	WIRE_ROLE_CONSUMER = 3,
};

struct wire_hello {
	uint32_t protocol;
	uint32_t role;
};

struct wire_welcome {
	uint32_t protocol;
	uint32_t is_system;   /* this host is the system instance */
	uint32_t pid;         /* the peer's, as the host sees it */
	uint32_t uid;         /* the peer's */
	uint64_t incarnation; /* counts hosts of this instance: another one after a restart */
};

enum wire_registration_kind {
	WIRE_REGISTRATION_MODERN = 0,  /* EventRegister */
	WIRE_REGISTRATION_CLASSIC = 1, /* RegisterTraceGuids */
};

struct wire_register {
	uint32_t registration; /* the process's own number, unique on this connection */
	uint32_t kind;         /* enum wire_registration_kind */
	GUID provider;
	struct etw_bytes traits; /* as EventSetInformation gave them; may be empty */
};

struct wire_unregister {
	uint32_t registration;
};

/* What one session wants of a provider. */
struct wire_enable_slot {
	uint32_t is_used;
	uint32_t session_id;
	/* Announced by RING_SET before; 0: there are no rings for this process, and its events are refused. */
	uint32_t ring_set;
	uint8_t level;     /* 0xFF where the controller said 0 */
	uint32_t property; /* EVENT_ENABLE_PROPERTY_* */
	uint64_t match_any, match_all;
	struct etw_bytes filters; /* those that the process applies to events: wire/filter_list.h */
};

/* The whole state of one registration, and what its callback is to be told. */
struct wire_enable {
	uint32_t registration;
	uint32_t control_code; /* EVENT_CONTROL_CODE_*; what the callback gets as IsEnabled */
	uint32_t has_callback; /* 0: only the slots change */
	uint8_t level;         /* for the callback: the highest over the sessions */
	uint64_t match_any, match_all;
	GUID source;
	struct wire_enable_slot slots[WIRE_ENABLE_SLOTS];
	/* For the callback; its type with no bytes: nothing. InstanceId names slots of this message: 1 << index. */
	uint32_t filter_type;
	struct etw_bytes filter;
};

struct wire_ring_set_ref {
	uint32_t ring_set; /* unique for the host's life */
};

/* Of session 0: the process could not connect for `late_ms`, and does not know what wanted its events meanwhile. */
struct wire_undelivered {
	uint32_t session_id;
	uint64_t events; /* refused since this was said last */
	uint64_t late_ms;
};

#define WIRE_STACK_HOOKS_MAX 256 /* kinds of events with stacks */

/* Which members of struct wire_kernel_request count; in what a host answers all do. */
enum wire_kernel_part {
	WIRE_KERNEL_MASKS = 0x1, /* else they follow from EnableFlags */
	WIRE_KERNEL_STACKS = 0x2,
	WIRE_KERNEL_INTERVAL = 0x4,
	WIRE_KERNEL_ONLY_PID = 0x8,
	WIRE_KERNEL_OPTIONS = 0x10,
	WIRE_KERNEL_SOURCES = 0x20,
	WIRE_KERNEL_SOURCE_INTERVALS = 0x40, /* those that are not 0 */
	WIRE_KERNEL_PARTS = 0x7F,
};

#define WIRE_KERNEL_UNWIND 0x1 /* of options: user stacks by DWARF tables */

/* What of the kernel's events a system logger wants. */
struct wire_kernel_request {
	uint32_t parts; /* enum wire_kernel_part */
	uint32_t group_masks[WIRE_GROUP_MASKS_WORDS];
	uint32_t profile_interval_ft; /* of the samples; 0: the machine's */
	uint32_t only_pid; /* this process, and who descends from it from now on; 0: all */
	uint32_t options;  /* WIRE_KERNEL_UNWIND */
	uint32_t
		profile_sources; /* by what else is sampled: bits of places of base/profile_source.h */
	uint32_t source_intervals[ETW_PROFILE_SOURCES]; /* by place; 0: the source's own */
	uint32_t stack_hook_count;
	uint16_t stack_hooks[WIRE_STACK_HOOKS_MAX]; /* the first so many; the rest 0 */
};

#define WIRE_IMAGE_SYMBOL_BYTES_MAX (96 * 1024) /* of one message; more go in further ones */
#define WIRE_BUILD_ID_BYTES         20

enum wire_image_code {
	WIRE_IMAGE_LOADED = 0,
	WIRE_IMAGE_IS_THERE = 1, /* what another connection was told as loaded */
	WIRE_IMAGE_MORE = 2,     /* symbols beside those of this image that were told before */
	WIRE_IMAGE_UNLOADED = 3,
};

/* Code of the process' own. Of MORE and UNLOADED `image` counts, and the symbols. */
struct wire_image {
	uint32_t image; /* the process' own number, unique on this connection */
	uint32_t code;  /* enum wire_image_code */
	uint64_t base, byte_count;
	char path[WIRE_MESSAGE_NAME_MAX + 1];
	struct etw_bytes build_id; /* WIRE_BUILD_ID_BYTES at most; may be empty */
	struct etw_bytes symbols;  /* etw_image_symbols_pack() */
};

/* What a session is to be, in the units of EVENT_TRACE_PROPERTIES. */
struct wire_session_config {
	char name[WIRE_MESSAGE_NAME_MAX + 1];
	char log_file[WIRE_MESSAGE_NAME_MAX + 1]; /* absolute Linux path; empty: none */
	char log_file_shown[WIRE_MESSAGE_NAME_MAX +
			    1]; /* as the controller gave it; goes into the header */
	GUID guid;              /* of the session; null: the host makes one */
	uint32_t clock_type;    /* enum etw_clock_type; 0: QPC */
	uint32_t buffer_kib;
	uint32_t minimum_buffers, maximum_buffers;
	uint32_t maximum_file_size;
	uint32_t log_file_mode;
	uint32_t flush_timer;  /* seconds, or ms with EVENT_TRACE_USE_MS_FLUSH_TIMER */
	uint32_t enable_flags; /* EVENT_TRACE_FLAG_* */
	uint32_t age_limit;
	uint32_t controller_pid, controller_tid; /* for the header event */
	uint32_t file_mode; /* permissions that the controller would give the file; 0: 0600 */
	uint32_t is_leased; /* tied to who starts it from the first moment, as by WIRE_LEASE */
	struct wire_kernel_request kernel;
};

#define WIRE_CLAIMS_MAX 8

/* What the processes of one user say that they lost. */
struct wire_claim {
	uint32_t uid; /* UINT32_MAX: of several */
	uint64_t events;
	uint64_t disregarded; /* beyond them: what they said and cannot have been */
};

#define WIRE_SOURCE_LOSSES_MAX 40

/* What a source lost, or could not tell all of: base/loss.h. */
struct wire_source_loss {
	uint32_t cause, class_number;
	uint64_t events; /* 0: the end of the list */
};

/*
 * Events lost in a session, by cause. Processes count some of them in memory of their own: no_buffer, too_large
 * and replaced are what those of the session's owner and of root say, `others` what all other users' say, as far as
 * it can be true. The rest the host counted itself; of `gaps` and `rejected` what all other users made counts up to
 * 2^25 each, and the rest is in `others`, too. EVENT_TRACE_PROPERTIES.EventsLost is the sum of all but `others`,
 * of which it has `others_counted`: of each user 2^25 at most, so that claims never hide what is known.
 */
struct wire_session_loss {
	uint64_t no_buffer; /* no free ring buffer */
	uint64_t too_large; /* larger than a buffer */
	uint64_t gaps;      /* reserved and not committed in time */
	uint64_t rejected;  /* failed the host's checks */
	uint64_t source;    /* lost between the kernel and the session; `sources` says why */
	uint64_t file;      /* could not be written to the file */
	uint64_t replaced;  /* for rings that the session has replaced, by who did not hear of it */
	uint64_t others, others_counted;
	uint64_t disregarded;                      /* claims that cannot be true, of all users */
	struct wire_claim claims[WIRE_CLAIMS_MAX]; /* other users', the largest first; the rest 0 */
	/* Of all processors. Those that are lost events (etw_loss_is_event) make up `source`. */
	struct wire_source_loss sources[WIRE_SOURCE_LOSSES_MAX];
};

struct wire_session_info {
	uint64_t handle;
	struct wire_session_config config; /* as it is now: numbers rounded, defaults filled in */
	uint32_t number_of_buffers, free_buffers;
	uint64_t events;      /* taken into buffers so far */
	uint64_t bytes;       /* of the file */
	uint64_t overwritten; /* of these events, such as a circular file does not have any more */
	uint32_t events_lost, buffers_written, log_buffers_lost, real_time_buffers_lost;
	uint32_t logger_thread_id;
	uint32_t uid; /* who started it */
	uint64_t start_ft;
	uint32_t is_leased, is_kernel;
	int32_t file_status; /* 0, or why the file was ended before the session: -ENOSPC, -EFBIG ... */
	struct wire_session_loss loss;
	/* What a source said when it could not be enabled as asked; empty: everything works. */
	char complaint[512];
};

#define WIRE_STATISTICS_CPUS      64 /* processors in one answer */
#define WIRE_STATISTICS_CONSUMERS 8

struct wire_statistics_query {
	uint64_t handle;
	uint32_t first_cpu; /* of those that the answer is to tell of */
};

/*
 * The numbers of one processor, or of all where a session has one stream for all. The rings' buffers are those that
 * writers fill; buffers that were written or delivered are the session's own.
 */
struct wire_cpu_statistics {
	uint32_t buffers, free_buffers; /* of rings; the rest is in use */
	uint64_t events;                /* taken into buffers */
	uint64_t notes;                 /* of these, such as the host itself wrote */
	uint64_t
		buffers_written; /* to the file; of a session without one: that were full or flushed */
	uint64_t log_buffers_lost; /* to the file */
	/* Events lost, by cause, as in struct wire_session_loss; no_buffer and too_large are those of all users. */
	uint64_t no_buffer, too_large, gaps, rejected, source, file;
	/* Of real time: buffers and events that went by, to consumers or to nobody, */
	uint64_t delivered_buffers, delivered_events;
	/* of these, such as a consumer had no room for, */
	uint64_t slow_buffers, slow_events;
	/* and such as came without a consumer when no more were kept. */
	uint64_t unheard_buffers, unheard_events;
};

enum wire_consumer_state {
	WIRE_CONSUMER_NONE = 0,
	WIRE_CONSUMER_HERE = 1,
	WIRE_CONSUMER_AWAITED = 2, /* it was a former host's */
	WIRE_CONSUMER_FUTURE = 3,  /* nobody yet: what is kept for the next one */
};

struct wire_consumer_statistics {
	uint32_t state;   /* enum wire_consumer_state */
	uint64_t buffers; /* put into its memory */
	uint64_t lost;    /* that were for it, and that it did not get */
	uint64_t waiting; /* in its memory, not given back yet */
};

/* A session's numbers by cause and by processor, all of one moment but for the processors' of another answer. */
struct wire_statistics {
	uint64_t handle;
	uint32_t number_of_buffers, free_buffers;
	struct wire_session_loss loss;
	/* Events that the session's filters took away, which are not lost; what other users claim of these. */
	uint64_t filtered, others_filtered;
	/* Real-time buffers lost that have no processor: with a consumer's memory, and in that of one that died. */
	uint64_t missed_buffers, unread_buffers;
	struct wire_consumer_statistics consumers[WIRE_STATISTICS_CONSUMERS];
	uint32_t cpu_count; /* 1: one stream for all; up to WIRE_RING_CPUS_MAX */
	uint32_t first_cpu, told_cpus;
	struct wire_cpu_statistics cpus[WIRE_STATISTICS_CPUS];
};

enum wire_control_code {
	WIRE_CONTROL_QUERY = 0, /* numbers of ControlTrace */
	WIRE_CONTROL_STOP = 1,
	WIRE_CONTROL_UPDATE = 2,
	WIRE_CONTROL_FLUSH = 3,
	WIRE_CONTROL_INCREMENT_FILE = 4,
	WIRE_CONTROL_CONVERT_TO_REALTIME = 5,
	/* No code of ControlTrace: of a system logger, those members of config.kernel that count. */
	WIRE_CONTROL_KERNEL = 6,
};

struct wire_control {
	uint32_t code;
	uint64_t handle; /* 0: by name or guid */
	char name[WIRE_MESSAGE_NAME_MAX + 1];
	GUID guid;
	struct wire_session_config
		config; /* UPDATE, KERNEL; FLUSH of a buffering session: log_file */
};

struct wire_enable_provider {
	uint64_t handle;
	GUID provider;
	uint32_t code; /* EVENT_CONTROL_CODE_* */
	uint8_t level;
	uint64_t match_any, match_all;
	uint32_t timeout_ms; /* 0: do not wait for callbacks */
	uint32_t property;
	GUID source;
	struct etw_bytes filters; /* of all kinds: wire/filter_list.h */
};

struct wire_sessions {
	uint32_t count;
	uint64_t handles[WIRE_LIST_SESSIONS_MAX];
};

/* The session ends with this connection (or with the process, across a restart of the host). */
struct wire_lease {
	uint64_t handle;
};

/*
 * A consumer names itself by a random number, always the same one, so that it finds its delivery memory
 * again at the next host. Buffers and events are counted from the session's start, for all consumers alike.
 */
struct wire_subscribe {
	char name[WIRE_MESSAGE_NAME_MAX + 1];
	uint64_t consumer;     /* its number; 0: it never comes back */
	uint64_t last_batch;   /* the last batch that it has seen; 0: none */
	uint64_t pieces;       /* wire_batch.pieces of that batch */
	uint64_t memory_bytes; /* of the delivery memory that it wants; 0: as the session chooses */
};

/* Delivery memory: struct wire_delivery (wire/delivery_layout.h). */
struct wire_subscribed {
	uint64_t handle;
	uint32_t session_id;
	uint32_t delivery_bytes;
	uint64_t next_slot; /* where the next batch begins; not 0: the memory is the one it had */
	uint64_t pieces, events; /* handed out before this consumer first came */
	struct etw_bytes
		header_buffer; /* a whole header buffer, as a file's first, for LogfileHeader */
};

struct wire_batch {
	uint64_t batch;        /* from 1 */
	uint64_t first_slot;   /* of the delivery memory, counted since the subscription */
	uint64_t slot_count;   /* from there, those between pieces too */
	uint32_t buffer_count; /* pieces in them */
	int64_t watermark_raw; /* no later batch has an event before it */
	/* Handed out so far: what of it this consumer did not find in its memory it has lost. */
	uint64_t pieces, events;
	uint64_t events_lost; /* of the session, before they could be handed out, so far */
};

enum wire_access_code {
	WIRE_ACCESS_CHANGE = 0, /* EventAccessControl */
	WIRE_ACCESS_QUERY = 1,
	WIRE_ACCESS_REMOVE = 2,
};

/* Who may do what with a session or provider. */
struct wire_access {
	uint32_t code;
	GUID guid;
	uint32_t operation; /* of CHANGE, as the next three: enum wire_security_operation */
	uint32_t rights;
	uint32_t is_allowed;
	struct etw_bytes sid;
};

/* An answer of bytes. */
struct wire_run {
	struct etw_bytes bytes;
};

enum wire_enumerate_code {
	WIRE_ENUMERATE_PROVIDERS = 0, /* struct wire_provider_entry each */
	/* Of the provider `guid`: TRACE_PROVIDER_INSTANCE_INFO and its TRACE_ENABLE_INFOs each, as the API has them. */
	WIRE_ENUMERATE_INSTANCES = 1,
	WIRE_ENUMERATE_GROUPS = 2,         /* GUIDs */
	WIRE_ENUMERATE_MEMBERS = 3,        /* of the group `guid`: GUIDs of providers */
	WIRE_ENUMERATE_GROUP_SESSIONS = 4, /* of the group `guid`: TRACE_ENABLE_INFO each */
};

/* Long lists come in parts: the first is asked for with cursor 0, each later one with what the last answer said. */
struct wire_enumerate {
	uint32_t code;
	GUID guid;
	uint64_t cursor;
};

struct wire_enumerated {
	uint64_t next;  /* cursor of the next part; 0: this was the last */
	uint32_t count; /* of what is in it */
	struct etw_bytes bytes;
};

/* What EnumerateTraceGuids says of a provider. It lies in memory as TRACE_GUID_PROPERTIES does, whose BOOLEAN
 * is is_enabled with the padding behind it. */
struct wire_provider_entry {
	GUID guid;
	le32 guid_type;  /* 0: EventRegister; 1: RegisterTraceGuids */
	le32 session_id; /* of the session that enabled it last */
	le32 level;
	le32 flags;
	le32 is_enabled;
};

/*
 * A class beside those of TRACE_INFO_CLASS: what of the kernel's events there can be. Asked for without a session; the
 * answer is eight words of group masks, and the hooks of the events that can have stacks, 2 bytes each. Nothing: the
 * host has no source of kernel events.
 */
#define WIRE_INFORM_KERNEL_BUILT UINT32_C(0x80000001)

/* TraceSetInformation and TraceQueryInformation. */
struct wire_inform {
	uint32_t is_set;
	uint32_t class_; /* TRACE_INFO_CLASS */
	uint64_t handle;
	struct etw_bytes bytes; /* of a setting, as the API has them */
};

#define WIRE_RUN_BYTES_MAX (96 * 1024)

/* TRACE_PERIODIC_CAPTURE_STATE_INFO: not more often, and not more providers. */
#define WIRE_CAPTURE_SECONDS_MIN   1
#define WIRE_CAPTURE_PROVIDERS_MAX 128

#define WIRE_DISALLOWED_MAX \
	1024 /* providers that a session keeps from being enabled with their group */

/*
 * wire_message_encode_*() - write a message; @room must be WIRE_MESSAGE_BYTES_MAX bytes. Return its length,
 * or 0: a part that is too long, a number out of range, a name not UTF-8.
 *
 * wire_message_decode() - reads the common part. wire_message_decode_*() - the rest, after the common part
 * was seen to be of that type. Return 0, or -EPROTO: too short, a number out of range, a name not UTF-8 or
 * with a NUL inside.
 */
int wire_message_decode(struct etw_bytes datagram, struct wire_message *ret);

#define WIRE_MESSAGE_CODEC(name)                                                          \
	size_t wire_message_encode_##name(const struct wire_message *message,             \
					  const struct wire_##name *body, uint8_t *room); \
	int wire_message_decode_##name(struct etw_bytes datagram, struct wire_##name *ret)

WIRE_MESSAGE_CODEC(hello);
WIRE_MESSAGE_CODEC(welcome);
WIRE_MESSAGE_CODEC(register);
WIRE_MESSAGE_CODEC(unregister);
WIRE_MESSAGE_CODEC(enable);
WIRE_MESSAGE_CODEC(ring_set_ref);
WIRE_MESSAGE_CODEC(undelivered);
WIRE_MESSAGE_CODEC(image);
WIRE_MESSAGE_CODEC(session_config);
WIRE_MESSAGE_CODEC(session_info);
WIRE_MESSAGE_CODEC(control);
WIRE_MESSAGE_CODEC(enable_provider);
WIRE_MESSAGE_CODEC(sessions);
WIRE_MESSAGE_CODEC(lease);
WIRE_MESSAGE_CODEC(subscribe);
WIRE_MESSAGE_CODEC(subscribed);
WIRE_MESSAGE_CODEC(batch);
WIRE_MESSAGE_CODEC(statistics_query);
WIRE_MESSAGE_CODEC(statistics);
WIRE_MESSAGE_CODEC(access);
WIRE_MESSAGE_CODEC(run);
WIRE_MESSAGE_CODEC(enumerate);
WIRE_MESSAGE_CODEC(enumerated);
WIRE_MESSAGE_CODEC(inform);

/* wire_message_encode_plain() - REPLY, ENABLE_DONE, LIST: the common part alone. */
size_t wire_message_encode_plain(const struct wire_message *message, uint8_t *room);

#endif
