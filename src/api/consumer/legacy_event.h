/* SPDX-License-Identifier: MIT */
/* The older callback's structure, and the callbacks that SetTraceCallback binds to event classes. */
#ifndef ETW_API_CONSUMER_LEGACY_EVENT_H
#define ETW_API_CONSUMER_LEGACY_EVENT_H

#include <stdbool.h>

#include <evntcons.h>

/*
 * etw_legacy_event() - a record as EVENT_TRACE.
 *
 * @ret: points into the record's memory
 */
void etw_legacy_event(const EVENT_RECORD *record, EVENT_TRACE *ret);

/*
 * etw_class_callback_set() - binds a callback to a class for the whole process, in place of an earlier.
 *
 * Returns 0 or -ENOMEM. Context: any thread.
 */
int etw_class_callback_set(const GUID *class_guid, PEVENT_CALLBACK callback);

/* etw_class_callback_remove() - returns 0, or -ENOENT when the class has none. Context: any thread. */
int etw_class_callback_remove(const GUID *class_guid);

/* etw_class_callback_find() - the class's callback, or NULL. Context: any thread. */
PEVENT_CALLBACK etw_class_callback_find(const GUID *class_guid);

/* etw_class_callback_any() - whether any class has one. Context: any thread. */
bool etw_class_callback_any(void);

#endif
