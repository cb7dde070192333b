/* SPDX-License-Identifier: MIT */
/* The verbs of `etw`: each is a cmd_<name>.c. main.c lists them; verb.h says what one is. */
#ifndef ETW_TOOLS_ETW_CMD_H
#define ETW_TOOLS_ETW_CMD_H

#include "tools/etw/verb.h"

extern const struct etw_verb etw_verb_summary;
extern const struct etw_verb etw_verb_dump;
extern const struct etw_verb etw_verb_processes;
extern const struct etw_verb etw_verb_stacks;
extern const struct etw_verb etw_verb_info;
extern const struct etw_verb etw_verb_providers;
extern const struct etw_verb etw_verb_record;
extern const struct etw_verb etw_verb_sessions;
extern const struct etw_verb etw_verb_doctor;
extern const struct etw_verb etw_verb_help;
extern const struct etw_verb etw_verb_complete; /* for shells */

#endif
