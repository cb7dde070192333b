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

#include "wire/discovery_page.h"
#include "wire/message.h"

#define ETW_RUNTIME_SOCKET "control"
#define ETW_RUNTIME_PAGE   "epoch"

enum etw_instance {
	ETW_INSTANCE_SYSTEM, /* $ETW_RUNTIME_DIR for root if set, else /run/etw */
	ETW_INSTANCE_USER, /* $ETW_RUNTIME_DIR, else $XDG_RUNTIME_DIR/etw, else /tmp/etw-<uid>; for root the system's */
};

/*
 * etw_runtime_directory() - the directory of an instance, whether it exists or not.
 *
 * @ret: room for PATH_MAX bytes
 *
 * With $ETW_RUNTIME_DIR set both instances are that one. Returns 0 or -ENAMETOOLONG.
 */
int etw_runtime_directory(enum etw_instance instance, char *ret);

/* etw_runtime_is_one() - this process has one instance only (root, or $ETW_RUNTIME_DIR). */
bool etw_runtime_is_one(void);

/*
 * etw_runtime_prepare() - for a host: makes the directory (0700 for a user, 0755 for the system) and the
 * page; checks owner and mode of what is there.
 *
 * Returns 0 with the page mapped to write; -EPERM when another user owns the directory or page.
 */
int etw_runtime_prepare(const char *directory, struct wire_discovery_page **ret_page);

/* etw_runtime_announce() - sets the epoch to odd (hosted) or even, and wakes every process that waits. */
void etw_runtime_announce(struct wire_discovery_page *page, bool is_hosted);

/*
 * etw_runtime_page() - for everybody else: maps the page to read.
 *
 * Returns 0; -ENOENT when no host has ever been there; -EPERM when its owner is neither this uid nor
 * root; -EPROTO.
 */
int etw_runtime_page(const char *directory, const struct wire_discovery_page **ret_page);

/*
 * etw_runtime_wait() - waits until the epoch is no longer @epoch. Returns 0, -ETIMEDOUT or -EINTR.
 */
int etw_runtime_wait(const struct wire_discovery_page *page, uint32_t epoch, uint32_t timeout_ms);

/*
 * etw_runtime_connect() - connects to the host and says hello.
 *
 * @ret_clock_fd: owned; NULL when not wanted
 *
 * Checks that the socket's owner is root or this uid. Returns 0 with an owned blocking socket; -ENOENT or
 * -ECONNREFUSED without a host; -EPROTO when it speaks another protocol; -EACCES; errno of connect.
 */
int etw_runtime_connect(const char *directory, enum wire_role role, int *ret_socket,
			struct wire_welcome *ret_welcome, int *ret_clock_fd);

/* etw_runtime_listen() - for a host: binds the socket (0666). Returns 0 with an owned socket; -EADDRINUSE. */
int etw_runtime_listen(const char *directory, int *ret_socket);

#endif
