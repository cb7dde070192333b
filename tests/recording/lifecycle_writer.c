/* SPDX-License-Identifier: MIT */
/*
 * lifecycle_writer FD KIND PART PLUGIN - a provider in the middle of what processes do: in signal handlers that interrupt
 * a write; across fork, vfork and exec; in a plugin that is unloaded, with its registration or without; in threads that
 * end; unregistered and registered anew while threads write; in a program whose main thread ends first. Started by
 * lifecycle.c, which controls the session: this is linked with a provider's library alone.
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

#include <evntrace.h>

#include "base/macros.h"
#include "provider/thread.h"
#include "recording/children.h"
#include "recording/lifecycle_kind.h"
#include "recording/wait.h"

#ifdef ETW_THREAD_SANITIZED
#define SIGNAL_US 2000 /* a handler takes longer */
#define CHILDREN  12
#else
#define SIGNAL_US 170
#define CHILDREN  40
#endif
#define SIGNAL_SECONDS    1
#define CHILD_EVENTS      200
#define FORK_WRITERS      2
#define VFORKS            100
#define EXECS             20
#define PLUGINS           60
#define ENDINGS           6
#define THREADS           4000
#define THREADS_AT_A_TIME 8
#define THREAD_EVENTS     3
#define UNREGISTERS       300

static struct lifecycle_shared *shared;
static struct lifecycle_log *logs;
static enum lifecycle_kind kind;
static char *const *own_arguments;

static void be_writer(uint32_t writer)
{
	store_relaxed(&logs[writer].process_id, (uint32_t)getpid());
}

static void write_some(unsigned place, uint32_t writer, uint32_t events)
{
	for (uint32_t i = 0; i < events; i++)
		lifecycle_write(kind, place, &logs[writer], writer);
}

static void await_enabled(unsigned place)
{
	const struct wait wait = wait_for("the provider is not enabled");

	while (!lifecycle_is_enabled(kind, place))
		wait_on(&wait);
}

static void register_one(unsigned place)
{
	if (!lifecycle_register(kind, place, /* has_callback= */ true))
		fail("the provider cannot be registered");
	await_enabled(place);
}

/* Asks the program that controls the session for something, and waits until it is done. */
static void ask(uint32_t control_code, bool is_for_plugin)
{
	shared->is_for_plugin = is_for_plugin;
	store_release(&shared->request, control_code + 1);
	await_flag(&shared->request, 0, "the session's controller does not answer");
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
	lifecycle_write(kind, 0, &logs[writer], writer);
	errno_changes += errno != before;
}

static void *send_signals(void *argument)
{
	const pthread_t *target = argument;
	sigset_t all;

	(void)sigfillset(&all); /* the timer's are for the writer, too */
	(void)pthread_sigmask(SIG_SETMASK, &all, NULL);
	while (load_relaxed(&logs[0].flag) == 0) {
		(void)pthread_kill(*target, SIGUSR1);
		usleep(SIGNAL_US);
	}
	return NULL;
}

static bool have_handlers_written(void)
{
	return load_relaxed(&logs[1].done) && load_relaxed(&logs[2].done);
}

static void run_signal(void)
{
	const struct itimerval often = {{0, SIGNAL_US}, {0, SIGNAL_US}}, never = {0};
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
	pthread_t self = pthread_self(), sender;
	double end = seconds() + SIGNAL_SECONDS;

	for (uint32_t i = 0; i < 3; i++)
		be_writer(i);
	register_one(0);
	(void)sigaction(SIGALRM, &action, NULL);
	(void)sigaction(SIGUSR1, &action, NULL);
	if (pthread_create(&sender, NULL, send_signals, &self))
		fail("no thread");
	(void)setitimer(ITIMER_REAL, &often, NULL);
	while (seconds() < end || (!have_handlers_written() && seconds() < end + WAIT_SECONDS)) {
		store_relaxed(&is_inside, 1u);
		write_some(0, 0, 50);
		store_relaxed(&is_inside, 0u);
		usleep(100);
	}
	(void)setitimer(ITIMER_REAL, &never, NULL);
	store_relaxed(&logs[0].flag, 1u);
	pthread_join(sender, NULL);
	printf("%" PRIu64 " and %" PRIu64 " events from handlers, %" PRIu64 " of them amid %" PRIu64
	       " of the thread that they interrupted\n",
	       load_relaxed(&logs[1].done), load_relaxed(&logs[2].done), hits_inside,
	       load_relaxed(&logs[0].done));
	if (errno_changes)
		fail("a write changed errno");
	if (!have_handlers_written())
		fail("no handler has written");
	lifecycle_unregister(kind, 0);
}

/* fork: the parent writes on; children write at once, under their own process id, then register. */

static int be_child(uint32_t writer)
{
	pid_t grandchild;

	be_writer(writer);
	write_some(0, writer, CHILD_EVENTS);
	grandchild = fork();
	if (grandchild == 0) { /* of a process that has no listener */
		be_writer(writer + CHILDREN);
		write_some(0, writer + CHILDREN, CHILD_EVENTS);
		_exit(0);
	}
	register_one(1);
	if (!lifecycle_is_enabled(kind, 0))
		return 1;
	for (uint32_t i = 0; i < CHILD_EVENTS; i++)
		lifecycle_write(kind, i % 2, &logs[writer], writer);
	expect_good_end(grandchild);
	grandchild = fork();
	if (grandchild == 0) { /* of one that has */
		be_writer(writer + 2 * CHILDREN);
		register_one(2);
		write_some(2, writer + 2 * CHILDREN, CHILD_EVENTS);
		_exit(!lifecycle_unregister(kind, 2));
	}
	expect_good_end(grandchild);
	return !lifecycle_unregister(kind, 1) || !lifecycle_unregister(kind, 0);
}

static uint32_t is_enough; /* atomic */

/* Pauses now and then, so that the session follows; a fork may happen in the midst of any of its writes. */
static void *write_meanwhile(void *argument)
{
	const uint32_t writer = (uint32_t)(uintptr_t)argument;

	while (!load_acquire(&is_enough)) {
		write_some(0, writer, 20);
		usleep(200);
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

static void start_writers(pthread_t *threads, uint32_t count, void *(*run)(void *argument))
{
	for (uint32_t i = 0; i < count; i++) {
		be_writer(i);
		if (pthread_create(&threads[i], NULL, run, (void *)(uintptr_t)i))
			fail("no thread");
		await_first_event(i);
	}
}

static void stop_writers(const pthread_t *threads, uint32_t count)
{
	store_release(&is_enough, 1u);
	for (uint32_t i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
}

static void run_fork(void)
{
	pthread_t writers[FORK_WRITERS];
	pid_t children[CHILDREN];

	register_one(0);
	start_writers(writers, FORK_WRITERS, write_meanwhile);
	for (uint32_t i = 0; i < CHILDREN; i++) {
		children[i] = fork();
		if (children[i] == 0)
			_exit(be_child(FORK_WRITERS + i));
		if (i % 4 == 3) { /* CHILDREN is a multiple */
			for (uint32_t j = i - 3; j <= i; j++)
				expect_good_end(children[j]);
		}
	}
	stop_writers(writers, FORK_WRITERS);
	lifecycle_unregister(kind, 0);
}

/* vfork: the child borrows the memory until it execs; what it writes is its parent's, whose memory it borrows. */

static void run_vfork(void)
{
	static char *const arguments[] = {(char *)(uintptr_t) "true", NULL};

	be_writer(0);
	be_writer(1);
	register_one(0);
	for (int i = 0; i < VFORKS; i++) {
		pid_t child;

		write_some(0, 0, 10);
		child = vfork();
		if (child == 0) {
#ifdef ETW_THREAD_SANITIZED
			be_writer(1); /* the sanitizer makes a fork of it */
#endif
			write_some(0, 1, 1);
			(void)execv("/bin/true", arguments);
			_exit(127);
		}
		write_some(0, 0, 10);
		expect_good_end(child);
	}
	if (load_relaxed(&logs[1].done) == 0)
		fail("no child has written");
	if (!lifecycle_is_enabled(kind, 0))
		fail("the provider is not enabled any more");
	lifecycle_unregister(kind, 0);
}

/* exec: the same process, the program anew. Writer N is before, N + EXECS after. */

static void exec_again(uint32_t writer)
{
	char writer_text[16];

	snprintf(writer_text, sizeof(writer_text), "%u", writer);
	(void)execl("/proc/self/exe", own_arguments[0], own_arguments[1], own_arguments[2], "again",
		    writer_text, (char *)NULL);
	_exit(127);
}

/* Ends when it was asked for its state, once. */
static int be_again(uint32_t writer)
{
	be_writer(writer);
	register_one(0);
	write_some(0, writer, CHILD_EVENTS);
	store_release(&logs[writer].flag, 1u);
	await_flag(&logs[writer].flag, 2, "nobody asked for the state");
	if (lifecycle_captures() != 1)
		return 3;
	return !lifecycle_unregister(kind, 0);
}

static void be_before_exec(uint32_t writer)
{
	be_writer(writer);
	register_one(0);
	write_some(0, writer, CHILD_EVENTS);
	exec_again(writer + EXECS);
}

static void run_exec(void)
{
	for (uint32_t i = 0; i < EXECS; i++) {
		struct lifecycle_log *again = &logs[i + EXECS];
		pid_t child = fork();

		if (child == 0)
			be_before_exec(i);
		await_flag(&again->flag, 1, "the process does not come back from exec");
		/* Waits for every registration that the host knows: that of before must be gone. */
		ask(EVENT_CONTROL_CODE_CAPTURE_STATE, /* is_for_plugin= */ false);
		store_release(&again->flag, 2u);
		expect_good_end(child);
		if (load_relaxed(&logs[i].process_id) != load_relaxed(&again->process_id))
			fail("exec changed the process id");
	}
}

/* dlclose. A fully static program has no plugins. */

#ifdef LIFECYCLE_STATIC
static void run_dlclose(void)
{
	fail("this program has no plugins");
}
#else
static void run_plugin(const struct lifecycle_plugin_order *order)
{
	const char *path = own_arguments[4];
	void *plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	lifecycle_plugin_run_function run;

	if (!plugin)
		fail("dlopen: %s", dlerror());
	*(void **)&run = dlsym(plugin, "lifecycle_plugin_run");
	if (!run || run(order))
		fail("the plugin fails");
	if (dlclose(plugin))
		fail("dlclose: %s", dlerror());
	if (dlopen(path, RTLD_NOW | RTLD_NOLOAD))
		fail("the plugin is still there");
}

static void run_dlclose(void)
{
	static uint32_t callbacks;

	ask(EVENT_CONTROL_CODE_ENABLE_PROVIDER, true);
	for (uint32_t i = 0; i < PLUGINS; i++) {
		const struct lifecycle_plugin_order order = {
			.log = &logs[i],
			.writer = i,
			.events = CHILD_EVENTS,
			.kind = kind,
			.end = (enum lifecycle_plugin_end)(i % LIFECYCLE_ENDS),
			.has_callback = i / LIFECYCLE_ENDS % 2,
			.callbacks = &callbacks,
		};

		be_writer(i);
		run_plugin(&order);
		/* Callbacks of code that is not there any more are none. */
		ask(EVENT_CONTROL_CODE_CAPTURE_STATE, true);
		ask(EVENT_CONTROL_CODE_DISABLE_PROVIDER, true);
		ask(EVENT_CONTROL_CODE_ENABLE_PROVIDER, true);
	}
	/* A classic provider has one in any case. */
	if (load_relaxed(&callbacks) != (kind == LIFECYCLE_CLASSIC ? PLUGINS : PLUGINS / 2))
		fail("%u callbacks of %u plugins", load_relaxed(&callbacks), PLUGINS);
}
#endif

/* threads: each writes a little and ends. */

static void *be_thread(void *argument)
{
	struct lifecycle_log *log = argument;

	write_some(0, (uint32_t)(log - logs), THREAD_EVENTS);
	return NULL;
}

static void run_threads(void)
{
	register_one(0);
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
	lifecycle_unregister(kind, 0);
}

/*
 * unregister: threads write by a registration that is ended and made anew all the time. Their writes are accepted, refused
 * as of no provider, or of one that nobody has enabled yet, so there is no account.
 */

static void *write_anyway(void *argument)
{
	const uint32_t writer = (uint32_t)(uintptr_t)argument;

	while (!load_acquire(&is_enough)) {
		write_some(0, writer, 10);
		usleep(50);
	}
	return NULL;
}

static void run_unregister(void)
{
	pthread_t writers[FORK_WRITERS];

	store_relaxed(&shared->is_account_open, 1u);
	register_one(0);
	start_writers(writers, FORK_WRITERS, write_anyway);
	for (int i = 0; i < UNREGISTERS; i++) {
		if (!lifecycle_unregister(kind, 0))
			fail("the registration was not there");
		if (!lifecycle_register(kind, 0, /* has_callback= */ true))
			fail("the provider cannot be registered");
		usleep(500);
	}
	await_enabled(0);
	stop_writers(writers, FORK_WRITERS);
	write_some(0, 0, 1);
	lifecycle_unregister(kind, 0);
}

/*
 * main_exit: the main thread ends, a worker writes on and ends last; then the program ends with 0, as it does without
 * us. The even ones register in the main thread, the odd ones in the worker, whose main thread nobody has met.
 */

static uint32_t ending_writer;

static void note_exit(void)
{
	store_release(&logs[ending_writer].flag, 1u);
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
		register_one(0);
	write_some(0, ending_writer, CHILD_EVENTS);
	while (!has_main_ended())
		wait_on(&wait);
	usleep(1000);
	write_some(0, ending_writer, CHILD_EVENTS);
	return unused;
}

static void be_ending(uint32_t writer)
{
	pthread_t worker;

	be_writer(writer);
	ending_writer = writer;
	(void)atexit(note_exit);
	if (writer % 2 == 0)
		register_one(0);
	if (pthread_create(&worker, NULL, outlive_main, NULL) || pthread_detach(worker))
		_exit(2);
	pthread_exit(NULL);
}

static void run_main_exit(void)
{
	for (uint32_t i = 0; i < ENDINGS; i++) {
		pid_t child = fork(); /* before any registration: it is like a program of its own */

		if (child == 0)
			be_ending(i);
		expect_good_end(child);
		if (load_acquire(&logs[i].flag) != 1)
			fail("the program ended without what atexit() was told");
	}
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} parts[] = {
		{"signal", run_signal},         {"fork", run_fork},
		{"vfork", run_vfork},           {"exec", run_exec},
		{"dlclose", run_dlclose},       {"threads", run_threads},
		{"unregister", run_unregister}, {"main_exit", run_main_exit},
	};

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc != 5)
		fail("usage: lifecycle_writer FD KIND PART PLUGIN");
	own_arguments = argv;
	kind = lifecycle_kind_of(argv[2]);
	shared = map_shared(argv[1], sizeof(*shared));
	logs = shared->logs;
	if (kind == LIFECYCLE_KINDS)
		fail("there is no kind %s", argv[2]);
	if (strcmp(argv[3], "again") == 0)
		return be_again((uint32_t)strtoul(argv[4], NULL, 0));
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		if (strcmp(argv[3], parts[i].name) != 0)
			continue;
		parts[i].run();
		return 0;
	}
	fail("there is no part %s", argv[3]);
}
