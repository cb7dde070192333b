/* SPDX-License-Identifier: MIT */
/*
 * Finding and starting etwd. The process this runs in is somebody else's: it may have threads, handlers of
 * signals, children that it waits for, and descriptors that must not leak. So the child between fork and
 * exec calls the kernel alone, and nothing is left in the parent, not even a child.
 */
#include "control/host_start.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/macros.h"
#include "ipc/start_report.h"

#define PROGRAM              "etwd"
#define REPORT_FD            3 /* where the child's end of the pipe lies, below all that is closed */
#define FREE_FD              5 /* behind the pipe of the start report, too */
#define TEXT_OF(number)      TEXT_OF_VALUE(number)
#define TEXT_OF_VALUE(value) #value
#define LAST_OF_MANY         65536
#define EXIT_NOT_FORKED      126
#define REPORT_TIMEOUT_MS    1000

#if !defined(ETW_LIBEXEC_FOLDER) || !defined(ETW_LIBEXEC_BY_BIN) || !defined(ETW_LIBEXEC_BY_LIB)
#error "the build says where etwd is installed"
#endif

static bool is_program(const char *path)
{
	struct stat info;

	return stat(path, &info) == 0 && S_ISREG(info.st_mode) && access(path, X_OK) == 0;
}

/* Who wants to hear where etwd was looked for in vain; without a function, nobody. */
struct listener {
	etw_host_place_fn *tell;
	void *context;
};

static void tell(const struct listener *listener, const char *path, const char *problem)
{
	if (listener->tell)
		listener->tell(listener->context, path, problem);
}

/*
 * Joins the parts; false when that is too long or no program. With @owner, whom a file beside belongs to, the
 * program must be that user's, or root's.
 */
static bool try_path(const struct listener *listener, const char *folder, size_t folder_chars,
		     const char *rest, const struct stat *owner, char *ret)
{
	char path[PATH_MAX];
	int chars = snprintf(path, sizeof(path), "%.*s/%s", (int)folder_chars, folder, rest);
	struct stat found;

	if (chars < 0 || (size_t)chars >= sizeof(path))
		return false;
	if (!is_program(path)) {
		tell(listener, path, NULL);
		return false;
	}
	if (owner &&
	    (stat(path, &found) < 0 || (found.st_uid != 0 && found.st_uid != owner->st_uid))) {
		tell(listener, path, "belongs to another user");
		return false;
	}
	memcpy(ret, path, (size_t)chars + 1);
	return true;
}

/*
 * Looks in the folder of a file, in bin beside it, and where an installation has etwd as seen from there. The
 * folder may be one like /tmp, where others can put a program of that name: whom the file belongs to is
 * believed, and root.
 */
static bool try_beside(const struct listener *listener, const char *file, const char *installed,
		       char *ret)
{
	const char *const places[] = {PROGRAM, "../bin/" PROGRAM, installed};
	const char *slash = strrchr(file, '/');
	struct stat near;

	if (!slash || stat(file, &near) < 0)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		if (try_path(listener, file, (size_t)(slash - file), places[i], &near, ret))
			return true;
	}
	return false;
}

static bool try_executable(const struct listener *listener, char *ret)
{
	char path[PATH_MAX];
	ssize_t chars = readlink("/proc/self/exe", path, sizeof(path) - 1);

	if (chars < 0)
		return false;
	path[chars] = '\0';
	return try_beside(listener, path, ETW_LIBEXEC_BY_BIN "/" PROGRAM, ret);
}

static bool is_executable(const char *path)
{
	struct stat file, executable;

	return stat(path, &file) == 0 && stat("/proc/self/exe", &executable) == 0 &&
	       file.st_dev == executable.st_dev && file.st_ino == executable.st_ino;
}

/* The shared object that this very function was linked into; nothing new where that is the executable. */
static bool try_library(const struct listener *listener, char *ret)
{
	Dl_info info;

	return dladdr(__extension__(void *) try_library, &info) && info.dli_fname &&
	       !is_executable(info.dli_fname) &&
	       try_beside(listener, info.dli_fname, ETW_LIBEXEC_BY_LIB "/" PROGRAM, ret);
}

static bool try_search_path(const struct listener *listener, char *ret)
{
	const char *at = secure_getenv("PATH");

	while (at && *at) {
		size_t chars = strcspn(at, ":");

		/* An empty part means the current folder: nobody wants a daemon from there. */
		if (chars && try_path(listener, at, chars, PROGRAM, NULL, ret))
			return true;
		at += chars + (at[chars] == ':');
	}
	return false;
}

int etw_host_look(etw_host_place_fn *tell_place, void *context, char *ret)
{
	const struct listener listener = {tell_place, context};
	const char *named = secure_getenv("ETW_ETWD");

	if (named && *named) {
		if (strlen(named) >= PATH_MAX || !is_program(named)) {
			tell(&listener, named, "is what ETW_ETWD says, and no program");
			return -ENOEXEC;
		}
		memcpy(ret, named, strlen(named) + 1);
		return 0;
	}
	if (try_executable(&listener, ret) || try_library(&listener, ret) ||
	    try_path(&listener, ETW_LIBEXEC_FOLDER, strlen(ETW_LIBEXEC_FOLDER), PROGRAM, NULL,
		     ret) ||
	    try_search_path(&listener, ret))
		return 0;
	return -ENOEXEC;
}

int etw_host_find(char *ret)
{
	return etw_host_look(NULL, NULL, ret);
}

/* What the child needs; made ready before the fork. */
struct start {
	char *const *arguments;
	char **environment; /* borrowed; with the variable of the start report */
	const char *log;    /* NULL: none */
	int report;         /* the pipe's end to write to */
	int start_report;   /* likewise, for etwd itself; -1: none */
	bool may_leave;
};

/* From here to the exec: system calls only, in a copy of a process with threads. */
static void reset_signals(void)
{
	struct sigaction action = {.sa_handler = SIG_DFL};
	sigset_t none;

	for (int number = 1; number < NSIG; number++)
		(void)sigaction(number, &action, NULL);
	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
}

static void close_all_from(int first)
{
	if (close_range((unsigned)first, ~0U, 0) == 0)
		return;
	for (int fd = first; fd < LAST_OF_MANY; fd++)
		(void)close(fd);
}

/* Sets up 0, 1, 2 and the report's place, and nothing else. */
static int lay_out_descriptors(const struct start *start)
{
	int report = fcntl(start->report, F_DUPFD, FREE_FD);
	int start_report = start->start_report < 0 ? report
						   : fcntl(start->start_report, F_DUPFD, FREE_FD);
	int nothing = open("/dev/null", O_RDWR);
	int log = start->log ? open(start->log, O_WRONLY | O_CREAT | O_APPEND, 0600) : nothing;

	if (log < 0)
		log = nothing;
	if (report < 0 || start_report < 0 || nothing < 0)
		return -errno;
	/* The lowest free numbers may have been among 0, 1 and 2: move them out of the way first. */
	nothing = fcntl(nothing, F_DUPFD, FREE_FD);
	log = fcntl(log, F_DUPFD, FREE_FD);
	if (nothing < 0 || log < 0 || dup2(nothing, STDIN_FILENO) < 0 ||
	    dup2(log, STDOUT_FILENO) < 0 || dup2(log, STDERR_FILENO) < 0 ||
	    dup3(report, REPORT_FD, O_CLOEXEC) < 0)
		return -errno;
	if (start->start_report >= 0 && dup2(start_report, ETW_START_REPORT_FD) < 0)
		return -errno;
	close_all_from(start->start_report < 0 ? REPORT_FD + 1 : FREE_FD);
	return 0;
}

static _Noreturn void become(const struct start *start)
{
	int r = lay_out_descriptors(start);

	if (!r) {
		if (start->may_leave)
			(void)!chdir("/");
		reset_signals();
		(void)execve(start->arguments[0], start->arguments, start->environment);
		r = -errno;
		(void)!write(REPORT_FD, &r, sizeof(r));
	} else {
		(void)!write(start->report, &r, sizeof(r));
	}
	_exit(127);
}

/* The one in between: its end makes the daemon init's child. */
static _Noreturn void fork_again(const struct start *start)
{
	pid_t pid;
	int r;

	(void)setsid();
	pid = _Fork();
	if (pid == 0)
		become(start);
	if (pid < 0) {
		r = -errno;
		(void)!write(start->report, &r, sizeof(r));
	}
	_exit(pid < 0 ? EXIT_NOT_FORKED : 0);
}

/*
 * What the child had to say: an end without a word is an exec that worked. A thread that forks right now
 * copies the other end into its child, and that one may live long: hence the limit.
 */
static int read_report(int fd)
{
	struct pollfd poller = {.fd = fd, .events = POLLIN};
	ssize_t bytes;
	int r;

	while ((r = poll(&poller, 1, REPORT_TIMEOUT_MS)) < 0 && errno == EINTR)
		;
	if (r <= 0)
		return r < 0 ? -errno : 0;
	r = 0;
	do
		bytes = read(fd, &r, sizeof(r));
	while (bytes < 0 && errno == EINTR);
	if (bytes < 0)
		return -errno;
	if (bytes != sizeof(r))
		return 0;
	return r == -ENOMEM || r == -EAGAIN || r == -EMFILE || r == -ENFILE ? r : -ENOEXEC;
}

static int fork_and_wait(const struct start *start, int report)
{
	sigset_t all, before;
	pid_t pid;
	int error;

	/* No handler of this process may run in the child, where its world is gone. */
	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &before);
	pid = _Fork();
	error = errno;
	if (pid == 0)
		fork_again(start);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	(void)close(start->report);
	if (pid < 0)
		return -error;
	/* ECHILD is fine: a process that ignores SIGCHLD, or waits for any child, has it already. */
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	return read_report(report);
}

/* This process's environment with the variable in front: the first of a name is the one that counts. */
static int make_environment(char ***ret)
{
	static char variable[] = ETW_START_REPORT_VARIABLE "=" TEXT_OF(ETW_START_REPORT_FD);
	size_t count = 0, kept = 0;
	char **made;

	while (environ && environ[count])
		count++;
	made = calloc(count + 2, sizeof(*made));
	if (!made)
		return -ENOMEM;
	made[kept++] = variable;
	for (size_t i = 0; i < count && environ[i]; i++) {
		if (strncmp(environ[i], ETW_START_REPORT_VARIABLE "=",
			    sizeof(ETW_START_REPORT_VARIABLE)) != 0)
			made[kept++] = environ[i];
	}
	*ret = made;
	return 0;
}

/* Both ends of the start report are this function's until it returns. */
static int spawn(struct start *start)
{
	int ends[2], r;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	start->report = ends[1];
	r = fork_and_wait(start, ends[0]);
	(void)close(ends[0]);
	return r;
}

int etw_host_spawn(const char *program, bool may_leave, int *ret_report)
{
	char *arguments[] = {(char *)(uintptr_t)program, NULL};
	struct start start = {.arguments = arguments,
			      .environment = environ,
			      .log = secure_getenv("ETWD_LOG"),
			      .report = -1,
			      .start_report = -1,
			      .may_leave = may_leave};
	CLEANUP(freep) char **environment = NULL;
	int ends[2] = {-1, -1}, r;

	if (start.log && !*start.log)
		start.log = NULL;
	if (ret_report) {
		TRY(make_environment(&environment));
		if (pipe2(ends, O_CLOEXEC) < 0)
			return -errno;
		start.environment = environment;
		start.start_report = ends[1];
	}
	r = spawn(&start);
	if (!ret_report)
		return r;
	(void)close(ends[1]);
	if (r < 0)
		(void)close(ends[0]);
	else
		*ret_report = ends[0];
	return r;
}
