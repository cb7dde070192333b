/* SPDX-License-Identifier: MIT */
/*
 * lifecycle signal|fork|vfork|exec|dlclose|threads|main_exit [PLUGIN] - a provider in the middle of what processes do,
 * against a host: in signal handlers that interrupt EventWrite; across fork, vfork and exec; in a plugin that
 * is unloaded, with its registration or without; in threads that end; in a program whose
 * main thread ends first. Each part's account is exact: what
 * succeeded is in the file once and in order, or counts as lost.
 */
#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <winerror.h>

#include "base/macros.h"
#include "recording/children.h"
#include "recording/lifecycle_shared.h"
#include "recording/support.h"

#define WRITERS_MAX       8192
#define SIGNAL_SECONDS    2
#define CHILDREN          40
#define CHILD_EVENTS      200
#define VFORKS            100
#define EXECS             20
#define PLUGINS           60
#define ENDINGS           6
#define THREADS           4000
#define THREADS_AT_A_TIME 8
#define THREAD_EVENTS     3

static struct recording recording;
static struct lifecycle_log *logs;
static int logs_fd;
static REGHANDLE provider;
static const char *plugin_path;
static char *const *own_arguments;

struct seen {
	uint64_t last[WRITERS_MAX];
	uint64_t count[WRITERS_MAX];
};

static void be_writer(uint32_t writer)
{
	store_relaxed(&logs[writer].process_id, (uint32_t)getpid());
}

static void write_some(REGHANDLE handle, uint32_t writer, uint32_t events)
{
	for (uint32_t i = 0; i < events; i++)
		lifecycle_write(handle, &logs[writer], writer);
}

static REGHANDLE register_one(void)
{
	return recording_register(&lifecycle_provider, NULL, NULL);
}

static void expect_good_end(pid_t child)
{
	int status;

	if (child < 0 || waitpid(child, &status, 0) != child)
		fail("fork or wait: %s", strerror(errno));
	if (status)
		fail("a child ended with status %#x", (unsigned)status);
}

/* signal: writer 0 is the main thread; 1 and 2 are handlers, one of which also interrupts the other. */

static uint32_t is_inside;
static uint64_t hits_inside, errno_changes;

static void on_signal(int number)
{
	const uint32_t writer = number == SIGALRM ? 1 : 2;
	const int before = errno;

	hits_inside += load_relaxed(&is_inside);
	lifecycle_write(provider, &logs[writer], writer);
	errno_changes += errno != before;
}

static void *send_signals(void *argument)
{
	const pthread_t *target = argument;
	sigset_t all;

	(void)sigfillset(&all); /* the timer's are for the writer, too */
	(void)pthread_sigmask(SIG_SETMASK, &all, NULL);
	while (load_relaxed(&logs[0].reserved_pad) == 0) {
		(void)pthread_kill(*target, SIGUSR1);
		usleep(150);
	}
	return NULL;
}

static bool have_handlers_written(void)
{
	return load_relaxed(&logs[1].done) && load_relaxed(&logs[2].done);
}

static void run_signal(void)
{
	const struct itimerval often = {{0, 200}, {0, 200}}, never = {0};
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
	pthread_t self = pthread_self(), sender;
	double end = seconds() + SIGNAL_SECONDS;

	for (uint32_t i = 0; i < 3; i++)
		be_writer(i);
	provider = register_one();
	(void)sigaction(SIGALRM, &action, NULL);
	(void)sigaction(SIGUSR1, &action, NULL);
	if (pthread_create(&sender, NULL, send_signals, &self))
		fail("no thread");
	(void)setitimer(ITIMER_REAL, &often, NULL);
	while (seconds() < end || (!have_handlers_written() && seconds() < end + HANG_SECONDS)) {
		store_relaxed(&is_inside, 1u);
		write_some(provider, 0, 50);
		store_relaxed(&is_inside, 0u);
		usleep(100);
	}
	(void)setitimer(ITIMER_REAL, &never, NULL);
	store_relaxed(&logs[0].reserved_pad, 1u);
	pthread_join(sender, NULL);
	printf("%" PRIu64 " and %" PRIu64 " events from handlers, %" PRIu64 " of them amid %" PRIu64
	       " of the thread that they interrupted\n",
	       load_relaxed(&logs[1].done), load_relaxed(&logs[2].done), hits_inside,
	       load_relaxed(&logs[0].done));
	if (errno_changes)
		fail("EventWrite changed errno");
	if (!have_handlers_written())
		fail("no handler has written");
	EventUnregister(provider);
}

/* fork: the parent writes on; children write at once, under their own process id, then register. */

static int be_child(uint32_t writer)
{
	REGHANDLE own;
	pid_t grandchild;

	be_writer(writer);
	write_some(provider, writer, CHILD_EVENTS);
	grandchild = fork();
	if (grandchild == 0) { /* of a process that has no listener */
		be_writer(writer + CHILDREN);
		write_some(provider, writer + CHILDREN, CHILD_EVENTS);
		_exit(0);
	}
	own = register_one();
	if (!EventProviderEnabled(provider, 0, 0))
		return 1;
	for (uint32_t i = 0; i < CHILD_EVENTS; i++)
		lifecycle_write(i % 2 ? own : provider, &logs[writer], writer);
	expect_good_end(grandchild);
	grandchild = fork();
	if (grandchild == 0) { /* of one that has */
		be_writer(writer + 2 * CHILDREN);
		own = register_one();
		write_some(own, writer + 2 * CHILDREN, CHILD_EVENTS);
		_exit(EventUnregister(own) != 0);
	}
	expect_good_end(grandchild);
	return EventUnregister(own) || EventUnregister(provider);
}

static void *write_meanwhile(void *argument)
{
	uint32_t *is_enough = argument;

	while (!load_acquire(is_enough)) {
		write_some(provider, 0, 10);
		usleep(500);
	}
	return NULL;
}

/* A sanitizer's allocator may be locked while a thread starts, and would stay so in a child. */
static void await_first_event(uint32_t writer)
{
	const struct wait wait = wait_for("a writer does not begin");

	while (load_relaxed(&logs[writer].done) == 0)
		wait_on(&wait);
}

static void run_fork(void)
{
	static uint32_t is_enough;
	pid_t children[CHILDREN];
	pthread_t writer;

	be_writer(0);
	provider = register_one();
	if (pthread_create(&writer, NULL, write_meanwhile, &is_enough))
		fail("no thread");
	await_first_event(0);
	for (uint32_t i = 0; i < CHILDREN; i++) {
		children[i] = fork();
		if (children[i] == 0)
			_exit(be_child(1 + i));
		if (i % 4 == 3) {
			for (uint32_t j = i - 3; j <= i; j++)
				expect_good_end(children[j]);
		}
	}
	store_release(&is_enough, 1u);
	pthread_join(writer, NULL);
	EventUnregister(provider);
}

/* vfork: the child borrows the memory until it execs. */

static void run_vfork(void)
{
	static char *const arguments[] = {(char *)(uintptr_t) "true", NULL};

	be_writer(0);
	provider = register_one();
	for (int i = 0; i < VFORKS; i++) {
		pid_t child;

		write_some(provider, 0, 10);
		child = vfork();
		if (child == 0) {
			(void)execv("/bin/true", arguments);
			_exit(127);
		}
		write_some(provider, 0, 10);
		expect_good_end(child);
	}
	if (!EventProviderEnabled(provider, 0, 0))
		fail("the provider is not enabled any more");
	EventUnregister(provider);
}

/* exec: the same process, the program anew. Writer N is before, N + EXECS after. */

static uint32_t captures;

static void NTAPI on_enable(LPCGUID source, ULONG code, UCHAR level, ULONGLONG any, ULONGLONG all,
			    PEVENT_FILTER_DESCRIPTOR filter, PVOID context)
{
	(void)source;
	(void)level;
	(void)any;
	(void)all;
	(void)filter;
	(void)context;
	if (code == EVENT_CONTROL_CODE_CAPTURE_STATE)
		(void)add_relaxed(&captures, 1u);
}

static void exec_again(uint32_t writer)
{
	char fd_text[16], writer_text[16];

	snprintf(fd_text, sizeof(fd_text), "%d", logs_fd);
	snprintf(writer_text, sizeof(writer_text), "%u", writer);
	(void)execl("/proc/self/exe", own_arguments[0], "--again", fd_text, writer_text,
		    (char *)NULL);
	_exit(127);
}

/* Ends when it was asked for its state, once. */
static int be_again(const char *fd_text, const char *writer_text)
{
	uint32_t writer = (uint32_t)strtoul(writer_text, NULL, 0);
	double end = seconds() + HANG_SECONDS;

	logs = map_shared(fd_text, sizeof(*logs) * WRITERS_MAX);
	be_writer(writer);
	provider = recording_register(&lifecycle_provider, on_enable, NULL);
	write_some(provider, writer, CHILD_EVENTS);
	store_release(&logs[writer].reserved_pad, 1u);
	while (load_acquire(&logs[writer].reserved_pad) == 1) {
		if (seconds() > end)
			return 2;
		usleep(500);
	}
	if (load_relaxed(&captures) != 1)
		return 3;
	return EventUnregister(provider) != 0;
}

static void be_before_exec(uint32_t writer)
{
	be_writer(writer);
	provider = register_one();
	write_some(provider, writer, CHILD_EVENTS);
	exec_again(writer + EXECS);
}

static void run_exec(void)
{
	for (uint32_t i = 0; i < EXECS; i++) {
		struct lifecycle_log *again = &logs[i + EXECS];
		double end = seconds() + HANG_SECONDS;
		pid_t child = fork();
		ULONG error;

		if (child == 0)
			be_before_exec(i);
		while (load_acquire(&again->reserved_pad) == 0) {
			if (seconds() > end)
				fail("the process does not come back from exec");
			usleep(500);
		}
		/* Waits for every registration that the host knows: that of before must be gone. */
		error = EnableTraceEx2(recording.handle, &lifecycle_provider,
				       EVENT_CONTROL_CODE_CAPTURE_STATE, 0, 0, 0,
				       HANG_SECONDS * 1000, NULL);
		if (error)
			fail("EnableTraceEx2: error %u", (unsigned)error);
		store_release(&again->reserved_pad, 2u);
		expect_good_end(child);
		if (load_relaxed(&logs[i].process_id) != load_relaxed(&again->process_id))
			fail("exec changed the process id");
	}
}

/* dlclose. */

static void toggle_plugin_provider(ULONG code)
{
	ULONG error = EnableTraceEx2(recording.handle, &lifecycle_plugin_provider, code,
				     TRACE_LEVEL_VERBOSE, 0, 0, HANG_SECONDS * 1000, NULL);

	if (error)
		fail("EnableTraceEx2 %u: error %u", (unsigned)code, (unsigned)error);
}

static void run_plugin(const struct lifecycle_plugin_order *order)
{
	void *plugin = dlopen(plugin_path, RTLD_NOW | RTLD_LOCAL);
	lifecycle_plugin_run_function run;

	if (!plugin)
		fail("dlopen: %s", dlerror());
	*(void **)&run = dlsym(plugin, "lifecycle_plugin_run");
	if (!run || run(order))
		fail("the plugin fails");
	if (dlclose(plugin))
		fail("dlclose: %s", dlerror());
	if (dlopen(plugin_path, RTLD_NOW | RTLD_NOLOAD))
		fail("the plugin is still there");
}

static void run_dlclose(void)
{
	static uint32_t callbacks;

	toggle_plugin_provider(EVENT_CONTROL_CODE_ENABLE_PROVIDER);
	for (uint32_t i = 0; i < PLUGINS; i++) {
		const struct lifecycle_plugin_order order = {
			.log = &logs[i],
			.writer = i,
			.events = CHILD_EVENTS,
			.end = (enum lifecycle_plugin_end)(i % LIFECYCLE_ENDS),
			.has_callback = i / LIFECYCLE_ENDS % 2,
			.callbacks = &callbacks,
		};

		be_writer(i);
		run_plugin(&order);
		/* Callbacks of code that is not there any more are none. */
		toggle_plugin_provider(EVENT_CONTROL_CODE_CAPTURE_STATE);
		toggle_plugin_provider(EVENT_CONTROL_CODE_DISABLE_PROVIDER);
		toggle_plugin_provider(EVENT_CONTROL_CODE_ENABLE_PROVIDER);
	}
	if (load_relaxed(&callbacks) != PLUGINS / 2)
		fail("%u callbacks of %u plugins", load_relaxed(&callbacks), PLUGINS / 2);
}

/* threads: each writes a little and ends. */

static void *be_thread(void *argument)
{
	struct lifecycle_log *log = argument;

	write_some(provider, (uint32_t)(log - logs), THREAD_EVENTS);
	return NULL;
}

static void run_threads(void)
{
	provider = register_one();
	for (uint32_t i = 0; i < THREADS; i += THREADS_AT_A_TIME) {
		pthread_t threads[THREADS_AT_A_TIME];

		for (uint32_t j = 0; j < THREADS_AT_A_TIME; j++) {
			be_writer(i + j);
			if (pthread_create(&threads[j], NULL, be_thread, &logs[i + j]))
				fail("no thread");
		}
		for (uint32_t j = 0; j < THREADS_AT_A_TIME; j++)
			pthread_join(threads[j], NULL);
	}
	EventUnregister(provider);
}

/*
 * main_exit: the main thread ends, a worker writes on and ends last; then the program ends with 0, as it does without
 * us. The even ones register in the main thread, the odd ones in the worker, whose main thread nobody has met.
 */

static uint32_t ending_writer;

static void note_exit(void)
{
	store_release(&logs[ending_writer].reserved_pad, 1u);
}

static bool has_main_ended(void)
{
	char text[512] = "";
	FILE *file = fopen("/proc/self/stat", "re");
	const char *end;

	if (!file || !fgets(text, sizeof(text), file))
		_exit(3);
	fclose(file);
	end = strrchr(text, ')');
	return end && end[2] == 'Z';
}

static void *outlive_main(void *unused)
{
	const struct wait wait = wait_for("the main thread does not end");

	if (ending_writer % 2)
		provider = register_one();
	write_some(provider, ending_writer, CHILD_EVENTS);
	while (!has_main_ended())
		wait_on(&wait);
	usleep(1000);
	write_some(provider, ending_writer, CHILD_EVENTS);
	return unused;
}

static void be_ending(uint32_t writer)
{
	pthread_t worker;

	be_writer(writer);
	ending_writer = writer;
	(void)atexit(note_exit);
	if (writer % 2 == 0)
		provider = register_one();
	if (pthread_create(&worker, NULL, outlive_main, NULL) || pthread_detach(worker))
		_exit(2);
	pthread_exit(NULL);
}

static void run_main_exit(void)
{
	for (uint32_t i = 0; i < ENDINGS; i++) {
		pid_t child = fork();

		if (child == 0)
			be_ending(i);
		expect_good_end(child);
		if (load_acquire(&logs[i].reserved_pad) != 1)
			fail("the program ended without what atexit() was told");
	}
}

/* The account. */

static void WINAPI see_event(PEVENT_RECORD record)
{
	struct seen *seen = record->UserContext;
	struct lifecycle_payload payload;

	if (!IsEqualGUID(&record->EventHeader.ProviderId, &lifecycle_provider) &&
	    !IsEqualGUID(&record->EventHeader.ProviderId, &lifecycle_plugin_provider))
		return;
	memcpy(&payload, record->UserData, sizeof(payload));
	if (record->UserDataLength != sizeof(payload) || payload.writer >= WRITERS_MAX)
		fail("an event of %u bytes is not what a writer wrote", record->UserDataLength);
	if (payload.number <= seen->last[payload.writer])
		fail("writer %u: event %" PRIu64 " comes after %" PRIu64, payload.writer,
		     payload.number, seen->last[payload.writer]);
	if (record->EventHeader.ProcessId != payload.process_id)
		fail("writer %u of process %u is said to be process %u", payload.writer,
		     payload.process_id, (unsigned)record->EventHeader.ProcessId);
	seen->last[payload.writer] = payload.number;
	seen->count[payload.writer]++;
}

static void settle(const char *file)
{
	static struct seen seen;
	uint64_t done = 0, refused = 0, in_file = 0;
	ULONG lost;

	recording_control(&recording, EVENT_TRACE_CONTROL_STOP);
	lost = recording_read(file, see_event, &seen);
	(void)recording_check_order(file);
	for (uint32_t i = 0; i < WRITERS_MAX; i++) {
		if (seen.last[i] > load_relaxed(&logs[i].done))
			fail("writer %u: event %" PRIu64 " is in the file, but it wrote %" PRIu64,
			     i, seen.last[i], load_relaxed(&logs[i].done));
		done += load_relaxed(&logs[i].done);
		refused += load_relaxed(&logs[i].refused);
		in_file += seen.count[i];
	}
	printf("%" PRIu64 " succeeded, %" PRIu64 " were refused; %" PRIu64
	       " in the file, %u lost\n",
	       done, refused, in_file, (unsigned)lost);
	if (done + refused != in_file + lost)
		fail("the sum is off by %lld", (long long)(done + refused - in_file - lost));
	if (done == 0)
		fail("nothing was written");
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} parts[] = {
		{"signal", run_signal},       {"fork", run_fork},       {"vfork", run_vfork},
		{"exec", run_exec},           {"dlclose", run_dlclose}, {"threads", run_threads},
		{"main_exit", run_main_exit},
	};
	struct recording_options options = {.name = "lifecycle",
					    .mode = EVENT_TRACE_FILE_MODE_SEQUENTIAL,
					    .buffer_kib = 64,
					    .buffers = 128};
	char file[300];

	setvbuf(stdout, NULL, _IOLBF, 0);
	own_arguments = argv;
	if (argc == 4 && strcmp(argv[1], "--again") == 0)
		return be_again(argv[2], argv[3]);
	plugin_path = argc > 2 ? argv[2] : NULL;
	logs = share_with_programs(sizeof(*logs) * WRITERS_MAX, &logs_fd);
	snprintf(file, sizeof(file), "%s/lifecycle.etl", test_home());
	options.file = file;
	for (size_t i = 0; argc > 1 && i < ARRAY_SIZE(parts); i++) {
		if (strcmp(argv[1], parts[i].name) != 0)
			continue;
		recording_start(&recording, &options);
		recording_enable(&recording, &lifecycle_provider);
		parts[i].run();
		settle(file);
		return 0;
	}
	fail("usage: lifecycle signal|fork|vfork|exec|dlclose|threads|main_exit [PLUGIN]");
}
