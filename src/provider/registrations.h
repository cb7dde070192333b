/* SPDX-License-Identifier: MIT */
/*
 * The registrations of this process. They lie in one array that is never freed or moved, so that a
 * handle leads to its registration by arithmetic: the gate is the only load of a disabled write.
 *
 * | part             | read by                   | written by                                      |
 * |------------------|---------------------------|-------------------------------------------------|
 * | gate             | any thread, also handlers | lock: register, unregister, enable              |
 * | states[version], | any thread, then checks   | lock: only the half that the gate does not name |
 * | filters[version],| that the gate is the same |                                                 |
 * | plain[version]   |                           | the same; both handles before a new generation  |
 * | provider, traits | the same                  | lock: while no gate leads here; traits any time |
 * | the rest         | lock                      | lock                                            |
 */
#ifndef ETW_PROVIDER_REGISTRATIONS_H
#define ETW_PROVIDER_REGISTRATIONS_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include <evntprov.h>
#include <evntrace.h>

#include "provider/fork.h"
#include "wire/event_filter.h"
#include "wire/message.h"

struct etw_filters; /* provider/filters.h */

#define ETW_REGISTRATIONS_MAX 2048 /* index 0 is nobody's; Windows documents 1024 for a process */
#define ETW_PRIVATE_SLOTS     4    /* private sessions that one provider can be enabled in */
#define ETW_PROVIDER_SLOTS    (ETW_PROVIDER_HOSTS * WIRE_ENABLE_SLOTS + ETW_PRIVATE_SLOTS)

/*
 * The gate: generation (12 bits), one bit for each slot that is enabled (20), version of the state (32).
 * A handle has in its upper half what the gate's is while no slot is enabled, minus one, and in its lower
 * half the place of the registration in the array, in lines of 64 bytes. So no number of 32 bits is a handle,
 * and the upper half of the gate decides at once whether a handle is one and nobody wants its events.
 */
#define ETW_GATE_VERSION_MASK      UINT64_C(0xFFFFFFFF)
#define ETW_GATE_SLOTS_SHIFT       32
#define ETW_GATE_SLOTS_ALL         0xFFFFFu
#define ETW_GATE_SLOTS_MASK        ((uint64_t)ETW_GATE_SLOTS_ALL << ETW_GATE_SLOTS_SHIFT)
#define ETW_GATE_GENERATION_SHIFT  52
#define ETW_GATE_GENERATION_MAX    UINT64_C(0xFFF)
#define ETW_REGISTRATION_INDEX_MAX (ETW_REGISTRATIONS_MAX - 1)

/*
 * In the handle of a classic registration. No place has it, so the functions for other providers take such a handle for
 * none, without a test of their own.
 */
#define ETW_HANDLE_CLASSIC UINT64_C(0x80000000)

static_assert(ETW_PROVIDER_SLOTS == 20, "the gate has 20 bits for them");

/* Provider traits, kept for ever: equal ones are one. */
struct etw_traits {
	struct etw_traits *next;
	uint16_t bytes;
	uint8_t data[];
};

/* What one session wants of a provider; atomics. */
struct etw_enable_slot {
	uint64_t match_any; /* never 0: that means all */
	uint64_t match_all;
	const struct etw_ring_mapping *ring;
	uint32_t level;
	uint32_t property; /* EVENT_ENABLE_PROPERTY_* */
};

/*
 * The wish of the only session that has the provider enabled, where no session asks for more than the plain event: all that
 * the path of that event reads of a registration's slots, found without a search.
 */
struct etw_enable_plain {
	_Alignas(64) uint64_t handle; /* atomic; 0: the event is not so simple */
	struct etw_enable_slot slot;
};

/* etw_link_slots() - how many of a registration's slots are a link's; the first is link * WIRE_ENABLE_SLOTS. */
static inline unsigned etw_link_slots(unsigned link)
{
	return link == ETW_PRIVATE_LINK ? ETW_PRIVATE_SLOTS : WIRE_ENABLE_SLOTS;
}

/* What a host last said about a registration, for the callback; or what private sessions want. */
struct etw_enable_link {
	uint64_t match_any, match_all;
	uint32_t sync_request;   /* the request whose answer proves that the host has said all */
	uint32_t traits_request; /* that told the traits last; 0: REGISTER did */
	uint8_t level;
	bool is_sent;        /* the host knows of the registration */
	bool is_enabled;     /* some of its sessions want it */
	bool is_confirmed;   /* since the connection was made */
	bool is_denied;      /* this user may not register it there */
	bool is_join_denied; /* nor be in the group that its traits name, as they were told last */
	bool is_news_due;    /* of private sessions: the callback has not been told the state yet */
};

/* Where the upper half of the gate lies in a registration. */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define ETW_GATE_UPPER_AT 4
#else
#define ETW_GATE_UPPER_AT 0
#endif

/* What the path of the plain event (provider/event_plain.h) does not do. */
enum etw_general {
	ETW_GENERAL_TRAITS = 0x1,  /* the provider has traits */
	ETW_GENERAL_ENABLE = 0x2,  /* a session asks for more than the plain event */
	ETW_GENERAL_FILTERS = 0x4, /* a session has filters of events */
	ETW_GENERAL_TWICE = 0x8,   /* a session has two slots: by the provider and by its group */
};

struct etw_registration {
	_Alignas(64) uint64_t gate;      /* atomic */
	uint64_t provider[2];            /* the GUID's bytes; atomic */
	const struct etw_traits *traits; /* atomic; NULL: none */
	uint32_t line;                   /* its own place in the array; 0: was never used */
	uint32_t is_typed;               /* atomic; descriptors' Type means something */
	uint32_t
		general; /* atomic; enum etw_general: why events take the general path; 0: they need not */
	/* Under the lock. */
	bool is_used;
	PENABLECALLBACK callback;
	void *context;
	const void *code; /* what etw_code_object() said of the callback */
	/* Of RegisterTraceGuids: no `callback` then. */
	bool is_classic;
	uint8_t holder; /* link of the session that has it */
	WMIDPREQUEST request;
	uint64_t logger_handle;           /* that session's, as the callback got it; 0: none */
	uint32_t request_result;          /* what the callback said last to being enabled */
	struct etw_enable_plain plain[2]; /* by the gate's version, as the states are */
	_Alignas(64) struct etw_enable_slot states[2][ETW_PROVIDER_SLOTS];
	/* Beside the slots; atomic; NULL: none. Those that were replaced are owned until they are. */
	const struct wire_event_filter *filters[2][ETW_PROVIDER_SLOTS];
	struct etw_filters
		*owned_filters[ETW_PROVIDER_SLOTS]; /* lock; stays when the registration ends */
	struct etw_enable_link links[ETW_PROVIDER_LINKS];
};

static_assert(sizeof(struct etw_registration) % 64 == 0, "places are counted in lines");

#define ETW_REGISTRATION_LINE_MAX \
	(ETW_REGISTRATION_INDEX_MAX * (sizeof(struct etw_registration) / 64))
static_assert(ETW_REGISTRATION_LINE_MAX < ETW_HANDLE_CLASSIC, "no place has the bit");

extern ETW_HIDDEN struct etw_registration etw_registrations[ETW_REGISTRATIONS_MAX];

/* The place in the array, in lines; whether a registration begins there is another question. */
static inline uint32_t etw_handle_line(uint64_t handle)
{
	return (uint32_t)handle;
}

/* The upper half of the gate of @handle while nobody wants its events. */
static inline uint32_t etw_handle_closed_gate(uint64_t handle)
{
	return (uint32_t)(handle >> 32) + 1;
}

/*
 * The registration that @handle would be of, whose gate decides; NULL: none. A line in the middle of one does
 * not find itself there. Without a division, which a write would have to wait for.
 */
static inline struct etw_registration *etw_handle_registration(uint64_t handle)
{
	const uint32_t line = etw_handle_line(handle);
	uint8_t *at = (uint8_t *)etw_registrations + line * UINT64_C(64);
	struct etw_registration *registration = (struct etw_registration *)(void *)at;

	if (UNLIKELY(line > ETW_REGISTRATION_LINE_MAX || load_relaxed(&registration->line) != line))
		return NULL;
	return registration;
}

/*
 * As etw_handle_registration(), but never NULL: where @handle leads to none, to something whose gate or line is not
 * that of @handle, so that both have to be looked at.
 */
static inline const struct etw_registration *etw_handle_place(uint64_t handle)
{
	const uint32_t line = etw_handle_line(handle);
	const uint8_t *at = (const uint8_t *)etw_registrations;

	if (LIKELY(line <= ETW_REGISTRATION_LINE_MAX))
		at += line * UINT64_C(64);
	return (const struct etw_registration *)(const void *)at;
}

/* etw_place_is_closed() - etw_provider_is_closed() of a handle whose place is @place. */
static inline bool etw_place_is_closed(const struct etw_registration *place, uint64_t handle)
{
	const uint8_t *at = (const uint8_t *)place + ETW_GATE_UPPER_AT;

	/* A line in the middle of a registration holds something that is no gate, and no handle then. */
	return LIKELY(etw_handle_line(handle) <= ETW_REGISTRATION_LINE_MAX) &&
	       load_relaxed((const uint32_t *)(const void *)at) == etw_handle_closed_gate(handle);
}

/* Whether @gate is that of @handle's generation. */
static inline bool etw_handle_is_of(uint64_t handle, uint64_t gate)
{
	return (uint32_t)(gate >> 32 & 0xFFF00000) == etw_handle_closed_gate(handle);
}

/*
 * etw_provider_is_closed() - nobody wants any event of @handle, which is one: the test in front of every write.
 * False also for what is no handle. Context: any thread, signal-safe.
 */
static inline bool etw_provider_is_closed(uint64_t handle)
{
	return etw_place_is_closed(etw_handle_place(handle), handle);
}

/* etw_provider_gate() - returns 0: closed; 1: somebody wants something; -EBADF: no such registration. */
int etw_provider_gate(uint64_t handle);

/*
 * etw_registration_open() - takes a free place; its gate is closed, and no handle leads there yet.
 *
 * Returns it; NULL: there are as many as there may be. Holding the lock.
 */
struct etw_registration *etw_registration_open(const GUID *provider, PENABLECALLBACK callback,
					       void *context);

/* etw_registration_open_classic() - the same for RegisterTraceGuids. Holding the lock. */
struct etw_registration *etw_registration_open_classic(const GUID *provider, WMIDPREQUEST request,
						       void *context);

/* etw_registration_close() - the handle leads nowhere from now on, and the place is free. Holding the lock. */
void etw_registration_close(struct etw_registration *registration);

/* etw_registration_handle() - the one that leads there. Holding the lock. */
uint64_t etw_registration_handle(const struct etw_registration *registration);

/* etw_registration_of_handle() - NULL: no registration has this handle, or a classic one. Holding the lock. */
struct etw_registration *etw_registration_of_handle(uint64_t handle);

/* etw_registration_of_classic_handle() - NULL: no classic registration has this handle. Holding the lock. */
struct etw_registration *etw_registration_of_classic_handle(uint64_t handle);

/* etw_registration_number() - what hosts call it: never 0, unique while it lives. Holding the lock. */
uint32_t etw_registration_number(const struct etw_registration *registration);

/* etw_registration_find() - by its number; NULL: no longer there. Holding the lock. */
struct etw_registration *etw_registration_find(uint32_t number);

/* etw_registration_end() - one behind the last one that was ever used. Holding the lock. */
struct etw_registration *etw_registration_end(void);

#endif
