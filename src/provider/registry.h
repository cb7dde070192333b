/* SPDX-License-Identifier: MIT */
/*
 * The registrations of this process. They lie in one array that is never freed or moved, so that a
 * handle leads to its registration by arithmetic: the gate is the only load of a disabled write.
 *
 * | part             | read by                   | written by                                      |
 * |------------------|---------------------------|-------------------------------------------------|
 * | gate             | any thread, also handlers | lock: register, unregister, enable              |
 * | states[version]  | any thread, then checks   | lock: only the half that the gate does not name |
 * |                  | that the gate is the same |                                                 |
 * | provider, traits | the same                  | lock: while no gate leads here; traits any time |
 * | the rest         | lock                      | lock                                            |
 */
#ifndef ETW_PROVIDER_REGISTRY_H
#define ETW_PROVIDER_REGISTRY_H

#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include <evntprov.h>

#include "provider/fork.h"
#include "wire/message.h"

#define ETW_REGISTRATIONS_MAX 2048 /* index 0 is nobody's; Windows documents 1024 for a process */
#define ETW_PROVIDER_SLOTS    (ETW_PROVIDER_LINKS * WIRE_ENABLE_SLOTS)

/*
 * The gate: generation (21 bits), version of the state (27), one bit for each slot that is enabled (16).
 * A handle has the generation minus one in the same place, and the index below; so neither 0 nor a small
 * number is ever a handle.
 */
#define ETW_GATE_SLOTS             UINT64_C(0xFFFF)
#define ETW_GATE_VERSION_ONE       (UINT64_C(1) << 16)
#define ETW_GATE_VERSION_MASK      UINT64_C(0x000007FFFFFF0000)
#define ETW_GATE_GENERATION_SHIFT  43
#define ETW_GATE_GENERATION_ONE    (UINT64_C(1) << ETW_GATE_GENERATION_SHIFT)
#define ETW_GATE_GENERATION_MASK   (~(ETW_GATE_GENERATION_ONE - 1))
#define ETW_GATE_GENERATION_FIRST  2
#define ETW_GATE_GENERATION_LIMIT  (UINT64_C(1) << 21)
#define ETW_REGISTRATION_INDEX_MAX (ETW_REGISTRATIONS_MAX - 1)

static_assert(ETW_PROVIDER_SLOTS == 16, "the gate has 16 bits for them");

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

/* What a host last said about a registration, for the callback. */
struct etw_enable_link {
	uint64_t match_any, match_all;
	uint32_t sync_request; /* the request whose answer proves that the host has said all */
	uint8_t level;
	bool is_sent;      /* the host knows of the registration */
	bool is_enabled;   /* some of its sessions want it */
	bool is_confirmed; /* since the connection was made */
};

struct etw_registration {
	_Alignas(64) uint64_t gate;      /* atomic */
	uint64_t provider[2];            /* the GUID's bytes; atomic */
	const struct etw_traits *traits; /* atomic; NULL: none */
	uint32_t is_typed;               /* atomic; descriptors' Type means something */
	/* Under the lock. */
	bool is_used;
	PENABLECALLBACK callback;
	void *context;
	_Alignas(64) struct etw_enable_slot states[2][ETW_PROVIDER_SLOTS];
	struct etw_enable_link links[ETW_PROVIDER_LINKS];
};

extern ETW_HIDDEN struct etw_registration etw_registrations[ETW_REGISTRATIONS_MAX];

/* Guards everything of the room that the write path does not touch. Never held during a callback. */
extern ETW_HIDDEN pthread_mutex_t etw_registry_lock;

static inline uint64_t etw_handle_index(uint64_t handle)
{
	return handle & (ETW_GATE_GENERATION_ONE - 1);
}

/* Whether @handle can name a registration at all; the gate decides the rest. */
static inline bool etw_handle_is_sound(uint64_t handle)
{
	return etw_handle_index(handle) - 1 < ETW_REGISTRATION_INDEX_MAX;
}

/* The gate of @handle when nobody wants its events, but for the version. */
static inline uint64_t etw_handle_closed_gate(uint64_t handle)
{
	return (handle & ETW_GATE_GENERATION_MASK) + ETW_GATE_GENERATION_ONE;
}

/*
 * etw_provider_gate() - whether anybody may want events of @handle: the test in front of every write.
 *
 * Returns 0: nobody does; 1: somebody does, at some level; -EBADF: no such registration.
 * Context: any thread, signal-safe.
 */
int etw_provider_gate_slow(uint64_t handle);
static inline int etw_provider_gate(uint64_t handle)
{
	if (LIKELY(etw_handle_is_sound(handle))) {
		const uint64_t gate =
			load_relaxed(&etw_registrations[etw_handle_index(handle)].gate);

		if (LIKELY((gate & ~ETW_GATE_VERSION_MASK) == etw_handle_closed_gate(handle)))
			return 0;
	}
	return etw_provider_gate_slow(handle);
}

/*
 * etw_provider_register() - EventRegister.
 *
 * @callback: may be NULL; runs on the listener's thread, possibly before this returns
 *
 * When a host is there, returns after it has said in which sessions the provider is enabled and the
 * callback has run, but waits at most 200 ms for that. Returns 0 with @ret_handle stored before any
 * callback; -ENOMEM: too many registrations, or no memory; -EAGAIN: no thread.
 */
int etw_provider_register(const GUID *provider, PENABLECALLBACK callback, void *context,
			  REGHANDLE *ret_handle);

/*
 * etw_provider_unregister() - EventUnregister.
 *
 * Waits until a running callback of the registration has returned, unless the caller is that callback.
 * Returns 0 or -EBADF.
 */
int etw_provider_unregister(uint64_t handle);

/*
 * etw_provider_set_traits() - every event of the provider carries them from now on.
 *
 * Returns 0; -EBADF; -EINVAL: not the layout of traits, or too long; -ENOMEM.
 */
int etw_provider_set_traits(uint64_t handle, const uint8_t *bytes, size_t byte_count);

/* etw_provider_set_typed() - whether the Type of descriptors means something. Returns 0 or -EBADF. */
int etw_provider_set_typed(uint64_t handle, bool is_typed);

/* etw_provider_check_handle() - returns 0 or -EBADF. */
int etw_provider_check_handle(uint64_t handle);

/* etw_registration_number() - what hosts call it: never 0, unique while it lives. Holding the lock. */
uint32_t etw_registration_number(const struct etw_registration *registration);

/* etw_registration_find() - by its number; NULL: no longer there. Holding the lock. */
struct etw_registration *etw_registration_find(uint32_t number);

/* etw_registration_end() - one behind the last one that was ever used. Holding the lock. */
struct etw_registration *etw_registration_end(void);

#endif
