/* SPDX-License-Identifier: MIT */
/*
 * The providers that are installed on this machine, as a reader sees them: the user's registry before the
 * system's. A store that it is attached to asks it for what nothing else defines; a definition is read when
 * it is asked for the first time.
 *
 * Context: one owner thread per registry.
 */
#ifndef ETW_REGISTRY_REGISTRY_H
#define ETW_REGISTRY_REGISTRY_H

#include "registry/folder.h"
#include "registry/index.h"
#include "schema/store/store_installed.h"

struct etw_registry;

/*
 * etw_registry_open() - opens what there is; a machine without registry has an empty one.
 *
 * Registries that cannot be used are left out: etw_registry_trouble(). Returns 0 or -ENOMEM.
 */
int etw_registry_open(struct etw_registry **ret);

/* etw_registry_close() - takes NULL; not for one that is attached to a store. */
void etw_registry_close(struct etw_registry *registry);
void etw_registry_closep(struct etw_registry **registry);

/*
 * etw_registry_trouble() - why a registry was left out.
 *
 * @ret_folder: borrowed; untouched without trouble
 * @ret:        has a sentence when the index is damaged
 *
 * Returns 0 or what opening it failed with.
 */
int etw_registry_trouble(const struct etw_registry *registry, const char **ret_folder,
			 struct etw_fault *ret);

/* Told once of each definition that cannot be used. @path: of the file that it was imported from, or NULL. */
typedef void (*etw_registry_complain)(void *context, const char *path,
				      const struct etw_fault *fault);

/*
 * etw_registry_set_complain() - who is told of definitions that cannot be used.
 *
 * Without anybody, the store counts them among its damage.
 */
void etw_registry_set_complain(struct etw_registry *registry, etw_registry_complain complain,
			       void *context);

/*
 * etw_registry_attach() - lets a store ask the registry.
 *
 * Takes the registry: it serves this one store, and goes with it. What was changed on the disk since it was
 * opened it sees by etw_schema_store_look_again().
 */
void etw_registry_attach(struct etw_registry *registry, struct etw_schema_store *store);

/*
 * etw_registry_hooks() - what etw_registry_attach() gives a store, for who stands between the two.
 *
 * Its owner calls release when the store goes, in place of etw_registry_close().
 */
const struct etw_schema_registry *etw_registry_hooks(const struct etw_registry *registry);

/* etw_registry_has_definition() - whether anything but WPP messages is installed for a GUID. */
bool etw_registry_has_definition(const struct etw_registry *registry, const GUID *guid);

/* A row together with the file that it comes from. */
struct etw_registry_entry {
	struct etw_registry_row row;
	struct etw_registry_file file;
	const char *folder;
};

/* etw_registry_count() - rows of all indexes. */
size_t etw_registry_count(const struct etw_registry *registry);

/*
 * etw_registry_entry() - by number; those of an index are in the order of their GUIDs.
 *
 * Its strings are valid until the store looks again, or the registry is closed.
 */
struct etw_registry_entry etw_registry_entry(const struct etw_registry *registry, size_t i);

#endif
