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

#include "autologger/folder.h"
#include "base/atomic.h"
#include "base/build.h"
#include "base/macros.h"
#include "daemon/autologger_check.h"
#include "daemon/host.h"
#include "daemon/keeper.h"
#include "daemon/log.h"
#include "daemon/session_calls.h"
#include "daemon/tell_probe.h"
#include "ipc/connection.h"
#include "ipc/failure.h"
#include "ipc/runtime.h"
#include "ipc/start_report.h"
#include "wire/system_logger.h"

#define SYSTEM_LOGGERS_MOST 64
#define IDLE_MS_DEFAULT     10000
#define STEADY_MS_DEFAULT   1000
#define EXIT_USAGE          2
#define LISTEN_FD           3 /* the first one that systemd passes */
#define LISTEN_TRY_MS       20
#define LISTEN_TRIES        250 /* 5 s: for a host that is leaving just now */

struct start {
	struct etwd_options options;
	int ready_fd;  /* owned: to the process that waits; -1: none */
	int report_fd; /* owned: to whoever started this, see ipc/start_report.h; -1: none */
	int error;     /* what was explained last, a positive errno; 0: nothing is wrong */
	uint32_t steady_ms;
	int spare_fds
		[2]; /* owned: room for a reason when there are no descriptors left; -1: none */
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
	       "  --probe       say what this machine lets a host of this user record; a line "
	       "each\n"
	       "  --check-autologgers  say which files of sessions that start with the host it "
	       "would refuse\n"
	       "  --help        this text\n"
	       "  --version     the version, and what was built\n\n"
	       "Environment: ETW_RUNTIME_DIR  directory of the socket\n"
	       "             ETWD_IDLE_MS     time without sessions and controllers until it "
	       "leaves\n"
	       "             ETWD_STEADY_MS   time after which a host that dies is replaced at "
	       "once\n"
	       "             ETWD_RING_MIB    memory for the rings of users other than root\n"
	       "             ETWD_MAX_SESSIONS        sessions at a time: 64 to 256\n"
	       "             ETWD_MAX_SYSTEM_LOGGERS  those of them with kernel events: 8 to 64\n"
	       "             ETWD_LOG         file to append the log to\n"
	       "             ETWD_SECURITY_DIR        security descriptors that were changed\n"
	       "             ETW_AUTOLOGGER_DIR       files of sessions that start with the host\n"
	       "             ETW_AUTOLOGGER_STATE     what became of these\n"
	       "             ETW_DRIVE_C      folder that stands for Windows' drive C:\n"
	       "             HOME, XDG_CONFIG_HOME, XDG_DATA_HOME, XDG_RUNTIME_DIR, "
	       "XDG_STATE_HOME\n"
	       "                              where a user's host has these\n");
}

/* For `etw doctor`: a name and why it is refused, with a tab between. */
static int print_refused_autologgers(bool is_system)
{
	const struct etw_session_host host = etwd_session_sources();
	int r = etwd_autologger_check(is_system, &host, stdout);

	if (r < 0)
		fprintf(stderr, "etwd: the files cannot be looked at: %s\n",
			etw_autologger_names_sentence(r));
	return r < 0;
}

/* Returns -1 to go on, else the exit status. */
static int parse_options(int argc, char **argv, struct etwd_options *options)
{
	static const struct option known[] = {
		{"system", no_argument, NULL, 's'},
		{"user", no_argument, NULL, 'u'},
		{"foreground", no_argument, NULL, 'f'},
		{"help", no_argument, NULL, 'h'},
		{"version", no_argument, NULL, 'V'},
		{"probe", no_argument, NULL, 'p'},
		{"check-autologgers", no_argument, NULL, 'c'},
		{0},
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
		case 'p':
			return etwd_tell_probe(stdout);
		case 'c':
			return print_refused_autologgers(options->is_system);
		case 'V':
			printf("etwd %s\n%s", ETW_VERSION, etw_build_components());
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

static int parse_number(const char *name, const char *unit, uint32_t value_default, uint32_t *ret)
{
	const char *text = getenv(name);
	unsigned long value = value_default;
	char *end;

	if (text && *text) {
		errno = 0;
		value = strtoul(text, &end, 10);
		if (errno || *end || value > INT32_MAX) {
			etwd_log("%s is no number of %s", name, unit);
			return -EINVAL;
		}
	}
	*ret = (uint32_t)value;
	return 0;
}

/* A limit that Windows has: it can be raised and not lowered, so that programs find what they know. */
static int parse_limit(const char *name, uint32_t least, uint32_t most, uint32_t *ret)
{
	TRY(parse_number(name, "sessions", least, ret));
	if (*ret < least || *ret > most) {
		etwd_log("%s is not from %u to %u", name, (unsigned)least, (unsigned)most);
		return -EINVAL;
	}
	return 0;
}

static int parse_environment(struct start *start)
{
	struct etwd_options *options = &start->options;

	TRY(etw_runtime_directory(options->is_system ? ETW_INSTANCE_SYSTEM : ETW_INSTANCE_USER,
				  options->directory));
	TRY(etwd_descriptors_folder(options->directory, options->is_system, options->security));
	TRY(parse_number("ETWD_RING_MIB", "MiB", 0, &options->ring_mib));
	TRY(parse_limit("ETWD_MAX_SESSIONS", ETWD_SESSIONS_DEFAULT, ETWD_SESSIONS_MAX,
			&options->session_limit));
	TRY(parse_limit("ETWD_MAX_SYSTEM_LOGGERS", WIRE_SYSTEM_LOGGERS_MAX, SYSTEM_LOGGERS_MOST,
			&options->system_logger_limit));
	TRY(parse_number("ETWD_IDLE_MS", "milliseconds", IDLE_MS_DEFAULT, &options->idle_ms));
	return parse_number("ETWD_STEADY_MS", "milliseconds", STEADY_MS_DEFAULT, &start->steady_ms);
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

/* A number that the starter gave, if a pipe lies there. */
static int find_report_fd(void)
{
	const char *value = getenv(ETW_START_REPORT_VARIABLE);
	struct stat info;

	(void)unsetenv(ETW_START_REPORT_VARIABLE);
	if (!value || strtol(value, NULL, 10) != ETW_START_REPORT_FD ||
	    fstat(ETW_START_REPORT_FD, &info) < 0 || !S_ISFIFO(info.st_mode) ||
	    fcntl(ETW_START_REPORT_FD, F_SETFD, FD_CLOEXEC) < 0)
		return -1;
	return ETW_START_REPORT_FD;
}

static void say_to_starter(struct start *start, int word)
{
	if (start->report_fd >= 0 && write(start->report_fd, &word, sizeof(word)) < 0)
		etwd_log("whoever started this does not listen");
}

/* The last word: 0, or the negative errno that keeps the host from starting. */
static void tell_starter(struct start *start, int result)
{
	say_to_starter(start, result);
	if (start->report_fd >= 0)
		close(start->report_fd);
	start->report_fd = -1;
}

static void close_all_but(unsigned first, int spared)
{
	if (spared >= (int)first) {
		if (spared > (int)first)
			(void)syscall(SYS_close_range, first, (unsigned)spared - 1, 0);
		first = (unsigned)spared + 1;
	}
	(void)syscall(SYS_close_range, first, ~0U, 0);
}

/* Nothing that the starter has open, blocked or limited may matter here. */
static void clean_process(bool is_socket_foreign, int report_fd)
{
	unsigned first = is_socket_foreign ? LISTEN_FD + 1 : LISTEN_FD;
	sigset_t none;

	for (int fd = 0; fd <= STDERR_FILENO; fd++) {
		if (fcntl(fd, F_GETFD) < 0)
			(void)open("/dev/null", O_RDWR);
	}
	close_all_but(first, report_fd);
	sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	(void)signal(SIGCHLD, SIG_DFL);
	(void)signal(SIGPIPE, SIG_IGN);
	lift_limits();
	(void)umask(0); /* each file is made with the permissions that it is to have */
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
		/* Who has connected already is guarded: etw_ipc_guard(). */
		(void)etw_ipc_refuse_fds(LISTEN_FD);
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

static void open_spare_fds(struct start *start)
{
	for (size_t i = 0; i < ARRAY_SIZE(start->spare_fds); i++)
		start->spare_fds[i] = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static void close_spare_fds(struct start *start)
{
	for (size_t i = 0; i < ARRAY_SIZE(start->spare_fds); i++) {
		if (start->spare_fds[i] >= 0)
			close(start->spare_fds[i]);
		start->spare_fds[i] = -1;
	}
}

/* Leaves the reason where controllers look. */
static void explain(void *context, int error, const char *sentence)
{
	struct start *start = context;
	int r = 0;

	start->error = error;
	close_spare_fds(start);
	if (error == 0)
		etw_failure_clear(start->options.directory);
	else if (start->options.directory[0])
		r = etw_failure_write(start->options.directory, error, sentence);
	if (r < 0)
		etwd_log("controllers cannot be told so: %s", strerror(-r));
	open_spare_fds(start);
}

static void explain_failed_start(struct start *start, const char *what, int error)
{
	char sentence[ETW_FAILURE_TEXT_MAX + 1];

	(void)snprintf(sentence, sizeof(sentence), "%s: %s", what, strerror(error));
	explain(start, error, sentence);
}

/* Returns -1 in the process that goes on, else the exit status. */
static int step_into_background(struct start *start)
{
	int ends[2], null;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) < 0 || (pid = fork()) < 0) {
		int error = errno;

		explain_failed_start(start, "the host cannot go into the background", error);
		tell_starter(start, -error);
		return 1;
	}
	if (pid > 0) {
		close(ends[1]);
		if (start->report_fd >= 0)
			close(start->report_fd);
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
	if (start->report_fd >= 0)
		close(start->report_fd);
	close_spare_fds(start);
	return etwd_host_main(&start->options, socket);
}

/* Lets the process go that waits; from now on nobody reads standard error. */
static void report_ready(void *context, int status)
{
	struct start *start = context;
	unsigned char byte = (unsigned char)status;
	int null;

	tell_starter(start, status ? -(start->error ? start->error : EIO) : 0);
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

static void tell_pids(void *context, pid_t keeper, pid_t standby, pid_t host)
{
	struct start *start = context;

	store_relaxed(&start->options.page->keeper_pid, (uint32_t)keeper);
	store_relaxed(&start->options.page->standby_pid, (uint32_t)standby);
	store_relaxed(&start->options.page->host_pid, (uint32_t)host);
}

static int prepare(struct start *start)
{
	struct etwd_options *options = &start->options;
	const char *log = getenv("ETWD_LOG");
	int r;

	options->is_socket_foreign = is_socket_passed();
	start->report_fd = find_report_fd();
	clean_process(options->is_socket_foreign, start->report_fd);
	say_to_starter(start, ETW_START_BEGUN);
	open_spare_fds(start);
	r = log && *log ? etwd_log_open(log) : 0;
	if (r < 0) {
		etwd_log("%s cannot be opened: %s", log, strerror(-r));
		return r;
	}
	TRY(parse_environment(start));
	r = etw_runtime_prepare(options->directory, &options->page);
	if (r == 0)
		r = listen_here(options);
	if (r < 0)
		etwd_log("%s cannot be served: %s", options->directory, strerror(-r));
	if (r == 0)
		etw_failure_clear(options->directory);
	return r;
}

int main(int argc, char **argv)
{
	static struct start start = {
		.ready_fd = -1, .report_fd = -1, .options.listener = -1, .spare_fds = {-1, -1}};
	struct etwd_keeper_callbacks callbacks = {
		&start, run_host, report_ready, clean_up, explain, tell_pids, 0};
	int r = parse_options(argc, argv, &start.options);

	if (r >= 0)
		return r;
	r = prepare(&start);
	if (r < 0) {
		explain_failed_start(&start, "the host cannot be started", -r);
		tell_starter(&start, r);
		return 1;
	}
	if (r > 0) {
		tell_starter(&start, 0);
		etwd_log("another host serves %s", start.options.directory);
		return 0;
	}
	if (!start.options.is_foreground) {
		r = step_into_background(&start);
		if (r >= 0)
			return r;
	}
	callbacks.steady_ms = start.steady_ms;
	if (start.options.directory[0] == '/' && chdir("/") < 0)
		etwd_log("the host stays in its working directory: %s", strerror(errno));
	return etwd_keeper_run(&callbacks);
}
