/* SPDX-License-Identifier: MIT */
/* The inside of a change, shared by change.c, change_remove.c and index_write.c. */
#ifndef ETW_REGISTRY_CHANGE_INTERNAL_H
#define ETW_REGISTRY_CHANGE_INTERNAL_H

#include "base/table.h"
#include "base/text.h"
#include "registry/change.h"

struct change_file {
	struct etw_registry_file row;
	struct change_file *newer; /* of the same contents: removed and added again */
	uint32_t number;           /* in the new index */
	bool is_new;
	bool is_gone;
	bool has_providers; /* ever */
};

struct change_row {
	struct etw_registry_row row;
	struct change_file *file;
	struct change_row *next; /* of the same GUID */
	bool is_gone;
};

struct etw_registry_change {
	int folder_fd;
	int lock_fd;
	bool has_begun; /* the mark of a change is there */
	bool is_changed;
	bool is_committed;
	struct etw_registry_index old; /* strings of old rows are its */
	struct etw_arena arena;
	struct change_row **rows; /* owned list, items in the arena */
	size_t row_count;
	struct change_file **files;
	size_t file_count;
	struct etw_table by_content; /* struct change_file, the oldest of its contents */
	struct etw_table by_guid;    /* struct change_row, one of each GUID */
};

/*
 * etw_registry_change_index() - the index as it is to become, appended to @text.
 *
 * Returns 0; -EFBIG when offsets would not fit; -ENOMEM.
 */
int etw_registry_change_index(struct etw_registry_change *change, struct etw_text *text);

/* etw_registry_change_content() - the oldest file of these contents (sha1 and kind), or NULL. */
struct change_file *etw_registry_change_content(const struct etw_registry_change *change,
						const struct etw_registry_file *wanted);

/* etw_registry_change_newest() - the newest file of the same contents; takes NULL. */
struct change_file *etw_registry_change_newest(struct change_file *file);

/* etw_registry_change_rows() - one row of a GUID, which leads to the others; NULL: there is none. */
struct change_row *etw_registry_change_rows(const struct etw_registry_change *change,
					    const GUID *guid);

/* etw_registry_change_sweep() - removes definitions that the index in force does not name. */
void etw_registry_change_sweep(struct etw_registry_change *change);

#endif
