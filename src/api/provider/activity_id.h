/* SPDX-License-Identifier: MIT */
/* The activity id of the calling thread, which events carry that name none. */
#ifndef ETW_API_PROVIDER_ACTIVITY_ID_H
#define ETW_API_PROVIDER_ACTIVITY_ID_H

#include <guiddef.h>

/* Set by EventActivityIdControl(), read by the write path. */
extern __attribute__((visibility("hidden"))) _Thread_local GUID etw_thread_activity
	__attribute__((tls_model("initial-exec")));

#endif
