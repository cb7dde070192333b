/* SPDX-License-Identifier: MIT */
/*
 * Descriptors go from the host to its peers alone. A peer that sends one whose last close takes as long as the
 * peer likes must not make the host's loop wait for it: a TCP socket that lingers, a file of a FUSE server that
 * never answers FLUSH. Each once over a listener of etwd's own, which refuses descriptors where the kernel can,
 * and once over a connection that was made before etwd had the listener, as systemd passes it.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/fuse.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "integration/daemon/support.h"
#include "integration/daemon/talk.h"

#define STRANGER   54321
#define LISTEN_FD  3
#define LINGER_S   3600
#define FUSE_BYTES (64 * 1024)
#define NAP        (100 * 1000)
#define ROUNDS     5

static pid_t attacker, fuse_server;
static char fuse_file[300];

/* A process of this test ends with it, whatever happens to it. */
static void die_with_parent(void)
{
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
}

static void kill_and_wait(pid_t *pid)
{
	if (*pid > 0) {
		(void)kill(*pid, SIGKILL);
		(void)waitpid(*pid, NULL, 0);
	}
	*pid = 0;
}

static int connect_raw(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s/control", runtime_path());
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
		return -1;
	return fd;
}

/* A connected TCP socket with data that nobody reads: its last close waits for LINGER_S. */
static int open_lingering(void)
{
	const struct linger linger = {1, LINGER_S};
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t bytes = sizeof(address);
	static const uint8_t data[4096];
	int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (bind(server, (struct sockaddr *)&address, sizeof(address)) < 0 ||
	    listen(server, 1) < 0 || getsockname(server, (struct sockaddr *)&address, &bytes) < 0 ||
	    connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0 ||
	    setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger)) < 0)
		return -1;
	while (send(fd, data, sizeof(data), MSG_DONTWAIT | MSG_NOSIGNAL) > 0)
		;
	return fd; /* the server's end stays open, unread, until this process ends */
}

static int open_fuse(void)
{
	return open(fuse_file, O_RDONLY | O_CLOEXEC);
}

/* HELLO with the descriptor, and once more behind a sound one. Returns 0 or what refused it. */
static int attack(int (*open_slow)(void))
{
	static uint8_t room[WIRE_MESSAGE_BYTES_MAX];
	const struct wire_message head = {.type = WIRE_HELLO, .request = 1};
	const struct wire_hello hello = {WIRE_PROTOCOL_VERSION, WIRE_ROLE_PROVIDER};
	size_t bytes = wire_message_encode_hello(&head, &hello, room);
	int first = connect_raw(), second = connect_raw();
	int slow = open_slow();
	int fds[2] = {slow, slow};
	int r;

	if (first < 0 || second < 0 || slow < 0)
		return -EIO;
	r = etw_ipc_send(first, room, bytes, fds, 2);
	if (r == 0 && etw_ipc_send(second, room, bytes, NULL, 0) == 0)
		r = etw_ipc_send(second, room, bytes, fds, 1);
	/* So that the host's is the last one; what a file does at every close would stop this process. */
	if (r == 0 && open_slow == open_lingering)
		close(slow);
	return r;
}

/* The attack in a process of its own that stays. Returns what attack() did. */
static int start_attacker(int (*open_slow)(void))
{
	int ends[2], r = -EPROTO;

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	attacker = fork();
	if (attacker == 0) {
		die_with_parent();
		if (geteuid() == 0 && (setgroups(0, NULL) || setgid(STRANGER) || setuid(STRANGER)))
			_exit(99);
		r = attack(open_slow);
		if (write(ends[1], &r, sizeof(r)) == sizeof(r))
			pause();
		_exit(0);
	}
	close(ends[1]);
	assert_int_equal(read(ends[0], &r, sizeof(r)), sizeof(r));
	close(ends[0]);
	return r;
}

static int set_up(void **state)
{
	return home_make(state);
}

static int tear_down(void **state)
{
	kill_and_wait(&fuse_server); /* first: what waits for an answer gets an error then */
	kill_and_wait(&attacker);
	if (*fuse_file)
		(void)umount2(fuse_file, MNT_DETACH);
	fuse_file[0] = '\0';
	return home_remove(state);
}

/* A new connection is served, from HELLO to the answer to a request. */
static void check_host(void)
{
	const struct wire_message list = {.type = WIRE_LIST, .request = 7};

	for (int i = 0; i < ROUNDS; i++) {
		struct talk *talk = talk_open(WIRE_ROLE_CONTROLLER);

		assert_int_equal(talk_send(talk, wire_message_encode_plain(&list, talk->room)), 0);
		talk_expect(talk, WIRE_SESSIONS);
		talk_close(talk);
		usleep(NAP); /* the loop takes descriptors in any order */
	}
}

/* Over a listener that is passed to etwd when the attack lies in its queue. */
static int start_late(int listener)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		char text[32];

		snprintf(text, sizeof(text), "%d", (int)getpid());
		setenv("LISTEN_PID", text, 1);
		setenv("LISTEN_FDS", "1", 1);
		if (dup2(listener, LISTEN_FD) < 0)
			_exit(98);
		execl(getenv("ETW_ETWD"), "etwd", (char *)NULL);
		_exit(97);
	}
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int listen_early(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	assert_int_equal(mkdir(runtime_path(), 0755), 0);
	snprintf(address.sun_path, sizeof(address.sun_path), "%s/control", runtime_path());
	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(chmod(address.sun_path, 0666), 0);
	assert_int_equal(listen(fd, 16), 0);
	return fd > LISTEN_FD ? fd : fcntl(fd, F_DUPFD_CLOEXEC, LISTEN_FD + 1);
}

static void check_own_listener(int (*open_slow)(void))
{
	struct etw_controller *opened = controller();
	int r = start_attacker(open_slow);

	/* Refused at the sender, or, by a kernel that cannot, left where it lies. */
	assert_true(r == 0 || r == -EPERM);
	check_host();
	etw_controller_close(opened);
}

static void check_early_connection(int (*open_slow)(void))
{
	int listener = listen_early();

	assert_int_equal(start_attacker(open_slow), 0);
	assert_int_equal(start_late(listener), 0);
	close(listener);
	check_host();
	assert_true(log_has("sent descriptors"));
	/* Its end as well. */
	if (*fuse_file)
		return;
	kill_and_wait(&attacker);
	check_host();
}

/* One request. Returns false at the end of the connection. */
static bool answer_fuse(int fd)
{
	static uint8_t room[FUSE_BYTES] __attribute__((aligned(8)));
	const struct fuse_in_header *in = (const struct fuse_in_header *)(const void *)room;
	struct {
		struct fuse_out_header head;
		union {
			struct fuse_init_out init;
			struct fuse_attr_out attr;
			struct fuse_open_out open;
		};
	} out = {0};
	size_t body = 0;
	ssize_t bytes = read(fd, room, sizeof(room));

	if (bytes < 0)
		return errno == EINTR || errno == ENOENT || errno == EAGAIN;
	out.head.unique = in->unique;
	switch (in->opcode) {
	case FUSE_INIT:
		out.init = (struct fuse_init_out){.major = FUSE_KERNEL_VERSION,
						  .minor = 31,
						  .max_write = 4096,
						  .max_background = 16};
		body = sizeof(out.init);
		break;
	case FUSE_GETATTR:
		out.attr.attr_valid = 3600;
		out.attr.attr = (struct fuse_attr){.ino = 1, .mode = S_IFREG | 0666, .nlink = 1};
		body = sizeof(out.attr);
		break;
	case FUSE_OPEN:
		body = sizeof(out.open);
		break;
	case FUSE_FLUSH:
	case FUSE_RELEASE:
		return true; /* never */
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
	case FUSE_INTERRUPT:
		return true; /* these have no answer */
	default:
		out.head.error = -ENOSYS;
		break;
	}
	out.head.len = (uint32_t)(sizeof(out.head) + body);
	return write(fd, &out, out.head.len) >= 0 || errno == ENOENT;
}

/* Mounts a file whose server is a process of its own, in a namespace of this process. */
static void start_fuse(void)
{
	char words[100];
	int fd, file;

	if (geteuid() != 0) {
		print_message("SKIP: only root can mount a FUSE server\n");
		skip();
	}
	fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	if (fd < 0) {
		print_message("SKIP: no /dev/fuse\n");
		skip();
	}
	snprintf(fuse_file, sizeof(fuse_file), "%s/slow", home_path());
	file = open(fuse_file, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
	assert_true(file >= 0);
	close(file);
	snprintf(words, sizeof(words), "fd=%d,rootmode=100666,user_id=0,group_id=0,allow_other",
		 fd);
	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("slow", fuse_file, "fuse", MS_NOSUID | MS_NODEV, words) < 0) {
		fuse_file[0] = '\0';
		close(fd);
		print_message("SKIP: FUSE cannot be mounted: %s\n", strerror(errno));
		skip();
	}
	fuse_server = fork();
	if (fuse_server == 0) {
		die_with_parent();
		while (answer_fuse(fd))
			;
		_exit(0);
	}
	close(fd);
}

static void test_descriptors__a_lingering_socket(void **state)
{
	(void)state;
	check_own_listener(open_lingering);
}

static void test_descriptors__a_lingering_socket_sent_early(void **state)
{
	(void)state;
	check_early_connection(open_lingering);
}

static void test_descriptors__a_file_of_a_silent_server(void **state)
{
	(void)state;
	start_fuse();
	check_own_listener(open_fuse);
}

static void test_descriptors__a_file_of_a_silent_server_sent_early(void **state)
{
	(void)state;
	start_fuse();
	check_early_connection(open_fuse);
}

#define TEST(name) cmocka_unit_test_setup_teardown(test_descriptors__##name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_lingering_socket),
		TEST(a_lingering_socket_sent_early),
		TEST(a_file_of_a_silent_server),
		TEST(a_file_of_a_silent_server_sent_early),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
