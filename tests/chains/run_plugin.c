/* SPDX-License-Identifier: MIT */
/*
 * run_plugin ADDRESS MILLISECONDS STEP... - loads plug-ins of a form of its own to a place in memory, one after the other, and
 * spends processor time in each: main, call 1 to 3, then the plug-in's enter, parse, step and work.
 *
 * A step is HOW:FILE:
 *
 *	table     announced with the names that the file has, withdrawn and unmapped
 *	unmapped  likewise, but unmapped alone
 *	bare      announced by nobody
 *	fork      likewise as table; a child runs it
 *	elf, perf_map, jitdump  announced without names, which are in FILE.elf and so on
 *	waiting   as table; runs until standard input ends, once "ready" was written to standard output
 *
 * A file is lines in hexadecimal: "symbol OFFSET BYTES NAME", "code BYTES ENTRY"; behind the last one the code.
 * Writes "pid PID" and how long the slowest announcement took: "announced in N ms".
 */
#include <etw/image.h>

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SYMBOLS_MAX 16
#define NAME_ROOM   64

#if defined(__clang__)
#define NOINLINE __attribute__((noinline, optnone))
#else
#define NOINLINE __attribute__((noinline, noclone))
#endif

struct plugin {
	const char *how, *path;
	struct libetw_symbol symbols[SYMBOLS_MAX];
	char names[SYMBOLS_MAX][NAME_ROOM];
	size_t symbol_count, bytes, entry;
	unsigned char *at;
	uint64_t number;
};

static volatile unsigned long sum;
static double until_s;
static int waits;
static long slowest_ms;

static double seconds(clockid_t clock)
{
	struct timespec now;

	(void)clock_gettime(clock, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static int is_over(void)
{
	char byte;

	if (waits)
		return read(STDIN_FILENO, &byte, 1) == 0;
	return seconds(CLOCK_PROCESS_CPUTIME_ID) >= until_s;
}

static void fail(const char *what, int error)
{
	fprintf(stderr, "run_plugin: %s: %s\n", what, strerror(error));
	exit(1);
}

static void load(struct plugin *plugin, void *place)
{
	FILE *file = fopen(plugin->path, "re");
	char kind[NAME_ROOM];

	if (!file)
		fail(plugin->path, 2);
	while (fscanf(file, "%63s", kind) == 1 && strcmp(kind, "symbol") == 0) {
		struct libetw_symbol *symbol = &plugin->symbols[plugin->symbol_count];
		char *name = plugin->names[plugin->symbol_count];

		if (plugin->symbol_count++ == SYMBOLS_MAX ||
		    fscanf(file, "%" SCNx64 " %" SCNx32 " %63s", &symbol->offset, &symbol->size,
			   name) != 3)
			fail("a symbol", 22);
		symbol->name = name;
	}
	if (fscanf(file, "%zx %zx", &plugin->bytes, &plugin->entry) != 2 || fgetc(file) != '\n')
		fail("the code's size", 22);
	plugin->at = mmap(place, plugin->bytes, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	if (plugin->at != place)
		fail("the place is taken", 17);
	if (fread(plugin->at, 1, plugin->bytes, file) != plugin->bytes)
		fail("the code", 22);
	(void)fclose(file);
	__builtin___clear_cache((char *)plugin->at, (char *)plugin->at + plugin->bytes);
	if (mprotect(plugin->at, plugin->bytes, PROT_READ | PROT_EXEC))
		fail("mprotect", 13);
}

static int is_how(const struct plugin *plugin, const char *how)
{
	return strcmp(plugin->how, how) == 0;
}

static void add_file(struct plugin *plugin, enum libetw_symbol_form form)
{
	char path[4096];
	int r;

	(void)snprintf(path, sizeof(path), "%s.%s", plugin->path, plugin->how);
	r = libetw_image_add_symbol_file(plugin->number, path, form);
	if (r < 0)
		fail(path, -r);
}

static void announce(struct plugin *plugin)
{
	static const struct {
		const char *how;
		enum libetw_symbol_form form;
	} forms[] = {{"elf", LIBETW_SYMBOLS_ELF},
		     {"perf_map", LIBETW_SYMBOLS_PERF_MAP},
		     {"jitdump", LIBETW_SYMBOLS_JITDUMP}};
	struct libetw_image image = {
		.base = plugin->at,
		.size = plugin->bytes,
		.path = plugin->path,
		.symbols = plugin->symbols,
		.symbol_count = plugin->symbol_count,
	};
	const double began_s = seconds(CLOCK_MONOTONIC);
	int r = -1;
	long took_ms;

	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		if (!is_how(plugin, forms[i].how))
			continue;
		image.symbol_count = 0;
		r = libetw_image_announce(&image, &plugin->number);
		if (r == 0)
			add_file(plugin, forms[i].form);
	}
	if (image.symbol_count)
		r = libetw_image_announce(&image, &plugin->number);
	if (r < 0)
		fail("announce", -r);
	took_ms = (long)((seconds(CLOCK_MONOTONIC) - began_s) * 1000);
	slowest_ms = took_ms > slowest_ms ? took_ms : slowest_ms;
}

static NOINLINE int run(const struct plugin *plugin, double for_s)
{
	int (*enter)(volatile unsigned long *, int (*)(void));
	const unsigned char *at = plugin->at + plugin->entry;
	int result;

	memcpy(&enter, &at, sizeof(enter));
	until_s = seconds(CLOCK_PROCESS_CPUTIME_ID) + for_s;
	result = enter(&sum, is_over);
	sum += (unsigned long)result;
	return result + 1;
}

static NOINLINE int call_1(const struct plugin *plugin, double for_s)
{
	int result = run(plugin, for_s);

	sum += 1;
	return result + 1;
}

static NOINLINE int call_2(const struct plugin *plugin, double for_s)
{
	int result = run(plugin, for_s);

	sum += 2;
	return result + 1;
}

static NOINLINE int call_3(const struct plugin *plugin, double for_s)
{
	int result = run(plugin, for_s);

	sum += 3;
	return result + 1;
}

static void begin(struct plugin *plugin, void *place)
{
	load(plugin, place);
	if (!is_how(plugin, "bare"))
		announce(plugin);
	waits = is_how(plugin, "waiting");
	if (waits && fcntl(STDIN_FILENO, F_SETFL, O_NONBLOCK) == 0)
		(void)puts("ready");
	(void)fflush(stdout);
}

/* The one that is to run, or not. */
static int is_runner(const struct plugin *plugin)
{
	int status = 1;
	pid_t child;

	if (!is_how(plugin, "fork"))
		return 1;
	child = fork();
	if (child == 0)
		return 1;
	if (waitpid(child, &status, 0) != child || status)
		fail("the child", 10);
	return 0;
}

static void end(struct plugin *plugin)
{
	int r = 0;

	if (!is_how(plugin, "bare") && !is_how(plugin, "unmapped"))
		r = libetw_image_withdraw(plugin->number);
	if (r < 0)
		fail("withdraw", -r);
	if (munmap(plugin->at, plugin->bytes))
		fail("munmap", 22);
}

int main(int argc, char **argv)
{
	static int (*const calls[])(const struct plugin *, double) = {call_1, call_2, call_3};
	const pid_t own = getpid();
	void *place = NULL;
	uintptr_t address;

	if (argc < 4 || argc > 6)
		return 2;
	address = (uintptr_t)strtoull(argv[1], NULL, 16);
	memcpy(&place, &address, sizeof(place));
	printf("pid %d\n", (int)own);
	for (int i = 3; i < argc; i++) {
		struct plugin plugin = {.how = argv[i]};
		char *colon = strchr(argv[i], ':');

		if (!colon)
			return 2;
		*colon = 0;
		plugin.path = colon + 1;
		begin(&plugin, place);
		if (is_runner(&plugin))
			(void)calls[i - 3](&plugin, atof(argv[2]) / 1000);
		if (getpid() != own)
			_exit(0);
		end(&plugin);
	}
	printf("announced in %ld ms\n", slowest_ms);
	return 0;
}
