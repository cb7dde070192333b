/* SPDX-License-Identifier: MIT */
/*
 * Where files with symbols are looked for: the image itself, and its debug files. docs/symbols.md lists the places in
 * their order. Paths come from traces, so they are opened within their root folder, and only regular files are.
 */
#ifndef ETW_SYMBOL_FILES_H
#define ETW_SYMBOL_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbol/process_root.h"

/* Larger files are not opened. */
#define ETW_SYMBOL_FILE_BYTES_MAX (UINT64_C(8) << 30)

struct etw_symbol_files {
	char *root;     /* owned; NULL: this machine's */
	char **folders; /* owned; of debug files */
	size_t folder_count;
	bool is_elsewhere; /* the processes of the trace are not those that live here */
};

/* What is looked for. */
struct etw_symbol_wanted {
	/*
	 * Processes that had it, below whose roots the image is looked for, and nowhere else; all of one user. Borrowed for as
	 * long as the file is open. NULL: where this process sees it.
	 */
	const struct etw_symbol_process_at *processes;
	size_t process_count;
	uint32_t
		uid; /* whose processes they are; what is found there has to be this user's, or root's */
	const char *path; /* as the trace has it */
	const uint8_t *build_id;
	size_t build_id_bytes; /* 0: unknown; 16 may be the beginning of a longer one */
	const char *
		debug_link; /* what the image itself says of its debug file's name; NULL: nothing */
};

/*
 * Is handed a file that might be it.
 *
 * @fd: the callee's
 *
 * Returns 0 to end the search, 1 to go on, or negative errno to end it.
 */
typedef int etw_symbol_try_file(void *context, int fd, const char *path);

/* etw_symbol_files_init() - as struct etw_symbols_options has them. Returns 0; -ENOMEM: etw_symbol_files_done() frees what there is. */
int etw_symbol_files_init(struct etw_symbol_files *files, const char *root, const char *search_path,
			  bool is_elsewhere);

/* etw_symbol_files_done() - frees all. */
void etw_symbol_files_done(struct etw_symbol_files *files);

/*
 * etw_symbol_files_open() - opens a regular file.
 *
 * @root:        whose "/" the path and all symbolic links start from; NULL: this process'
 * @is_followed: whether the path itself may be a symbolic link
 *
 * Nothing but a regular file is opened, not even for a moment.
 * Returns 0 with an owned descriptor; -ELOOP; -EFBIG; -EISDIR; -EINVAL for what else is no regular file; what opening fails
 * with.
 */
int etw_symbol_files_open(const char *root, const char *path, bool is_followed, int *ret);

/* etw_symbol_files_open_in_process() - likewise within the root of a process that lives. Returns as etw_symbol_process_root_open(), too. */
int etw_symbol_files_open_in_process(const struct etw_symbol_process_at *process, const char *path,
				     bool is_followed, int *ret);

/*
 * etw_symbol_files_try_image() - tries every place where the image itself may be.
 *
 * Returns what @try_file ended the search with; else -ENOENT; -EACCES or -EFBIG where a file was there for nobody; -EPERM where it
 * was another user's.
 */
int etw_symbol_files_try_image(const struct etw_symbol_files *files,
			       const struct etw_symbol_wanted *wanted,
			       etw_symbol_try_file *try_file, void *context);

/* etw_symbol_files_try_debug() - likewise every place where its debug file may be. */
int etw_symbol_files_try_debug(const struct etw_symbol_files *files,
			       const struct etw_symbol_wanted *wanted,
			       etw_symbol_try_file *try_file, void *context);

/*
 * etw_symbol_files_try_common() - likewise for what debug files have in common: in folders of debug files, whatever
 * folder it is said to be in.
 *
 * @wanted: its build id, and as its path the name by which a debug file calls it
 */
int etw_symbol_files_try_common(const struct etw_symbol_files *files,
				const struct etw_symbol_wanted *wanted,
				etw_symbol_try_file *try_file, void *context);

#endif
