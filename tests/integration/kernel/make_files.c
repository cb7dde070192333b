/* SPDX-License-Identifier: MIT */
/*
 * Does a known set of operations on files of all kinds, and prints a line for each: what an event should say of it.
 *
 *     make_files FOLDER ROUNDS URING
 *
 * URING: 1 where what io_uring does is told, too.
 * Lines: type of the event, name of the file, offset, size, class of information, extra, result; "-" where nothing is said.
 * What is meant to be compared lies between two accesses of a file that is not there, /etw-mark, of which there are no others. What
 * is open at the end is told with the type "exit".
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <linux/io_uring.h>
#include <linux/magic.h>

#define LOG_BYTES (4 << 20)
#define NAME_MAX_ 8192
#define NONE      -1LL
#define DEEP      20 /* folders, each with a long name: beyond PATH_MAX */
#define DEEP_NAME 250

static char *out, cwd[NAME_MAX_], name[NAME_MAX_];
static size_t out_bytes;

static void say(const char *type, const char *file, long long offset, long long size,
		long long class, long long extra, long result)
{
	long long numbers[] = {offset, size, class, extra};

	out_bytes += (size_t)snprintf(out + out_bytes, LOG_BYTES - out_bytes, "%s\t%s", type, file);
	for (size_t i = 0; i < 4; i++)
		out_bytes += (size_t)snprintf(out + out_bytes, LOG_BYTES - out_bytes,
					      numbers[i] == NONE ? "\t-" : "\t%lld", numbers[i]);
	out_bytes += (size_t)snprintf(out + out_bytes, LOG_BYTES - out_bytes, "\t%ld\n",
				      result < 0 ? -errno : result);
	if (LOG_BYTES - out_bytes < 3 * NAME_MAX_)
		exit(3);
}

static const char *path_of(const char *path)
{
	static char full[2 * NAME_MAX_];

	if (path[0] == '/')
		return path;
	(void)snprintf(full, sizeof(full), "%s/%s", cwd, path);
	return full;
}

/* As /proc/self/fd says it; a long one cannot be had there. */
static const char *fd_name(int fd, const char *otherwise)
{
	int error = errno;
	char link[64];
	ssize_t bytes;

	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	bytes = readlink(link, name, sizeof(name) - 1);
	errno = error;
	if (bytes < 0)
		return otherwise ? path_of(otherwise) : "?";
	name[bytes] = '\0';
	return name;
}

static int do_open(const char *path, int flags)
{
	int fd = open(path, flags, 0644);

	say("Create", path_of(path), NONE, NONE, NONE, NONE, fd);
	return fd;
}

/* @is_last: nobody else has the open file */
static void do_close(int fd, int is_last, const char *path)
{
	char copy[NAME_MAX_];
	int r;

	(void)snprintf(copy, sizeof(copy), "%s", fd_name(fd, path));
	r = close(fd);
	say("Cleanup", copy, NONE, NONE, NONE, NONE, r);
	if (is_last)
		say("Close", copy, NONE, NONE, NONE, NONE, r);
}

#define ON_FD(type, fd, path, offset, size, class, extra, call)                \
	do {                                                                   \
		long done_;                                                    \
		char copy_[NAME_MAX_];                                         \
		(void)snprintf(copy_, sizeof(copy_), "%s", fd_name(fd, path)); \
		done_ = (long)(call);                                          \
		say(type, copy_, offset, size, class, extra, done_);           \
	} while (0)

#define BY_PATH(type, path, class, extra, call) \
	say(type, path_of(path), NONE, NONE, class, extra, (long)(call))

static void read_and_write(int fd, const char *path)
{
	char bytes[4096];
	struct iovec pieces[2] = {{bytes, 100}, {bytes + 100, 23}};

	memset(bytes, 'x', sizeof(bytes));
	ON_FD("Write", fd, path, 0, 1000, NONE, NONE, write(fd, bytes, 1000));
	ON_FD("Write", fd, path, 5000, 10, NONE, NONE, pwrite(fd, bytes, 10, 5000));
	ON_FD("Write", fd, path, 1000, 123, NONE, NONE, writev(fd, pieces, 2));
	ON_FD("Write", fd, path, 6000, 123, NONE, NONE, pwritev(fd, pieces, 2, 6000));
	(void)lseek(fd, 10, SEEK_SET);
	ON_FD("Read", fd, path, 10, 4096, NONE, NONE, read(fd, bytes, sizeof(bytes)));
	ON_FD("Read", fd, path, 77, 5, NONE, NONE, pread(fd, bytes, 5, 77));
	ON_FD("Read", fd, path, 4106, 123, NONE, NONE, readv(fd, pieces, 2));
	ON_FD("Read", fd, path, 3, 123, NONE, NONE, preadv(fd, pieces, 2, 3));
	ON_FD("Read", fd, path, 999999, 5, NONE, NONE, pread(fd, bytes, 5, 999999));
}

static void use_file(const char *path, int flags)
{
	int fd = do_open(path, O_CREAT | O_RDWR | O_TRUNC | flags);
	struct stat about;
	char more[NAME_MAX_];

	if (fd < 0)
		return;
	read_and_write(fd, path);
	ON_FD("Flush", fd, path, NONE, NONE, NONE, NONE, fsync(fd));
	ON_FD("Flush", fd, path, NONE, NONE, NONE, NONE, fdatasync(fd));
	ON_FD("SetInfo", fd, path, NONE, NONE, 20, 5000, ftruncate(fd, 5000));
	ON_FD("SetInfo", fd, path, NONE, NONE, 19, 8192, fallocate(fd, 0, 0, 8192));
	ON_FD("SetInfo", fd, path, NONE, NONE, 4, NONE, fchmod(fd, 0600));
	ON_FD("SetInfo", fd, path, NONE, NONE, 4, NONE, futimens(fd, NULL));
	ON_FD("QueryInfo", fd, path, NONE, NONE, 34, NONE, fstat(fd, &about));
	ON_FD("FSControl", fd, path, NONE, NONE, FIONREAD, NONE, ioctl(fd, FIONREAD, more));
	BY_PATH("SetInfo", path, 20, 6000, truncate(path, 6000));
	BY_PATH("SetInfo", path, 4, NONE, chmod(path, 0644));
	BY_PATH("QueryInfo", path, 34, NONE, stat(path, &about));
	BY_PATH("QueryInfo", path, 34, NONE, lstat(path, &about));
	BY_PATH("QueryInfo", path, 4, NONE, access(path, R_OK));
	do_close(fd, 1, path);
	(void)snprintf(more, sizeof(more), "%s.more", path);
	BY_PATH("SetLinkPath", more, 11, NONE, link(path, more));
	BY_PATH("DeletePath", more, 13, NONE, unlink(more));
	BY_PATH("Create", more, NONE, NONE, symlink(path, more));
	BY_PATH("RenamePath", path, 10, NONE, rename(more, path));
	BY_PATH("DeletePath", path, 13, NONE, unlink(path));
}

static void append(const char *path)
{
	int fd = do_open(path, O_CREAT | O_WRONLY | O_APPEND), other;

	ON_FD("Write", fd, path, 0, 3, NONE, NONE, write(fd, "abc", 3));
	ON_FD("Write", fd, path, 3, 3, NONE, NONE, write(fd, "abc", 3));
	other = dup(fd);
	do_close(other, 0, path);
	do_close(fd, 1, path);
	BY_PATH("DeletePath", path, 13, NONE, unlink(path));
}

static void use_deleted(const char *path)
{
	int fd = do_open(path, O_CREAT | O_RDWR);
	char bytes[8];

	BY_PATH("DeletePath", path, 13, NONE, unlink(path));
	ON_FD("Write", fd, path, 0, 3, NONE, NONE, write(fd, "abc", 3));
	ON_FD("Read", fd, path, 3, 8, NONE, NONE, read(fd, bytes, 8));
	do_close(fd, 1, path);
	fd = open(cwd, O_TMPFILE | O_RDWR, 0600);
	say("Create", cwd, NONE, NONE, NONE, NONE, fd);
	if (fd < 0)
		return;
	ON_FD("Write", fd, path, 0, 3, NONE, NONE, write(fd, "abc", 3));
	do_close(fd, 1, path);
}

/* The store is a write, where the file system writes to a disk of its own. */
static void write_mapped(const char *path)
{
	struct statfs about;
	int fd = do_open(path, O_CREAT | O_RDWR);
	char *at;

	ON_FD("SetInfo", fd, path, NONE, NONE, 20, 4096, ftruncate(fd, 4096));
	at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (at == MAP_FAILED)
		exit(4);
	at[5] = 'm';
	if (fstatfs(fd, &about) == 0 && about.f_type == EXT4_SUPER_MAGIC)
		say("Write", path_of(path), 0, 4096, NONE, NONE, 4096);
	at[6] = 'm';
	munmap(at, 4096);
	do_close(fd, 1, path);
	BY_PATH("DeletePath", path, 13, NONE, unlink(path));
}

/* None of these is an operation of a file. */
static void use_nameless(void)
{
	int ends[2], event = eventfd(0, 0);
	char bytes[8] = "abc";

	if (pipe(ends) == 0) {
		(void)!write(ends[1], bytes, 3);
		(void)!read(ends[0], bytes, 3);
		close(ends[0]);
		close(ends[1]);
	}
	(void)!write(event, bytes, 8);
	close(event);
	(void)!read(-1, bytes, 1);
}

static void use_memory(void)
{
	int fd = memfd_create("etw test", 0), zero;
	char bytes[8];

	ON_FD("Write", fd, NULL, 0, 3, NONE, NONE, write(fd, "abc", 3));
	do_close(fd, 1, NULL);
	zero = do_open("/dev/zero", O_RDONLY);
	ON_FD("Read", zero, NULL, 0, 8, NONE, NONE, read(zero, bytes, 8));
	do_close(zero, 1, NULL);
}

static void copy(const char *from, const char *to)
{
	int in = do_open(from, O_CREAT | O_RDWR), into, ends[2];
	off_t at = 2;

	ON_FD("Write", in, from, 0, 6, NONE, NONE, write(in, "abcdef", 6));
	into = do_open(to, O_CREAT | O_RDWR);
	ON_FD("Read", in, from, 2, 3, NONE, NONE, sendfile(into, in, &at, 3));
	say("Write", fd_name(into, to), 0, 3, NONE, NONE, 3);
	at = 1;
	ON_FD("Read", in, from, 1, 4, NONE, NONE, copy_file_range(in, &at, into, NULL, 4, 0));
	say("Write", fd_name(into, to), 3, 4, NONE, NONE, 4);
	if (pipe(ends) == 0) {
		at = 0;
		ON_FD("Read", in, from, 0, 5, NONE, NONE, splice(in, &at, ends[1], NULL, 5, 0));
		at = 9;
		ON_FD("Write", into, to, 9, 5, NONE, NONE, splice(ends[0], NULL, into, &at, 5, 0));
		close(ends[0]);
		close(ends[1]);
	}
	do_close(in, 1, from);
	/* The descriptor of the one becomes that of another. */
	in = do_open(from, O_RDONLY);
	ON_FD("Cleanup", into, to, NONE, NONE, NONE, NONE, dup2(in, into));
	say("Close", path_of(to), NONE, NONE, NONE, NONE, into);
	do_close(in, 0, from);
	say("Cleanup", path_of(from), NONE, NONE, NONE, NONE, 0);
	say("Close", path_of(from), NONE, NONE, NONE, NONE, 0);
	(void)syscall(SYS_close_range, into, into, 0);
	BY_PATH("DeletePath", from, 13, NONE, unlink(from));
	BY_PATH("DeletePath", to, 13, NONE, unlink(to));
}

static void use_folder(const char *path)
{
	char bytes[1024];
	int fd, inner, r;

	BY_PATH("Create", path, NONE, NONE, mkdir(path, 0700));
	fd = do_open(path, O_RDONLY | O_DIRECTORY);
	inner = openat(fd, "./inner", O_CREAT | O_WRONLY, 0600);
	(void)snprintf(bytes, sizeof(bytes), "%s/inner", path);
	say("Create", path_of(bytes), NONE, NONE, NONE, NONE, inner);
	do_close(inner, 1, bytes);
	ON_FD("DirEnum", fd, path, NONE, sizeof(bytes), 1, NONE,
	      syscall(SYS_getdents64, fd, bytes, sizeof(bytes)));
	ON_FD("Read", fd, path, NONE, 8, NONE, NONE, read(fd, bytes, 8)); /* EISDIR */
	r = unlinkat(fd, "inner", 0);
	(void)snprintf(bytes, sizeof(bytes), "%s/inner", path);
	say("DeletePath", path_of(bytes), NONE, NONE, 13, NONE, r);
	do_close(fd, 1, path);
	BY_PATH("DeletePath", path, 13, NONE, rmdir(path));
	BY_PATH("Create", "nowhere/at/all", NONE, NONE, open("nowhere/at/all", O_RDONLY));
	BY_PATH("DeletePath", "nowhere", 13, NONE, unlink("nowhere"));
}

static void go_deep(void)
{
	char part[DEEP_NAME + 1];
	size_t home = strlen(cwd);
	int fd = open(".", O_RDONLY | O_DIRECTORY), file;

	say("Create", cwd, NONE, NONE, NONE, NONE, fd);
	memset(part, 'd', DEEP_NAME);
	part[DEEP_NAME] = '\0';
	for (int i = 0; i < DEEP; i++) {
		BY_PATH("Create", part, NONE, NONE, mkdir(part, 0700));
		if (chdir(part))
			exit(4);
		(void)snprintf(cwd + strlen(cwd), sizeof(cwd) - strlen(cwd), "/%s", part);
	}
	file = do_open("deep", O_CREAT | O_WRONLY);
	ON_FD("Write", file, "deep", 0, 3, NONE, NONE, write(file, "abc", 3));
	do_close(file, 1, "deep");
	cwd[home] = '\0';
	if (fchdir(fd))
		exit(4);
	do_close(fd, 1, NULL);
}

/* In a mount namespace of its own, below a path that is another file system there. */
static void use_mounts(void)
{
	char options[4 * NAME_MAX_];
	const char *at[] = {"lower", "upper", "work", "over", "bound"};

	for (size_t i = 0; i < 5; i++)
		(void)mkdir(at[i], 0700);
	if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
		return;
	(void)snprintf(options, sizeof(options),
		       "lowerdir=%s/lower,upperdir=%s/upper,workdir=%s/work", cwd, cwd, cwd);
	if (mount("overlay", "over", "overlay", 0, options) == 0)
		out_bytes += (size_t)sprintf(out + out_bytes, "# overlay\n");
	if (mount("lower", "bound", NULL, MS_BIND, NULL) == 0)
		out_bytes += (size_t)sprintf(out + out_bytes, "# bind mount\n");
}

struct uring {
	int fd;
	char *submissions, *completions;
	struct io_uring_sqe *requests;
	struct io_uring_params about;
};

static int open_uring(struct uring *uring)
{
	struct io_uring_params *about = &uring->about;

	*uring = (struct uring){0};
	uring->fd = (int)syscall(SYS_io_uring_setup, 4, about);
	if (uring->fd < 0)
		return -1;
	uring->submissions = mmap(NULL, about->sq_off.array + about->sq_entries * sizeof(unsigned),
				  PROT_READ | PROT_WRITE, MAP_SHARED, uring->fd,
				  IORING_OFF_SQ_RING);
	uring->completions =
		mmap(NULL, about->cq_off.cqes + about->cq_entries * sizeof(struct io_uring_cqe),
		     PROT_READ | PROT_WRITE, MAP_SHARED, uring->fd, IORING_OFF_CQ_RING);
	uring->requests = mmap(NULL, about->sq_entries * sizeof(struct io_uring_sqe),
			       PROT_READ | PROT_WRITE, MAP_SHARED, uring->fd, IORING_OFF_SQES);
	return uring->submissions == MAP_FAILED || uring->completions == MAP_FAILED ||
			       (void *)uring->requests == MAP_FAILED
		       ? -1
		       : 0;
}

/* Asks, waits, and returns the result. */
static long ask_uring(struct uring *uring, int operation, int fd, const void *at, unsigned count,
		      off_t offset)
{
	const struct io_uring_params *about = &uring->about;
	unsigned *tail = (void *)(uring->submissions + about->sq_off.tail);
	unsigned *head = (void *)(uring->completions + about->cq_off.head);
	unsigned mask = *(unsigned *)(void *)(uring->completions + about->cq_off.ring_mask);
	const struct io_uring_cqe *done = (void *)(uring->completions + about->cq_off.cqes);
	long result;

	uring->requests[0] = (struct io_uring_sqe){.opcode = (unsigned char)operation,
						   .fd = fd,
						   .addr = (unsigned long)at,
						   .len = count,
						   .off = (unsigned long long)offset};
	((unsigned *)(void *)(uring->submissions +
			      about->sq_off.array))[*tail & (about->sq_entries - 1)] = 0;
	__atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
	if (syscall(SYS_io_uring_enter, uring->fd, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0) < 0)
		return -1;
	result = done[*head & mask].res;
	__atomic_store_n(head, *head + 1, __ATOMIC_RELEASE);
	return result;
}

/* Where the kernel lets us, and tells of it. */
static void use_uring(const char *path)
{
	struct iovec pieces[2];
	struct uring uring;
	char bytes[128];
	int fd;

	memset(bytes, 'u', sizeof(bytes));
	pieces[0] = (struct iovec){bytes, 30};
	pieces[1] = (struct iovec){bytes + 30, 40};
	if (open_uring(&uring))
		return;
	fd = do_open(path, O_CREAT | O_RDWR);
	ON_FD("Write", fd, path, 10, 100, NONE, NONE,
	      ask_uring(&uring, IORING_OP_WRITE, fd, bytes, 100, 10));
	ON_FD("Read", fd, path, 5, 70, NONE, NONE,
	      ask_uring(&uring, IORING_OP_READV, fd, pieces, 2, 5));
	ON_FD("Flush", fd, path, NONE, NONE, NONE, NONE,
	      ask_uring(&uring, IORING_OP_FSYNC, fd, NULL, 0, 0));
	/* A thread of io_uring's may have the file a moment longer. */
	do_close(fd, 0, path);
	say("Close?", path_of(path), NONE, NONE, NONE, NONE, 0);
	BY_PATH("DeletePath", path, 13, NONE, unlink(path));
	munmap(uring.submissions,
	       uring.about.sq_off.array + uring.about.sq_entries * sizeof(unsigned));
	munmap(uring.completions,
	       uring.about.cq_off.cqes + uring.about.cq_entries * sizeof(struct io_uring_cqe));
	munmap(uring.requests, uring.about.sq_entries * sizeof(struct io_uring_sqe));
	close(uring.fd);
}

#if defined(__x86_64__)
static long call_32(long number, long first, long second, long third)
{
	long result;

	__asm__ volatile("int $0x80"
			 : "=a"(result)
			 : "a"(number), "b"(first), "c"(second), "d"(third)
			 : "memory", "cc", "r8", "r9", "r10", "r11");
	return result;
}

/* As a 32-bit program does, with its numbers, and pointers that fit. */
static void use_32(const char *path)
{
	char *low = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	long fd;

	if (low == MAP_FAILED || call_32(20, 0, 0, 0) != getpid())
		return;
	(void)snprintf(low, 4096, "%s", path);
	fd = call_32(5, (long)low, O_CREAT | O_RDWR, 0600);
	say("Create", path_of(path), NONE, NONE, NONE, NONE, fd);
	if (fd < 0)
		return;
	ON_FD("Write", (int)fd, path, 0, 5, NONE, NONE, call_32(4, fd, (long)low, 5));
	ON_FD("Read", (int)fd, path, 5, 9, NONE, NONE, call_32(3, fd, (long)low + 2048, 9));
	ON_FD("Cleanup", (int)fd, path, NONE, NONE, NONE, NONE, call_32(6, fd, 0, 0));
	say("Close", path_of(path), NONE, NONE, NONE, NONE, 0);
	(void)snprintf(low, 4096, "%s", path);
	BY_PATH("DeletePath", path, 13, NONE, call_32(10, (long)low, 0, 0));
	munmap(low, 4096);
}
#endif

int main(int argc, char **argv)
{
	int rounds = argc == 4 ? atoi(argv[2]) : 0, has_uring = argc == 4 && atoi(argv[3]), left;

	out = malloc(LOG_BYTES);
	if (!rounds || !out || chdir(argv[1]) || !getcwd(cwd, sizeof(cwd)))
		return 2;
	memset(out, 0, LOG_BYTES); /* so that the calls below are all */
	use_mounts();
	(void)access("/etw-mark", F_OK);
	for (int i = 0; i < rounds; i++) {
		use_file("plain", 0);
		use_file("direct", O_DSYNC);
		use_file("\xff bad \xe2\x82\xac", 0);
		use_file("over/file", 0);
		use_file("bound/file", 0);
		append("appended");
		use_deleted("deleted");
		write_mapped("mapped");
		use_nameless();
		use_memory();
		copy("from", "to");
		use_folder("folder");
		if (has_uring)
			use_uring("asked");
#if defined(__x86_64__)
		use_32("small");
#endif
	}
	go_deep();
	left = do_open("left", O_CREAT | O_WRONLY);
	(void)access("/etw-mark", F_OK);
	say("exit", fd_name(left, "left"), NONE, NONE, NONE, NONE, 0);
	for (size_t at = 0; at < out_bytes;) {
		ssize_t bytes = write(STDOUT_FILENO, out + at, out_bytes - at);

		if (bytes <= 0)
			return 5;
		at += (size_t)bytes;
	}
	return 0;
}
