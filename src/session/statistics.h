/* SPDX-License-Identifier: MIT */
/*
 * A session's numbers by cause and by processor: the same records and claims that the account sums up
 * (session/common/account.h), each told apart. Any thread, holding no lock of the session.
 * Source: docs/design/recording.md "Statistics".
 */
#ifndef ETW_SESSION_STATISTICS_H
#define ETW_SESSION_STATISTICS_H

#include "session/common/set_table.h"
#include "session/consumers.h"

/*
 * etw_statistics() - the sums, the consumers, and as many processors from @first_cpu on as one answer holds.
 *
 * Order: the part of a row that comes from the session's record is of one moment, its free buffers and claims of others
 * right behind; a sum is that of its rows when they are in one answer and nothing is written meanwhile.
 */
void etw_statistics(struct etw_session_sets *sets, struct etw_session_consumers *consumers,
		    uint32_t first_cpu, struct wire_statistics *ret);

#endif
