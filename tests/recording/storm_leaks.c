/* SPDX-License-Identifier: MIT */
/* What host, keeper and standby hold between two sessions; see storm_run.h. */
#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>

#include "recording/children.h"
#include "recording/storm_run.h"
#include "recording/support.h"
#include "synthetic/sanitized.h"

/* Descriptors and memory may differ by so much between two hosts, and the C library's memory comes and goes. */
#define FDS_MORE 4
#define KIB_MORE 8192

/* What a process holds of the system. */
struct held {
	unsigned fds, kib;
};

static struct held look_at(pid_t pid)
{
	struct held held = {.kib = (unsigned)process_status(pid, "RssAnon:")};
	char path[64];
	DIR *folder;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	folder = opendir(path);
	while (folder && readdir(folder))
		held.fds++;
	if (folder)
		closedir(folder);
	return held;
}

static bool is_more(const struct held *now, const struct held *before)
{
	return now->fds > before->fds + FDS_MORE ||
	       (!IS_SANITIZED && now->kib > before->kib + KIB_MORE);
}

/* The first time says what is right. */
void storm_check_leaks(void)
{
	static struct held before[3];
	static const char *const names[] = {"keeper", "standby", "host"};
	const double end = seconds() + HANG_SECONDS;

	for (;;) {
		const struct recording_processes processes = recording_await_standby();
		const struct held now[] = {look_at(processes.keeper), look_at(processes.standby),
					   look_at(processes.host)};
		int leaking = -1;

		for (int i = 0; i < 3; i++) {
			if (!before[i].fds)
				before[i] = now[i];
			if (is_more(&now[i], &before[i]))
				leaking = i;
		}
		if (leaking < 0)
			return;
		/* What it had of processes that have gone it may give back later. */
		if (seconds() > end)
			fail("the %s holds %u descriptors and %u KiB; it was %u and %u",
			     names[leaking], now[leaking].fds, now[leaking].kib,
			     before[leaking].fds, before[leaking].kib);
		storm_sleep_ms(20);
	}
}
