/* SPDX-License-Identifier: MIT */
/*
 * How facts about the machine are read: small files, links and folders of /sys, /proc and /etc, below a root that tests
 * replace. Whatever is missing, too long or no number counts as not there.
 */
#ifndef ETW_SOURCE_KERNEL_MACHINE_FACTS_H
#define ETW_SOURCE_KERNEL_MACHINE_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ETW_KERNEL_FACT_PATH_BYTES 512

/* Told of a name in a folder; false ends the listing. */
typedef bool etw_kernel_fact_told(void *context, const char *name);

/*
 * etw_kernel_fact_text() - the start of a file, up to @room - 1 bytes, without white space at either end.
 *
 * @format: of the path, without the slash behind @root
 *
 * Returns whether it could be read; else @to is empty.
 */
bool etw_kernel_fact_text(const char *root, char *to, size_t room, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* etw_kernel_fact_number() - a file with one number, decimal or 0x; @otherwise when there is none. */
uint64_t etw_kernel_fact_number(const char *root, uint64_t otherwise, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* etw_kernel_fact_link() - where a link leads. Returns whether it is one; else @to is empty. */
bool etw_kernel_fact_link(const char *root, char *to, size_t room, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* etw_kernel_fact_exists() - whether a path leads to something. */
bool etw_kernel_fact_exists(const char *root, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* etw_kernel_fact_device() - a file with "major:minor" as makedev() has it; 0: none. */
uint64_t etw_kernel_fact_device(const char *root, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* etw_kernel_fact_list() - tells every name in a folder, sda2 before sda10; hidden ones are left out. */
void etw_kernel_fact_list(const char *root, const char *path, etw_kernel_fact_told *told,
			  void *context);

/* etw_kernel_fact_base() - what follows the last slash of a path. */
const char *etw_kernel_fact_base(const char *path);

/*
 * etw_kernel_fact_mask() - a processor mask as the kernel prints it, "ff,00000003": words of 32 bits, the lowest last.
 *
 * @ret: the words of 64 bits, the lowest first, @count of them, overwritten
 */
void etw_kernel_fact_mask(const char *text, uint64_t *ret, size_t count);

/* etw_kernel_fact_processors() - a list such as "0-3,8" as a mask; as above. */
void etw_kernel_fact_processors(const char *text, uint64_t *ret, size_t count);

#endif
