/* SPDX-License-Identifier: MIT */
/*
 * The clock of the host's limits: leases, answers, greetings. A machine that stands still, or a host that is stopped,
 * finds that all of them have passed at once, before the other side got its turn. So a round of the loop that took
 * longer than it had planned to wait counts as a second more at most.
 */
#ifndef ETW_DAEMON_PATIENT_CLOCK_H
#define ETW_DAEMON_PATIENT_CLOCK_H

#include <stdint.h>

#define ETWD_PATIENT_ROUND_MS 1000

/* etwd_patient_now_ms() - CLOCK_MONOTONIC without what rounds took too long. Only ever grows. Any thread. */
uint64_t etwd_patient_now_ms(void);

/*
 * etwd_patient_round_ended() - a round of the loop is over.
 *
 * @wait_ms: how long it had planned to wait at most
 *
 * The loop's thread.
 */
void etwd_patient_round_ended(uint64_t monotonic_ms, uint64_t wait_ms);

#endif
