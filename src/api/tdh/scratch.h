/* SPDX-License-Identifier: MIT */
/* Texts for each thread to format in, so that no call allocates once they are large enough. */
#ifndef ETW_API_TDH_SCRATCH_H
#define ETW_API_TDH_SCRATCH_H

#include "base/text.h"

struct etw_tdh_scratch {
	struct etw_text text;
	struct etw_text names;
};

/*
 * etw_tdh_scratch() - the calling thread's texts, emptied.
 *
 * Freed when the thread ends. Returns NULL when memory ran out. Context: any thread.
 */
struct etw_tdh_scratch *etw_tdh_scratch(void);

#endif
