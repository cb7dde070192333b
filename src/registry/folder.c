/* SPDX-License-Identifier: MIT */
#include "registry/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/macros.h"
#include "base/sha1.h"
#include "base/table.h"

#define SYSTEM_FOLDER "/var/lib/etw/providers"

static const char *environment(const char *name)
{
	const char *value = secure_getenv(name);

	return value && *value ? value : NULL;
}

bool etw_registry_is_one(void)
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

static const char hex_digits[] = "0123456789abcdef";

static const char *const kind_ends[WIRE_REGISTRY_KINDS] = {
	[WIRE_REGISTRY_MANIFEST] = ".man",
	[WIRE_REGISTRY_BINARY] = ".res",
	[WIRE_REGISTRY_MOF] = ".mof",
	[WIRE_REGISTRY_TMF] = ".tmf",
};

void etw_registry_definition_name(const struct etw_registry_file *file,
				  char name[ETW_REGISTRY_NAME_BYTES])
{
	static const char folder[] = ETW_REGISTRY_DEFINITIONS "/";
	char *to = name + sizeof(folder) - 1;

	memcpy(name, folder, sizeof(folder) - 1);
	for (size_t i = 0; i < sizeof(file->sha1); i++) {
		*to++ = hex_digits[file->sha1[i] >> 4];
		*to++ = hex_digits[file->sha1[i] & 15];
	}
	memcpy(to, kind_ends[file->kind], strlen(kind_ends[file->kind]) + 1);
}

bool etw_registry_definition_of(const char *name, struct etw_registry_file *ret)
{
	for (size_t i = 0; i < 2 * sizeof(ret->sha1); i++) {
		const char *digit = *name ? strchr(hex_digits, *name++) : NULL;
		uint8_t *byte = &ret->sha1[i / 2];

		if (!digit)
			return false;
		*byte = (uint8_t)((i % 2 ? *byte << 4 : 0) | (digit - hex_digits));
	}
	for (int kind = 1; kind < WIRE_REGISTRY_KINDS; kind++) {
		if (!strcmp(name, kind_ends[kind])) {
			ret->kind = (enum wire_registry_kind)kind;
			return true;
		}
	}
	return false;
}

bool etw_registry_content_equal(const struct etw_registry_file *left,
				const struct etw_registry_file *right)
{
	return left->kind == right->kind && !memcmp(left->sha1, right->sha1, sizeof(left->sha1));
}

uint64_t etw_registry_content_hash(const struct etw_registry_file *file)
{
	return etw_hash_bytes((uint64_t)file->kind, file->sha1, sizeof(file->sha1));
}

static int refuse(struct etw_fault *reterr, const char *sentence)
{
	return etw_fault_set(reterr, -EBADMSG, 0, "stored definition", NULL, sentence);
}

int etw_registry_definition_read(const char *folder, const struct etw_registry_file *file,
				 uint8_t **ret, struct etw_fault *reterr)
{
	char name[ETW_REGISTRY_NAME_BYTES];
	CLEANUP(freep) char *path = NULL;
	CLEANUP(freep) uint8_t *bytes = NULL;
	CLEANUP(etw_file_closep) int fd = -1;
	uint8_t sha1[ETW_SHA1_BYTES];
	struct stat info;
	size_t got;

	etw_registry_definition_name(file, name);
	if (asprintf(&path, "%s/%s", folder, name) < 0) {
		path = NULL;
		return -ENOMEM;
	}
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0 || fstat(fd, &info) < 0)
		return -errno;
	if (!S_ISREG(info.st_mode) || (uint64_t)info.st_size != file->bytes ||
	    file->bytes > ETW_REGISTRY_DEFINITION_BYTES_MAX)
		return refuse(reterr,
			      "a definition in the registry has another size than when it was "
			      "stored");
	bytes = malloc((size_t)file->bytes + 1);
	if (!bytes)
		return -ENOMEM;
	TRY(etw_file_read_all(fd, bytes, (size_t)file->bytes, &got));
	etw_sha1(bytes, got, sha1);
	if (got != file->bytes || memcmp(sha1, file->sha1, sizeof(sha1)) != 0)
		return refuse(reterr,
			      "a definition in the registry has changed since it was stored");
	*ret = TAKE(bytes);
	return 0;
}
