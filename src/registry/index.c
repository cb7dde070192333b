/* SPDX-License-Identifier: MIT */
#include "registry/index.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/guid.h"
#include "base/macros.h"

static int refuse(struct etw_fault *reterr, uint64_t offset, const char *field,
		  const char *sentence)
{
	return etw_fault_set(reterr, -EBADMSG, offset, "registry index", field, sentence);
}

/* One multiplication a word: an index of 10,000 providers takes a fraction of a millisecond. */
uint64_t etw_registry_check(const uint8_t *at, size_t bytes)
{
	uint64_t value = UINT64_C(0x9e3779b97f4a7c15) ^ bytes;

	for (; bytes >= 8; at += 8, bytes -= 8) {
		value = (value ^ etw_load64(at)) * UINT64_C(0xff51afd7ed558ccd);
		value ^= value >> 29;
	}
	for (; bytes; at++, bytes--)
		value = (value ^ *at) * UINT64_C(0xff51afd7ed558ccd);
	return value ^ value >> 32;
}

static int check_head(struct etw_bytes bytes, const struct wire_registry_head *head,
		      struct etw_fault *reterr)
{
	if (memcmp(head->magic, WIRE_REGISTRY_MAGIC, sizeof(head->magic)) != 0)
		return refuse(reterr, 0, "magic", "this is no index of providers");
	if (le32_get(head->version) > WIRE_REGISTRY_VERSION)
		return etw_fault_set(reterr, -EPROTONOSUPPORT, 8, "registry index", "version",
				     "a newer release has written it");
	if (le32_get(head->version) != WIRE_REGISTRY_VERSION ||
	    le32_get(head->head_bytes) != sizeof(*head))
		return refuse(reterr, 8, "version", "there is no such version");
	if (le64_get(head->file_bytes) != bytes.left)
		return refuse(reterr, 16, "file_bytes", "the index was cut or has grown");
	return 0;
}

static int place_parts(struct etw_registry_index *index, const struct wire_registry_head *head,
		       struct etw_fault *reterr)
{
	const uint8_t *at = index->bytes.at + sizeof(*head);
	uint64_t rows = (uint64_t)le32_get(head->row_count) * sizeof(*index->rows);
	uint64_t files = (uint64_t)le32_get(head->file_count) * sizeof(*index->files);
	uint64_t strings = le32_get(head->string_bytes);

	if (rows + files + strings != index->bytes.left - sizeof(*head))
		return refuse(reterr, 0x20, "row_count",
			      "rows, files and strings do not fill the index");
	index->rows = (const struct wire_registry_row *)at;
	index->row_count = le32_get(head->row_count);
	index->files = (const struct wire_registry_file *)(at + rows);
	index->file_count = le32_get(head->file_count);
	index->strings = (const char *)(at + rows + files);
	index->string_bytes = le32_get(head->string_bytes);
	index->generation = le64_get(head->generation);
	if (index->file_count > ETW_REGISTRY_FILES_MAX)
		return refuse(reterr, 0x24, "file_count", "there are too many files");
	if (!strings || index->strings[0] || index->strings[strings - 1])
		return refuse(reterr, 0x28, "string_bytes",
			      "the strings do not begin and end with a NUL");
	return 0;
}

static uint64_t offset_of(const struct etw_registry_index *index, const void *at)
{
	return (uint64_t)((const uint8_t *)at - index->bytes.at);
}

int etw_registry_compare_rows(const struct wire_registry_row *left,
			      const struct wire_registry_row *right)
{
	int r = memcmp(left->guid, right->guid, sizeof(left->guid));

	if (r)
		return r;
	if (le32_get(left->file) != le32_get(right->file))
		return le32_get(left->file) < le32_get(right->file) ? -1 : 1;
	return (le32_get(left->role) > le32_get(right->role)) -
	       (le32_get(left->role) < le32_get(right->role));
}

static int check_row(const struct etw_registry_index *index, uint32_t i, struct etw_fault *reterr)
{
	const struct wire_registry_row *row = &index->rows[i];
	uint64_t offset = offset_of(index, row);
	uint32_t role = le32_get(row->role);

	if (le32_get(row->file) >= index->file_count)
		return refuse(reterr, offset, "file", "a row names a file that is not there");
	if (le32_get(row->name) >= index->string_bytes)
		return refuse(reterr, offset, "name", "a name lies outside the strings");
	if (le32_get(row->source) > DecodingSourceWPP)
		return refuse(reterr, offset, "source", "there is no such decoding source");
	if (role != WIRE_REGISTRY_PROVIDER && role != WIRE_REGISTRY_EVENTS)
		return refuse(reterr, offset, "role", "there is no such role");
	if (i && etw_registry_compare_rows(row - 1, row) >= 0)
		return refuse(reterr, offset, "guid", "the rows are not in order");
	return 0;
}

static int check_file(const struct etw_registry_index *index, uint32_t i, struct etw_fault *reterr)
{
	const struct wire_registry_file *file = &index->files[i];
	const uint32_t strings[] = {le32_get(file->from), le32_get(file->resource_file),
				    le32_get(file->message_file), le32_get(file->parameter_file)};
	uint64_t offset = offset_of(index, file);
	uint32_t kind = le32_get(file->kind);

	if (!kind || kind >= WIRE_REGISTRY_KINDS)
		return refuse(reterr, offset, "kind", "there is no such kind of definition");
	for (size_t j = 0; j < ARRAY_SIZE(strings); j++) {
		if (strings[j] >= index->string_bytes)
			return refuse(reterr, offset, "from", "a path lies outside the strings");
	}
	return 0;
}

int etw_registry_index_read(struct etw_bytes bytes, struct etw_registry_index *ret,
			    struct etw_fault *reterr)
{
	struct etw_registry_index index = {.bytes = bytes};
	struct wire_registry_head head;

	if (bytes.left < sizeof(head))
		return refuse(reterr, 0, NULL, "it is shorter than its head");
	memcpy(&head, bytes.at, sizeof(head));
	TRY(check_head(bytes, &head, reterr));
	if (le64_get(head.check) !=
	    etw_registry_check(bytes.at + sizeof(head), bytes.left - sizeof(head)))
		return refuse(reterr, 0x18, "check", "its bytes have changed since it was written");
	TRY(place_parts(&index, &head, reterr));
	for (uint32_t i = 0; i < index.row_count; i++)
		TRY(check_row(&index, i, reterr));
	for (uint32_t i = 0; i < index.file_count; i++)
		TRY(check_file(&index, i, reterr));
	*ret = index;
	return 0;
}

static int map_index(const char *path, struct etw_bytes *ret)
{
	CLEANUP(etw_file_closep)
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct stat info;
	void *at;

	if (fd < 0 || fstat(fd, &info) < 0)
		return -errno;
	if (!S_ISREG(info.st_mode) || (info.st_mode & (S_IWGRP | S_IWOTH)) ||
	    (info.st_uid != 0 && info.st_uid != geteuid()))
		return -EPERM;
	if ((uint64_t)info.st_size > ETW_REGISTRY_INDEX_BYTES_MAX)
		return -EFBIG;
	*ret = (struct etw_bytes){NULL, (size_t)info.st_size};
	if (!info.st_size)
		return 0;
	at = mmap(NULL, ret->left, PROT_READ, MAP_PRIVATE, fd, 0);
	if (at == MAP_FAILED)
		return -errno;
	ret->at = at;
	return 0;
}

int etw_registry_index_open(const char *folder, struct etw_registry_index *ret,
			    struct etw_fault *reterr)
{
	CLEANUP(freep) char *path = NULL;
	struct etw_bytes bytes;
	int r;

	if (asprintf(&path, "%s/" ETW_REGISTRY_INDEX_NAME, folder) < 0) {
		path = NULL;
		return -ENOMEM;
	}
	TRY(map_index(path, &bytes));
	r = etw_registry_index_read(bytes, ret, reterr);
	if (r < 0 && bytes.at)
		(void)munmap((void *)(uintptr_t)bytes.at, bytes.left);
	if (!r)
		ret->is_mapped = true;
	return r;
}

void etw_registry_index_close(struct etw_registry_index *index)
{
	if (index->is_mapped)
		(void)munmap((void *)(uintptr_t)index->bytes.at, index->bytes.left);
	*index = (struct etw_registry_index){0};
}

static const char *string_at(const struct etw_registry_index *index, le32 offset)
{
	return le32_get(offset) ? index->strings + le32_get(offset) : NULL;
}

struct etw_registry_row etw_registry_index_row(const struct etw_registry_index *index, uint32_t i)
{
	const struct wire_registry_row *row = &index->rows[i];
	struct etw_registry_row result = {
		.guid = etw_guid_read(row->guid),
		.name = string_at(index, row->name),
		.file = le32_get(row->file),
		.source = (DECODING_SOURCE)le32_get(row->source),
		.role = (enum wire_registry_role)le32_get(row->role),
	};

	for (size_t j = 0; j < WIRE_REGISTRY_COUNTS; j++)
		result.counts[j] = le32_get(row->counts[j]);
	return result;
}

struct etw_registry_file etw_registry_index_file(const struct etw_registry_index *index, uint32_t i)
{
	const struct wire_registry_file *file = &index->files[i];
	struct etw_registry_file result = {
		.kind = (enum wire_registry_kind)le32_get(file->kind),
		.bytes = le64_get(file->bytes),
		.imported_ft = (int64_t)le64_get(file->imported_ft),
		.from = string_at(index, file->from),
		.resource_file = string_at(index, file->resource_file),
		.message_file = string_at(index, file->message_file),
		.parameter_file = string_at(index, file->parameter_file),
	};

	memcpy(result.sha1, file->sha1, sizeof(result.sha1));
	return result;
}

uint32_t etw_registry_index_find(const struct etw_registry_index *index, const GUID *guid,
				 uint32_t *ret_first)
{
	uint32_t low = 0, high = index->row_count, count = 0;
	uint8_t wanted[16];

	etw_guid_write(wanted, guid);
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (memcmp(index->rows[middle].guid, wanted, sizeof(wanted)) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	while (low + count < index->row_count &&
	       !memcmp(index->rows[low + count].guid, wanted, sizeof(wanted)))
		count++;
	*ret_first = low;
	return count;
}
