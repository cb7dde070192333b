/* SPDX-License-Identifier: MIT */
/* C++ names as people write them, by the C++ library of the machine, which is loaded when the first one is met. */
#ifndef ETW_SYMBOL_DEMANGLE_H
#define ETW_SYMBOL_DEMANGLE_H

/* Longer ones stay as they are: the work may grow with the power of two of what is repeated in a name. */
#define ETW_SYMBOL_MANGLED_BYTES_MAX 1024

/*
 * etw_symbol_demangle() - a mangled name as people write it.
 *
 * Returns owned memory, or NULL: the name is not mangled, or there is no libstdc++ on this machine.
 */
char *etw_symbol_demangle(const char *name);

#endif
