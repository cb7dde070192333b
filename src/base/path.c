/* SPDX-License-Identifier: MIT */
#include "base/path.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/file.h"
#include "base/macros.h"

static bool has_drive(const char *path)
{
	return isalpha((unsigned char)path[0]) && path[1] == ':' &&
	       (path[2] == '\\' || path[2] == '/' || !path[2]);
}

static int default_drive(char letter, char **ret)
{
	const char *data = secure_getenv("XDG_DATA_HOME");
	const char *home = secure_getenv("HOME");
	CLEANUP(freep) char *folder = NULL;
	int length;

	if (data && data[0] == '/')
		length = asprintf(&folder, "%s/etw/drive_%c", data, letter);
	else if (home && home[0] == '/')
		length = asprintf(&folder, "%s/.local/share/etw/drive_%c", home, letter);
	else
		return -ENOENT;
	if (length < 0) {
		folder = NULL;
		return -ENOMEM;
	}
	TRY(etw_file_make_folders(folder, 0700));
	*ret = TAKE(folder);
	return 0;
}

/* The folder that stands for a drive; @letter in either case. */
static int drive_folder(char letter, char **ret)
{
	char variable[] = "ETW_DRIVE_X";
	const char *folder;

	variable[sizeof(variable) - 2] = (char)toupper((unsigned char)letter);
	folder = secure_getenv(variable);
	if (!folder || !folder[0])
		return default_drive((char)tolower((unsigned char)letter), ret);
	*ret = strdup(folder);
	return *ret ? 0 : -ENOMEM;
}

int etw_path_resolve(const char *path, char **ret)
{
	CLEANUP(freep) char *folder = NULL;
	CLEANUP(freep) char *resolved = NULL;
	const char *rest = path;

	if (access(path, F_OK) == 0 || (!has_drive(path) && !strchr(path, '\\'))) {
		*ret = strdup(path);
		return *ret ? 0 : -ENOMEM;
	}
	if (has_drive(path)) {
		TRY(drive_folder(path[0], &folder));
		rest = path + 2;
		while (*rest == '\\' || *rest == '/')
			rest++;
	}
	if (asprintf(&resolved, "%s%s%s", folder ? folder : "", folder ? "/" : "", rest) < 0) {
		resolved = NULL;
		return -ENOMEM;
	}
	for (char *at = resolved + (folder ? strlen(folder) : 0); *at; at++) {
		if (*at == '\\')
			*at = '/';
	}
	*ret = TAKE(resolved);
	return 0;
}

bool etw_path_ends_with(const char *path, const char *end)
{
	size_t path_bytes = strlen(path), end_bytes = strlen(end);

	return path_bytes >= end_bytes && !strcasecmp(path + path_bytes - end_bytes, end);
}
