/* SPDX-License-Identifier: MIT */
/* A running session's numbers by cause, by processor and by consumer, for `etw sessions`. */
#ifndef ETW_TOOLS_ETW_SESSION_NUMBERS_H
#define ETW_TOOLS_ETW_SESSION_NUMBERS_H

#include "base/text.h"
#include "control/control.h"

/* Zeroed: nothing is known. */
struct session_numbers {
	struct wire_statistics sums;      /* without the processors */
	struct wire_cpu_statistics *cpus; /* owned, sums.cpu_count */
};

/* session_numbers_gather() - asks the session's host. Returns 0, -ENOMEM, or as etw_control_statistics(). */
int session_numbers_gather(struct etw_controller *host, uint64_t handle,
			   struct session_numbers *ret);

/* session_numbers_done() - frees what it owns; zeroed afterwards. */
void session_numbers_done(struct session_numbers *numbers);

/*
 * session_numbers_write() - lines and tables, indented, without the session's name.
 *
 * @bold, @plain: as for etw_grid_print()
 */
void session_numbers_write(struct etw_text *text, const struct wire_session_info *info,
			   const struct session_numbers *numbers, const char *bold,
			   const char *plain);

/*
 * session_numbers_write_json() - members of the session's object, each with a comma in front.
 *
 * @numbers: NULL: of a session that is over, of which the info alone is left
 */
void session_numbers_write_json(struct etw_text *text, const struct wire_session_info *info,
				const struct session_numbers *numbers);

#endif
