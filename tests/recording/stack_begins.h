/* SPDX-License-Identifier: MIT */
/* What stack_begins.c and the programs that it starts have in common. */
#ifndef ETW_TESTS_RECORDING_STACK_BEGINS_H
#define ETW_TESTS_RECORDING_STACK_BEGINS_H

#include <guiddef.h>

static const GUID stack_begins_provider = {
	0x5e1c9b1a, 0x3d53, 0x4c7e, {0x9a, 0x41, 0x0c, 0x6f, 0x7d, 0x21, 0x88, 0x52}};
static const GUID stack_begins_logging = {
	0x5e1c9b1a, 0x3d53, 0x4c7e, {0x9a, 0x41, 0x0c, 0x6f, 0x7d, 0x21, 0x88, 0x53}};

#endif
