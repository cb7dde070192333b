/* SPDX-License-Identifier: MIT */
/* See descriptors.h. */
#include "daemon/descriptors.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/guid.h"
#include "base/macros.h"
#include "daemon/log.h"
#include "wire/well_known.h"

#define FOLDER_SYSTEM "/var/lib/etw/security"
#define FOLDER_MODE   0700
#define FILE_MODE     0600

static const GUID default_guid = WIRE_DEFAULT_SECURITY_GUID;

int etwd_descriptors_folder(const char *directory, bool is_system, char *ret)
{
	const char *own = secure_getenv("ETWD_SECURITY_DIR");
	const char *runtime = secure_getenv("ETW_RUNTIME_DIR");
	const char *data = secure_getenv("XDG_DATA_HOME");
	const char *home = secure_getenv("HOME");
	int length = 0;

	if (own && *own)
		length = snprintf(ret, PATH_MAX, "%s", own);
	else if (runtime && *runtime)
		length = snprintf(ret, PATH_MAX, "%s/security", directory);
	else if (is_system)
		length = snprintf(ret, PATH_MAX, "%s", FOLDER_SYSTEM);
	else if (data && data[0] == '/')
		length = snprintf(ret, PATH_MAX, "%s/etw/security", data);
	else if (home && home[0] == '/')
		length = snprintf(ret, PATH_MAX, "%s/.local/share/etw/security", home);
	else
		ret[0] = '\0';
	return length < PATH_MAX ? 0 : -ENAMETOOLONG;
}

void etwd_descriptors_init(struct etwd_descriptors *security, const char *folder)
{
	memset(security, 0, sizeof(*security));
	(void)snprintf(security->folder, sizeof(security->folder), "%s", folder);
	security->fallback_bytes = etw_security_default(security->fallback);
}

void etwd_descriptors_done(struct etwd_descriptors *security)
{
	for (size_t i = 0; i < ETWD_DESCRIPTORS_BUCKETS; i++) {
		while (security->buckets[i]) {
			struct etwd_descriptor *descriptor = security->buckets[i];

			security->buckets[i] = descriptor->next;
			free(descriptor);
		}
	}
	security->count = 0;
}

static struct etwd_descriptor **find_place(const struct etwd_descriptors *security,
					   const GUID *guid)
{
	size_t bucket = etw_guid_hash(guid) % ETWD_DESCRIPTORS_BUCKETS;
	struct etwd_descriptor **at =
		(struct etwd_descriptor **)(uintptr_t)&security->buckets[bucket];

	while (*at && !etw_guid_equal(&(*at)->guid, guid))
		at = &(*at)->next;
	return at;
}

struct etw_bytes etwd_descriptors_find(const struct etwd_descriptors *security, const GUID *guid)
{
	const struct etwd_descriptor *descriptor = NULL;

	if (security->count) {
		descriptor = *find_place(security, guid);
		if (!descriptor)
			descriptor = *find_place(security, &default_guid);
	}
	if (descriptor)
		return (struct etw_bytes){descriptor->bytes, descriptor->byte_count};
	return (struct etw_bytes){security->fallback, security->fallback_bytes};
}

static struct etwd_descriptor *make(const GUID *guid, struct etw_bytes bytes)
{
	struct etwd_descriptor *descriptor = malloc(sizeof(*descriptor) + bytes.left);

	if (!descriptor)
		return NULL;
	descriptor->next = NULL;
	descriptor->guid = *guid;
	descriptor->byte_count = bytes.left;
	memcpy(descriptor->bytes, bytes.at, bytes.left);
	return descriptor;
}

/* Takes the descriptor, in the place of the GUID's old one. */
static void put(struct etwd_descriptors *security, struct etwd_descriptor *descriptor)
{
	struct etwd_descriptor **place = find_place(security, &descriptor->guid);
	struct etwd_descriptor *old = *place;

	security->count += !old;
	descriptor->next = old ? old->next : NULL;
	*place = descriptor;
	free(old);
}

static int open_folder(const struct etwd_descriptors *security)
{
	int fd = open(security->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

/* The folder is made with the first descriptor. */
static int keep(const struct etwd_descriptors *security, const GUID *guid, struct etw_bytes bytes)
{
	char name[ETW_GUID_BARE_BYTES];

	if (!security->folder[0])
		return 0;
	etw_guid_format(guid, name);
	return etw_file_replace(security->folder, FOLDER_MODE, name, FILE_MODE, bytes.at,
				bytes.left);
}

int etwd_descriptors_change(struct etwd_descriptors *security, const GUID *guid,
			    enum wire_security_operation operation,
			    const struct wire_security_entry *entry)
{
	CLEANUP(freep) struct etwd_descriptor *descriptor = NULL;
	uint8_t room[WIRE_SECURITY_BYTES_MAX];
	struct etw_bytes bytes = {room, 0};

	if (security->count >= ETWD_DESCRIPTORS_MAX && !*find_place(security, guid))
		return -ENOSPC;
	TRY(etw_security_change(etwd_descriptors_find(security, guid), operation, entry, room,
				&bytes.left));
	descriptor = make(guid, bytes);
	if (!descriptor)
		return -ENOMEM;
	TRY(keep(security, guid, bytes));
	put(security, TAKE(descriptor));
	return 0;
}

static int forget(const struct etwd_descriptors *security, const GUID *guid)
{
	CLEANUP(etw_file_closep) int folder = -1;
	char name[ETW_GUID_BARE_BYTES];

	if (!security->folder[0])
		return 0;
	folder = open_folder(security);
	if (folder < 0)
		return folder == -ENOENT ? 0 : folder;
	etw_guid_format(guid, name);
	if (unlinkat(folder, name, 0) < 0 && errno != ENOENT)
		return -errno;
	(void)fsync(folder);
	return 0;
}

int etwd_descriptors_remove(struct etwd_descriptors *security, const GUID *guid)
{
	struct etwd_descriptor **place = find_place(security, guid);
	struct etwd_descriptor *descriptor = *place;

	if (!descriptor)
		return -ENOENT;
	TRY(forget(security, guid));
	*place = descriptor->next;
	security->count--;
	free(descriptor);
	return 0;
}

/* Only what this host's user or root wrote is believed. */
static int read_file(int folder, const char *name, uint8_t *room, size_t *ret_bytes)
{
	CLEANUP(etw_file_closep)
	const int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat info;

	if (fd < 0 || fstat(fd, &info) < 0)
		return -errno;
	if (!S_ISREG(info.st_mode) || !etw_file_is_private(fd))
		return -EPERM;
	TRY(etw_file_read_all(fd, room, WIRE_SECURITY_BYTES_MAX, ret_bytes));
	return etw_security_check((struct etw_bytes){room, *ret_bytes});
}

/* In the place of one that cannot be read: root alone may do anything. */
static size_t make_closed(const struct etwd_descriptors *security, uint8_t *room)
{
	const struct wire_security_entry entry = {etw_sid_of_kind(WIRE_SID_ADMINISTRATORS),
						  WIRE_GENERIC_ALL, true};
	size_t bytes = 0;

	(void)etw_security_change((struct etw_bytes){security->fallback, security->fallback_bytes},
				  WIRE_SECURITY_SET_DACL, &entry, room, &bytes);
	return bytes;
}

static int load_one(struct etwd_descriptors *security, int folder, const char *name)
{
	uint8_t room[WIRE_SECURITY_BYTES_MAX];
	struct etwd_descriptor *descriptor;
	size_t bytes = 0;
	GUID guid;
	int r;

	if (name[0] == '{' || etw_guid_parse(name, &guid) < 0)
		return 0;
	/* What is left out would have the default, which lets more people in than it may. */
	if (security->count >= ETWD_DESCRIPTORS_MAX)
		return -ENOSPC;
	r = read_file(folder, name, room, &bytes);
	if (r < 0) {
		etwd_log("%s/%s is not used, and only administrators may do what it is about: %s",
			 security->folder, name, strerror(-r));
		bytes = make_closed(security, room);
	}
	descriptor = make(&guid, (struct etw_bytes){room, bytes});
	if (!descriptor)
		return -ENOMEM;
	put(security, descriptor);
	return 0;
}

int etwd_descriptors_load(struct etwd_descriptors *security)
{
	const struct dirent *entry;
	int fd, r = 0;
	DIR *folder;

	if (!security->folder[0])
		return 0;
	fd = open_folder(security);
	if (fd < 0)
		return fd == -ENOENT ? 0 : fd;
	folder = fdopendir(fd);
	if (!folder) {
		r = -errno;
		close(fd);
		return r;
	}
	errno = 0;
	while (r == 0 && (entry = readdir(folder))) {
		r = load_one(security, fd, entry->d_name);
		errno = 0;
	}
	if (r == 0)
		r = -errno; /* readdir's; 0 at the end of the folder */
	(void)closedir(folder);
	return r;
}
