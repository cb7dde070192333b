/* SPDX-License-Identifier: MIT */
/*
 * Waiting for a host. A host that works on something answers other requests meanwhile; one that says nothing at
 * all for the whole patience does not answer. So the limit is one of silence, for everything that a call does
 * together: connecting, both tries, and the leases that are renewed in between.
 */
#ifndef ETW_CONTROL_WAIT_H
#define ETW_CONTROL_WAIT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/patience.h"

/* How a controller waits for a host that does not answer. Of a tool, which has one thread. */
struct etw_control_waiting {
	/*
	 * Whether the tool is to end: the call gives up. Asked when the host has been silent for half a second,
	 * often from then on, and at once when @wake_fd is readable.
	 */
	bool (*is_over)(void *context);
	int wake_fd; /* -1: none */
	/* The host has been silent for 2 seconds. Once a call. */
	void (*tell)(void *context, const char *directory);
	void *context;
	uint32_t patience_ms; /* of silence; 0: $ETW_HOST_TIMEOUT_MS, or 30 seconds */
};

struct etw_control_wait {
	const struct etw_control_waiting *waiting; /* borrowed; NULL: nobody's */
	const char *directory;                     /* borrowed; of the host */
	struct etw_patience patience;
	uint64_t silent_since_ns;
	bool is_told;
};

/*
 * etw_control_wait_variable() - how long $ETW_HOST_TIMEOUT_MS says that silence lasts at most.
 *
 * @ret_ms: without the variable, and where it is no such number, 30 seconds
 *
 * Returns NULL; the variable's value where it is no number of milliseconds: the library cannot say so, a tool does.
 */
const char *etw_control_wait_variable(uint64_t *ret_ms);

/* etw_control_wait_begin() - for one call. */
void etw_control_wait_begin(struct etw_control_wait *wait,
			    const struct etw_control_waiting *waiting, const char *directory);

/* etw_control_wait_heard() - the host has said something: its silence begins anew. */
void etw_control_wait_heard(struct etw_control_wait *wait);

/* etw_control_wait_silence_ms() - how long it has said nothing. */
uint64_t etw_control_wait_silence_ms(const struct etw_control_wait *wait);

/*
 * etw_control_wait_look() - whether to wait on; tells when it is time for that.
 *
 * Returns 0; -ETIMEDOUT when the patience is at an end; -ECANCELED when the caller is to stop.
 */
int etw_control_wait_look(struct etw_control_wait *wait);

/*
 * etw_control_wait_for() - waits until a descriptor is ready, @limit_ms at most and not longer than a look may
 * take.
 *
 * @fd:     -1: for nothing
 * @events: of poll(); an end or an error counts as well
 *
 * Returns 1: it is ready; 0: not yet, or a signal came; otherwise as etw_control_wait_look(); errno of poll.
 */
int etw_control_wait_for(struct etw_control_wait *wait, int fd, short events, uint32_t limit_ms);

#endif
