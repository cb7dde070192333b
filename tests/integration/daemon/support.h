/* SPDX-License-Identifier: MIT */
/*
 * A host of its own for each test: a new runtime directory, a log that is printed when a test fails, and
 * an end that leaves no process behind.
 */
#ifndef ETW_TESTS_INTEGRATION_DAEMON_SUPPORT_H
#define ETW_TESTS_INTEGRATION_DAEMON_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <cmocka.h>

#include "control/control.h"

/* Every wait of a test ends after this. */
#define WAIT_MS 120000

/* home_make(), home_remove() - setup and teardown of a cmocka test. */
int home_make(void **state);
int home_remove(void **state);

/* home_path() - the directory that holds everything of this test; every user may enter it. */
const char *home_path(void);

/* runtime_path() - the host's directory, in it. */
const char *runtime_path(void);

/* log_has() - whether the host's log has this text by now, waiting for it. */
bool log_has(const char *text);

/* log_holds() - the same without waiting. */
bool log_holds(const char *text);

/* etwd_run() - runs etwd with these words and waits for its end. Returns the exit status. */
int etwd_run(const char *first, const char *second);

/* keeper_pid(), standby_pid(), host_pid() - of the host that runs now; 0: none. */
pid_t keeper_pid(void);
pid_t standby_pid(void);
pid_t host_pid(void);

/* keepers_kill() - SIGKILL for the keeper and its standby, and waits until there is none. */
void keepers_kill(void);

/* await_standby() - waits until there is one that is not @other. Returns its process. */
pid_t await_standby(pid_t other);

/* host_kill() - SIGKILL for the host; returns when another one has taken its place. */
void host_kill(void);

/* wait_until() - until @is_so() or WAIT_MS are over; returns whether it is so. */
bool wait_until(bool (*is_so)(void *context), void *context);

/* is_unhosted() - for wait_until(): nobody serves the directory. */
bool is_unhosted(void *context);

/* controller() - an open controller that started the host when there was none. */
struct etw_controller *controller(void);

/* config_of() - a real-time session of this name. Borrowed until the next call. */
struct wire_session_config *config_of(const char *name);

/* start_session() - starts it and returns its handle; the test fails otherwise. */
uint64_t start_session(struct etw_controller *from, const char *name);

/* control_session() - one of WIRE_CONTROL_*; returns the status. @ret: may be NULL. */
int control_session(struct etw_controller *from, uint64_t handle, uint32_t code,
		    struct wire_session_info *ret);

/* guid_of() - a provider for tests. */
GUID guid_of(uint32_t number);

/* enable_of() - enables it in a session with level 5 and all keywords, without waiting. */
struct wire_enable_provider enable_of(uint64_t handle, const GUID *provider);

/* add_filter() - one filter more, kept until enable_of() is called again. */
void add_filter(struct wire_enable_provider *enable, uint32_t type, const void *data, size_t bytes);

#endif
