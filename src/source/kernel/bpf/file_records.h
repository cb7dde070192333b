/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The payloads of records of files (cpu_records.h). A file is known by its key, the address of its inode, and gets its name
 * in a record of its own before the first record with that key. Both sides include this file.
 * Source: docs/kernel-events/file.md.
 */
#ifndef ETW_SOURCE_KERNEL_BPF_FILE_RECORDS_H
#define ETW_SOURCE_KERNEL_BPF_FILE_RECORDS_H

#include <linux/types.h>

#define ETW_KERNEL_PATH_BYTES 4096 /* of a path in a record, with its NULs */

enum etw_kernel_name_flag {
	ETW_KERNEL_NAME_UNLINKED = 0x1, /* it has no name any more: this was its last */
	ETW_KERNEL_NAME_CUT = 0x2,      /* the outer folders are missing */
	ETW_KERNEL_NAME_PSEUDO = 0x4,   /* in no folder: a pipe, a memfd */
	ETW_KERNEL_NAME_WITHIN = 0x8,   /* the path begins at the root of the file system */
	ETW_KERNEL_NAME_MISSING = 0x10, /* the kernel keeps none now */
};

/* What an event of a name says: the type of the FileIo event. */
enum etw_kernel_name_type {
	ETW_KERNEL_NAME_IS = 0,
	ETW_KERNEL_NAME_CREATED = 32, /* the file is new */
	ETW_KERNEL_NAME_DELETED = 35, /* the file is gone */
	ETW_KERNEL_NAME_RUNDOWN = 36, /* of the host alone */
};

/*
 * Its path follows: the names of the file and of the folders around it, innermost first, a NUL after each. Of a path that is
 * cut the outermost names are missing.
 */
struct etw_kernel_file_name {
	__u64 key;
	__u64 inode;   /* its number */
	__u32 device;  /* of the file system: major << 20 | minor */
	__u32 special; /* likewise, the device that the file stands for; 0: none */
	__u32 magic;   /* of the file system: *_MAGIC of <linux/magic.h> */
	__u16 flags;   /* enum etw_kernel_name_flag */
	__u16 path_bytes;
	__u32 type; /* enum etw_kernel_name_type */
	__u32 reserved;
};

#endif
