/* SPDX-License-Identifier: MIT */
/*
 * Filters of EnableTraceEx2 from end to end: what a session's file has of the events that were written, and which
 * processes were enabled. One argument names the scenario, a second one `etw`, which says how many were filtered.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <evntcons.h>
#include <evntprov.h>
#include <winerror.h>

#include "base/atomic.h"
#include "base/macros.h"
#include "recording/enabled.h"
#include "recording/filtering.h"
#include "recording/support.h"

static const GUID group_guid = {
	0x8be5cf1e, 0x90d2, 0x4a3b, {0x8e, 0x1d, 0x6b, 0x25, 0x9b, 0x0c, 0x44, 0x07}};

static void write_all_ids(REGHANDLE provider)
{
	for (USHORT id = 1; id < 5; id++)
		filtering_write(provider, id, id);
}

/* --- By event id */

static const USHORT in_1_3[] = {TRUE, 2, 1, 3}, out_1_3[] = {FALSE, 2, 1, 3}, in_2[] = {TRUE, 1, 2};

static void run_ids(void)
{
	struct filtering_session in, out, all;
	struct filtering_filters filters = {.count = 0};
	REGHANDLE provider, second;

	filtering_start(&in, "in");
	filtering_start(&out, "out");
	filtering_start(&all, "all");
	filtering_enable(&all, &filters);
	filtering_add(&filters, EVENT_FILTER_TYPE_EVENT_ID, in_1_3, sizeof(in_1_3));
	filtering_enable(&in, &filters);
	provider = filtering_register();
	filters.count = 0;
	filtering_add(&filters, EVENT_FILTER_TYPE_EVENT_ID, out_1_3, sizeof(out_1_3));
	filtering_enable(&out, &filters);
	write_all_ids(provider);
	filtering_write_named(provider, "HasNoId", 5, 0);
	/* Another registration has the same filters. */
	if (EventRegister(&filtering_provider, NULL, NULL, &second) || !becomes_enabled(second))
		fail("no second registration");
	write_all_ids(second);
	/* Enabling anew replaces them. */
	filters.count = 0;
	filtering_add(&filters, EVENT_FILTER_TYPE_EVENT_ID, in_2, sizeof(in_2));
	filtering_enable(&in, &filters);
	write_all_ids(provider);
	filtering_control(&in, EVENT_CONTROL_CODE_DISABLE_PROVIDER,
			  &(struct filtering_filters){.count = 0});
	write_all_ids(provider);
	filtering_enable(&in, &(struct filtering_filters){.count = 0});
	write_all_ids(second);
	filtering_expect_filtered(&in, 2 + 2 + 3);
	filtering_expect_filtered(&out, 5 * 2);
	filtering_expect_filtered(&all, 0);
	filtering_end(&in);
	filtering_end(&out);
	filtering_end(&all);
	filtering_expect_ids(&in, "3231");
	filtering_expect_ids(&out, "0505");
	filtering_expect_ids(&all, "5555");
	if (in.named != 1 || out.named != 1 || all.named != 1)
		fail("%u, %u, %u events without a fixed id", in.named, out.named, all.named);
	EventUnregister(second);
	EventUnregister(provider);
}

/* --- By process */

/* A process that does what it is told, one letter at a time, and answers with a number. */
struct helper {
	pid_t pid;
	int to, from;
};

static unsigned callbacks; /* of the helper */

static void NTAPI on_enable(LPCGUID source, ULONG code, UCHAR level, ULONGLONG any, ULONGLONG all,
			    PEVENT_FILTER_DESCRIPTOR filter, PVOID context)
{
	(void)source;
	(void)code;
	(void)level;
	(void)any;
	(void)all;
	(void)filter;
	(void)context;
	callbacks++;
}

static int help(void)
{
	REGHANDLE provider = 0;
	char command;

	while (read(STDIN_FILENO, &command, 1) == 1) {
		unsigned answer = 0;

		switch (command) {
		case 'r': /* register */
			answer = EventRegister(&filtering_provider, on_enable, NULL, &provider);
			break;
		case 'e':
			answer = EventProviderEnabled(provider, 0, 0);
			break;
		case 'a': /* wait until it is */
			answer = becomes_enabled(provider);
			break;
		case 'w':
			write_all_ids(provider);
			break;
		case 'f': /* a forked child writes */
			if (fork() == 0) {
				write_all_ids(provider);
				_exit(0);
			}
			(void)wait(NULL);
			break;
		default: /* how often the callback ran */
			answer = callbacks;
		}
		if (write(STDOUT_FILENO, &answer, sizeof(answer)) != sizeof(answer))
			return 1;
	}
	return 0;
}

static unsigned tell(const struct helper *helper, char command)
{
	unsigned answer = 0;

	if (write(helper->to, &command, 1) != 1 ||
	    read(helper->from, &answer, sizeof(answer)) != sizeof(answer))
		fail("a helper is gone");
	return answer;
}

/* @program: a copy of this one is made, whose executable has this name */
static void helper_start(struct helper *helper, const char *program)
{
	char path[256], command[600], self[300];
	int to[2], from[2];
	ssize_t bytes = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (bytes <= 0)
		fail("who am I?");
	self[bytes] = '\0';
	(void)snprintf(path, sizeof(path), "%s/%s", test_home(), program);
	(void)snprintf(command, sizeof(command), "cp -n '%s' '%s'", self, path);
	if (access(path, X_OK) < 0 && system(command) != 0)
		fail("%s cannot be copied", self);
	if (pipe2(to, O_CLOEXEC) < 0 || pipe2(from, O_CLOEXEC) < 0)
		fail("no pipes");
	helper->pid = fork();
	if (helper->pid == 0) {
		(void)dup2(to[0], STDIN_FILENO);
		(void)dup2(from[1], STDOUT_FILENO);
		(void)close(to[1]);
		(void)close(from[0]);
		(void)execl(path, path, "helper", (char *)NULL);
		_exit(127);
	}
	(void)close(to[0]);
	(void)close(from[1]);
	helper->to = to[1];
	helper->from = from[0];
	if (tell(helper, 'r') != ERROR_SUCCESS)
		fail("a helper cannot register");
}

static void helper_end(const struct helper *helper)
{
	(void)close(helper->to);
	(void)close(helper->from);
	(void)waitpid(helper->pid, NULL, 0);
}

static void run_processes(void)
{
	static const WCHAR names[] = u"nobody.exe;FILTER_TWO.exe";
	struct filtering_session by_pid, by_name;
	struct filtering_filters filters = {.count = 0};
	struct helper one, two, late;
	ULONG pids[2] = {0};

	filtering_start(&by_pid, "by_pid");
	filtering_start(&by_name, "by_name");
	helper_start(&one, "filter_one");
	helper_start(&two, "filter_two");
	pids[0] = (ULONG)one.pid;
	pids[1] = 1; /* init registers nothing */
	filtering_add(&filters, EVENT_FILTER_TYPE_PID, pids, sizeof(pids));
	filtering_enable(&by_pid, &filters);
	if (!tell(&one, 'e') || tell(&one, 'c') != 1)
		fail("the process that was named is not enabled");
	if (tell(&two, 'e') || tell(&two, 'c') != 0)
		fail("a process that was not named is enabled, or heard of it");
	filters.count = 0;
	filtering_add(&filters, EVENT_FILTER_TYPE_EXECUTABLE_NAME, names, sizeof(names));
	filtering_enable(&by_name, &filters);
	if (tell(&one, 'c') != 1 || !tell(&two, 'e') || tell(&two, 'c') != 1)
		fail("the name does not choose the process");
	/* Processes that come later are chosen by name, and not by number. */
	helper_start(&late, "filter_two");
	if (!tell(&late, 'a'))
		fail("a later process of that name is not enabled");
	(void)tell(&one, 'w');
	(void)tell(&two, 'w');
	(void)tell(&late, 'w');
	/* A forked child of a process that was named by its number is another process. */
	(void)tell(&one, 'f');
	(void)tell(&two, 'f');
	/* By both: the process that has the name and the number. */
	pids[1] = (ULONG)two.pid;
	filtering_add(&filters, EVENT_FILTER_TYPE_PID, pids, sizeof(pids));
	filtering_enable(&by_name, &filters);
	if (!tell(&two, 'e') || tell(&late, 'e') || tell(&one, 'c') != 1)
		fail("two filters do not both choose");
	(void)tell(&late, 'w');
	(void)tell(&two, 'w');
	/* By what no process has. */
	filters.count = 0;
	filtering_add(&filters, EVENT_FILTER_TYPE_PACKAGE_ID, names, sizeof(names));
	filtering_enable(&by_name, &filters);
	if (tell(&two, 'e'))
		fail("a process without a package is enabled");
	(void)tell(&two, 'w');
	filtering_end(&by_pid);
	filtering_end(&by_name);
	filtering_expect_ids(&by_pid, "1111");
	filtering_expect_ids(&by_name, "4444");
	helper_end(&one);
	helper_end(&two);
	helper_end(&late);
}

/* --- By the writer: EventWriteEx leaves out sessions whose filters' InstanceId it is given */

struct blocks {
	ULONGLONG instances[4]; /* by the version that the session gave its block */
};

static void NTAPI on_blocks(LPCGUID source, ULONG code, UCHAR level, ULONGLONG any, ULONGLONG all,
			    PEVENT_FILTER_DESCRIPTOR filter, PVOID context)
{
	struct blocks *blocks = context;
	EVENT_FILTER_HEADER header;
	ULONGLONG at = filter ? filter->Ptr : 0;

	(void)source;
	(void)code;
	(void)level;
	(void)any;
	(void)all;
	while (at) {
		memcpy(&header, (const void *)(uintptr_t)at, sizeof(header));
		store_release(&blocks->instances[header.Version % 4], header.InstanceId);
		at = header.NextOffset ? at + header.NextOffset : 0;
	}
}

/* The callback runs after the provider is enabled. */
static ULONGLONG wait_for_instance(const ULONGLONG *instance)
{
	const uint64_t end_ms = etw_monotonic_ms() + ENABLED_MS;
	ULONGLONG value;

	while (!(value = load_acquire(instance))) {
		if (etw_monotonic_ms() > end_ms)
			fail("the callback was not given the block of a session");
		(void)usleep(500);
	}
	return value;
}

static void write_without(REGHANDLE provider, USHORT id, ULONG64 without)
{
	const EVENT_DESCRIPTOR descriptor = {.Id = id, .Level = 4};
	ULONG error = EventWriteEx(provider, &descriptor, without, 0, NULL, NULL, 0, NULL);

	if (error)
		fail("EventWriteEx without %llx: error %u", (unsigned long long)without,
		     (unsigned)error);
}

/* Traits without a name, of which the provider's group is the only one. */
static void join_group(REGHANDLE provider)
{
	uint8_t traits[2 + 1 + 2 + 1 + sizeof(GUID)] = {
		sizeof(traits), 0, 0, 2 + 1 + sizeof(GUID), 0, EtwProviderTraitTypeGroup};

	memcpy(traits + 6, &group_guid, sizeof(GUID));
	if (EventSetInformation(provider, EventProviderSetTraits, traits, sizeof(traits)))
		fail("EventSetInformation failed");
}

static void run_excluded(void)
{
	ENABLE_TRACE_PARAMETERS as_group = {.Version = ENABLE_TRACE_PARAMETERS_VERSION_2,
					    .EnableProperty = EVENT_ENABLE_PROPERTY_PROVIDER_GROUP};
	struct filtering_session one, two, all;
	struct blocks blocks = {{0}};
	REGHANDLE provider, second;
	ULONGLONG ones, twos;

	filtering_start(&one, "one");
	filtering_start(&two, "two");
	filtering_start(&all, "all");
	filtering_enable(&all, &(struct filtering_filters){.count = 0});
	/* One that has enabled the provider's group, too, is one session all the same. */
	if (EnableTraceEx2(two.recording.handle, &group_guid, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 0,
			   0, 0, FILTERING_CALL_MS, &as_group))
		fail("the group cannot be enabled");
	for (USHORT i = 1; i <= 2; i++) {
		const EVENT_FILTER_HEADER header = {.Version = (UCHAR)i, .Size = sizeof(header)};
		struct filtering_filters filters = {.count = 0};

		filtering_add(&filters, EVENT_FILTER_TYPE_SCHEMATIZED, &header, sizeof(header));
		filtering_enable(i == 1 ? &one : &two, &filters);
	}
	if (EventRegister(&filtering_provider, on_blocks, &blocks, &provider) ||
	    !becomes_enabled(provider))
		fail("the provider is not enabled");
	join_group(provider);
	/* The answer to a second registration comes behind what the first one's traits led to. */
	if (EventRegister(&filtering_provider, NULL, NULL, &second) || !becomes_enabled(second))
		fail("no second registration");
	ones = wait_for_instance(&blocks.instances[1]);
	twos = wait_for_instance(&blocks.instances[2]);
	if (ones & twos)
		fail("instances %llx and %llx", (unsigned long long)ones, (unsigned long long)twos);
	write_without(provider, 1, 0);
	write_without(provider, 2, ones);
	write_without(provider, 3, twos);
	write_without(provider, 4, ones | twos);
	write_without(provider, 5, UINT64_C(1) << 40); /* nobody's */
	filtering_expect_filtered(&one, 2);
	filtering_expect_filtered(&two, 2);
	filtering_expect_filtered(&all, 0);
	filtering_end(&one);
	filtering_end(&two);
	filtering_end(&all);
	filtering_expect_ids(&one, "10101");
	filtering_expect_ids(&two, "11001");
	filtering_expect_ids(&all, "11111");
	EventUnregister(second);
	EventUnregister(provider);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} scenarios[] = {
		{"ids", run_ids},
		{"processes", run_processes},
		{"excluded", run_excluded},
	};

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc == 2 && strcmp(argv[1], "helper") == 0)
		return help();
	(void)test_home();
	filtering_tool(argc == 3 ? argv[2] : NULL);
	for (size_t i = 0; argc == 3 && i < ARRAY_SIZE(scenarios); i++) {
		if (strcmp(argv[1], scenarios[i].name) == 0) {
			scenarios[i].run();
			return 0;
		}
	}
	return 2;
}
