/* SPDX-License-Identifier: MIT */
/*
 * etwd: options, the runtime directory, the step into the background, and then the keeper. The process
 * that a caller started ends when the host accepts connections, so that it can be waited for.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <linux/close_range.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/macros.h"
#include "daemon/host.h"
#include "daemon/keeper.h"
#include "daemon/log.h"
#include "ipc/runtime.h"

#define IDLE_MS_DEFAULT 10000
#define EXIT_USAGE      2
#define LISTEN_FD       3 /* the first one that systemd passes */
#define LISTEN_TRY_MS   20
#define LISTEN_TRIES    250 /* 5 s: for a host that is leaving just now */

struct start {
	struct etwd_options options;
	int ready_fd; /* owned: to the process that waits; -1: none */
};

static void print_help(void)
{
	printf("Usage: etwd [--system | --user] [--foreground]\n"
	       "The session host of libetw. Controllers start it when they need it, and it leaves "
	       "when\n"
	       "nobody does.\n\n"
	       "  --system      serve the whole machine (default for root)\n"
	       "  --user        serve the user who starts it (default for others)\n"
	       "  --foreground  stay with the terminal and log to standard error\n"
	       "  --help        this text\n"
	       "  --version     the version\n\n"
	       "Environment: ETW_RUNTIME_DIR  directory of the socket\n"
	       "             ETWD_IDLE_MS     time without sessions and controllers until it "
	       "leaves\n"
	       "             ETWD_LOG         file to append the log to\n");
}

/* Returns -1 to go on, else the exit status. */
static int parse_options(int argc, char **argv, struct etwd_options *options)
{
	static const struct option known[] = {
		{"system", no_argument, NULL, 's'},     {"user", no_argument, NULL, 'u'},
		{"foreground", no_argument, NULL, 'f'}, {"help", no_argument, NULL, 'h'},
		{"version", no_argument, NULL, 'V'},    {0},
	};
	int option;

	options->is_system = geteuid() == 0;
	while ((option = getopt_long(argc, argv, "hV", known, NULL)) >= 0) {
		switch (option) {
		case 's':
		case 'u':
			options->is_system = option == 's';
			break;
		case 'f':
			options->is_foreground = true;
			break;
		case 'h':
			print_help();
			return 0;
		case 'V':
			printf("etwd %s\n", ETW_VERSION);
			return 0;
		default:
			fprintf(stderr, "etwd: see etwd --help\n");
			return EXIT_USAGE;
		}
	}
	if (optind == argc)
		return -1;
	fprintf(stderr, "etwd: there is nothing to do with \"%s\"; see etwd --help\n",
		argv[optind]);
	return EXIT_USAGE;
}

static int parse_environment(struct etwd_options *options)
{
	const char *idle = getenv("ETWD_IDLE_MS");
	unsigned long value = IDLE_MS_DEFAULT;
	char *end;

	if (idle && *idle) {
		errno = 0;
		value = strtoul(idle, &end, 10);
		if (errno || *end || value > INT32_MAX) {
			etwd_log("ETWD_IDLE_MS is no number of milliseconds");
			return -EINVAL;
		}
	}
	options->idle_ms = (uint32_t)value;
	return etw_runtime_directory(options->is_system ? ETW_INSTANCE_SYSTEM : ETW_INSTANCE_USER,
				     options->directory);
}

/* Whether systemd passes the listening socket. */
static bool is_socket_passed(void)
{
	const char *pid = getenv("LISTEN_PID");
	const char *count = getenv("LISTEN_FDS");

	return pid && count && strtol(pid, NULL, 10) == getpid() && strtol(count, NULL, 10) == 1;
}

/* Root gets rid of a limit, others get as far as they may. */
static void lift_limit(__rlimit_resource_t resource)
{
	struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};

	if (setrlimit(resource, &limit) == 0 || getrlimit(resource, &limit) < 0)
		return;
	limit.rlim_cur = limit.rlim_max;
	(void)setrlimit(resource, &limit);
}

/* Those of files: there are many small ones, and memory that is shared is a file too. */
static void lift_limits(void)
{
	struct rlimit files;

	if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
		files.rlim_cur = files.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &files);
	}
	lift_limit(RLIMIT_FSIZE);
	/* One that stays is an error of the write that meets it. */
	(void)signal(SIGXFSZ, SIG_IGN);
}

/* Nothing that the starter has open, blocked or limited may matter here. */
static void clean_process(bool is_socket_foreign)
{
	unsigned first = is_socket_foreign ? LISTEN_FD + 1 : LISTEN_FD;
	sigset_t none;

	for (int fd = 0; fd <= STDERR_FILENO; fd++) {
		if (fcntl(fd, F_GETFD) < 0)
			(void)open("/dev/null", O_RDWR);
	}
	(void)syscall(SYS_close_range, first, ~0U, 0);
	sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	(void)signal(SIGCHLD, SIG_DFL);
	(void)signal(SIGPIPE, SIG_IGN);
	lift_limits();
	(void)umask(022);
	(void)unsetenv("LISTEN_PID");
	(void)unsetenv("LISTEN_FDS");
}

static bool is_host_there(const char *directory)
{
	struct wire_welcome welcome;
	int fd;

	if (etw_runtime_connect(directory, WIRE_ROLE_PROVIDER, &fd, &welcome, NULL) < 0)
		return false;
	close(fd);
	return true;
}

/* Returns 0; 1: another host serves the directory; negative errno. */
static int listen_here(struct etwd_options *options)
{
	const struct timespec pause = {0, LISTEN_TRY_MS * 1000000L};
	int r = -EADDRINUSE;

	if (options->is_socket_foreign) {
		int flags = fcntl(LISTEN_FD, F_GETFL);

		options->listener = LISTEN_FD;
		if (flags < 0 || fcntl(LISTEN_FD, F_SETFL, flags | O_NONBLOCK) < 0 ||
		    fcntl(LISTEN_FD, F_SETFD, FD_CLOEXEC) < 0)
			return -errno;
		return 0;
	}
	/* A host that leaves holds its socket to the end. */
	for (int i = 0; i < LISTEN_TRIES && r == -EADDRINUSE; i++) {
		r = etw_runtime_listen(options->directory, &options->listener);
		if (r != -EADDRINUSE)
			break;
		if (is_host_there(options->directory))
			return 1;
		(void)nanosleep(&pause, NULL);
	}
	return r;
}

/* In the process that was started: waits for the first host. Returns the exit status. */
static int wait_for_ready(int fd)
{
	unsigned char status = 1;
	ssize_t bytes;

	do
		bytes = read(fd, &status, 1);
	while (bytes < 0 && errno == EINTR);
	return bytes == 1 ? status : 1;
}

/* Returns -1 in the process that goes on, else the exit status. */
static int step_into_background(struct start *start)
{
	int ends[2], null;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return 1;
	pid = fork();
	if (pid < 0)
		return 1;
	if (pid > 0) {
		close(ends[1]);
		return wait_for_ready(ends[0]);
	}
	close(ends[0]);
	start->ready_fd = ends[1];
	(void)setsid();
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (null >= 0) {
		(void)dup2(null, STDIN_FILENO);
		(void)dup2(null, STDOUT_FILENO);
		close(null);
	}
	return -1;
}

static int run_host(void *context, int socket)
{
	struct start *start = context;

	if (start->ready_fd >= 0)
		close(start->ready_fd);
	return etwd_host_main(&start->options, socket);
}

/* Lets the process go that waits; from now on nobody reads standard error. */
static void report_ready(void *context, int status)
{
	struct start *start = context;
	unsigned char byte = (unsigned char)status;
	int null;

	if (start->ready_fd < 0)
		return;
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (null >= 0) {
		(void)dup2(null, STDERR_FILENO);
		close(null);
	}
	if (write(start->ready_fd, &byte, 1) < 0)
		etwd_log("the process that started this is gone");
	close(start->ready_fd);
	start->ready_fd = -1;
}

static void clean_up(void *context)
{
	struct start *start = context;

	etw_runtime_announce(start->options.page, false);
	if (!start->options.is_socket_foreign)
		(void)shutdown(start->options.listener, SHUT_RDWR);
}

static int prepare(struct etwd_options *options)
{
	const char *log = getenv("ETWD_LOG");
	int r;

	options->is_socket_foreign = is_socket_passed();
	clean_process(options->is_socket_foreign);
	r = log && *log ? etwd_log_open(log) : 0;
	if (r < 0) {
		etwd_log("%s cannot be opened: %s", log, strerror(-r));
		return r;
	}
	TRY(parse_environment(options));
	r = etw_runtime_prepare(options->directory, &options->page);
	if (r == 0)
		r = listen_here(options);
	if (r < 0)
		etwd_log("%s cannot be served: %s", options->directory, strerror(-r));
	return r;
}

int main(int argc, char **argv)
{
	static struct start start = {.ready_fd = -1, .options.listener = -1};
	const struct etwd_keeper_callbacks callbacks = {&start, run_host, report_ready, clean_up};
	int r = parse_options(argc, argv, &start.options);

	if (r >= 0)
		return r;
	r = prepare(&start.options);
	if (r < 0)
		return 1;
	if (r > 0) {
		etwd_log("another host serves %s", start.options.directory);
		return 0;
	}
	if (!start.options.is_foreground) {
		r = step_into_background(&start);
		if (r >= 0)
			return r;
	}
	if (start.options.directory[0] == '/' && chdir("/") < 0)
		etwd_log("the host stays in its working directory: %s", strerror(errno));
	store_relaxed(&start.options.page->keeper_pid, (uint32_t)getpid());
	return etwd_keeper_run(&callbacks);
}
