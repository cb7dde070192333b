/* SPDX-License-Identifier: MIT */
/* Attacks on the memory that the host lends, and on what it asks for. Each goes on until the attacker's time is over. */
#ifndef ETW_TESTS_RECORDING_HOSTILE_REACH_H
#define ETW_TESTS_RECORDING_HOSTILE_REACH_H

#include "recording/hostile_attacker.h"

void attacker_consume(struct attacker *self);
void attacker_claim_missed(struct attacker *self);
void attacker_tear_memory(struct attacker *self);
void attacker_answer_falsely(struct attacker *self);

#endif
