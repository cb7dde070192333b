/* SPDX-License-Identifier: MIT */
/*
 * The private sessions that controllers have started in other processes: names, numbers, and what each wants of providers.
 * The sessions themselves are in the processes that have registered the provider; daemon/private_sessions.h tells those.
 *
 * Names are the private sessions' own: a session of the host's may have the same one. Context: owner thread (the host's
 * loop).
 */
#ifndef ETW_DAEMON_PRIVATE_TABLE_H
#define ETW_DAEMON_PRIVATE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "wire/message.h"

#define ETWD_PRIVATE_MAX         64
#define ETWD_PRIVATE_OTHERS_MAX  48 /* of all users that are not trusted */
#define ETWD_PRIVATE_UID_MAX     16 /* of one of them */
#define ETWD_PRIVATE_ENABLES_MAX 32 /* providers that a session has enabled */
#define ETWD_PRIVATE_PER_PROCESS 8  /* as Windows has it since version 1703 of 10 */

enum etwd_private_state {
	ETWD_PRIVATE_STARTING,
	ETWD_PRIVATE_RUNNING,
	ETWD_PRIVATE_STOPPING,
};

/* What a session wants of a provider. */
struct etwd_private_enable {
	struct etwd_private_enable *next;    /* owned */
	struct wire_enable_provider request; /* its filters are those behind it */
	uint8_t filters[];
};

struct etwd_private_session {
	uint32_t id;
	uid_t uid; /* who started it */
	enum etwd_private_state state;
	char *key;                           /* owned: the name, folded */
	struct wire_session_config config;   /* its GUID is the provider's */
	struct etwd_private_enable *enables; /* owned; the first came first */
};

struct etwd_private_table {
	struct etwd_private_session *sessions[ETWD_PRIVATE_MAX]; /* owned */
	uint32_t first_id, end_id, last_id;
};

/* etwd_private_table_init() - an empty one. @is_system: whose numbers the sessions get */
void etwd_private_table_init(struct etwd_private_table *table, bool is_system);

void etwd_private_table_done(struct etwd_private_table *table);

/* etwd_private_table_count() - all of them, in any state. */
unsigned etwd_private_table_count(const struct etwd_private_table *table);

/*
 * etwd_private_table_add() - a session that starts.
 *
 * @id: its number; 0: the next one
 *
 * Returns 0; -EEXIST: a private session has the name, or the number; -EUSERS: too many; -ETOOMANYREFS: too many of the uid;
 * -EINVAL: the name is no UTF-8; -ENOMEM.
 */
int etwd_private_table_add(struct etwd_private_table *table, uint32_t id,
			   const struct wire_session_config *config, uid_t uid,
			   struct etwd_private_session **ret);

/* etwd_private_table_remove() - frees a session. */
void etwd_private_table_remove(struct etwd_private_table *table,
			       struct etwd_private_session *session);

/* etwd_private_table_find() - by number; NULL: there is none. */
struct etwd_private_session *etwd_private_table_find(const struct etwd_private_table *table,
						     uint64_t handle);

/* etwd_private_table_find_name() - @guid: that it has to have, too; NULL: any. NULL: there is none. */
struct etwd_private_session *etwd_private_table_find_name(const struct etwd_private_table *table,
							  const char *name, const GUID *guid);

/*
 * etwd_private_note() - what a session wants of a provider from now on, or no longer.
 *
 * Returns 0; -ENOSPC: it has enabled too many; -EOPNOTSUPP: a filter that is not for the callback; -ENOMEM.
 */
int etwd_private_note(struct etwd_private_session *session,
		      const struct wire_enable_provider *request);

#endif
