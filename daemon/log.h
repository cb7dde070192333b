/* SPDX-License-Identifier: MIT */
/*
 * What the host tells people: one sentence a line, to standard error or to the file that $ETWD_LOG names.
 * Any thread. Lines are single writes, so that the keeper and the host can share a file; any of them puts another
 * one in the place of a file that has become too large, and all others follow.
 */
#ifndef ETW_DAEMON_LOG_H
#define ETW_DAEMON_LOG_H

/*
 * etwd_log_open() - sets where lines go: appends to @path, or standard error for NULL.
 *
 * Returns 0 or the errno of open.
 */
int etwd_log_open(const char *path);

/*
 * A file of this size becomes NAME.1, in the place of an earlier one, and another NAME begins. Where that is
 * refused it goes on growing.
 */
#define ETWD_LOG_BYTES_MAX (16 * 1024 * 1024)

/* So many lines in 10 seconds; then the next 10 seconds begin with the number of those left out. */
#define ETWD_LOG_LINES_MAX 1000u

/*
 * etwd_log() - writes a line. Characters that a terminal would obey become '?'. A line that is too long ends in
 * "...": what has any length, such as a name, belongs at its end.
 */
void etwd_log(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
