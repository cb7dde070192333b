/* SPDX-License-Identifier: MIT */
/*
 * Where hosts are: the runtime directory of an instance with its socket `control` and its discovery page
 * `epoch`. Source: docs/design/recording.md "Discovery".
 */
#ifndef ETW_IPC_RUNTIME_H
#define ETW_IPC_RUNTIME_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "ipc/connection.h"
#include "wire/discovery_page.h"
#include "wire/message.h"

#define ETW_RUNTIME_SOCKET "control"
#define ETW_RUNTIME_PAGE   "epoch"

enum etw_instance {
	ETW_INSTANCE_SYSTEM, /* $ETW_RUNTIME_DIR for root if set, else /run/etw */
	/* for root the system's; else $ETW_RUNTIME_DIR; else etw in $XDG_RUNTIME_DIR or else in /run/user/<uid>, if
	 * this user owns that; else what etw_runtime_place() chooses of /tmp/etw-<uid> and a folder at home */
	ETW_INSTANCE_USER,
};

/*
 * Where the directory of an instance may be. Any user can take a name in /tmp first, so a user's instance that would be
 * there has a second place, in the user's home.
 */
struct etw_runtime_places {
	char first[PATH_MAX];
	char second[PATH_MAX]; /* empty: there is none */
};

/* etw_runtime_find_places() - from the environment of the caller. Returns 0 or -ENAMETOOLONG. */
int etw_runtime_find_places(enum etw_instance instance, struct etw_runtime_places *ret);

/*
 * etw_runtime_place() - which of the two the directory is now: the first if it exists and is this user's; else the
 * second if that exists and is this user's; else the first if its name is free; else the second.
 *
 * Decided by the file system alone, so that hosts, controllers and providers come to the same answer, whatever
 * another user does in /tmp: nobody else can make a folder that is this user's. Borrowed from @places. Any thread.
 */
const char *etw_runtime_place(const struct etw_runtime_places *places);

/*
 * etw_runtime_directory() - the directory of an instance as it is now, whether it exists or not.
 *
 * @ret: room for PATH_MAX bytes
 *
 * With $ETW_RUNTIME_DIR set both instances are that one. Returns 0, -ENAMETOOLONG or -ENOMEM.
 */
int etw_runtime_directory(enum etw_instance instance, char *ret);

/* etw_runtime_is_own() - whether an instance's directory is this user's: its host, if there is one, runs as this user. */
bool etw_runtime_is_own(enum etw_instance instance);

/* etw_runtime_is_one() - this process has one instance only (root, or $ETW_RUNTIME_DIR). */
bool etw_runtime_is_one(void);

/*
 * etw_runtime_prepare() - for a host: makes the directory (0700 for a user, 0755 for the system) and the
 * page; checks owner and mode of what is there.
 *
 * Only /run/etw, /tmp/etw-<uid> and the one in the user's home get missing parents. Returns 0 with the page
 * mapped to write, which etw_runtime_page_unmap() ends; -EPERM when another user owns or can write the directory
 * or page, or one of them is a symbolic link; -EPROTO for a page of another version; errno of mkdir, open, mmap.
 */
int etw_runtime_prepare(const char *directory, struct wire_discovery_page **ret_page);

/* etw_runtime_announce() - sets the epoch to odd (hosted) or even, and wakes every process that waits. */
void etw_runtime_announce(struct wire_discovery_page *page, bool is_hosted);

/*
 * etw_runtime_page() - for everybody else: maps the page to read.
 *
 * Returns 0; -ENOENT when no host has ever been there; -EPERM when its owner is neither this uid nor
 * root, others can write it, or it is a symbolic link; -EPROTO; errno of open, mmap.
 */
int etw_runtime_page(const char *directory, const struct wire_discovery_page **ret_page);

/* etw_runtime_page_unmap() - takes NULL. */
void etw_runtime_page_unmap(const struct wire_discovery_page *page);

/*
 * etw_runtime_wait() - waits until the epoch is no longer @epoch. Returns 0, -ETIMEDOUT or -EINTR.
 */
int etw_runtime_wait(const struct wire_discovery_page *page, uint32_t epoch, uint32_t timeout_ms);

/*
 * etw_runtime_connect() - connects to the host and says hello.
 *
 * @ret_clock_fd: owned; NULL when not wanted
 *
 * Checks that the owner of the directory and the process behind the socket are root or this uid. Returns 0
 * with an owned blocking socket; -ENOENT or -ECONNREFUSED without a host; -EPROTO when it speaks another
 * protocol; -EACCES; -ETIMEDOUT when it does not answer within 5 seconds; the status of its WELCOME;
 * -ENAMETOOLONG; -ENOMEM; errno of connect.
 */
int etw_runtime_connect(const char *directory, enum wire_role role, int *ret_socket,
			struct wire_welcome *ret_welcome, int *ret_clock_fd);

/*
 * etw_runtime_call() - the first half of etw_runtime_connect(): connects and says hello. Waits for nothing
 * but a place in the listening socket's queue, 20 ms at most.
 *
 * Whoever holds the host's listening socket, its keeper or the host, has the caller in its queue: the socket breaks
 * when the last of them has ended, and not before, however long they stand still. Returns 0 with an owned
 * non-blocking socket; -EAGAIN when the queue is full yet; -ECONNREFUSED when nobody holds the socket; otherwise
 * as etw_runtime_connect().
 */
int etw_runtime_call(const char *directory, enum wire_role role, int *ret_socket);

/*
 * etw_runtime_answered() - the second half: takes the answer to hello.
 *
 * @message: has the clock page's descriptor afterwards
 *
 * Returns 0; -EAGAIN: not yet; -EPIPE: whoever held the call has ended; -EPROTO; the status of WELCOME.
 */
int etw_runtime_answered(int socket, struct etw_ipc_message *message, struct wire_welcome *ret);

/*
 * etw_runtime_listen() - for a host: binds the socket (0666), in the place of one that a dead host left.
 *
 * Of several hosts that start at once one gets it. Returns 0 with an owned non-blocking socket for
 * etw_ipc_accept(); -EADDRINUSE when a host listens; -EPERM as etw_runtime_prepare(); errno of bind.
 */
int etw_runtime_listen(const char *directory, int *ret_socket);

/*
 * etw_runtime_sentence() - what an error of connecting means, as the rest of "cannot reach the host: ...".
 * Static, or strerror()'s.
 */
const char *etw_runtime_sentence(int result);

#endif
