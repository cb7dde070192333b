/* SPDX-License-Identifier: MIT */
/*
 * The runtime directory: where it is, its discovery page, its socket. Everything in it is opened without
 * following symbolic links, and believed only when its owner is root or this user: the directory of a user
 * without XDG_RUNTIME_DIR lies in /tmp, where anybody can be first. A user who finds another one's there has it
 * at home.
 */
#include "ipc/runtime.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/file.h"
#include "base/macros.h"
#include "base/patience.h"
#include "base/time.h"
#include "ipc/connection.h"

#define SYSTEM_DIRECTORY    "/run/etw"
#define LOGIN_DIRECTORY     "/run/user/"
#define TEMPORARY_DIRECTORY "/tmp/etw-"
#define HOME_DIRECTORY      "/.cache/etw/run-"
#define LOCK_FILE           "lock" /* held while a host looks whether another one listens */
#define PAGE_VERSION        1
#define HELLO_TIMEOUT_MS    5000
#define WRITABLE_BY_OTHERS  (S_IWGRP | S_IWOTH)

static int take_fd(int *fd)
{
	int taken = *fd;

	*fd = -1;
	return taken;
}

/* A variable that is set and not empty; a program with more rights than its caller takes none. */
static const char *environment(const char *name)
{
	const char *value = secure_getenv(name);

	return value && *value ? value : NULL;
}

bool etw_runtime_is_one(void)
{
	return geteuid() == 0 || environment("ETW_RUNTIME_DIR");
}

/* Whether a folder is this user's, and nobody else can put anything there. */
static bool is_own_folder(const char *path, int (*look)(const char *, struct stat *))
{
	struct stat info;

	return look(path, &info) == 0 && S_ISDIR(info.st_mode) && info.st_uid == geteuid() &&
	       !(info.st_mode & WRITABLE_BY_OTHERS);
}

/*
 * $XDG_RUNTIME_DIR, if it is this user's: sudo and su may pass on that of another one, where nothing can be
 * made, and who has it is not to be told of this user's sessions.
 */
static const char *session_directory(void)
{
	const char *path = environment("XDG_RUNTIME_DIR");
	struct stat info;

	return path && *path == '/' && stat(path, &info) == 0 && S_ISDIR(info.st_mode) &&
			       info.st_uid == geteuid()
		       ? path
		       : NULL;
}

static int put_path(char ret[PATH_MAX], const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static int put_path(char ret[PATH_MAX], const char *format, ...)
{
	va_list list;
	int chars;

	va_start(list, format);
	chars = vsnprintf(ret, PATH_MAX, format, list);
	va_end(list);
	return chars < 0 || chars >= PATH_MAX ? -ENAMETOOLONG : 0;
}

/* Machines may share a home; they share no host. */
static void find_home_place(char ret[PATH_MAX])
{
	const char *home = environment("HOME");
	struct utsname machine;

	*ret = '\0';
	if (home && *home == '/' && is_own_folder(home, stat) && uname(&machine) == 0 &&
	    !strchr(machine.nodename, '/') &&
	    put_path(ret, "%s" HOME_DIRECTORY "%s", home, machine.nodename) < 0)
		*ret = '\0';
}

int etw_runtime_find_places(enum etw_instance instance, struct etw_runtime_places *ret)
{
	const char *own = environment("ETW_RUNTIME_DIR");
	const char *session = session_directory();
	char login[sizeof(LOGIN_DIRECTORY) + 16];

	ret->second[0] = '\0';
	if (own)
		return put_path(ret->first, "%s", own);
	if (instance == ETW_INSTANCE_SYSTEM || geteuid() == 0)
		return put_path(ret->first, SYSTEM_DIRECTORY);
	if (session)
		return put_path(ret->first, "%s/etw", session);
	(void)snprintf(login, sizeof(login), LOGIN_DIRECTORY "%u", geteuid());
	if (is_own_folder(login, lstat))
		return put_path(ret->first, "%s/etw", login);
	find_home_place(ret->second);
	return put_path(ret->first, TEMPORARY_DIRECTORY "%u", geteuid());
}

const char *etw_runtime_place(const struct etw_runtime_places *places)
{
	struct stat info;

	if (!places->second[0] || is_own_folder(places->first, lstat))
		return places->first;
	if (is_own_folder(places->second, lstat))
		return places->second;
	return lstat(places->first, &info) < 0 && errno == ENOENT ? places->first : places->second;
}

int etw_runtime_directory(enum etw_instance instance, char *ret)
{
	CLEANUP(freep) struct etw_runtime_places *places = malloc(sizeof(*places));
	const char *place;

	if (!places)
		return -ENOMEM;
	TRY(etw_runtime_find_places(instance, places));
	place = etw_runtime_place(places);
	memcpy(ret, place, strlen(place) + 1);
	return 0;
}

/* Owned descriptor of a directory, for names in it. -EPERM for a symbolic link or a file. */
static int open_directory(const char *directory, int *ret_fd, struct stat *ret)
{
	int fd = open(directory, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return errno == ENOTDIR || errno == ELOOP ? -EPERM : -errno;
	if (fstat(fd, ret) < 0) {
		int r = -errno;

		(void)close(fd);
		return r;
	}
	*ret_fd = fd;
	return 0;
}

/* /run may be missing in a container. Every other parent is somebody else's to make. */
static bool is_parent_ours(const char *directory)
{
	return strcmp(directory, SYSTEM_DIRECTORY) == 0 ||
	       strncmp(directory, TEMPORARY_DIRECTORY, strlen(TEMPORARY_DIRECTORY)) == 0;
}

/* The folders above the one in the user's home, which are the user's too. */
static int make_home_folders(const char *directory)
{
	CLEANUP(freep) char *parent = strdup(directory);
	char *last = parent ? strrchr(parent, '/') : NULL;

	if (!last)
		return -ENOMEM;
	*last = '\0';
	return etw_file_make_folders(parent, 0700);
}

static int make_directory(const char *directory)
{
	mode_t mode = geteuid() == 0 ? 0755 : 0700;
	char home[PATH_MAX];
	int r = mkdir(directory, mode);

	find_home_place(home);
	if (r < 0 && errno == ENOENT && strcmp(directory, home) == 0) {
		TRY(make_home_folders(directory));
		r = mkdir(directory, mode);
	}
	if (r < 0 && errno == ENOENT && is_parent_ours(directory)) {
		(void)mkdir(strncmp(directory, "/run/", 5) == 0 ? "/run" : "/tmp", 0755);
		r = mkdir(directory, mode);
	}
	if (r < 0)
		return errno == EEXIST ? 0 : -errno;
	/* The mask of the caller must not lock users out of the system's directory. */
	return chmod(directory, mode) < 0 ? -errno : 0;
}

static int map_page(int fd, int protection, struct wire_discovery_page **ret)
{
	void *page = mmap(NULL, WIRE_DISCOVERY_PAGE_BYTES, protection, MAP_SHARED, fd, 0);

	if (page == MAP_FAILED)
		return -errno;
	*ret = page;
	return 0;
}

static bool is_page(const struct wire_discovery_page *page)
{
	return load_acquire(&page->magic) == WIRE_DISCOVERY_PAGE_MAGIC &&
	       page->version == PAGE_VERSION;
}

/* Maps the host's own page; a new one becomes valid with the store of the magic. */
static int prepare_page(int fd, struct wire_discovery_page **ret)
{
	struct wire_discovery_page *page = NULL;
	struct stat info;

	if (fstat(fd, &info) < 0)
		return -errno;
	if (!S_ISREG(info.st_mode) || info.st_uid != geteuid() ||
	    (info.st_mode & WRITABLE_BY_OTHERS))
		return -EPERM;
	/* Never shorter: whoever maps it already would die on the part that is gone. */
	if (info.st_size < WIRE_DISCOVERY_PAGE_BYTES && ftruncate(fd, WIRE_DISCOVERY_PAGE_BYTES))
		return -errno;
	if (!info.st_size && fchmod(fd, 0644) < 0)
		return -errno;
	TRY(map_page(fd, PROT_READ | PROT_WRITE, &page));
	if (!load_acquire(&page->magic)) {
		page->version = PAGE_VERSION;
		store_release(&page->magic, WIRE_DISCOVERY_PAGE_MAGIC);
	}
	if (!is_page(page)) {
		etw_runtime_page_unmap(page);
		return -EPROTO;
	}
	*ret = page;
	return 0;
}

int etw_runtime_prepare(const char *directory, struct wire_discovery_page **ret_page)
{
	CLEANUP(etw_file_closep) int folder = -1;
	CLEANUP(etw_file_closep) int file = -1;
	struct stat info;

	TRY(make_directory(directory));
	TRY(open_directory(directory, &folder, &info));
	if (info.st_uid != geteuid() || (info.st_mode & WRITABLE_BY_OTHERS))
		return -EPERM;
	file = openat(folder, ETW_RUNTIME_PAGE,
		      O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0644);
	if (file < 0)
		return errno == ELOOP || errno == EISDIR || errno == ENXIO ? -EPERM : -errno;
	return prepare_page(file, ret_page);
}

static long futex(const uint32_t *word, int operation, uint32_t value,
		  const struct timespec *deadline)
{
	return syscall(SYS_futex, word, operation, value, deadline, NULL, FUTEX_BITSET_MATCH_ANY);
}

void etw_runtime_announce(struct wire_discovery_page *page, bool is_hosted)
{
	uint32_t epoch = load_relaxed(&page->epoch);
	bool was_hosted = epoch & 1;

	/* A host that died left it odd: the next one counts on, so that who waits sees a change. */
	if (is_hosted)
		epoch += was_hosted ? 2 : 1;
	else if (was_hosted)
		epoch++;
	store_release(&page->epoch, epoch); /* pairs with etw_runtime_wait() */
	(void)futex(&page->epoch, FUTEX_WAKE, INT_MAX, NULL);
}

int etw_runtime_page(const char *directory, const struct wire_discovery_page **ret_page)
{
	CLEANUP(etw_file_closep) int folder = -1;
	CLEANUP(etw_file_closep) int file = -1;
	struct wire_discovery_page *page = NULL;
	struct stat info;

	TRY(open_directory(directory, &folder, &info));
	file = openat(folder, ETW_RUNTIME_PAGE, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (file < 0)
		return errno == ELOOP ? -EPERM : -errno;
	if (fstat(file, &info) < 0)
		return -errno;
	if (!S_ISREG(info.st_mode) || (info.st_uid != 0 && info.st_uid != geteuid()) ||
	    (info.st_mode & WRITABLE_BY_OTHERS))
		return -EPERM;
	if (info.st_size < WIRE_DISCOVERY_PAGE_BYTES)
		return -EPROTO;
	TRY(map_page(file, PROT_READ, &page));
	if (!is_page(page)) {
		etw_runtime_page_unmap(page);
		return -EPROTO;
	}
	*ret_page = page;
	return 0;
}

void etw_runtime_page_unmap(const struct wire_discovery_page *page)
{
	if (page)
		(void)munmap((void *)(uintptr_t)page, WIRE_DISCOVERY_PAGE_BYTES);
}

int etw_runtime_wait(const struct wire_discovery_page *page, uint32_t epoch, uint32_t timeout_ms)
{
	struct timespec deadline =
		etw_timespec_of_ns(etw_monotonic_ns() + timeout_ms * ETW_NS_PER_MS);

	/* Not the private kind of futex: the page is a file that other processes map. */
	while (load_acquire(&page->epoch) == epoch) { /* pairs with etw_runtime_announce() */
		if (futex(&page->epoch, FUTEX_WAIT_BITSET, epoch, &deadline) < 0 && errno != EAGAIN)
			return -errno;
	}
	return 0;
}

/*
 * The address of the socket. A directory whose name is too long for one is reached through its
 * descriptor, which stays open until the address was used.
 */
static int socket_address(const char *directory, int folder, struct sockaddr_un *ret)
{
	int chars;

	*ret = (struct sockaddr_un){.sun_family = AF_UNIX};
	chars = snprintf(ret->sun_path, sizeof(ret->sun_path), "%s/" ETW_RUNTIME_SOCKET, directory);
	if (chars > 0 && (size_t)chars < sizeof(ret->sun_path))
		return 0;
	chars = snprintf(ret->sun_path, sizeof(ret->sun_path),
			 "/proc/self/fd/%d/" ETW_RUNTIME_SOCKET, folder);
	return chars > 0 && (size_t)chars < sizeof(ret->sun_path) ? 0 : -ENAMETOOLONG;
}

static int connect_to(int fd, const struct sockaddr_un *address)
{
	while (connect(fd, (const struct sockaddr *)address, sizeof(*address)) < 0) {
		if (errno != EINTR)
			return -errno;
	}
	return 0;
}

static int say_hello(int fd, enum wire_role role)
{
	const struct wire_message head = {.type = WIRE_HELLO, .request = 1};
	const struct wire_hello hello = {WIRE_PROTOCOL_VERSION, role};
	CLEANUP(freep) uint8_t *room = malloc(WIRE_MESSAGE_BYTES_MAX);
	size_t bytes;
	int r;

	if (!room)
		return -ENOMEM;
	bytes = wire_message_encode_hello(&head, &hello, room);
	assert(bytes);
	r = etw_ipc_send(fd, room, bytes, NULL, 0);
	/* A host that refuses the connection says why, and ends it without waiting for this. */
	return r == -EPIPE ? 0 : r;
}

int etw_runtime_answered(int fd, struct etw_ipc_message *message, struct wire_welcome *ret)
{
	TRY(etw_ipc_receive(fd, message));
	if (message->head.status < 0)
		return message->head.status;
	if (message->head.type != WIRE_WELCOME)
		return -EPROTO;
	TRY(wire_message_decode_welcome(message->datagram, ret));
	if (message->is_cut)
		return -EMFILE;
	return ret->protocol == WIRE_PROTOCOL_VERSION && message->fds[0] >= 0 ? 0 : -EPROTO;
}

static void message_freep(struct etw_ipc_message **message)
{
	if (*message)
		etw_ipc_message_done(*message);
	free(*message);
}

static int milliseconds_until(uint64_t ns)
{
	uint64_t now_ns = etw_monotonic_ns();

	return ns > now_ns ? (int)((ns - now_ns) / ETW_NS_PER_MS) + 1 : 0;
}

/* The first message has been sent. */
static int await_welcome(int fd, struct etw_patience *patience, struct wire_welcome *ret_welcome,
			 int *ret_clock_fd)
{
	CLEANUP(message_freep) struct etw_ipc_message *message = malloc(sizeof(*message));
	struct wire_welcome welcome;
	int r;

	if (!message)
		return -ENOMEM;
	etw_ipc_message_init(message);
	while ((r = etw_runtime_answered(fd, message, &welcome)) == -EAGAIN) {
		struct pollfd wait = {.fd = fd, .events = POLLIN};

		if (etw_patience_look(patience, etw_monotonic_ns()))
			return -ETIMEDOUT;
		(void)poll(&wait, 1, milliseconds_until(etw_patience_next_ns(patience)));
	}
	if (r == -EPIPE) /* it went away while it was asked: as if it had not been there */
		return -ECONNREFUSED;
	if (r < 0)
		return r;
	if (ret_clock_fd)
		*ret_clock_fd = take_fd(&message->fds[0]);
	*ret_welcome = welcome;
	return 0;
}

int etw_runtime_call(const char *directory, enum wire_role role, int *ret_socket)
{
	CLEANUP(etw_file_closep) int folder = -1;
	CLEANUP(etw_file_closep) int fd = -1;
	struct sockaddr_un address;
	struct etw_peer peer;
	struct stat info;
	int r;

	r = open_directory(directory, &folder, &info);
	if (r < 0)
		return r == -EPERM ? -EACCES : r;
	if (info.st_uid != 0 && info.st_uid != geteuid())
		return -EACCES;
	TRY(socket_address(directory, folder, &address));
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	etw_ipc_enlarge(fd);
	TRY(connect_to(fd, &address));
	TRY(etw_ipc_peer(fd, &peer));
	if (peer.uid != 0 && peer.uid != geteuid())
		return -EACCES;
	TRY(say_hello(fd, role));
	*ret_socket = take_fd(&fd);
	return 0;
}

int etw_runtime_connect(const char *directory, enum wire_role role, int *ret_socket,
			struct wire_welcome *ret_welcome, int *ret_clock_fd)
{
	struct etw_patience patience = etw_patience_begin(HELLO_TIMEOUT_MS, etw_monotonic_ns());
	CLEANUP(etw_file_closep) int fd = -1;
	int r;

	while ((r = etw_runtime_call(directory, role, &fd)) == -EAGAIN) {
		if (etw_patience_look(&patience, etw_monotonic_ns()))
			return -ETIMEDOUT;
		(void)poll(NULL, 0, milliseconds_until(etw_patience_next_ns(&patience)));
	}
	if (r < 0)
		return r == -EPIPE ? -ECONNREFUSED : r;
	TRY(await_welcome(fd, &patience, ret_welcome, ret_clock_fd));
	if (fcntl(fd, F_SETFL, 0) < 0)
		return -errno;
	*ret_socket = take_fd(&fd);
	return 0;
}

const char *etw_runtime_sentence(int result)
{
	switch (result) {
	case -ETOOMANYREFS:
		return "it refuses this connection, because this user has as many as one may have";
	case -EUSERS:
		return "it refuses this connection, because all users together have as many as "
		       "they may";
	default:
		return strerror(-result);
	}
}

/* Whether somebody listens there. A socket that a dead host left is taken away. */
static int clear_socket(int folder, const struct sockaddr_un *address)
{
	CLEANUP(etw_file_closep) int probe = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	struct timeval limit = {.tv_sec = 1};

	if (probe < 0)
		return -errno;
	(void)setsockopt(probe, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	switch (connect_to(probe, address)) {
	case -ENOENT:
		return 0;
	case -ECONNREFUSED:
		return unlinkat(folder, ETW_RUNTIME_SOCKET, 0) < 0 && errno != ENOENT ? -errno : 0;
	default:
		return -EADDRINUSE;
	}
}

static int bind_and_listen(int folder, int fd, const struct sockaddr_un *address)
{
	TRY(clear_socket(folder, address));
	/* Where the kernel cannot, etw_ipc_guard() knows it. */
	(void)etw_ipc_refuse_fds(fd);
	if (bind(fd, (const struct sockaddr *)address, sizeof(*address)) < 0)
		return -errno;
	/* Nobody can connect before listen(), so that the mask of the caller cannot be seen. */
	if (fchmodat(folder, ETW_RUNTIME_SOCKET, 0666, 0) < 0 || listen(fd, SOMAXCONN) < 0)
		return -errno;
	return 0;
}

int etw_runtime_listen(const char *directory, int *ret_socket)
{
	CLEANUP(etw_file_closep) int folder = -1;
	CLEANUP(etw_file_closep) int lock = -1;
	CLEANUP(etw_file_closep) int fd = -1;
	struct sockaddr_un address;
	struct stat info;

	TRY(open_directory(directory, &folder, &info));
	if (info.st_uid != geteuid() || (info.st_mode & WRITABLE_BY_OTHERS))
		return -EPERM;
	TRY(socket_address(directory, folder, &address));
	lock = openat(folder, LOCK_FILE, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC,
		      0600);
	/* The mask of the caller must not lock the next host out of it. */
	if (lock < 0 || fchmod(lock, 0600) < 0)
		return errno == ELOOP ? -EPERM : -errno;
	while (flock(lock, LOCK_EX) < 0) {
		if (errno != EINTR)
			return -errno;
	}
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	TRY(bind_and_listen(folder, fd, &address));
	*ret_socket = take_fd(&fd);
	return 0;
}
