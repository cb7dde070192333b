/* SPDX-License-Identifier: MIT */
#include "base/process_facts.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/macros.h"
#include "base/time.h"

#define PID_BITS         22 /* PID_MAX_LIMIT of the kernel */
#define CONTAINER_DIGITS 64
#define GUID_DIGITS      32
#define NO_LOGIN         UINT32_MAX /* what the kernel calls the session of a process of none */
#define CGROUP_BYTES_MAX 4096

struct etw_process_facts etw_process_facts_unknown(void)
{
	return (struct etw_process_facts){.session_id = ETW_SESSION_ID_UNKNOWN};
}

/* A file of /proc/<pid>, with a NUL behind it; what does not fit is cut. */
static int read_text(uint32_t pid, const char *name, char *text, size_t room)
{
	CLEANUP(etw_file_closep) int fd = -1;
	char path[64];
	size_t bytes = 0;

	(void)snprintf(path, sizeof(path), "/proc/%u/%s", (unsigned)pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	TRY(etw_file_read_all(fd, text, room - 1, &bytes));
	text[bytes] = '\0';
	return 0;
}

/* In ticks since boot; 0: unknown. */
static uint64_t read_start_ticks(uint32_t pid)
{
	unsigned long long ticks = 0;
	const char *rest;
	char text[1024];

	if (read_text(pid, "stat", text, sizeof(text)) < 0)
		return 0;
	/* Behind the name, in which anything may be: the 22nd of all. */
	rest = strrchr(text, ')');
	if (!rest || sscanf(rest + 1,
			    " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d "
			    "%*d %*d %llu",
			    &ticks) != 1)
		return 0;
	return ticks;
}

static uint64_t ns_of_ticks(uint64_t ticks)
{
	return ticks * (ETW_NS_PER_S / (uint64_t)sysconf(_SC_CLK_TCK));
}

uint64_t etw_process_start_boot_ns(uint32_t pid)
{
	return ns_of_ticks(read_start_ticks(pid));
}

/* A kernel without audit knows of no logins. */
static uint32_t read_session_id(uint32_t pid)
{
	unsigned long id;
	char text[32];

	if (read_text(pid, "sessionid", text, sizeof(text)) < 0)
		return 0;
	id = strtoul(text, NULL, 10);
	return id >= NO_LOGIN ? 0 : (uint32_t)id;
}

static unsigned digit_of(char c)
{
	return isdigit((unsigned char)c) ? (unsigned)(c - '0')
					 : (unsigned)(tolower((unsigned char)c) - 'a') + 10;
}

/* As the text of a GUID is read: the first three numbers as numbers, the rest byte by byte. */
static GUID guid_of_digits(const char *digits)
{
	uint8_t bytes[GUID_DIGITS / 2];
	GUID guid;

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(digit_of(digits[2 * i]) << 4 | digit_of(digits[2 * i + 1]));
	guid.Data1 = (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 |
		     bytes[3];
	guid.Data2 = (uint16_t)(bytes[4] << 8 | bytes[5]);
	guid.Data3 = (uint16_t)(bytes[6] << 8 | bytes[7]);
	memcpy(guid.Data4, bytes + 8, sizeof(guid.Data4));
	return guid;
}

bool etw_container_of_cgroups(const char *text, GUID *ret)
{
	while (*text) {
		size_t digits = 0;

		while (isxdigit((unsigned char)text[digits]))
			digits++;
		if (digits == CONTAINER_DIGITS) {
			*ret = guid_of_digits(text);
			return true;
		}
		text += digits ? digits : 1;
	}
	return false;
}

int etw_process_facts_read(uint32_t pid, struct etw_process_facts *ret)
{
	const uint64_t ticks = read_start_ticks(pid);
	struct etw_process_facts facts = etw_process_facts_unknown();
	char cgroups[CGROUP_BYTES_MAX];

	*ret = facts;
	if (ticks == 0)
		return -ESRCH;
	facts.start_boot_ns = ns_of_ticks(ticks);
	facts.start_key = ticks << PID_BITS | pid;
	facts.session_id = read_session_id(pid);
	if (read_text(pid, "cgroup", cgroups, sizeof(cgroups)) == 0)
		(void)etw_container_of_cgroups(cgroups, &facts.container);
	/* All of it of one process. */
	if (read_start_ticks(pid) != ticks)
		return -ESRCH;
	*ret = facts;
	return 0;
}
