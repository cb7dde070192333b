/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Files in records: the key of an inode, and its name, which is sent once, in a record of its own right before the first
 * record with the key. Which inodes were named is kept in a bounded map that all programs share; an inode that falls out of
 * it is named again.
 */
#ifndef ETW_SOURCE_KERNEL_BPF_FILES_H
#define ETW_SOURCE_KERNEL_BPF_FILES_H

#include "cpu_ring.h"
#include "file_records.h"
#include "file_types.h"

#define NAMED_FILES     65536
#define NAME_BYTES      256  /* of one name in a path, with its NUL */
#define PATH_STEPS      2600 /* names in a path, and mounts that are crossed: more than fit in */
#define PATH_ROOM_BYTES (ETW_KERNEL_PATH_BYTES + ETW_KERNEL_FRAMES * 8)
#define FILE_ROOMS      4 /* programs that name files at once on one processor */
#define HASHED_STEPS \
	64 /* names in a path that are looked at again after a rename, the innermost ones */

/*
 * A name did not go out, and is counted as lost: once, however often it is tried. No number of renames that was looked at has
 * this bit, so that the path is looked at again.
 */
#define LOST_NAME (1ull << 63)

/* An inode that was named, or would have been. An address comes again with another inode. */
struct named_file {
	__u64 named_ns; /* CLOCK_MONOTONIC; 0: no name went out yet, and that is counted as lost */
	__u64 inode;
	__u32 device, generation;
	__u64 dentry; /* the name that was told */
	__u64 hash; /* of the names in its path; of a lost name control->names_ns of the session that counted it */
	__u64 renames; /* as many there had been when the path was looked at last; LOST_NAME */
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, NAMED_FILES);
	__type(key, __u64);
	__type(value, struct named_file);
} etw_named_files SEC(".maps");

/* How often something was renamed: what was told before may be called otherwise since. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} etw_renames SEC(".maps");

/* A walk from a name to the root. */
struct path_walk {
	struct dentry *dentry, *root_dentry;
	struct mount *mount, *root_mount; /* NULL: within the file system */
	__u64 is_done;
};

/* Where a path is put together: too large for a program's stack. */
struct path_room {
	__u32 is_used;
	__u32 path_bytes;
	struct path_walk walk;
	struct etw_kernel_file_name name;
	/* Directly behind @name, as in a record; of a record with a stack the frames are behind it. */
	char path[PATH_ROOM_BYTES];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, FILE_ROOMS);
	__type(key, __u32);
	__type(value, struct path_room);
} etw_path_rooms SEC(".maps");

/*
 * take_path_room() - a program that interrupts another one, or runs instead of one that was preempted, takes another room.
 * Returns its number; FILE_ROOMS: all are taken. The verifier, which looks at a function with this linkage once, is not to
 * follow the caller for each of the rooms.
 */
__noinline __u32 take_path_room(void)
{
	/* Linux 6.1 does not see that a loop ends whose counter is in memory. */
#pragma unroll
	for (__u32 i = 0; i < FILE_ROOMS; i++) {
		__u32 key = i;
		struct path_room *room = bpf_map_lookup_elem(&etw_path_rooms, &key);

		if (room && !__sync_val_compare_and_swap(&room->is_used, 0, 1))
			return i;
	}
	return FILE_ROOMS;
}

static __always_inline struct mount *mount_of(struct vfsmount *vfsmount)
{
	return vfsmount ? (void *)((char *)vfsmount - bpf_core_field_offset(struct mount, mnt))
			: NULL;
}

/* One name, or one mount. Returns whether the walk ends. */
static long step_out(__u32 number, const __u32 *room_number)
{
	struct path_room *room = bpf_map_lookup_elem(&etw_path_rooms, room_number);
	struct dentry *dentry, *parent;
	struct path_walk *walk;
	struct mount *mount;
	__u32 offset;
	long bytes;

	(void)number;
	if (!room)
		return 1;
	walk = &room->walk;
	dentry = walk->dentry;
	mount = walk->mount;
	parent = BPF_CORE_READ(dentry, d_parent);
	if (dentry == walk->root_dentry && mount == walk->root_mount)
		goto done;
	if (dentry == parent || (mount && dentry == BPF_CORE_READ(mount, mnt.mnt_root))) {
		struct mount *outer = mount ? BPF_CORE_READ(mount, mnt_parent) : NULL;

		if (!outer || outer == mount)
			goto done;
		walk->dentry = BPF_CORE_READ(mount, mnt_mountpoint);
		walk->mount = outer;
		return 0;
	}
	offset = room->path_bytes;
	if (offset >= ETW_KERNEL_PATH_BYTES)
		return 1;
	bytes = bpf_probe_read_kernel_str(&room->path[offset], NAME_BYTES,
					  BPF_CORE_READ(dentry, d_name.name));
	if (bytes <= 0 || offset + bytes > ETW_KERNEL_PATH_BYTES)
		return 1;
	room->path_bytes = offset + bytes;
	walk->dentry = parent;
	return 0;
done:
	walk->is_done = 1;
	return 1;
}

/* @room: a constant */
static __always_inline int send_name_room(void *ring, const struct path_room *from,
					  __u32 byte_count, const __u32 room)
{
	struct etw_kernel_cpu_record *record;

	record = bpf_ringbuf_reserve(ring, sizeof(*record) + sizeof(from->name) + room, 0);
	if (!record)
		return 0;
	*record = (struct etw_kernel_cpu_record){
		.time_ns = bpf_ktime_get_ns(),
		.kind = ETW_KERNEL_FILE_NAME,
		.payload_bytes = sizeof(from->name) + ((byte_count + 7) & ~7u),
	};
	/* Linux 6.1 must see the bound here: what the caller compared is another copy to it. */
	barrier_var(byte_count);
	if (byte_count > room)
		byte_count = room;
	__builtin_memcpy(record + 1, &from->name, sizeof(from->name));
	bpf_probe_read_kernel((char *)(record + 1) + sizeof(from->name), byte_count, from->path);
	bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP);
	return 1;
}

/* Returns whether it went out; what did not the caller counts. Records are of few sizes: the verifier wants constants. */
static __always_inline int send_name(const struct path_room *room)
{
	__u32 cpu = bpf_get_smp_processor_id(), bytes = room->path_bytes;
	void *ring = bpf_map_lookup_elem(&etw_cpu_rings, &cpu);

	if (!ring)
		return 0;
	if (bytes <= 64)
		return send_name_room(ring, room, bytes, 64);
	if (bytes <= 128)
		return send_name_room(ring, room, bytes, 128);
	if (bytes <= 256)
		return send_name_room(ring, room, bytes, 256);
	if (bytes <= 1024)
		return send_name_room(ring, room, bytes, 1024);
	return send_name_room(ring, room, bytes, ETW_KERNEL_PATH_BYTES);
}

/*
 * The address that a program is given, as a number: the verifier lets no
 * other pass to what it verifies once, nor one that may be missing be looked behind.
 */
static __always_inline __u64 given_address(const __u64 *context)
{
	__u64 address = 0;

	bpf_probe_read_kernel(&address, sizeof(address), context);
	return address;
}

static __always_inline __u64 key_of(struct inode *inode)
{
	return (__u64)inode;
}

/* What was told of an inode in this session, or was to be; NULL: nothing. @ret: which inode it is */
static __always_inline struct named_file *find_named(const struct etw_kernel_control *control,
						     struct inode *inode, struct named_file *ret)
{
	__u64 key = key_of(inode);
	struct named_file *named = bpf_map_lookup_elem(&etw_named_files, &key);

	BPF_CORE_READ_INTO(&ret->inode, inode, i_ino);
	BPF_CORE_READ_INTO(&ret->device, inode, i_sb, s_dev);
	BPF_CORE_READ_INTO(&ret->generation, inode, i_generation);
	if (named && named->named_ns >= control->names_ns && named->inode == ret->inode &&
	    named->device == ret->device && named->generation == ret->generation)
		return named;
	return NULL;
}

static __always_inline __u64 *find_renames(void)
{
	__u32 key = 0;

	return bpf_map_lookup_elem(&etw_renames, &key);
}

struct hash_walk {
	struct dentry *at;
	__u64 hash;
};

static long hash_step(__u32 number, struct hash_walk *walk)
{
	struct dentry *dentry = walk->at, *parent = BPF_CORE_READ(dentry, d_parent);

	(void)number;
	walk->hash = walk->hash * 31 + BPF_CORE_READ(dentry, d_name.hash_len);
	walk->at = parent;
	return parent == dentry;
}

/*
 * Whether the name that was told still is what the file is called that is seen through @dentry. If not, @now has what is to
 * be kept of the new one.
 */
static __always_inline int is_still_called(struct named_file *named, struct dentry *dentry,
					   struct named_file *now)
{
	const volatile __u64 *renames = find_renames();
	struct hash_walk walk = {.at = dentry};

	now->renames = renames ? *renames : 0;
	now->dentry = (__u64)dentry;
	if (named && named->dentry == now->dentry && named->renames == now->renames)
		return 1;
	if (dentry)
		bpf_loop(HASHED_STEPS, hash_step, &walk, 0);
	now->hash = walk.hash;
	if (!named || named->dentry != now->dentry || named->hash != now->hash)
		return 0;
	named->renames = now->renames;
	return 1;
}

static __always_inline int is_unlinked(struct dentry *dentry)
{
	return !BPF_CORE_READ(dentry, d_hash.pprev) && BPF_CORE_READ(dentry, d_parent) != dentry;
}

/*
 * Whether a path through @mount may name the inode for everybody. Any user can make a user namespace, and mount in it
 * whatever file he sees at whatever place, or take any folder for his root.
 */
static __always_inline int shows_place(struct inode *inode, struct mount *mount)
{
	const struct task_struct *task = (const void *)bpf_get_current_task();

	/* A file system of such a namespace is seen there alone. */
	if (BPF_CORE_READ(inode, i_sb, s_user_ns, level))
		return 1;
	return !BPF_CORE_READ(task, cred, user_ns, level) &&
	       !BPF_CORE_READ(mount, mnt_ns, user_ns, level);
}

/* One of the names that the kernel keeps of an inode; NULL: it keeps none. */
static __always_inline struct dentry *alias_of(struct inode *inode)
{
	struct hlist_node *alias = BPF_CORE_READ(inode, i_dentry.first);

	return alias ? (void *)((char *)alias - bpf_core_field_offset(struct dentry, d_u.d_alias))
		     : NULL;
}

/* The path of a name, in a room, and what it is; see tell_name(). */
static __always_inline int tell_path(struct inode *inode, const struct path *path, __u32 type)
{
	__u32 room_number = take_path_room();
	struct path_room *room = bpf_map_lookup_elem(&etw_path_rooms, &room_number);
	struct mount *mount = path ? mount_of(BPF_CORE_READ(path, mnt)) : NULL;
	struct dentry *dentry = path ? BPF_CORE_READ(path, dentry) : alias_of(inode);
	int is_sent;

	if (!room)
		return 0;
	if (mount && !shows_place(inode, mount))
		mount = NULL;
	room->path_bytes = 0;
	/* One by one: all together would be put together on the stack, of which Linux 6.1 has little. */
	room->name.key = key_of(inode);
	BPF_CORE_READ_INTO(&room->name.inode, inode, i_ino);
	BPF_CORE_READ_INTO(&room->name.device, inode, i_sb, s_dev);
	BPF_CORE_READ_INTO(&room->name.special, inode, i_rdev);
	room->name.magic = BPF_CORE_READ(inode, i_sb, s_magic);
	room->name.flags = mount ? 0 : ETW_KERNEL_NAME_WITHIN;
	room->name.type = type;
	room->name.reserved = 0;
	if (!dentry) {
		room->name.flags |= ETW_KERNEL_NAME_MISSING;
	} else if (BPF_CORE_READ(dentry, d_parent) == dentry &&
		   dentry != BPF_CORE_READ(inode, i_sb, s_root) &&
		   (!mount || dentry != BPF_CORE_READ(mount, mnt.mnt_root))) {
		long bytes = bpf_probe_read_kernel_str(room->path, NAME_BYTES,
						       BPF_CORE_READ(dentry, d_name.name));

		room->name.flags |= ETW_KERNEL_NAME_PSEUDO;
		room->path_bytes = bytes > 0 ? bytes : 0;
	} else {
		room->walk = (struct path_walk){.dentry = dentry, .mount = mount};
		if (mount) {
			const struct task_struct *task = (const void *)bpf_get_current_task();

			room->walk.root_dentry = BPF_CORE_READ(task, fs, root.dentry);
			room->walk.root_mount = mount_of(BPF_CORE_READ(task, fs, root.mnt));
		}
		if (is_unlinked(dentry))
			room->name.flags |= ETW_KERNEL_NAME_UNLINKED;
		bpf_loop(PATH_STEPS, step_out, &room_number, 0);
		if (!room->walk.is_done)
			room->name.flags |= ETW_KERNEL_NAME_CUT;
	}
	room->name.path_bytes = room->path_bytes;
	is_sent = send_name(room);
	__sync_lock_test_and_set(&room->is_used, 0);
	return is_sent;
}

/*
 * tell_name() - sends the name of the inode at @inode_at.
 *
 * @path_at: a struct path that leads to it; 0: by a name that the kernel keeps of it, within its file system
 * @type:    enum etw_kernel_name_type
 *
 * Returns whether it went out; what did not the caller counts. The kernel verifies it once, because it takes numbers.
 */
__noinline int tell_name(__u64 inode_at, __u64 path_at, __u32 type)
{
	return tell_path((void *)inode_at, (const void *)path_at, type);
}

/*
 * What is counted as lost of an inode that has no name yet: find_named() does not find it, because it was named at no time.
 * NULL: nothing.
 */
static __always_inline struct named_file *find_lost(const struct etw_kernel_control *control,
						    __u64 key, const struct named_file *which)
{
	struct named_file *lost = bpf_map_lookup_elem(&etw_named_files, &key);

	return lost && !lost->named_ns && lost->hash == control->names_ns &&
			       lost->inode == which->inode && lost->device == which->device &&
			       lost->generation == which->generation
		       ? lost
		       : NULL;
}

/*
 * lose_name() - counts the name of an inode that did not go out, unless it is counted already. Returns its key. A function of its
 * own, for the little stack of Linux 6.1.
 */
__noinline __u64 lose_name(__u64 key)
{
	const struct etw_kernel_control *control = find_control();
	struct named_file now = {}, *named;

	if (!control)
		return key;
	named = find_named(control, (struct inode *)key, &now);
	if (find_lost(control, key, &now) || (named && named->renames & LOST_NAME))
		return key;
	count_drop(ETW_KERNEL_DROP_CPU_RING_FULL + ETW_KERNEL_FILE_NAME);
	if (named) {
		named->renames |= LOST_NAME;
		return key;
	}
	now.hash = control->names_ns;
	bpf_map_update_elem(&etw_named_files, &key, &now, BPF_ANY);
	return key;
}

/*
 * name_by() - as tell_name(), if the inode was not named yet, or if the path's name of it is another one now: it was renamed, or
 * this is another of its names. Returns its key; 0: there is none.
 */
__noinline __u64 name_by(__u64 inode_at, __u64 path_at, __u32 type)
{
	const struct etw_kernel_control *control = find_control();
	const struct path *path = (void *)path_at;
	struct inode *inode = (void *)inode_at;
	struct named_file now = {}, *named;
	__u64 key = key_of(inode);

	if (!control || !inode || !is_wanted(control, ETW_KERNEL_FILE_NAME))
		return key;
	named = find_named(control, inode, &now);
	if (named && !path)
		return key;
	if (is_still_called(named, path ? BPF_CORE_READ(path, dentry) : alias_of(inode), &now))
		return key;
	now.named_ns = bpf_ktime_get_ns();
	/* One that did not go out is told with the next event; until then the one before it holds. */
	if (!tell_name(inode_at, path_at, named ? ETW_KERNEL_NAME_IS : type))
		return lose_name(inode_at);
	bpf_map_update_elem(&etw_named_files, &key, &now, BPF_ANY);
	return key;
}

/*
 * tell_deleted() - that a file is gone, if it was to be named. @path_at: as of tell_name(); 0: the host knows what it was called.
 * What does not go out is not tried again: each piece of the file in the cache that goes would count once more.
 */
__noinline int tell_deleted(__u64 inode_at, __u64 path_at)
{
	const struct etw_kernel_control *control = find_control();
	struct inode *inode = (void *)inode_at;
	struct named_file now = {};
	__u64 key = key_of(inode);

	if (!control || !inode || !is_wanted(control, ETW_KERNEL_FILE_NAME))
		return 0;
	if (find_named(control, inode, &now)) {
		if (!tell_name(inode_at, path_at, ETW_KERNEL_NAME_DELETED))
			count_drop(ETW_KERNEL_DROP_CPU_RING_FULL + ETW_KERNEL_FILE_NAME);
	} else if (find_lost(control, key, &now)) {
		count_drop(ETW_KERNEL_DROP_CPU_RING_FULL + ETW_KERNEL_FILE_NAME);
	} else {
		return 0;
	}
	bpf_map_delete_elem(&etw_named_files, &key);
	return 0;
}

static __always_inline __u64 path_of(struct file *file)
{
	return (__u64)file + bpf_core_field_offset(file->f_path);
}

/*
 * name_file() - names the inode of an open file as name_by() does, by the path that the thread that runs sees; as a new one
 * where opening it made it. Returns its key; 0: there is no file.
 */
static __always_inline __u64 name_file(struct file *file)
{
	if (!file)
		return 0;
	return name_by((__u64)BPF_CORE_READ(file, f_inode), path_of(file),
		       BPF_CORE_READ(file, f_mode) & FMODE_CREATED ? ETW_KERNEL_NAME_CREATED
								   : ETW_KERNEL_NAME_IS);
}

/*
 * name_inode() - names an inode, if it was not named, by one of the names that the kernel keeps of it, within its file system.
 * Returns its key; 0: there is none.
 */
static __always_inline __u64 name_inode(struct inode *inode)
{
	return name_by((__u64)inode, 0, ETW_KERNEL_NAME_IS);
}

#endif
