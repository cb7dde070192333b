/* SPDX-License-Identifier: MIT */
#include "registry/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/macros.h"
#include "base/sha1.h"

#define SYSTEM_FOLDER        "/var/lib/etw/providers"
#define DEFINITION_BYTES_MAX ((uint64_t)1 << 30)

static const char *environment(const char *name)
{
	const char *value = secure_getenv(name);

	return value && *value ? value : NULL;
}

int etw_registry_is_one(void)
{
	return environment("ETW_PROVIDERS_DIR") != NULL || geteuid() == 0;
}

static int format(char **ret, const char *folder, const char *rest)
{
	if (asprintf(ret, "%s%s", folder, rest) < 0) {
		*ret = NULL;
		return -ENOMEM;
	}
	return 0;
}

int etw_registry_folder(enum etw_registry_scope scope, char **ret)
{
	const char *named = environment("ETW_PROVIDERS_DIR");
	const char *data = environment("XDG_DATA_HOME");
	const char *home = environment("HOME");

	if (named)
		return format(ret, named, "");
	if (scope == ETW_REGISTRY_SYSTEM || geteuid() == 0)
		return format(ret, SYSTEM_FOLDER, "");
	if (data && *data == '/')
		return format(ret, data, "/etw/providers");
	return home && *home == '/' ? format(ret, home, "/.local/share/etw/providers") : -ENOENT;
}

void etw_registry_definition_name(const struct etw_registry_file *file,
				  char name[ETW_REGISTRY_NAME_BYTES])
{
	static const char *const ends[WIRE_REGISTRY_KINDS] = {
		[WIRE_REGISTRY_MANIFEST] = "man",
		[WIRE_REGISTRY_BINARY] = "res",
		[WIRE_REGISTRY_MOF] = "mof",
		[WIRE_REGISTRY_TMF] = "tmf",
	};
	int at = snprintf(name, ETW_REGISTRY_NAME_BYTES, "definitions/");

	for (size_t i = 0; i < sizeof(file->sha1); i++)
		at += snprintf(name + at, ETW_REGISTRY_NAME_BYTES - (size_t)at, "%02x",
			       file->sha1[i]);
	(void)snprintf(name + at, ETW_REGISTRY_NAME_BYTES - (size_t)at, ".%s", ends[file->kind]);
}

static int refuse(struct etw_fault *reterr, const char *sentence)
{
	return etw_fault_set(reterr, -EBADMSG, 0, "stored definition", NULL, sentence);
}

static int read_all(int fd, uint8_t *to, size_t bytes)
{
	while (bytes) {
		ssize_t got = read(fd, to, bytes);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got < 0 ? -errno : -EIO;
		to += got;
		bytes -= (size_t)got;
	}
	return 0;
}

static void close_fd(const int *fd)
{
	if (*fd >= 0)
		(void)close(*fd);
}

int etw_registry_definition_read(const char *folder, const struct etw_registry_file *file,
				 uint8_t **ret, struct etw_fault *reterr)
{
	char name[ETW_REGISTRY_NAME_BYTES];
	CLEANUP(freep) char *path = NULL;
	CLEANUP(freep) uint8_t *bytes = NULL;
	CLEANUP(close_fd) int fd = -1;
	uint8_t sha1[ETW_SHA1_BYTES];
	struct stat info;

	etw_registry_definition_name(file, name);
	if (asprintf(&path, "%s/%s", folder, name) < 0) {
		path = NULL;
		return -ENOMEM;
	}
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0 || fstat(fd, &info) < 0)
		return -errno;
	if (!S_ISREG(info.st_mode) || (uint64_t)info.st_size != file->bytes ||
	    file->bytes > DEFINITION_BYTES_MAX)
		return refuse(reterr,
			      "a definition in the registry has another size than when it was "
			      "stored");
	bytes = malloc((size_t)file->bytes + 1);
	if (!bytes)
		return -ENOMEM;
	TRY(read_all(fd, bytes, (size_t)file->bytes));
	etw_sha1(bytes, (size_t)file->bytes, sha1);
	if (memcmp(sha1, file->sha1, sizeof(sha1)) != 0)
		return refuse(reterr,
			      "a definition in the registry has changed since it was stored");
	*ret = TAKE(bytes);
	return 0;
}
