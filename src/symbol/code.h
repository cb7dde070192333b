/* SPDX-License-Identifier: MIT */
/*
 * What code generators left behind of one process: its jitdumps, of which its images tell, and its perf map. Their code lies
 * in no image.
 */
#ifndef ETW_SYMBOL_CODE_H
#define ETW_SYMBOL_CODE_H

#include <stddef.h>
#include <stdint.h>

#include "symbol/images.h"
#include "symbol/jitdump.h"
#include "symbol/modules.h"
#include "symbol/table.h"

/* Jitdumps of one process that are read. */
#define ETW_SYMBOL_JITDUMPS_MAX 16

struct etw_symbol_jitdump_file {
	struct etw_symbol_loaded *loaded;
	struct etw_symbol_jitdump dump;
};

struct etw_symbol_code {
	size_t statements_seen; /* of the process, when its images were searched last */
	struct etw_symbol_jitdump_file *jitdumps; /* owned */
	size_t jitdump_count;
	struct etw_symbol_loaded *perf_map; /* NULL: there is none */
	struct etw_symbol_table perf_table;
};

/* etw_symbol_code_free() - takes NULL. */
void etw_symbol_code_free(struct etw_symbol_code *code);

/*
 * etw_symbol_code_need() - what there is of a process, read when it is asked for first, and again for jitdumps of images
 * that became known since.
 *
 * Returns 0 or -ENOMEM.
 */
int etw_symbol_code_need(struct etw_symbol_modules *modules, struct etw_symbol_process *process,
			 struct etw_symbol_code **ret);

/*
 * etw_symbol_code_resolve() - the frame of an address.
 *
 * @monotonic_ns: ETW_SYMBOL_JIT_LATEST: unknown
 * @back:         as etw_symbol_modules_resolve() takes it
 * @ret_loaded:   of the frame
 *
 * Returns 1; 0: nothing is known; -ENOMEM.
 */
int etw_symbol_code_resolve(struct etw_symbol_modules *modules, struct etw_symbol_code *code,
			    uint64_t address, uint64_t back, uint64_t monotonic_ns,
			    struct etw_symbol_frame *frame, struct etw_symbol_loaded **ret_loaded);

#endif
