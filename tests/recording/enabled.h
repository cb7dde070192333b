/* SPDX-License-Identifier: MIT */
/*
 * How the recording tests wait for a host that is to enable a registration. A header, because the plugin and the
 * writers that die are linked with a provider's library of their own.
 */
#ifndef ETW_TESTS_RECORDING_ENABLED_H
#define ETW_TESTS_RECORDING_ENABLED_H

#include <stdbool.h>
#include <unistd.h>

#include <evntprov.h>

#include "base/time.h"

#define ENABLED_MS        UINT64_C(300000)
#define ENABLED_LOOK_US   500   /* between two looks, at first */
#define ENABLED_RARELY_US 20000 /* and at most: hundreds of processes may wait here for one host */

/*
 * becomes_enabled() - waits until a registration is enabled. EventRegister waits for the host too, but only for
 * 200 ms, and a loaded machine may need more; or the host may just be replaced. Returns false after five minutes.
 */
static inline bool becomes_enabled(REGHANDLE handle)
{
	const uint64_t end_ms = etw_monotonic_ms() + ENABLED_MS;
	useconds_t look_us = ENABLED_LOOK_US;

	while (!EventProviderEnabled(handle, 0, 0)) {
		if (etw_monotonic_ms() > end_ms)
			return false;
		usleep(look_us);
		if (look_us < ENABLED_RARELY_US)
			look_us *= 2;
	}
	return true;
}

#endif
