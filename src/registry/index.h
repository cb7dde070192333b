/* SPDX-License-Identifier: MIT */
/*
 * The index of a provider registry: which GUID is defined in which of the stored definitions. Opened by
 * mapping it, checked once as a whole, then read in place. Layout: wire/registry.h.
 */
#ifndef ETW_REGISTRY_INDEX_H
#define ETW_REGISTRY_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tdh.h>

#include "base/bytes.h"
#include "base/fault.h"
#include "wire/registry.h"

#define ETW_REGISTRY_INDEX_NAME      "index"
#define ETW_REGISTRY_INDEX_BYTES_MAX ((size_t)1 << 30)
#define ETW_REGISTRY_FILES_MAX       ((uint32_t)1 << 20)

/* A checked index; borrows its bytes unless it was opened from a file. */
struct etw_registry_index {
	struct etw_bytes bytes;
	const struct wire_registry_row *rows;
	uint32_t row_count;
	const struct wire_registry_file *files;
	uint32_t file_count;
	const char *strings;
	uint32_t string_bytes;
	uint64_t generation;
	bool is_mapped;
};

/* A row or a file as its readers want it; strings are the index's, NULL when not given. */
struct etw_registry_row {
	GUID guid;
	const char *name;
	uint32_t file;
	DECODING_SOURCE source;
	enum wire_registry_role role;
	uint32_t counts[WIRE_REGISTRY_COUNTS];
};

struct etw_registry_file {
	uint8_t sha1[WIRE_REGISTRY_SHA1_BYTES];
	enum wire_registry_kind kind;
	uint64_t bytes;
	int64_t imported_ft;
	const char *from;
	const char *resource_file;
	const char *message_file;
	const char *parameter_file;
};

/* etw_registry_check() - the check value of an index's bytes behind its head. */
uint64_t etw_registry_check(const uint8_t *at, size_t bytes);

/* etw_registry_compare_rows() - the order of an index's rows: GUID, file, role. As memcmp(). */
int etw_registry_compare_rows(const struct wire_registry_row *left,
			      const struct wire_registry_row *right);

/*
 * etw_registry_index_read() - checks an index in memory.
 *
 * @bytes: borrowed as long as the index is used
 *
 * Returns 0; -EBADMSG with @reterr; -EPROTONOSUPPORT with @reterr when a newer release wrote it.
 */
int etw_registry_index_read(struct etw_bytes bytes, struct etw_registry_index *ret,
			    struct etw_fault *reterr);

/*
 * etw_registry_index_open() - maps the index of a registry's folder and checks it.
 *
 * Only what root or this user alone can write is believed, so that nobody changes it behind the check.
 * Returns 0; -ENOENT when there is none; -EPERM when others could write it; -EFBIG; otherwise as
 * etw_registry_index_read(), and what opening fails with.
 */
int etw_registry_index_open(const char *folder, struct etw_registry_index *ret,
			    struct etw_fault *reterr);

/* etw_registry_index_close() - takes a zeroed index. */
void etw_registry_index_close(struct etw_registry_index *index);

/* etw_registry_index_row() / _file() - by number, below row_count and file_count. */
struct etw_registry_row etw_registry_index_row(const struct etw_registry_index *index, uint32_t i);
struct etw_registry_file etw_registry_index_file(const struct etw_registry_index *index,
						 uint32_t i);

/*
 * etw_registry_index_find() - the rows of a GUID.
 *
 * @ret_first: the first of them
 *
 * Returns how many there are; they follow each other in the order of their files.
 */
uint32_t etw_registry_index_find(const struct etw_registry_index *index, const GUID *guid,
				 uint32_t *ret_first);

#endif
