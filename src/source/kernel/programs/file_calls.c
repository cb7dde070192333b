/* SPDX-License-Identifier: MIT */
#include "source/kernel/programs/file_calls.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/macros.h"
#include "source/kernel/code/routines.h"

/* FILE_INFORMATION_CLASS [WDK]. */
enum {
	CLASS_DIRECTORY = 1,
	CLASS_BASIC = 4,
	CLASS_RENAME = 10,
	CLASS_LINK = 11,
	CLASS_DISPOSITION = 13,
	CLASS_ALLOCATION = 19,
	CLASS_END_OF_FILE = 20,
	CLASS_NETWORK_OPEN = 34, /* all that stat() tells */
};

#define OPENS     ETW_KERNEL_CALL_OPENS
#define VECTOR    (ETW_KERNEL_CALL_VECTOR | ETW_KERNEL_CALL_COUNTS)
#define COUNTS    ETW_KERNEL_CALL_COUNTS
#define SPLIT     ETW_KERNEL_CALL_SPLIT_OFFSET
#define IN_MEMORY (ETW_KERNEL_CALL_OFFSET_IN_MEMORY | ETW_KERNEL_CALL_COUNTS)
#define CREATE    ETW_KERNEL_FILE_CREATE
#define SET       ETW_KERNEL_FILE_SET_INFO
#define QUERY     ETW_KERNEL_FILE_QUERY_INFO
#define READ      ETW_KERNEL_FILE_READ
#define WRITE     ETW_KERNEL_FILE_WRITE

/* By the names of the kernel's functions. Places of arguments are counted from 1. */
static const struct {
	const char *name;
	struct etw_kernel_file_call call;
} file_calls[] = {
	{"open", {CREATE, .path = 1, .size = 2, .offset = 3, .flags = OPENS}},
	{"openat", {CREATE, .file = 1, .path = 2, .size = 3, .offset = 4, .flags = OPENS}},
	{"openat2",
	 {CREATE, .file = 1, .path = 2, .size = 3, .flags = OPENS | ETW_KERNEL_CALL_HAS_HOW}},
	{"creat", {CREATE, .path = 1, .offset = 2, .flags = OPENS | ETW_KERNEL_CALL_TRUNCATES}},
	{"mkdir", {CREATE, .path = 1, .offset = 2, .flags = ETW_KERNEL_CALL_FOLDER}},
	{"mkdirat", {CREATE, .file = 1, .path = 2, .offset = 3, .flags = ETW_KERNEL_CALL_FOLDER}},
	{"mknod", {CREATE, .path = 1, .offset = 2, .flags = ETW_KERNEL_CALL_MAKES}},
	{"mknodat", {CREATE, .file = 1, .path = 2, .offset = 3, .flags = ETW_KERNEL_CALL_MAKES}},
	{"symlink", {CREATE, .path = 2, .flags = ETW_KERNEL_CALL_MAKES}},
	{"symlinkat", {CREATE, .file = 2, .path = 3, .flags = ETW_KERNEL_CALL_MAKES}},
	{"close", {ETW_KERNEL_FILE_CLEANUP, .file = 1, .flags = ETW_KERNEL_CALL_CLOSES}},
	{"close_range", {ETW_KERNEL_FILE_CLEANUP, .flags = ETW_KERNEL_CALL_CLOSES_RANGE}},
	{"dup2", {ETW_KERNEL_FILE_CLEANUP, .file = 2, .flags = ETW_KERNEL_CALL_REPLACES}},
	{"dup3", {ETW_KERNEL_FILE_CLEANUP, .file = 2, .flags = ETW_KERNEL_CALL_REPLACES}},
	{"read", {READ, .file = 1, .size = 3, .flags = COUNTS}},
	{"pread64", {READ, .file = 1, .size = 3, .offset = 4, .flags = COUNTS}},
	{"ia32_pread64", {READ, .file = 1, .size = 3, .offset = 4, .flags = COUNTS | SPLIT}},
	{"readv", {READ, .file = 1, .size = 3, .flags = VECTOR}},
	{"preadv", {READ, .file = 1, .size = 3, .offset = 4, .flags = VECTOR}},
	{"preadv2", {READ, .file = 1, .size = 3, .offset = 4, .flags = VECTOR}},
	{"write", {WRITE, .file = 1, .size = 3, .flags = COUNTS}},
	{"pwrite64", {WRITE, .file = 1, .size = 3, .offset = 4, .flags = COUNTS}},
	{"ia32_pwrite64", {WRITE, .file = 1, .size = 3, .offset = 4, .flags = COUNTS | SPLIT}},
	{"writev", {WRITE, .file = 1, .size = 3, .flags = VECTOR}},
	{"pwritev", {WRITE, .file = 1, .size = 3, .offset = 4, .flags = VECTOR}},
	{"pwritev2", {WRITE, .file = 1, .size = 3, .offset = 4, .flags = VECTOR}},
	{"sendfile",
	 {READ, .file = 2, .size = 4, .offset = 3, .other_file = 1, .flags = IN_MEMORY}},
	{"sendfile64",
	 {READ, .file = 2, .size = 4, .offset = 3, .other_file = 1, .flags = IN_MEMORY}},
	{"splice",
	 {READ, .file = 1, .size = 5, .offset = 2, .other_file = 3, .other_offset = 4,
	  .flags = IN_MEMORY}},
	{"copy_file_range",
	 {READ, .file = 1, .size = 5, .offset = 2, .other_file = 3, .other_offset = 4,
	  .flags = IN_MEMORY}},
	{"fsync", {ETW_KERNEL_FILE_FLUSH, .file = 1}},
	{"fdatasync", {ETW_KERNEL_FILE_FLUSH, .file = 1}},
	{"sync_file_range", {ETW_KERNEL_FILE_FLUSH, .file = 1}},
	{"ia32_sync_file_range", {ETW_KERNEL_FILE_FLUSH, .file = 1}},
	{"getdents",
	 {ETW_KERNEL_FILE_DIR_ENUM, .file = 1, .size = 3, .info_class = CLASS_DIRECTORY}},
	{"getdents64",
	 {ETW_KERNEL_FILE_DIR_ENUM, .file = 1, .size = 3, .info_class = CLASS_DIRECTORY}},
	{"unlink", {ETW_KERNEL_FILE_DELETE_PATH, .path = 1, .info_class = CLASS_DISPOSITION}},
	{"unlinkat",
	 {ETW_KERNEL_FILE_DELETE_PATH, .file = 1, .path = 2, .info_class = CLASS_DISPOSITION}},
	{"rmdir", {ETW_KERNEL_FILE_DELETE_PATH, .path = 1, .info_class = CLASS_DISPOSITION}},
	{"rename",
	 {ETW_KERNEL_FILE_RENAME_PATH, .path = 1, .other_path = 2, .info_class = CLASS_RENAME}},
	{"renameat",
	 {ETW_KERNEL_FILE_RENAME_PATH, .file = 1, .path = 2, .other_file = 3, .other_path = 4,
	  .info_class = CLASS_RENAME}},
	{"renameat2",
	 {ETW_KERNEL_FILE_RENAME_PATH, .file = 1, .path = 2, .other_file = 3, .other_path = 4,
	  .info_class = CLASS_RENAME}},
	{"link",
	 {ETW_KERNEL_FILE_SET_LINK_PATH, .path = 1, .other_path = 2, .info_class = CLASS_LINK}},
	{"linkat",
	 {ETW_KERNEL_FILE_SET_LINK_PATH, .file = 1, .path = 2, .other_file = 3, .other_path = 4,
	  .info_class = CLASS_LINK}},
	{"truncate", {SET, .path = 1, .size = 2, .info_class = CLASS_END_OF_FILE}},
	{"ia32_truncate64",
	 {SET, .path = 1, .size = 2, .info_class = CLASS_END_OF_FILE, .flags = SPLIT}},
	{"ftruncate", {SET, .file = 1, .size = 2, .info_class = CLASS_END_OF_FILE}},
	{"ia32_ftruncate64",
	 {SET, .file = 1, .size = 2, .info_class = CLASS_END_OF_FILE, .flags = SPLIT}},
	{"fallocate", {SET, .file = 1, .size = 4, .info_class = CLASS_ALLOCATION}},
	{"ia32_fallocate",
	 {SET, .file = 1, .size = 5, .info_class = CLASS_ALLOCATION, .flags = SPLIT}},
	{"chmod", {SET, .path = 1, .info_class = CLASS_BASIC}},
	{"fchmod", {SET, .file = 1, .info_class = CLASS_BASIC}},
	{"fchmodat", {SET, .file = 1, .path = 2, .info_class = CLASS_BASIC}},
	{"fchmodat2", {SET, .file = 1, .path = 2, .info_class = CLASS_BASIC}},
	{"chown", {SET, .path = 1, .info_class = CLASS_BASIC}},
	{"lchown", {SET, .path = 1, .info_class = CLASS_BASIC}},
	{"fchown", {SET, .file = 1, .info_class = CLASS_BASIC}},
	{"fchownat", {SET, .file = 1, .path = 2, .info_class = CLASS_BASIC}},
	{"chown16", {SET, .path = 1, .info_class = CLASS_BASIC}},
	{"lchown16", {SET, .path = 1, .info_class = CLASS_BASIC}},
	{"fchown16", {SET, .file = 1, .info_class = CLASS_BASIC}},
	{"utime", {SET, .path = 1, .info_class = CLASS_BASIC}},
	{"utime32", {SET, .path = 1, .info_class = CLASS_BASIC}},
	{"utimes", {SET, .path = 1, .info_class = CLASS_BASIC}},
	{"utimes_time32", {SET, .path = 1, .info_class = CLASS_BASIC}},
	{"futimesat", {SET, .file = 1, .path = 2, .info_class = CLASS_BASIC}},
	{"futimesat_time32", {SET, .file = 1, .path = 2, .info_class = CLASS_BASIC}},
	{"utimensat", {SET, .file = 1, .path = 2, .info_class = CLASS_BASIC}},
	{"utimensat_time32", {SET, .file = 1, .path = 2, .info_class = CLASS_BASIC}},
	{"stat", {QUERY, .path = 1, .info_class = CLASS_NETWORK_OPEN}},
	{"newstat", {QUERY, .path = 1, .info_class = CLASS_NETWORK_OPEN}},
	{"ia32_stat64", {QUERY, .path = 1, .info_class = CLASS_NETWORK_OPEN}},
	{"lstat", {QUERY, .path = 1, .info_class = CLASS_NETWORK_OPEN}},
	{"newlstat", {QUERY, .path = 1, .info_class = CLASS_NETWORK_OPEN}},
	{"ia32_lstat64", {QUERY, .path = 1, .info_class = CLASS_NETWORK_OPEN}},
	{"fstat", {QUERY, .file = 1, .info_class = CLASS_NETWORK_OPEN}},
	{"newfstat", {QUERY, .file = 1, .info_class = CLASS_NETWORK_OPEN}},
	{"ia32_fstat64", {QUERY, .file = 1, .info_class = CLASS_NETWORK_OPEN}},
	{"newfstatat", {QUERY, .file = 1, .path = 2, .info_class = CLASS_NETWORK_OPEN}},
	{"ia32_fstatat64", {QUERY, .file = 1, .path = 2, .info_class = CLASS_NETWORK_OPEN}},
	{"statx", {QUERY, .file = 1, .path = 2, .info_class = CLASS_NETWORK_OPEN}},
	{"access", {QUERY, .path = 1, .info_class = CLASS_BASIC}},
	{"faccessat", {QUERY, .file = 1, .path = 2, .info_class = CLASS_BASIC}},
	{"faccessat2", {QUERY, .file = 1, .path = 2, .info_class = CLASS_BASIC}},
	{"ioctl", {ETW_KERNEL_FILE_FS_CONTROL, .file = 1, .size = 2}},
};

/* 32-bit programs pass an offset in two halves, where the kernel's function has the same name. */
static bool is_split_by_name(const char *name)
{
	static const char *const names[] = {"preadv", "preadv2", "pwritev", "pwritev2"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

static void fill_one(const char *name, bool is_compat, struct etw_kernel_file_call *ret)
{
	for (size_t i = 0; i < ARRAY_SIZE(file_calls); i++) {
		if (strcmp(file_calls[i].name, name) != 0)
			continue;
		*ret = file_calls[i].call;
		if (is_compat && is_split_by_name(name))
			ret->flags |= ETW_KERNEL_CALL_SPLIT_OFFSET;
	}
}

void etw_kernel_file_calls_fill(struct etw_kernel_file_calls *ret)
{
	memset(ret, 0, sizeof(*ret));
	for (int compat = 0; compat < 2; compat++) {
		for (uint32_t i = 0; i < ETW_KERNEL_FILE_CALLS; i++) {
			const char *name = etw_kernel_routines_call_name(i, compat);

			if (name)
				fill_one(name, compat, &ret->calls[compat][i]);
		}
	}
}
