/* SPDX-License-Identifier: MIT */
/* What a manifest must keep to so that classic (MOF) code can be made of it, as the option -mof of mc asks for. */
#ifndef ETW_COMPILE_MOF_H
#define ETW_COMPILE_MOF_H

#include "compile/model.h"

/*
 * etw_compile_check_mof() - adds a complaint for each event that no MOF class can describe.
 *
 * Returns 0 or -ENOMEM.
 */
int etw_compile_check_mof(struct mc_manifest *manifest);

#endif
