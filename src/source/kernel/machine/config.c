/* SPDX-License-Identifier: MIT */
/* Facts about the machine. See config.h. */
#include "source/kernel/machine/config.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/machine.h"
#include "base/macros.h"
#include "base/utf.h"

#define BYTES_PER_MIB      UINT64_C(1048576)
#define ARCHITECTURE_AMD64 9
#define ARCHITECTURE_ARM64 12
#define NO_NIS_DOMAIN      "(none)"

/* The number behind a key of cpuinfo, where a line begins with it and nothing but blanks precedes the colon. */
static bool read_cpuinfo_number(const char *line, const char *key, unsigned long *ret)
{
	size_t length = strlen(key);

	if (strncmp(line, key, length) != 0)
		return false;
	line += length + strspn(line + length, " \t");
	if (*line != ':')
		return false;
	*ret = strtoul(line + 1, NULL, 0);
	return true;
}

static void read_cpuinfo(const char *root, struct etw_kernel_config *config)
{
	unsigned long family = 0, model = 0, stepping = 0;
	char path[256], line[256];
	FILE *file;

	(void)snprintf(path, sizeof(path), "%s/proc/cpuinfo", root);
	file = fopen(path, "re");
	if (!file)
		return;
	/* The first processor's; an empty line ends it. */
	while (fgets(line, sizeof(line), file) && line[0] != '\n') {
		if (!read_cpuinfo_number(line, "cpu family", &family) &&
		    !read_cpuinfo_number(line, "model", &model))
			(void)read_cpuinfo_number(line, "stepping", &stepping);
	}
	(void)fclose(file);
	config->level = (uint16_t)family;
	config->revision = (uint16_t)((model & 0xFF) << 8 | (stepping & 0xFF));
}

/* A list of one processor has neither comma nor dash. */
static uint64_t read_siblings(const char *root, uint32_t processors)
{
	char path[256], line[256];
	uint64_t mask = 0;

	for (uint32_t i = 0; i < processors && i < 64; i++) {
		FILE *file;

		(void)snprintf(path, sizeof(path),
			       "%s/sys/devices/system/cpu/cpu%u/topology/thread_siblings_list",
			       root, i);
		file = fopen(path, "re");
		if (!file)
			continue;
		if (fgets(line, sizeof(line), file) && strpbrk(line, ",-"))
			mask |= UINT64_C(1) << i;
		(void)fclose(file);
	}
	return mask;
}

static void take_name(const char *text, size_t bytes, char16_t ret[ETW_KERNEL_HOST_UNITS])
{
	size_t units = 0;

	for (size_t i = 0, used = 0; i < bytes && units + 1 < ETW_KERNEL_HOST_UNITS; i += used) {
		uint32_t point = etw_utf8_decode((const uint8_t *)text + i, bytes - i, &used);

		/* Names of hosts are ASCII. Characters beyond U+FFFF, which they do not have, show as U+FFFD. */
		ret[units++] = point > 0xFFFF ? 0xFFFD : (char16_t)point;
	}
}

static void take_names(struct etw_kernel_config *config)
{
	struct utsname names;
	const char *dot, *domain;

	if (uname(&names))
		return;
	dot = strchr(names.nodename, '.');
	domain = dot ? dot + 1 : names.domainname;
	take_name(names.nodename, dot ? (size_t)(dot - names.nodename) : strlen(names.nodename),
		  config->computer);
	if (strcmp(domain, NO_NIS_DOMAIN) != 0)
		take_name(domain, strlen(domain), config->domain);
}

void etw_kernel_config_gather(const char *root, struct etw_kernel_config *ret)
{
	long page_bytes = sysconf(_SC_PAGESIZE);
	struct sysinfo memory;

	*ret = (struct etw_kernel_config)
	{
		.mhz = etw_machine_mhz(), .processors = etw_machine_processors(),
		.page_bytes = page_bytes > 0 ? (uint32_t)page_bytes : 0,
#if defined(__x86_64__)
		.architecture = ARCHITECTURE_AMD64,
		.highest_user_address = UINT64_C(0x7FFFFFFFEFFF),
#elif defined(__aarch64__)
		.architecture = ARCHITECTURE_ARM64,
		.highest_user_address = UINT64_C(0xFFFFFFFFFFFF),
#endif
	};
	if (sysinfo(&memory) == 0)
		ret->memory_mib =
			(uint32_t)((uint64_t)memory.totalram * memory.mem_unit / BYTES_PER_MIB);
	ret->sibling_mask = read_siblings(root, ret->processors);
	read_cpuinfo(root, ret);
	take_names(ret);
}
