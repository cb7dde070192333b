/* SPDX-License-Identifier: MIT */
/*
 * Processes that a recording test starts, and memory that it shares with them: with those that it forks, or with programs
 * that find it by the number of a descriptor. Errors end the program.
 */
#ifndef ETW_TESTS_RECORDING_CHILDREN_H
#define ETW_TESTS_RECORDING_CHILDREN_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "recording/wait.h"

#define HANG_SECONDS WAIT_SECONDS

/* share_with_forks() - zeroed memory that this process and those that it forks have in common. */
void *share_with_forks(size_t bytes);

/* share_with_programs() - the same; *@ret_fd is without close-on-exec, its number to be told to programs. */
void *share_with_programs(size_t bytes, int *ret_fd);

/* map_shared() - in such a program. @fd: a number as text */
void *map_shared(const char *fd, size_t bytes);

/*
 * start_program() - a child of fork and exec: PROGRAM [ROLE] FD PLACE.
 *
 * @program: NULL: this one
 * @role:    NULL: none
 */
pid_t start_program(const char *program, const char *role, int fd, uint32_t place);

/* await_end() - of a child that is to end with status 0. @what: "a writer" */
void await_end(pid_t child, const char *what);

/* await_flag() - until *@flag is @value, an atomic. @what: "a writer is not enabled" */
void await_flag(const uint32_t *flag, uint32_t value, const char *what);

/* await_more() - until *@count is more than @than, an atomic. */
void await_more(const uint64_t *count, uint64_t than, const char *what);

#endif
