/* SPDX-License-Identifier: MIT */
/* The storm's controller. */
#ifndef ETW_TESTS_RECORDING_STORM_CONTROL_H
#define ETW_TESTS_RECORDING_STORM_CONTROL_H

#include "recording/storm_shared.h"

/* storm_control() - asks for what the session's kind allows, one after another, by chance, until it is killed. */
void storm_control(struct storm_shared *shared) __attribute__((noreturn));

/* storm_control_file() - the name of the @number-th file of the storm's session. */
void storm_control_file(const struct storm_shared *shared, uint32_t number, char *ret, size_t room);

#endif
