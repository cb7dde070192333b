/* SPDX-License-Identifier: MIT */
/*
 * The choice between the CPU's counter and CLOCK_MONOTONIC_RAW, the counter's frequency, and the page.
 * The counter is taken only on the kernel's word: a counter that stops in deep sleep or differs between
 * processors looks perfect for hours.
 */
#include "session/clock_host.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/macros.h"
#include "base/time.h"

#define MEASURE_NS       20000000
#define MEASURE_TRIES    16
#define CPUINFO_LINE_MAX 8192
#define PAGE_VERSION     1
#define PAGE_SEALS       (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL)
/* Seconds and more are no frequency of a counter: 1 kHz to 100 GHz. */
#define FREQUENCY_MIN UINT64_C(1000)
#define FREQUENCY_MAX UINT64_C(100000000000)

#if defined(__x86_64__)
#define CLOCKSOURCE "tsc"
#elif defined(__aarch64__)
#define CLOCKSOURCE "arch_sys_counter"
#endif

static uint64_t read_counter(void)
{
	uint64_t counter;

	etw_cpu_counter_fence();
	counter = etw_cpu_counter();
	etw_cpu_counter_fence();
	return counter;
}

static bool is_clocksource(const char *root)
{
	char path[256], line[64] = "";
	FILE *file;

	(void)snprintf(path, sizeof(path),
		       "%s/sys/devices/system/clocksource/clocksource0/current_clocksource", root);
	file = fopen(path, "re");
	if (!file)
		return false;
	if (!fgets(line, sizeof(line), file))
		line[0] = '\0';
	(void)fclose(file);
	line[strcspn(line, "\n")] = '\0';
	return strcmp(line, CLOCKSOURCE) == 0;
}

#if defined(__x86_64__)
static bool has_flag(const char *line, const char *flag)
{
	size_t length = strlen(flag);

	for (const char *at = line; (at = strstr(at, flag)); at += length) {
		if (at > line && at[-1] == ' ' && (at[length] == ' ' || at[length] == '\n'))
			return true;
	}
	return false;
}

/* By the flags of the first processor; the kernel shows the same ones for all. */
static bool is_constant(const char *root)
{
	char path[256], line[CPUINFO_LINE_MAX];
	bool is_found = false;
	FILE *file;

	(void)snprintf(path, sizeof(path), "%s/proc/cpuinfo", root);
	file = fopen(path, "re");
	if (!file)
		return false;
	while (!is_found && fgets(line, sizeof(line), file)) {
		if (strncmp(line, "flags", 5) != 0)
			continue;
		is_found = has_flag(line, "constant_tsc") && has_flag(line, "nonstop_tsc");
		break;
	}
	(void)fclose(file);
	return is_found;
}
#else
/* The architecture's generic timer is both by definition. */
static bool is_constant(const char *root)
{
	(void)root;
	return true;
}
#endif

static uint64_t plausible(unsigned __int128 frequency)
{
	return frequency >= FREQUENCY_MIN && frequency <= FREQUENCY_MAX ? (uint64_t)frequency : 0;
}

/*
 * perf's page says time_ns = counter * time_mult >> time_shift, from the same number that the kernel's own
 * clocks are made of. Any event has such a page; this one counts nothing.
 */
static bool ask_perf(uint64_t *ret_frequency)
{
	struct perf_event_attr attributes = {.size = sizeof(attributes),
					     .type = PERF_TYPE_SOFTWARE,
					     .config = PERF_COUNT_SW_DUMMY,
					     .exclude_kernel = 1,
					     .exclude_hv = 1};
	struct perf_event_mmap_page *page;
	long page_bytes = sysconf(_SC_PAGESIZE);
	bool has_user_time;
	int fd = (int)syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		return false;
	page = mmap(NULL, (size_t)page_bytes, PROT_READ, MAP_SHARED, fd, 0);
	(void)close(fd);
	if (page == MAP_FAILED)
		return false;
	has_user_time = page->cap_user_time && page->time_mult && page->time_shift < 64;
	if (has_user_time)
		*ret_frequency = plausible(((unsigned __int128)ETW_NS_PER_S << page->time_shift) /
					   page->time_mult);
	(void)munmap(page, (size_t)page_bytes);
	return has_user_time;
}

void etw_clock_evidence_gather(const char *root, struct etw_clock_evidence *ret)
{
	*ret = (struct etw_clock_evidence){.is_clocksource = is_clocksource(root),
					   .is_constant = is_constant(root)};
	ret->has_user_time = ask_perf(&ret->frequency);
#if defined(__aarch64__)
	{
		uint64_t frequency;

		/* The generic timer says it itself. */
		__asm__ volatile("mrs %0, cntfrq_el0" : "=r"(frequency));
		ret->frequency = plausible(frequency);
	}
#endif
}

bool etw_clock_evidence_is_counter(const struct etw_clock_evidence *evidence)
{
	return evidence->is_clocksource || (evidence->is_constant && evidence->has_user_time);
}

struct reading {
	uint64_t counter, raw_ns;
};

static struct reading read_both(void)
{
	struct reading best = {0, 0};
	uint64_t best_width = UINT64_MAX;

	for (int i = 0; i < MEASURE_TRIES; i++) {
		uint64_t before = read_counter();
		uint64_t raw_ns = etw_time_read_ns(CLOCK_MONOTONIC_RAW);
		uint64_t width = read_counter() - before;

		if (width < best_width) {
			best_width = width;
			best = (struct reading){before + width / 2, raw_ns};
		}
	}
	return best;
}

uint64_t etw_clock_measure(void)
{
	struct reading from = read_both(), to;
	struct timespec pause = {.tv_nsec = MEASURE_NS};

	while (clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, &pause) == EINTR)
		;
	to = read_both();
	return plausible((unsigned __int128)(to.counter - from.counter) * ETW_NS_PER_S /
			 (to.raw_ns - from.raw_ns));
}

static void describe(const struct etw_clock_evidence *evidence, struct wire_clock_page *page)
{
	uint64_t frequency = 0;

	if (etw_clock_evidence_is_counter(evidence))
		frequency = evidence->frequency ? evidence->frequency : etw_clock_measure();
	page->kind = frequency ? WIRE_CLOCK_TSC : WIRE_CLOCK_MONOTONIC_RAW;
	page->frequency = frequency ? frequency : ETW_NS_PER_S;
	page->version = PAGE_VERSION;
	page->magic = WIRE_CLOCK_PAGE_MAGIC;
}

int etw_clock_host_make(const struct etw_clock_evidence *evidence, struct etw_clock_host *ret)
{
	CLEANUP(etw_clock_host_done) struct etw_clock_host host = {.fd = -1};
	struct etw_clock_evidence gathered;
	struct wire_clock_page *page;

	if (!evidence) {
		etw_clock_evidence_gather("", &gathered);
		evidence = &gathered;
	}
	host.fd = memfd_create("etw-clock", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (host.fd < 0 || ftruncate(host.fd, WIRE_CLOCK_PAGE_BYTES) < 0)
		return -errno;
	page = mmap(NULL, WIRE_CLOCK_PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, host.fd, 0);
	if (page == MAP_FAILED)
		return -errno;
	host.clock.page = page;
	etw_clock_find_namespace();
	describe(evidence, page);
	/* This mapping stays as it is; each later one, whoever has the descriptor, is to read only. */
	if (fcntl(host.fd, F_ADD_SEALS, PAGE_SEALS) < 0)
		return -errno;
	etw_suspend_watch_begin(&host.watch, page, page, /* read= */ NULL);
	*ret = host;
	host = (struct etw_clock_host){.fd = -1};
	return 0;
}

int etw_clock_host_adopt(int fd, struct etw_clock_host *ret)
{
	CLEANUP(etw_clock_host_done) struct etw_clock_host host = {.fd = fd};
	int seals = fcntl(fd, F_GET_SEALS);

	if (seals < 0)
		return errno == EINVAL ? -EPROTO : -errno; /* EINVAL: no memfd */
	if ((seals & PAGE_SEALS) != PAGE_SEALS)
		return -EPROTO;
	TRY(etw_clock_page_map(fd, &host.clock));
	/* The seals keep every later mapping from being written, this one too. */
	etw_suspend_watch_begin(&host.watch, host.clock.page, /* writable= */ NULL,
				/* read= */ NULL);
	*ret = host;
	host = (struct etw_clock_host){.fd = -1};
	return 0;
}

void etw_clock_host_done(struct etw_clock_host *host)
{
	etw_clock_page_unmap(&host->clock);
	host->watch = (struct etw_suspend_watch){0};
	if (host->fd >= 0)
		(void)close(host->fd);
	host->fd = -1;
}

int64_t etw_clock_host_counter(void *context)
{
	const struct etw_clock_host *host = context;
	int64_t now;

	etw_cpu_counter_fence();
	now = etw_clock_now(&host->clock, ETW_CLOCK_QPC);
	etw_cpu_counter_fence();
	return now;
}
