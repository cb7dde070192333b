/* SPDX-License-Identifier: MIT */
/*
 * What became of an AutoLogger: a file "<session>" in the folder of the status, written as a whole by the host. It has
 * the two values that Windows writes back into the registry, Status and FileCounter, and what a later host must know.
 */
#ifndef ETW_AUTOLOGGER_STATUS_H
#define ETW_AUTOLOGGER_STATUS_H

#include <stdbool.h>
#include <stdint.h>

#define ETW_AUTOLOGGER_BOOT_BYTES     37
#define ETW_AUTOLOGGER_SENTENCE_BYTES 256

struct etw_autologger_status {
	uint32_t status;       /* of the last start: 0 or a Win32 code */
	uint32_t file_counter; /* files so far, with a FileMax */
	char stopped_in
		[ETW_AUTOLOGGER_BOOT_BYTES]; /* the boot in which a controller stopped it; empty: none did */
	char reason[ETW_AUTOLOGGER_SENTENCE_BYTES]; /* why it could not be started; empty: it was */
};

/*
 * etw_autologger_status_read() - of the session @name.
 *
 * Returns 0, also for one that was never started (all zero); -EPROTO: the file is not of this form; -ENOMEM; the errno
 * of reading it.
 */
int etw_autologger_status_read(const char *folder, const char *name,
			       struct etw_autologger_status *ret);

/* etw_autologger_status_write() - replaces it, and makes the folder. Returns 0 or what writing fails with. */
int etw_autologger_status_write(const char *folder, const char *name,
				const struct etw_autologger_status *status);

/* etw_autologger_boot_id() - of this boot of the machine; empty where the kernel does not say. */
void etw_autologger_boot_id(char room[ETW_AUTOLOGGER_BOOT_BYTES]);

#endif
