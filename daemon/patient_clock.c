/* SPDX-License-Identifier: MIT */
/* See patient_clock.h. */
#include "daemon/patient_clock.h"

#include "base/atomic.h"
#include "base/time.h"

static uint64_t last_round_ms; /* the loop's; 0: none yet */
static uint64_t still_ms;      /* atomic; left out so far */

uint64_t etwd_patient_now_ms(void)
{
	return etw_monotonic_ms() - load_relaxed(&still_ms);
}

void etwd_patient_round_ended(uint64_t monotonic_ms, uint64_t wait_ms)
{
	const uint64_t most_ms = wait_ms + ETWD_PATIENT_ROUND_MS;
	const uint64_t took_ms = last_round_ms ? monotonic_ms - last_round_ms : 0;

	if (took_ms > most_ms)
		(void)add_relaxed(&still_ms, took_ms - most_ms);
	last_round_ms = monotonic_ms;
}
