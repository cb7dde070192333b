/* SPDX-License-Identifier: MIT */
/*
 * The files that this process has opened as traces. Merged traces keep schemas at any place, also behind the
 * events that need them; so a file is searched once, as a whole, when an event turns up that nothing is known
 * of. A file that a pass went through from end to end need not be: its schemas were learnt in passing.
 * Files are remembered behind CloseTrace, since events may be decoded later.
 */
#ifndef ETW_API_TDH_TRACE_FILES_H
#define ETW_API_TDH_TRACE_FILES_H

#include <stdbool.h>

/* Files that are remembered; beyond them the oldest is forgotten. */
#define ETW_TDH_FILES_MAX 256

/*
 * etw_tdh_files_note() - a file was opened as a trace.
 *
 * @path: a Linux path
 *
 * A file that is known and unchanged stays as it is. Without memory the file is not searched, no more.
 * Context: any thread.
 */
void etw_tdh_files_note(const char *path);

/* etw_tdh_files_seen() - every event of the file has passed etw_tdh_learn(). Context: any thread. */
void etw_tdh_files_seen(const char *path);

/* etw_tdh_files_searches() - how many files were searched so far; for etw_tdh_files_learn(). Context: any thread. */
unsigned etw_tdh_files_searches(void);

/* etw_tdh_files_are_pending() - whether a noted file was not searched yet; one load. Context: any thread. */
bool etw_tdh_files_are_pending(void);

/*
 * etw_tdh_files_learn() - searches the noted files that were not searched yet.
 *
 * @searches: etw_tdh_files_searches() before the caller looked in vain; renewed when true is returned
 *
 * Files that cannot be read any more are passed over; one that memory or descriptors did not suffice for is
 * searched anew by the next call. One thread reads; others that ask wait for it. With nothing to do it costs
 * two loads.
 * Returns 1 when any file was searched since, so that looking again makes sense; 0 when none was; -ENOMEM, -EMFILE
 * or -ENFILE when none was and that is why.
 * Context: any thread that does not hold etw_tdh_lock().
 */
int etw_tdh_files_learn(unsigned *searches);

#endif
