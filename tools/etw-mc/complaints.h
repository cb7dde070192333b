/* SPDX-License-Identifier: MIT */
/* What is wrong with an input, told on standard error. */
#ifndef ETW_TOOLS_ETW_MC_COMPLAINTS_H
#define ETW_TOOLS_ETW_MC_COMPLAINTS_H

#include "compile/model.h"

/* mc_tell_complaints() - all of them, and how many there are where not all were kept. */
void mc_tell_complaints(const char *path, const struct mc_manifest *manifest);

#endif
