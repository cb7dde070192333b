/* SPDX-License-Identifier: MIT */
/* Opening the index, and checked access to its items. */
#include "schema/known/known.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/macros.h"
#include "base/utf.h"
#include "schema/known/known_internal.h"

#define STRUCTURE        "index of known providers"
#define STRING_BYTES_MAX 65535u
#define ENVIRONMENT      "ETW_KNOWN_PROVIDERS"

static const size_t item_bytes[] = WIRE_KNOWN_ITEM_BYTES;
static_assert(ARRAY_SIZE(item_bytes) == WIRE_KNOWN_PARTS, "one for each part");

static int refuse(struct etw_fault *reterr, uint64_t offset, const char *field,
		  const char *sentence)
{
	return etw_fault_set(reterr, -EBADMSG, offset, STRUCTURE, field, sentence);
}

static int check_head(struct etw_bytes bytes, struct wire_known_head *head,
		      struct etw_fault *reterr)
{
	uint32_t check;

	if (bytes.left < offsetof(struct wire_known_head, parts))
		return refuse(reterr, 0, NULL, "it is shorter than its head");
	memset(head, 0, sizeof(*head));
	memcpy(head, bytes.at, bytes.left < sizeof(*head) ? bytes.left : sizeof(*head));
	if (memcmp(head->magic, WIRE_KNOWN_MAGIC, sizeof(head->magic)) != 0)
		return refuse(reterr, 0, "magic", "this is no index of known providers");
	if (le32_get(head->version) != WIRE_KNOWN_VERSION)
		return etw_fault_set(reterr, -EPROTONOSUPPORT, 8, STRUCTURE, "version",
				     "it is of another release");
	if (le32_get(head->head_bytes) != sizeof(*head) || bytes.left < sizeof(*head))
		return refuse(reterr, 12, "head_bytes", "the head has another size");
	if (le32_get(head->file_bytes) != bytes.left)
		return refuse(reterr, 16, "file_bytes", "the index was cut or has grown");
	check = le32_get(head->check);
	head->check = le32_of(0);
	if (check != wire_known_check(head))
		return refuse(reterr, 20, "check", "the bytes of the head have changed");
	return 0;
}

static int place_parts(struct etw_known *known, const struct wire_known_head *head,
		       struct etw_fault *reterr)
{
	const uint8_t *strings;

	for (size_t i = 0; i < WIRE_KNOWN_PARTS; i++) {
		uint64_t offset = le32_get(head->parts[i].offset);
		uint64_t count = le32_get(head->parts[i].count);

		if (offset % 8 || offset > known->bytes.left ||
		    count > (known->bytes.left - offset) / item_bytes[i])
			return refuse(reterr, offsetof(struct wire_known_head, parts[i]), "parts",
				      "a part lies outside the index");
		known->parts[i].at = known->bytes.at + offset;
		known->parts[i].count = (uint32_t)count;
	}
	strings = known->parts[WIRE_KNOWN_STRINGS].at;
	if (!known->parts[WIRE_KNOWN_STRINGS].count || strings[0] ||
	    strings[known->parts[WIRE_KNOWN_STRINGS].count - 1])
		return refuse(reterr, offsetof(struct wire_known_head, parts[WIRE_KNOWN_STRINGS]),
			      "parts", "the strings do not begin and end with a NUL");
	return 0;
}

static int create(struct etw_bytes bytes, const char *path, struct etw_known **ret,
		  struct etw_fault *reterr)
{
	CLEANUP(freep) struct etw_known *known = calloc(1, sizeof(*known) + strlen(path) + 1);
	struct wire_known_head head;

	if (!known)
		return -ENOMEM;
	TRY(check_head(bytes, &head, reterr));
	known->bytes = bytes;
	TRY(place_parts(known, &head, reterr));
	strcpy(known->path, path);
	(void)pthread_mutex_init(&known->lock, NULL);
	*ret = TAKE(known);
	return 0;
}

int etw_known_open_bytes(struct etw_bytes bytes, struct etw_known **ret, struct etw_fault *reterr)
{
	return create(bytes, "", ret, reterr);
}

static int map_file(const char *path, struct etw_bytes *ret, struct etw_fault *reterr)
{
	CLEANUP(etw_file_closep) int fd = -1;
	size_t bytes;
	void *at;
	int r = etw_file_open_regular(path, ETW_KNOWN_BYTES_MAX, &fd, &bytes);

	/* A pipe or a device: "Invalid argument" would say nothing. */
	if (r == -EINVAL)
		return etw_fault_set(reterr, r, 0, STRUCTURE, NULL, "it is no regular file");
	TRY(r);
	*ret = (struct etw_bytes){NULL, bytes};
	if (!bytes)
		return 0;
	at = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, fd, 0);
	if (at == MAP_FAILED)
		return -errno;
	ret->at = at;
	return 0;
}

static void unmap(struct etw_bytes bytes)
{
	if (bytes.at)
		(void)munmap((void *)(uintptr_t)bytes.at, bytes.left);
}

bool etw_known_locate(char ret[PATH_MAX])
{
	const char *path = secure_getenv(ENVIRONMENT);
	size_t bytes;

	if (!path)
		return etw_known_find_index(ret);
	bytes = strlen(path);
	if (!bytes || bytes >= PATH_MAX)
		return false;
	memcpy(ret, path, bytes + 1);
	return true;
}

int etw_known_open(const char *path, struct etw_known **ret, struct etw_fault *reterr)
{
	char found[PATH_MAX];
	struct etw_bytes bytes;
	int r;

	if (!path)
		path = secure_getenv(ENVIRONMENT);
	if (path && !*path)
		return -ENOENT;
	if (!path && etw_known_find_index(found))
		path = found;
	if (!path)
		return -ENOENT;
	TRY(map_file(path, &bytes, reterr));
	r = create(bytes, path, ret, reterr);
	if (r < 0)
		unmap(bytes);
	else
		(*ret)->is_mapped = true;
	return r;
}

void etw_known_close(struct etw_known *known)
{
	if (!known)
		return;
	if (known->is_mapped)
		unmap(known->bytes);
	(void)pthread_mutex_destroy(&known->lock);
	free(known);
}

void etw_known_closep(struct etw_known **known)
{
	etw_known_close(*known);
}

const char *etw_known_path(const struct etw_known *known)
{
	return known->path;
}

bool etw_known_damage(const struct etw_known *known, struct etw_fault *ret)
{
	struct etw_known *locked = (struct etw_known *)(uintptr_t)known;
	bool is_damaged;

	(void)pthread_mutex_lock(&locked->lock);
	is_damaged = known->is_damaged;
	if (is_damaged)
		*ret = known->damage;
	(void)pthread_mutex_unlock(&locked->lock);
	return is_damaged;
}

int etw_known_damaged(struct etw_known *known, const void *at, const char *structure,
		      const char *field, const char *sentence)
{
	uint64_t offset = (uint64_t)((const uint8_t *)at - known->bytes.at);

	(void)pthread_mutex_lock(&known->lock);
	if (!known->is_damaged) {
		known->is_damaged = true;
		(void)etw_fault_set(&known->damage, -EBADMSG, offset, structure, field, sentence);
	}
	(void)pthread_mutex_unlock(&known->lock);
	return -EBADMSG;
}

const void *etw_known_item(struct etw_known *known, enum wire_known_part_id id, uint32_t number,
			   const void *from)
{
	if (LIKELY(number < known->parts[id].count))
		return known->parts[id].at + number * item_bytes[id];
	(void)etw_known_damaged(known, from, STRUCTURE, NULL,
				"a number refers to an item that is not there");
	return NULL;
}

int etw_known_string(struct etw_known *known, le32 offset, const void *from, const char **ret)
{
	uint32_t begin = le32_get(offset);
	const char *pool = (const char *)known->parts[WIRE_KNOWN_STRINGS].at;
	size_t bytes;

	if (begin >= known->parts[WIRE_KNOWN_STRINGS].count)
		return etw_known_damaged(known, from, STRUCTURE, NULL,
					 "a string lies outside the pool");
	/* The pool ends with a NUL, so there is one. */
	bytes = strnlen(pool + begin, STRING_BYTES_MAX + 1);
	if (bytes > STRING_BYTES_MAX || (begin && pool[begin - 1]) ||
	    !etw_utf8_is_valid((const uint8_t *)pool + begin, bytes))
		return etw_known_damaged(known, pool + begin, STRUCTURE, NULL,
					 "a string is too long or no UTF-8");
	*ret = pool + begin;
	return 0;
}
