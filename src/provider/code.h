/* SPDX-License-Identifier: MIT */
/* Whether a callback's code is still loaded: a plugin may be closed with its registration open. */
#ifndef ETW_PROVIDER_CODE_H
#define ETW_PROVIDER_CODE_H

#include <evntprov.h>

/*
 * etw_code_object() - where the loaded program or library that has @callback begins.
 *
 * Returns NULL where it is in none (made at run time), or where the C library cannot tell (glibc before 2.35).
 * Context: any thread, takes no lock of the loader's.
 */
const void *etw_code_object(PENABLECALLBACK callback);

#endif
