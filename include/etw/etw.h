/* SPDX-License-Identifier: MIT */
/*
 * The friendly layer of libetw: read traces and live sessions with callbacks for the events that matter, and
 * fields by name. Plain C11, and C++ as it is. docs/friendly.md is the tour; link with -letw.
 *
 *	etw/schemas.h    what is known of events, and its enumeration
 *	etw/reader.h     files, sessions, callbacks, the account of what was read and lost
 *	etw/predicate.h  which events a callback wants
 *	etw/event.h      an event: header, names, message; keeping it
 *	etw/fields.h     its fields, by path or through a handle
 *	etw/builder.h    events made up, to test a callback without a trace
 *	etw/session.h    start, stop, query and flush sessions; enable providers
 *
 * Functions that can fail return 0, or a negative errno with a sentence in libetw_error(); results are in the
 * last arguments, untouched on failure. The errors that are listed with a function are all that it has; each is
 * tested but for -ENOMEM, when memory ran out, and those that are called the machine's. Text is UTF-8, times are
 * ns since 1970 UTC (_ns) unless a name says otherwise. What a function calls owned is the caller's to free;
 * borrowed things live as long as is said.
 * Files may be named as on Windows, "C:\traces\boot.etl": a path that is not there as it is given is looked for
 * under the folder that ETW_DRIVE_C names, by default drive_c in the user's data folder.
 */
#ifndef ETW_ETW_H
#define ETW_ETW_H

#include <etw/builder.h>
#include <etw/event.h>
#include <etw/fields.h>
#include <etw/predicate.h>
#include <etw/reader.h>
#include <etw/schemas.h>
#include <etw/session.h>

#endif
