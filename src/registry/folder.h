/* SPDX-License-Identifier: MIT */
/* Where registries lie, and the files in them. */
#ifndef ETW_REGISTRY_FOLDER_H
#define ETW_REGISTRY_FOLDER_H

#include "registry/index.h"

enum etw_registry_scope {
	ETW_REGISTRY_SYSTEM, /* /var/lib/etw/providers; root changes it, everybody reads it */
	ETW_REGISTRY_USER,   /* etw/providers in $XDG_DATA_HOME, else in ~/.local/share */
};

/*
 * etw_registry_folder() - the folder of a scope, whether it exists or not.
 *
 * @ret: owned
 *
 * $ETW_PROVIDERS_DIR, when set, stands for both. Root's own is the system's. A program with more rights
 * than its caller takes no variable. Returns 0; -ENOENT when no home folder is known; -ENOMEM.
 */
int etw_registry_folder(enum etw_registry_scope scope, char **ret);

/* etw_registry_is_one() - both scopes are one folder (root, or $ETW_PROVIDERS_DIR). */
bool etw_registry_is_one(void);

#define ETW_REGISTRY_DEFINITIONS "definitions"

#define ETW_REGISTRY_DEFINITION_BYTES_MAX ((uint64_t)1 << 30)

/* "definitions/<sha1>.<kind>" and a NUL. */
#define ETW_REGISTRY_NAME_BYTES 64

/* etw_registry_definition_name() - where a definition lies within the folder. */
void etw_registry_definition_name(const struct etw_registry_file *file,
				  char name[ETW_REGISTRY_NAME_BYTES]);

/*
 * etw_registry_definition_of() - the opposite: which definition a file within "definitions/" is.
 *
 * @ret: sha1 and kind are set, nothing else
 *
 * Returns whether it has the name of one.
 */
bool etw_registry_definition_of(const char *name, struct etw_registry_file *ret);

/* etw_registry_content_equal() - whether two files are one definition: of the same kind and contents. */
bool etw_registry_content_equal(const struct etw_registry_file *left,
				const struct etw_registry_file *right);

/* etw_registry_content_hash() - a hash of what makes them equal. */
uint64_t etw_registry_content_hash(const struct etw_registry_file *file);

/*
 * etw_registry_definition_read() - a stored definition.
 *
 * @ret: owned memory
 *
 * Returns 0; -EBADMSG with @reterr when its bytes are not those that were stored; -ENOMEM; what opening and
 * reading fail with.
 */
int etw_registry_definition_read(const char *folder, const struct etw_registry_file *file,
				 uint8_t **ret, struct etw_fault *reterr);

#endif
