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
	/* The path is one string, as a call has it, and the key is good for this one operation. */
	ETW_KERNEL_NAME_AS_GIVEN = 0x20,
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
	union {
		__u64 inode;  /* its number */
		__u64 folder; /* with AS_GIVEN: the key of where the path begins; 0: not known */
	};
	__u32 device;  /* of the file system: major << 20 | minor */
	__u32 special; /* likewise, the device that the file stands for; 0: none */
	__u32 magic;   /* of the file system: *_MAGIC of <linux/magic.h> */
	__u16 flags;   /* enum etw_kernel_name_flag */
	__u16 path_bytes;
	__u32 type; /* enum etw_kernel_name_type */
	__u32 reserved;
};

/* Types of FileIo events of operations: what a record of a beginning says. */
enum etw_kernel_file_type {
	ETW_KERNEL_FILE_CREATE = 64,
	ETW_KERNEL_FILE_CLEANUP = 65,
	ETW_KERNEL_FILE_CLOSE = 66,
	ETW_KERNEL_FILE_READ = 67,
	ETW_KERNEL_FILE_WRITE = 68,
	ETW_KERNEL_FILE_SET_INFO = 69,
	ETW_KERNEL_FILE_DIR_ENUM = 72,
	ETW_KERNEL_FILE_FLUSH = 73,
	ETW_KERNEL_FILE_QUERY_INFO = 74,
	ETW_KERNEL_FILE_FS_CONTROL = 75,
	ETW_KERNEL_FILE_DELETE_PATH = 79,
	ETW_KERNEL_FILE_RENAME_PATH = 80,
	ETW_KERNEL_FILE_SET_LINK_PATH = 81,
};

#define ETW_KERNEL_FILE_TYPES_FIRST 64 /* in struct etw_kernel_control, bit 0 stands for it */

enum etw_kernel_file_call_flag {
	ETW_KERNEL_CALL_OPENS = 0x1,   /* its result is a descriptor */
	ETW_KERNEL_CALL_HAS_HOW = 0x2, /* @size is a struct open_how */
	ETW_KERNEL_CALL_VECTOR = 0x4,  /* @size is a number of pieces, which come before it */
	ETW_KERNEL_CALL_SPLIT_OFFSET =
		0x8, /* the upper half of @offset is behind it; of what sets a size, of @size */
	ETW_KERNEL_CALL_OFFSET_IN_MEMORY = 0x10, /* @offset says where it is; NULL: the position */
	ETW_KERNEL_CALL_CLOSES = 0x20,
	ETW_KERNEL_CALL_CLOSES_RANGE = 0x40,
	ETW_KERNEL_CALL_COUNTS = 0x80,     /* its result is a number of bytes */
	ETW_KERNEL_CALL_FOLDER = 0x100,    /* makes a folder */
	ETW_KERNEL_CALL_MAKES = 0x200,     /* makes what must not be there */
	ETW_KERNEL_CALL_TRUNCATES = 0x400, /* creat(), which says no options */
	ETW_KERNEL_CALL_MAPPED = 0x1000,   /* none: the file is written through memory */
	ETW_KERNEL_CALL_REPLACES = 0x800,  /* the file of a descriptor by another one */
};

/* Where a system call has what an event says: places of arguments, from 1; 0: it has none. */
struct etw_kernel_file_call {
	__u8 type;         /* enum etw_kernel_file_type; 0: it is no operation of a file */
	__u8 file, path;   /* a descriptor; with a path the folder where that begins */
	__u8 size, offset; /* of opening: options, and rights of a new file */
	__u8 other_file, other_path,
		other_offset; /* where it copies to, or what a file is to be called */
	__u8 info_class;      /* of Windows' FILE_INFORMATION_CLASS */
	__u8 reserved;
	__u16 flags; /* enum etw_kernel_file_call_flag */
};

#define ETW_KERNEL_FILE_CALLS 512

/* The one value of a map that the host fills. */
struct etw_kernel_file_calls {
	struct etw_kernel_file_call calls[2][ETW_KERNEL_FILE_CALLS]; /* [1]: of 32-bit programs */
};

/* An operation begins. A path follows, as the call has it, with its NUL, where the event has one. */
struct etw_kernel_file_begin {
	__u64 irp;    /* tells the operation apart from all others */
	__u64 file;   /* the open file: its address, or the irp of the operation that opened it */
	__u64 key;    /* the irp where a path alone says which file it is */
	__u64 offset; /* in the file */
	__u64 extra;  /* the size that is set */
	__u64 folder; /* as of a name */
	__u32 tid;
	__u32 byte_count;
	__u32 info_class;
	__u32 options;    /* O_* */
	__u32 attributes; /* S_I* */
	__u16 type;       /* enum etw_kernel_file_type */
	__u16 path_bytes;
	__u32 call_flags; /* enum etw_kernel_file_call_flag */
	__u32 reserved;
};

/* It ends. */
struct etw_kernel_file_end {
	__u64 irp;
	__s64 result; /* of the call: negative errno where it failed */
	__u16 type;
	__u16 call_flags;
	__u32 is_new; /* of opening: the file was made */
};

#endif
