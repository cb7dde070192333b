/* SPDX-License-Identifier: MIT */
/*
 * Why the last host of a runtime directory could not start or had to give up: the file `failure`, one line of
 * text that begins with an errno, as "12 the host was killed by signal 9". A host that accepts connections
 * removes it; a controller that finds no host tells its caller what is in it.
 * Source: docs/design/recording.md "The keeper".
 */
#ifndef ETW_IPC_FAILURE_H
#define ETW_IPC_FAILURE_H

#define ETW_FAILURE_FILE      "failure"
#define ETW_FAILURE_TEXT_MAX  200 /* characters of the sentence */
#define ETW_FAILURE_LINE_ROOM (ETW_FAILURE_TEXT_MAX + 16)

struct etw_failure {
	int error;                           /* a positive errno */
	char text[ETW_FAILURE_TEXT_MAX + 1]; /* one sentence, printable, without a full stop */
};

/*
 * etw_failure_write() - replaces what the directory's file says.
 *
 * @text: cut at ETW_FAILURE_TEXT_MAX; control characters become '?'
 *
 * The file is readable by everybody and changes as a whole. Returns 0; -EINVAL when @error is no positive
 * errno; -EPERM when the directory is another user's, or others can write to it; the errno of opening, writing
 * or renaming.
 */
int etw_failure_write(const char *directory, int error, const char *text);

/* etw_failure_clear() - removes the file, if it is there. */
void etw_failure_clear(const char *directory);

/*
 * etw_failure_read() - what the last host left.
 *
 * Returns 0; -ENOENT when there is no such file; -EPERM when its owner is neither this uid nor root, others
 * can write it, or it is no ordinary file; -EPROTO when it says something else; errno of open, read.
 */
int etw_failure_read(const char *directory, struct etw_failure *ret);

#endif
