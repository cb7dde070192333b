/* SPDX-License-Identifier: MIT */
/* Tables of symbols as events. */
#ifndef ETW_SOURCE_KERNEL_EVENTS_SYMBOL_EVENTS_H
#define ETW_SOURCE_KERNEL_EVENTS_SYMBOL_EVENTS_H

#include <stdint.h>

#include "source/kernel/out/out.h"
#include "source/kernel/processes/announced_names.h"
#include "wire/image_symbols.h"

/*
 * etw_kernel_write_symbols() - ImageSymbols of one table, as many as it takes, of the moment that etw_kernel_out_begin() set.
 *
 * @symbols: sound ones
 */
void etw_kernel_write_symbols(struct etw_kernel_out *out, uint32_t pid, uint64_t image_base,
			      const struct etw_image_symbol *symbols, uint32_t count);

/* etw_kernel_write_announced() - the same of the symbols of @image, of process @pid. */
void etw_kernel_write_announced(const struct etw_announced_image *image, struct etw_kernel_out *out,
				uint32_t pid);

/* etw_kernel_write_heir() - ImageSymbolsInherited: the image has the symbols that it has in process @of_pid. */
void etw_kernel_write_heir(struct etw_kernel_out *out, uint32_t pid, uint64_t image_base,
			   uint32_t of_pid);

/* etw_kernel_write_names() - the same of all of @names, which may be NULL. */
void etw_kernel_write_names(const struct etw_kernel_names *names, struct etw_kernel_out *out,
			    uint32_t pid);

#endif
