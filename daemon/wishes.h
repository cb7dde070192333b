/* SPDX-License-Identifier: MIT */
/*
 * What sessions want of a registration: those that have enabled its provider, and those that have enabled its group and do
 * not disallow the provider. A session may have enabled both; an event that either wants is then written once.
 *
 * Context: owner thread (the host's loop).
 */
#ifndef ETW_DAEMON_WISHES_H
#define ETW_DAEMON_WISHES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/providers.h"
#include "daemon/sessions.h"
#include "wire/message.h"

#define ETWD_WISHES_MAX (2 * WIRE_ENABLE_SLOTS)

struct etwd_wishes {
	const struct etwd_enable *enables[ETWD_WISHES_MAX]; /* borrowed; the provider's own first */
	size_t count;
};

/* etwd_wishes_exist() - whether some session may want something of it. */
bool etwd_wishes_exist(const struct etwd_registration *registration);

/* etwd_wishes_of() - the wish of one session: of the provider itself, else of its group; NULL: none. */
const struct etwd_enable *etwd_wishes_of(const struct etwd_sessions *sessions,
					 const struct etwd_registration *registration,
					 uint32_t session_id);

/* etwd_wishes_disallow() - whether a session keeps a provider from being enabled with its group. */
bool etwd_wishes_disallow(const struct etwd_sessions *sessions, uint32_t session_id,
			  const GUID *provider);

/* etwd_wishes_read() - all that hold, for processes such as this one. */
void etwd_wishes_read(const struct etwd_sessions *sessions,
		      const struct etwd_registration *registration, struct etwd_wishes *ret);

/*
 * etwd_wishes_describe() - the state of a registration as the ENABLE message says it, ring sets and the callback's
 * filter left out.
 *
 * Slots borrow their filters. No source: who enabled it is for those to know who were registered then.
 *
 * @ret_left_out: those of the group for which the message has no place
 */
void etwd_wishes_describe(const struct etwd_sessions *sessions,
			  const struct etwd_registration *registration, struct wire_enable *ret,
			  struct etwd_described *ret_enables, struct etwd_wishes *ret_left_out);

#endif
