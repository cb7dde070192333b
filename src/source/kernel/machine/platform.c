/* SPDX-License-Identifier: MIT */
#include "source/kernel/machine/platform.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include "base/time.h"
#include "source/kernel/machine/facts.h"

#define OS_RELEASE_BYTES 4096
#define SECURE_BOOT      "sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"

static void read_dmi(const char *root, char to[ETW_KERNEL_PLATFORM_BYTES], const char *name)
{
	(void)etw_kernel_fact_text(root, to, ETW_KERNEL_PLATFORM_BYTES, "sys/class/dmi/id/%s",
				   name);
}

/* Behind four bytes of attributes stands the value, one byte. */
static bool is_secure_boot(const char *root)
{
	char path[ETW_KERNEL_FACT_PATH_BYTES];
	uint8_t bytes[5] = {0};
	FILE *file;

	(void)snprintf(path, sizeof(path), "%s/" SECURE_BOOT, root);
	file = fopen(path, "re");
	if (!file)
		return false;
	if (fread(bytes, 1, sizeof(bytes), file) != sizeof(bytes))
		bytes[4] = 0;
	(void)fclose(file);
	return bytes[4] == 1;
}

static bool has_word(const char *text, const char *word)
{
	size_t bytes = strlen(word);

	for (const char *at = text; (at = strstr(at, word)); at += bytes)
		if ((at == text || strchr(" [", at[-1])) && strchr(" ]", at[bytes]))
			return true;
	return false;
}

static void read_power(const char *root, struct etw_kernel_platform *platform)
{
	char states[64], suspend[64];

	(void)etw_kernel_fact_text(root, states, sizeof(states), "sys/power/state");
	(void)etw_kernel_fact_text(root, suspend, sizeof(suspend), "sys/power/mem_sleep");
	platform->can_standby = has_word(states, "standby") || has_word(suspend, "shallow");
	platform->can_suspend = has_word(suspend, "deep");
	platform->can_hibernate = has_word(states, "disk");
	platform->is_idle_suspend = strstr(suspend, "[s2idle]") != NULL;
}

static void read_tcp(const char *root, struct etw_kernel_platform *platform)
{
	char ports[32];
	unsigned first, last;

	platform->hash_size =
		(uint32_t)etw_kernel_fact_number(root, 0, "proc/sys/net/ipv4/tcp_ehash_entries");
	(void)etw_kernel_fact_text(root, ports, sizeof(ports),
				   "proc/sys/net/ipv4/ip_local_port_range");
	if (sscanf(ports, "%u %u", &first, &last) == 2)
		platform->last_port = last;
}

static void read_name(const char *root, struct etw_kernel_platform *platform)
{
	char text[OS_RELEASE_BYTES], *save = NULL;

	(void)snprintf(platform->system, sizeof(platform->system), "Linux");
	if (!etw_kernel_fact_text(root, text, sizeof(text), "etc/os-release"))
		(void)etw_kernel_fact_text(root, text, sizeof(text), "usr/lib/os-release");
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		size_t quote, bytes;

		if (strncmp(line, "PRETTY_NAME=", 12) != 0)
			continue;
		line += 12;
		quote = *line == '"' || *line == '\'' ? 1 : 0;
		bytes = strlen(line);
		if (quote && bytes >= 2 && line[bytes - 1] == *line)
			line[bytes - 1] = '\0';
		(void)snprintf(platform->system, sizeof(platform->system), "%s", line + quote);
	}
}

static void read_birth(const char *root, struct etw_kernel_platform *platform)
{
	struct statx facts;

	platform->install_ft = (uint64_t)ETW_FILETIME_UNIX_EPOCH;
	if (statx(AT_FDCWD, root[0] ? root : "/", 0, STATX_BTIME, &facts) == 0 &&
	    (facts.stx_mask & STATX_BTIME))
		platform->install_ft = (uint64_t)(facts.stx_btime.tv_sec * ETW_FILETIME_PER_SECOND +
						  facts.stx_btime.tv_nsec / ETW_NS_PER_FT +
						  ETW_FILETIME_UNIX_EPOCH);
}

void etw_kernel_platform_read(const char *root, struct etw_kernel_platform *ret)
{
	struct utsname names;

	*ret = (struct etw_kernel_platform){0};
	read_dmi(root, ret->maker, "sys_vendor");
	read_dmi(root, ret->product, "product_name");
	read_dmi(root, ret->bios_date, "bios_date");
	read_dmi(root, ret->bios_version, "bios_version");
	if (!ret->product[0])
		(void)etw_kernel_fact_text(root, ret->product, sizeof(ret->product),
					   "proc/device-tree/model");
	ret->is_uefi = etw_kernel_fact_exists(root, "sys/firmware/efi");
	ret->is_secure_boot = is_secure_boot(root);
	read_power(root, ret);
	read_tcp(root, ret);
	read_name(root, ret);
	read_birth(root, ret);
	if (uname(&names) == 0)
		(void)snprintf(ret->build, sizeof(ret->build), "%s %s %s", names.release,
			       names.version, names.machine);
}
