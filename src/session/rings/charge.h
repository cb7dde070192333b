/* SPDX-License-Identifier: MIT */
/*
 * What a session's state costs the session's owner, with the output buffers and those that it keeps. Root and
 * the host's own uid pay nothing; all others have a budget of the host's (session/rings/budget.h), the same that
 * an owner's ring sets are charged to.
 *
 * Context: any thread.
 * Source: docs/design/recording.md "Ring memory".
 */
#ifndef ETW_SESSION_RINGS_CHARGE_H
#define ETW_SESSION_RINGS_CHARGE_H

#include "session/common/context.h"
#include "session/rings/budget.h"

struct etw_charge {
	struct etw_budget *budget; /* NULL: nothing was charged */
	uid_t uid;
	uint64_t bytes;
};

/* etw_charge_budget() - the budget of owners that binds a uid; NULL: none does. */
struct etw_budget *etw_charge_budget(const struct etw_session_context *context, uid_t uid);

/*
 * etw_charge_take() - for memory that is about to be made.
 *
 * Returns 0; -ENOMEM when the uid, or all together, have what they may have.
 */
int etw_charge_take(const struct etw_session_context *context, uid_t uid, uint64_t bytes,
		    struct etw_charge *ret);

/* etw_charge_adopt() - for memory of the last host's, which is there whatever the limits say. */
void etw_charge_adopt(const struct etw_session_context *context, uid_t uid, uint64_t bytes,
		      struct etw_charge *ret);

/* etw_charge_give() - the memory is given back; nothing where there was no charge, or it was given back before. */
void etw_charge_give(struct etw_charge *charge);

#endif
