/* SPDX-License-Identifier: MIT */
/*
 * TDH_HANDLEs: how WPP events are to be decoded, and the symbols that were read for it. A handle is an index and
 * a generation, so that one which was closed is told from its successor.
 *
 * Any thread may use any handle; calls on the same one take turns. One that is closed in the midst of another
 * thread's call goes when that call ends.
 */
#ifndef ETW_API_TDH_DECODING_HANDLE_H
#define ETW_API_TDH_DECODING_HANDLE_H

#include <pthread.h>
#include <stdbool.h>

#include <tdh.h>

#include "api/tdh/context.h"
#include "api/tdh/symbols.h"

/* Handles that are open at the same time. */
#define ETW_DECODING_HANDLES_MAX 4096

struct etw_decoding_handle {
	pthread_mutex_t lock; /* protects all below but `users` */
	WCHAR *tmf_file;      /* owned, as they were set; NULL: not set */
	WCHAR *tmf_search_path;
	WCHAR *pdb_path;
	bool is_utc;
	unsigned pointer_bytes;
	struct etw_symbols *symbols; /* owned; NULL until an event needs them */
	unsigned users; /* calls, and the table while it is open; under the table's lock */
};

/*
 * etw_decoding_handle_take() - the handle's object, locked.
 *
 * Returns it, for etw_decoding_handle_give(); NULL when there is no such handle. Context: any thread, which waits
 * while another holds the same object.
 */
struct etw_decoding_handle *etw_decoding_handle_take(TDH_HANDLE handle);

/* etw_decoding_handle_give() - unlocks what etw_decoding_handle_take() gave. */
void etw_decoding_handle_give(struct etw_decoding_handle *object);

/*
 * etw_decoding_handle_symbols() - its symbols, made when there are none.
 *
 * @ret: valid until a path of the handle is set or it is given back
 *
 * Returns 0 or -ENOMEM. Context: holding the object.
 */
int etw_decoding_handle_symbols(struct etw_decoding_handle *object, struct etw_symbols **ret);

#endif
