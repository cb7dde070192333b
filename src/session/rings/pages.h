/* SPDX-License-Identifier: MIT */
/*
 * The control pages of ring sets that a session has replaced. A process that has no listener (a forked child)
 * or no connection goes on writing to such a set for as long as it likes; each of its events is lost, and
 * counted in the page. So the page stays mapped until the session is over, and in the keeper's store for the
 * next host. Of the rings the session keeps nothing once the set is closed.
 * Source: docs/design/recording.md "Rings".
 */
#ifndef ETW_SESSION_RINGS_PAGES_H
#define ETW_SESSION_RINGS_PAGES_H

#include "session/common/set_table.h"

/* Of one uid that is not trusted, and of all of them. */
#define ETW_PAGES_OF_UID    16
#define ETW_PAGES_OF_OTHERS 96

/*
 * etw_pages_keep() - counts what is written to a set from its retirement on; before it is retired. Not holding
 * `lock`.
 *
 * @page: of the set, borrowed for the call
 *
 * When there are too many already one goes: of those of the uid that has most, the oldest that nobody has written
 * to, else the oldest. What it counted stays in the sum. Nobody's page goes for a uid that has as many; then that
 * one's is not kept. A complaint says so, and when there is no memory: then writers are refused with an error as
 * ever, but nobody reads the count.
 */
void etw_pages_keep(struct etw_session_sets *sets, uid_t uid, uint32_t set_id, int page);

/*
 * etw_pages_adopt() - maps what the last host left, behind etw_session_sets_adopt(). A page that the keeper has not got
 * is a complaint.
 */
void etw_pages_adopt(struct etw_session_sets *sets);

/* etw_pages_has() - a set's page is kept, and with it the keeper's descriptor. Not holding `lock`. */
bool etw_pages_has(struct etw_session_sets *sets, uint32_t set_id);

/* etw_pages_end() - the session is over: nothing is counted any more, and the keeper forgets all. */
void etw_pages_end(struct etw_session_sets *sets);

/* etw_pages_free_all() - the thread is gone. */
void etw_pages_free_all(struct etw_session_sets *sets);

#endif
