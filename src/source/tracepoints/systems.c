/* SPDX-License-Identifier: MIT */
/*
 * The list is read again when it is asked for what it lacks, as anybody's provider is; but of those readings, which take some
 * 0.2 ms each, at most 20 a second are made in the long run, and 20 at once.
 */
#include "source/tracepoints/systems.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/guid.h"
#include "base/macros.h"
#include "base/time.h"
#include "schema/tracepoint/tracefs.h"

#define READ_EACH_NS  UINT64_C(50000000)
#define READ_AHEAD_NS (20 * READ_EACH_NS)

static struct {
	pthread_mutex_t lock;
	uint64_t
		paid_ns; /* when the readings that were made are paid for, at one each READ_EACH_NS */
	struct etw_tracefs_names names;
	GUID *guids; /* of names.count */
} systems = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void read_systems(void)
{
	struct etw_tracefs_names names = {0};
	CLEANUP(etw_file_closep) int fd = -1;
	GUID *guids;

	if (etw_tracefs_open(NULL, &fd, NULL) < 0 || etw_tracefs_folders(fd, &names) < 0)
		return;
	guids = calloc(names.count + (size_t)1, sizeof(*guids));
	for (uint32_t i = 0; guids && i < names.count; i++)
		(void)etw_tracefs_guid(names.at[i], &guids[i]);
	if (!guids) {
		etw_tracefs_names_done(&names);
		return;
	}
	etw_tracefs_names_done(&systems.names);
	free(systems.guids);
	systems.names = names;
	systems.guids = guids;
}

static bool find(const GUID *provider, char *ret)
{
	for (uint32_t i = 0; i < systems.names.count; i++) {
		if (!etw_guid_equal(&systems.guids[i], provider))
			continue;
		if (ret)
			strcpy(ret, systems.names.at[i]);
		return true;
	}
	return false;
}

static bool may_read(uint64_t now_ns)
{
	if (systems.paid_ns < now_ns)
		systems.paid_ns = now_ns;
	if (systems.paid_ns - now_ns >= READ_AHEAD_NS)
		return false;
	systems.paid_ns += READ_EACH_NS;
	return true;
}

bool etw_tracepoint_system_find(const GUID *provider, char ret[ETW_TRACEPOINT_NAME_BYTES_MAX + 1])
{
	uint64_t now_ns = etw_time_read_ns(CLOCK_MONOTONIC);
	bool is_found;

	pthread_mutex_lock(&systems.lock);
	is_found = find(provider, ret);
	if (!is_found && may_read(now_ns)) {
		read_systems();
		is_found = find(provider, ret);
	}
	pthread_mutex_unlock(&systems.lock);
	return is_found;
}
