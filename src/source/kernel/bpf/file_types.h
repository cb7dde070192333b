/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* What programs read of the kernel's files and of what is around them, as kernel_types.h does of tasks. */
#ifndef ETW_SOURCE_KERNEL_BPF_FILE_TYPES_H
#define ETW_SOURCE_KERNEL_BPF_FILE_TYPES_H

#include <linux/types.h>

#include "kernel_types.h"

#define FMODE_CREATED 0x100000

typedef struct {
	__s64 counter;
} atomic64_t;

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct hlist_node {
	struct hlist_node *next;
};

struct hlist_head {
	struct hlist_node *first;
};

struct hlist_bl_node {
	struct hlist_bl_node *next, **pprev;
};

struct qstr {
	__u64 hash_len;
	const unsigned char *name;
};

struct lockref {
	int count;
};

struct inode;
struct super_block;
struct user_namespace;

struct dentry {
	struct hlist_bl_node d_hash;
	struct dentry *d_parent;
	struct qstr d_name;
	struct inode *d_inode;
	struct lockref d_lockref;
	union {
		struct hlist_node d_alias;
	} d_u;
};

struct super_block {
	__u32 s_dev;
	unsigned long s_magic;
	struct dentry *s_root;
	struct user_namespace *s_user_ns;
};

struct inode {
	unsigned short i_mode;
	atomic_t i_count;
	unsigned int i_nlink, i_generation;
	unsigned long i_ino;
	__u32 i_rdev;
	__s64 i_size;
	struct super_block *i_sb;
	struct hlist_head i_dentry;
};

struct address_space {
	struct inode *host;
};

struct vfsmount {
	struct dentry *mnt_root;
};

struct mnt_namespace {
	struct user_namespace *user_ns;
};

struct mount {
	struct mnt_namespace *mnt_ns; /* NULL or an error: of the kernel's own */
	struct mount *mnt_parent;
	struct dentry *mnt_mountpoint;
	struct vfsmount mnt;
};

struct path {
	struct vfsmount *mnt;
	struct dentry *dentry;
};

struct fs_struct {
	struct path root, pwd;
};

typedef struct {
	atomic64_t refcnt;
} file_ref_t;

struct file {
	unsigned int f_mode, f_flags;
	__s64 f_pos;
	struct inode *f_inode;
	struct path f_path;
	file_ref_t f_ref;
};

/* Before Linux 6.13. */
struct file___counted {
	atomic64_t f_count;
};

#pragma clang attribute pop

#endif
