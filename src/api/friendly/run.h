/* SPDX-License-Identifier: MIT */
/* What a run needs from elsewhere. Private to src/api/friendly. */
#ifndef ETW_API_FRIENDLY_RUN_H
#define ETW_API_FRIENDLY_RUN_H

#include <stdbool.h>

/*
 * etw_reader_search() - looks for schemas in all of a reader's files, once.
 *
 * @reader: a struct libetw_reader
 *
 * Returns whether something may have been learnt.
 */
bool etw_reader_search(void *reader);

#endif
