/* SPDX-License-Identifier: MIT */
#include "source/kernel/machine/mounts.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "base/macros.h"
#include "source/kernel/machine/facts.h"

static void fclosep(FILE **file)
{
	if (*file)
		(void)fclose(*file);
}

bool etw_kernel_mount_unescape(const char *from, char *to, size_t room)
{
	size_t count = 0;

	for (; *from && count + 1 < room; from++) {
		if (from[0] == '\\' && from[1] && from[2] && from[3]) {
			to[count++] = (char)((from[1] - '0') << 6 | (from[2] - '0') << 3 |
					     (from[3] - '0'));
			from += 3;
		} else {
			to[count++] = *from;
		}
	}
	to[count] = '\0';
	return !*from;
}

/* The name of a device whatever link leads to it: /dev/mapper/home is dm-0. */
static void take_source(const char *root, const char *source, char *to, size_t room)
{
	char link[ETW_KERNEL_FACT_PATH_BYTES];
	const char *base;

	to[0] = '\0';
	if (strncmp(source, "/dev/", 5) != 0)
		return;
	base = etw_kernel_fact_base(
		etw_kernel_fact_link(root, link, sizeof(link), "%s", source + 1) ? link : source);
	if (strlen(base) < room)
		memcpy(to, base, strlen(base) + 1);
}

/* "id parent major:minor root point options [tags] - type source options". */
static bool parse(const char *root, char *line, struct etw_kernel_mount *ret, bool *ret_is_root)
{
	char *words[5], *rest = strstr(line, " - "), *save = NULL, *type, *source;
	unsigned major_number, minor_number;

	if (!rest)
		return false;
	*rest = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		words[i] = strtok_r(i ? NULL : line, " ", &save);
		if (!words[i])
			return false;
	}
	type = strtok_r(rest + 3, " ", &save);
	source = type ? strtok_r(NULL, " \n", &save) : NULL;
	if (!source || sscanf(words[2], "%u:%u", &major_number, &minor_number) != 2)
		return false;
	*ret = (struct etw_kernel_mount){
		.device = major_number ? makedev(major_number, minor_number) : 0,
	};
	take_source(root, source, ret->source, sizeof(ret->source));
	(void)snprintf(ret->file_system, sizeof(ret->file_system), "%.15s", type);
	*ret_is_root = strcmp(words[3], "/") == 0;
	return (ret->device || ret->source[0]) &&
	       etw_kernel_mount_unescape(words[4], ret->point, sizeof(ret->point));
}

static struct etw_kernel_mount *find(const struct etw_kernel_mounts *mounts, uint64_t device,
				     const char *name)
{
	for (size_t i = 0; i < mounts->count; i++) {
		struct etw_kernel_mount *mount = &mounts->at[i];

		if (mount->device ? mount->device == device
				  : name[0] && strcmp(mount->source, name) == 0)
			return mount;
	}
	return NULL;
}

int etw_kernel_mounts_read(const char *root, struct etw_kernel_mounts *ret)
{
	char path[ETW_KERNEL_FACT_PATH_BYTES];
	bool shows_root[ETW_KERNEL_MOUNTS_MAX] = {0};
	CLEANUP(freep) char *line = NULL;
	CLEANUP(fclosep) FILE *file = NULL;
	size_t room = 0;

	*ret = (struct etw_kernel_mounts){0};
	(void)snprintf(path, sizeof(path), "%s/proc/self/mountinfo", root);
	file = fopen(path, "re");
	if (!file)
		return 0;
	ret->at = calloc(ETW_KERNEL_MOUNTS_MAX, sizeof(ret->at[0]));
	if (!ret->at)
		return -ENOMEM;
	while (ret->count < ETW_KERNEL_MOUNTS_MAX && getline(&line, &room, file) > 0) {
		struct etw_kernel_mount mount, *before;
		bool is_root;

		if (!parse(root, line, &mount, &is_root))
			continue;
		before = find(ret, mount.device, mount.source);
		if (!before) {
			shows_root[ret->count] = is_root;
			ret->at[ret->count++] = mount;
		} else if (is_root && !shows_root[before - ret->at]) {
			shows_root[before - ret->at] = true;
			*before = mount;
		}
	}
	return 0;
}

const struct etw_kernel_mount *etw_kernel_mounts_find(const struct etw_kernel_mounts *mounts,
						      uint64_t device, const char *name)
{
	return find(mounts, device, name);
}

void etw_kernel_mounts_done(struct etw_kernel_mounts *mounts)
{
	free(mounts->at);
	*mounts = (struct etw_kernel_mounts){0};
}
