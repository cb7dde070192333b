/* SPDX-License-Identifier: MIT */
/*
 * Where configurations of AutoLoggers lie, one file "<session>.conf" each, and where what became of them is written:
 *
 *	                     configuration                        status
 *	system's instance    /etc/etw/autologger.d                /var/lib/etw/autologger
 *	a user's             $XDG_CONFIG_HOME/etw/autologger.d    $XDG_STATE_HOME/etw/autologger
 *
 * ETW_AUTOLOGGER_DIR and ETW_AUTOLOGGER_STATE name other folders. An instance of its own (ETW_RUNTIME_DIR) has none
 * but those. Source: man/etw-autologger.5.
 */
#ifndef ETW_AUTOLOGGER_FOLDER_H
#define ETW_AUTOLOGGER_FOLDER_H

#include <stdbool.h>
#include <stddef.h>

#include "autologger/config.h"

/*
 * etw_autologger_folders() - the two folders of an instance.
 *
 * @ret_config, @ret_state: owned
 *
 * Returns 0; -ENOENT: there is no home, or the instance is one of its own; -ENOMEM.
 */
int etw_autologger_folders(bool is_system, char **ret_config, char **ret_state);

/*
 * etw_autologger_names() - the names of the sessions that have a file in @folder, in the order of bytes.
 *
 * @ret: owned array of owned names; etw_autologger_names_free()
 *
 * Returns 0, also when there is no such folder; -EPERM: it is neither root's nor this user's, or others may write to it;
 * -E2BIG: more than 1,024; -ENOMEM; the errno of reading it.
 */
int etw_autologger_names(const char *folder, char ***ret, size_t *ret_count);

/* etw_autologger_names_sentence() - what such an error means, as the rest of "not started: ...". Static, or strerror()'s. */
const char *etw_autologger_names_sentence(int result);
void etw_autologger_names_free(char **names, size_t count);

/*
 * etw_autologger_read() - reads the file of the session @name.
 *
 * A file that other users may write to is not believed: it must be root's or this process's own, and writable by its
 * owner alone.
 *
 * Returns as etw_autologger_parse(); -EPERM for such a file; the errno of opening and reading it.
 */
int etw_autologger_read(const char *folder, const char *name, struct etw_autologger *ret,
			struct etw_fault *reterr);

/*
 * etw_autologger_place() - completes the configuration with the path of the session's file.
 *
 * @state:   the folder of the status; a file that is not named becomes "<state>/<session>.etl"
 * @counter: of files so far; the next one's number is put behind the name when there is a FileMax
 *
 * A path is one of Windows' or of Linux'; "%SystemRoot%" is "C:\Windows". A session that is real-time or buffers in
 * memory has no file unless it names one.
 * Returns 0; -EINVAL: the path is not absolute; -ENAMETOOLONG; -ENOMEM; what etw_path_resolve() returns.
 */
int etw_autologger_place(const char *state, uint32_t counter, struct etw_autologger *autologger,
			 struct etw_fault *reterr);

#endif
