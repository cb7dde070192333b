/* SPDX-License-Identifier: MIT */
/*
 * One private session: the engine, what it asks of its host, which is this process, and the rings that providers write
 * to. All of it on the worker (private/worker.h).
 */
#ifndef ETW_PRIVATE_ENGINE_H
#define ETW_PRIVATE_ENGINE_H

#include <stdint.h>

#include "base/fault.h"
#include "wire/message.h"

/* What a session has to tell whoever started it. Called on the session's thread. */
struct etw_private_watch {
	/* Its file has its greatest size: it is to be ended. May be said more than once. */
	void (*full)(uint32_t session_id);
	/* Its rings are worn out: etw_private_engine_renew() is to be called. */
	void (*worn_out)(uint32_t session_id);
};

struct etw_private_engine;

/*
 * etw_private_engine_start() - makes the session, and its rings known to the providers.
 *
 * Returns 0; errors of etw_session_start(), of its first ring set and of etw_own_session_open().
 */
int etw_private_engine_start(uint32_t session_id, const struct wire_session_config *config,
			     const struct etw_private_watch *watch, struct etw_private_engine **ret,
			     struct etw_fault *reterr);

/* etw_private_engine_renew() - other rings in the place of those that are worn out. */
void etw_private_engine_renew(struct etw_private_engine *engine);

/* etw_private_engine_control() - query, update, flush and the like; no stop. As etw_private_control(). */
int etw_private_engine_control(struct etw_private_engine *engine,
			       const struct wire_control *control, struct wire_session_info *ret);

/*
 * etw_private_engine_stop() - ends the session, from which the providers were withdrawn, and frees it. What was
 * committed is in its file. *@ret is the final account.
 */
void etw_private_engine_stop(struct etw_private_engine *engine, struct wire_session_info *ret);

/* etw_private_engines_forget() - in a forked child: nothing that was the parent's is there. */
void etw_private_engines_forget(void);

#endif
