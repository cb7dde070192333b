/* SPDX-License-Identifier: MIT */
/*
 * Which processes have registered which providers, and which sessions want what of them. The two come in
 * either order: a session may enable a provider that nobody has registered yet.
 *
 * Nothing here talks to anybody; daemon/enable_tell.c tells the processes.
 * Context: owner thread (the host's loop).
 */
#ifndef ETW_DAEMON_PROVIDERS_H
#define ETW_DAEMON_PROVIDERS_H

#include <stddef.h>
#include <stdint.h>

#include <sys/types.h>

#include "daemon/budget.h"
#include "daemon/peer.h"
#include "daemon/registered.h"
#include "daemon/scope.h"
#include "wire/message.h"

#define ETWD_REGISTRATIONS_PER_PEER_MAX 4096
#define ETWD_PROVIDERS_BUCKETS          4096

/* What one session wants of one provider, as its controller said. */
struct etwd_enable {
	uint32_t session_id; /* 0: the slot is free */
	uid_t uid;           /* whose session it is: whose budget this takes of */
	uint32_t property;
	uint64_t match_any, match_all;
	uint64_t serial; /* grows: which enable came last */
	GUID source;
	uint32_t filter_bytes;
	uint8_t *filters; /* owned: wire/filter_list.h, those of events first; NULL: none */
	uint32_t event_filter_bytes;
	struct etwd_scope scope;
	uint8_t level;
};

/*
 * What sessions enable: a provider, or a group of providers, of which each has GUIDs of its own. A session keeps its slot
 * as long as it has the provider enabled: processes change slots in place.
 */
struct etwd_provider {
	GUID guid;
	bool is_group;
	struct etwd_provider *next;              /* in the bucket */
	struct etwd_registration *registrations; /* of a provider */
	struct etwd_registration *members;       /* of a group */
	unsigned enable_count;
	struct etwd_enable *enables; /* WIRE_ENABLE_SLOTS of them; owned while there is one */
};

struct etwd_registration {
	struct etwd_provider *provider;
	struct etwd_registration *next_of_provider, **at_of_provider;
	struct etwd_registration *next_of_peer, **at_of_peer;
	struct etwd_peer *peer; /* whose it is; borrowed */
	uint64_t serial;        /* grows: they stand in falling order */
	uint32_t number;        /* the peer's own */
	uint32_t kind;
	struct etwd_provider *group; /* that it is a member of; NULL: none */
	struct etwd_registration *next_of_group, **at_of_group;
	struct etwd_scope_process *process; /* borrowed; NULL: it is in the scope of every enable */
	uint8_t told;                       /* slots of which the process knows: one bit each */
	unsigned owed; /* sessions that ended, of which its callback is still to hear */
};

/* What a session has enabled. */
struct etwd_enabled {
	GUID guid;
	bool is_group;
};

struct etwd_providers {
	struct etwd_provider *buckets[ETWD_PROVIDERS_BUCKETS];
	struct etwd_registered registered; /* all of them */
	uint64_t next_serial;
	size_t registration_count, enable_count, filter_bytes;
	struct etwd_budget *budget; /* borrowed; NULL: none */
};

/* What a peer has registered. */
struct etwd_registrations {
	struct etwd_registration *first;
	unsigned count;
};

/* etwd_providers_init() - an empty one. @budget: borrowed; NULL: none */
void etwd_providers_init(struct etwd_providers *providers, struct etwd_budget *budget);

/* etwd_providers_done() - frees everything, registrations of peers included. */
void etwd_providers_done(struct etwd_providers *providers);

/* etwd_providers_find() - the provider, when somebody has registered or enabled it; else NULL. */
struct etwd_provider *etwd_providers_find(const struct etwd_providers *providers, const GUID *guid);

/* etwd_providers_find_group() - the same for a group of providers. */
struct etwd_provider *etwd_providers_find_group(const struct etwd_providers *providers,
						const GUID *guid);

/*
 * etwd_providers_register() - notes a registration.
 *
 * @peer: borrowed; its uid's budget this takes of
 * @own: its list
 *
 * Returns 0; -EEXIST: the peer has one of this number; -ENOSPC: too many of the peer, of its uid or of all;
 * -ENOMEM.
 */
int etwd_providers_register(struct etwd_providers *providers, struct etwd_peer *peer,
			    struct etwd_registrations *own, const struct wire_register *body,
			    struct etwd_registration **ret);

/* etwd_registrations_find() - NULL: the peer has none of this number. */
struct etwd_registration *etwd_registrations_find(const struct etwd_registrations *own,
						  uint32_t number);

/* etwd_traits_group() - the group that a provider's traits name; null: none, or they are no traits. */
GUID etwd_traits_group(struct etw_bytes traits);

/*
 * etwd_providers_join() - a registration becomes a member of a group, and leaves the one that it is in.
 *
 * @group: null: of none
 *
 * Returns 0, or -ENOMEM: it is a member of none.
 */
int etwd_providers_join(struct etwd_providers *providers, struct etwd_registration *registration,
			const GUID *group);

/* etwd_providers_unregister() - returns 0, or -ENOENT: the peer has none of this number. */
int etwd_providers_unregister(struct etwd_providers *providers, struct etwd_registrations *own,
			      uint32_t number);

/* etwd_providers_unregister_some() - a peer is gone: ends up to @count registrations. Returns how many. */
size_t etwd_providers_unregister_some(struct etwd_providers *providers,
				      struct etwd_registrations *own, size_t count);

/*
 * etwd_providers_enable() - notes what a session wants; replaces what it wanted before. A provider that was registered
 * by RegisterTraceGuids alone is one session's: it replaces what other sessions wanted, too.
 *
 * @guid: of a group where @wanted has EVENT_ENABLE_PROPERTY_PROVIDER_GROUP
 * @wanted: its filters are copied
 *
 * Returns 0; -ENOSPC: WIRE_ENABLE_SLOTS sessions have it enabled already, or a limit of the host
 * or of the uid; -ENOMEM. Nothing has changed on an error.
 */
int etwd_providers_enable(struct etwd_providers *providers, const GUID *guid,
			  const struct etwd_enable *wanted);

/* etwd_providers_disable() - returns 0, or -ENOENT: the session has not enabled it. */
int etwd_providers_disable(struct etwd_providers *providers, const struct etwd_enabled *what,
			   uint32_t session_id);

/*
 * etwd_providers_enabled() - the providers and groups that a session has enabled.
 *
 * @ret: room for @room of them
 *
 * Returns how many there are, which may be more than @room.
 */
size_t etwd_providers_enabled(const struct etwd_providers *providers, uint32_t session_id,
			      struct etwd_enabled *ret, size_t room);

/* etwd_provider_enable_in() - what a session wants of the provider or group; NULL: nothing. */
const struct etwd_enable *etwd_provider_enable_in(const struct etwd_provider *provider,
						  uint32_t session_id);

/* What an ENABLE says of its slots: whose they are. */
struct etwd_described {
	const struct etwd_enable
		*enables[WIRE_ENABLE_SLOTS]; /* borrowed; NULL: the slot is not used */
	const struct etwd_enable *last;      /* of them; NULL: there are none */
};

/* etwd_enable_is_for() - whether a registration's process is in the scope of what a session wants. */
bool etwd_enable_is_for(const struct etwd_enable *enable,
			const struct etwd_registration *registration);

/*
 * etwd_provider_describe_classic() - as a registration by RegisterTraceGuids has it: of the session that came last
 * alone, whose keywords are flags of 32 bits, where 0 does not mean all.
 */
void etwd_provider_describe_classic(const struct etwd_registration *registration,
				    struct wire_enable *ret, struct etwd_described *ret_enables);

/* etwd_enable_describe() - what one session wants as the ENABLE message says it, its ring set left out. */
void etwd_enable_describe(const struct etwd_enable *enable, struct wire_enable_slot *ret);

#endif
