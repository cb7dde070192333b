/* SPDX-License-Identifier: MIT */
#include "provider/code.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>

const void *etw_code_object(PENABLECALLBACK callback)
{
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 35)
	/* Not dladdr(): its lock is held by a constructor that registers and waits for the listener. */
	struct dl_find_object found;

	if (callback && _dl_find_object((void *)(uintptr_t)callback, &found) == 0)
		return found.dlfo_map_start;
#endif
	(void)callback;
	return NULL;
}
