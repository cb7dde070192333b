/* SPDX-License-Identifier: MIT */
/* From a file of any kind to what a registry stores of it, and the rows that its definition has in the index. */
#ifndef ETW_REGISTRY_ITEM_H
#define ETW_REGISTRY_ITEM_H

#include "base/arena.h"
#include "base/bytes.h"
#include "base/fault.h"
#include "registry/index.h"

/* What a user says beside the name of a file; NULL: nothing. */
struct etw_registry_words {
	const char *resource_file; /* shown, no more */
	const char *message_file;  /* of a compiled binary: a Linux path where its messages are */
	const char *parameter_file;
};

/* A file, read and ready to be stored. */
struct etw_registry_item {
	enum wire_registry_kind kind;
	struct etw_bytes stored; /* in the arena */
	uint8_t sha1[WIRE_REGISTRY_SHA1_BYTES];
	struct etw_registry_row *rows; /* `file` is not set */
	size_t row_count;
	size_t event_count;
	const struct etw_complaint
		*complaints;    /* rules that it breaks though decoding does not need them */
	size_t complaint_count; /* kept */
	size_t complaint_total;
	const char *from; /* absolute path */
	struct etw_registry_words words;
	struct etw_arena arena; /* of all of it */
};

/* In what forms definitions come. */
enum etw_registry_form {
	ETW_REGISTRY_MANIFEST,
	ETW_REGISTRY_BINARY, /* a PE file, or a WEVT_TEMPLATE resource by itself */
	ETW_REGISTRY_MOF,
	ETW_REGISTRY_TMF,
	ETW_REGISTRY_PDB,
};

/*
 * etw_registry_look() - which of them a file looks like, by its first bytes, and MOF by its name.
 *
 * Returns 0; -ENODATA when it is none; -EISDIR; -EINVAL for what is no file; what opening and reading fail with.
 */
int etw_registry_look(const char *path, enum etw_registry_form *ret);

/*
 * etw_registry_item_read() - reads a manifest, a compiled binary, a MOF, TMF or PDB file.
 *
 * @words: borrowed for the call; may be NULL
 * @ret:   give it to etw_registry_item_done()
 *
 * What the file is, its contents say; a MOF file also needs its name. Returns 0; -ENODATA when it is none
 * of these, or one that defines nothing; -EBADMSG with @reterr (offset: the line for text) when it is
 * damaged; -EFBIG; -ENOMEM; what opening and reading fail with.
 */
int etw_registry_item_read(const char *path, const struct etw_registry_words *words,
			   struct etw_registry_item *ret, struct etw_fault *reterr);

/*
 * etw_registry_item_parse() - the same for what lies in memory, but for compiled binaries, which are stored
 * as struct wire_registry_binary.
 *
 * @kind:   its kind
 * @bytes:  borrowed for the call
 * @from:   what to show as its origin
 */
int etw_registry_item_parse(enum wire_registry_kind kind, struct etw_bytes bytes, const char *from,
			    struct etw_registry_item *ret, struct etw_fault *reterr);

/* etw_registry_item_done() - frees an item; takes a zeroed one. */
void etw_registry_item_done(struct etw_registry_item *item);

#endif
