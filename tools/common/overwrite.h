/* SPDX-License-Identifier: MIT */
/*
 * What --output may overwrite: an empty file, one that is no regular file (a device, a pipe), and one that holds what the
 * command writes. A slip such as `--output trace.etl` or `--output main.c` destroys nothing without --force.
 */
#ifndef ETW_TOOLS_COMMON_OVERWRITE_H
#define ETW_TOOLS_COMMON_OVERWRITE_H

#include <stdbool.h>
#include <stddef.h>

/* Whether a file that begins so is what the command writes; @head is NUL-terminated. */
typedef bool etw_overwrite_kind(const char *head, size_t bytes);

/* etw_overwrite_is_events() - what `etw dump` writes: lines that begin with a time, or JSON. */
bool etw_overwrite_is_events(const char *head, size_t bytes);

/* etw_overwrite_is_manifest() - an XML file with an instrumentation manifest. */
bool etw_overwrite_is_manifest(const char *head, size_t bytes);

/*
 * etw_overwrite_allowed() - whether the command may write to @path.
 *
 * @is_own: what it may overwrite
 * @what:   for the sentence: "the output of etw dump"
 *
 * Tells on standard error why not. A file that cannot be read is left to whoever opens it for writing.
 */
bool etw_overwrite_allowed(const char *path, etw_overwrite_kind *is_own, const char *what);

/*
 * etw_overwrite_spares() - whether @path is another file than @input, which the command reads; no --force changes that.
 *
 * @what: for the sentence: "the index of known providers"
 *
 * Tells on standard error when they are the same. A mapped file that is emptied would end the command with SIGBUS.
 */
bool etw_overwrite_spares(const char *path, const char *input, const char *what);

#endif
