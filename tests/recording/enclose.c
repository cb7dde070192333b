/* SPDX-License-Identifier: MIT */
/*
 * enclose [--rounds N] - EventWrite, a system call that the kernel source traces, EventWrite: the kernel's
 * event must lie between the two in time. The system calls are mmap and munmap of an executable file,
 * which make an Image load and unload.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <evntprov.h>

#include "recording/support.h"

static const GUID provider_guid = {
	0x5e1c9b1a, 0x3d53, 0x4c7e, {0x9a, 0x41, 0x0c, 0x6f, 0x7d, 0x21, 0x88, 0x02}};
static const GUID image_guid = {
	0x2cb15d1d, 0x5fc1, 0x11d2, {0xab, 0xe1, 0x00, 0xa0, 0xc9, 0x11, 0xf5, 0x18}};

#define PAUSE_EVERY 256
#define WAIT_MS     600000 /* for a buffer; only ends what hangs */

/* Places in a round, in order of time. */
enum place {
	BEFORE_MAP,
	LOADED,
	BETWEEN,
	UNLOADED,
	AFTER,
	PLACES
};

struct seen {
	uint64_t rounds;
	uint64_t complete; /* rounds in which all five were seen */
	uint64_t outside;  /* kernel events that were not where they belong */
	uint64_t strays;   /* image events of this process beside the rounds' */
	int next;          /* the place that has to come next */
	uint32_t pid;
};

static void see_place(struct seen *seen, enum place place)
{
	if (place == BEFORE_MAP) {
		seen->next = LOADED;
		return;
	}
	if (seen->next != (int)place) {
		if (place == LOADED || place == UNLOADED)
			seen->outside++;
		return;
	}
	seen->next++;
	if (place == AFTER)
		seen->complete++;
}

static void WINAPI see_event(PEVENT_RECORD record)
{
	struct seen *seen = record->UserContext;
	uint32_t pid;
	uint8_t place;

	if (IsEqualGUID(&record->EventHeader.ProviderId, &provider_guid)) {
		memcpy(&place, record->UserData, 1);
		seen->rounds += place == BEFORE_MAP;
		see_place(seen, (enum place)place);
	} else if (IsEqualGUID(&record->EventHeader.ProviderId, &image_guid) &&
		   record->UserDataLength > 20) {
		UCHAR opcode = record->EventHeader.EventDescriptor.Opcode;

		memcpy(&pid, (const char *)record->UserData + 16, sizeof(pid));
		if (pid != seen->pid || (opcode != 10 && opcode != 2))
			return;
		if (seen->rounds == 0 || seen->next > AFTER)
			seen->strays++; /* before the first or after the last round */
		else
			see_place(seen, opcode == 10 ? LOADED : UNLOADED);
	}
}

static void mark(REGHANDLE handle, uint8_t place)
{
	EVENT_DESCRIPTOR descriptor = {.Id = 1, .Level = 4};
	EVENT_DATA_DESCRIPTOR data;

	EventDataDescCreate(&data, &place, sizeof(place));
	for (int i = 0; EventWrite(handle, &descriptor, 1, &data) != 0; i++) {
		if (i == WAIT_MS)
			fail("no buffer became free");
		usleep(1000);
	}
}

static void do_rounds(REGHANDLE handle, uint64_t rounds, int fd)
{
	for (uint64_t i = 0; i < rounds; i++) {
		void *at;

		mark(handle, BEFORE_MAP);
		at = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
		mark(handle, BETWEEN);
		if (at == MAP_FAILED || munmap(at, 4096))
			fail("mmap: %s", strerror(errno));
		mark(handle, AFTER);
		/* At full speed the kernel's rings overflow now and then, and what is lost shows nothing. */
		if (i % PAUSE_EVERY == 0)
			usleep(1000);
	}
}

int main(int argc, char **argv)
{
	static const struct option names[] = {{"rounds", 1, NULL, 'r'}, {0}};
	struct recording_options session = {
		.name = "enclose",
		.mode = EVENT_TRACE_FILE_MODE_SEQUENTIAL | EVENT_TRACE_SYSTEM_LOGGER_MODE,
		.buffer_kib = 64,
		.buffers = 256,
		.kernel_flags = EVENT_TRACE_FLAG_IMAGE_LOAD,
	};
	struct recording recording;
	struct seen seen = {.pid = (uint32_t)getpid()};
	uint64_t rounds = 100000;
	REGHANDLE handle;
	char file[300];
	ULONG lost;
	int fd;

	setvbuf(stdout, NULL, _IOLBF, 0);
	while (getopt_long(argc, argv, "", names, NULL) == 'r')
		rounds = strtoull(optarg, NULL, 0);
	if (is_kernel_shut())
		return TEST_SKIPPED;
	fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	snprintf(file, sizeof(file), "%s/enclose.etl", test_home());
	session.file = file;
	recording_start(&recording, &session);
	recording_enable(&recording, &provider_guid);
	handle = recording_register(&provider_guid, NULL, NULL);
	do_rounds(handle, rounds, fd);
	EventUnregister(handle);
	recording_control(&recording, EVENT_TRACE_CONTROL_STOP);
	lost = recording_read(file, see_event, &seen);
	printf("%llu rounds, %llu with all five events in order, %llu kernel events outside, "
	       "%llu others, %u lost\n",
	       (unsigned long long)seen.rounds, (unsigned long long)seen.complete,
	       (unsigned long long)seen.outside, (unsigned long long)seen.strays, (unsigned)lost);
	/* One that is lost makes the next look as if it came too early. */
	if (seen.rounds + lost < rounds || seen.outside > lost || seen.complete + lost < rounds)
		fail("not every kernel event lies between its neighbours");
	return 0;
}
