/* SPDX-License-Identifier: MIT */
/*
 * perf maps: text files in which code generators say what functions they made, perf-PID.map. A line has the address
 * and the size in hexadecimal, and the name, which may have blanks.
 */
#ifndef ETW_SYMBOL_PERF_MAP_H
#define ETW_SYMBOL_PERF_MAP_H

#include <stddef.h>

#include "symbol/table.h"

/* Of a larger file the rest is ignored. */
#define ETW_SYMBOL_PERF_MAP_BYTES_MAX   ((size_t)1 << 28)
#define ETW_SYMBOL_PERF_MAP_SYMBOLS_MAX ((size_t)1 << 20)

/*
 * etw_symbol_perf_map_parse() - adds what a perf map says.
 *
 * Of several functions at one address the last one counts: the address was used again. Lines that are none are passed
 * over, and so is a last one without an end, which may still be written.
 *
 * Returns 0; -E2BIG; -ENOMEM.
 */
int etw_symbol_perf_map_parse(const char *at, size_t bytes, struct etw_symbol_table *table);

#endif
