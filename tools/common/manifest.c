/* SPDX-License-Identifier: MIT */
#include "tools/common/manifest.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/path.h"
#include "registry/folder_walk.h"
#include "registry/item.h"
#include "schema/compiled/binary_file.h"
#include "schema/manifest/manifest.h"
#include "schema/store/store_installed.h"
#include "schema/wpp/msf.h"
#include "tools/common/complaint.h"
#include "tools/common/known_providers.h"
#include "tools/common/program.h"

#define FOLDER_LINES_MAX 20 /* of complaints */

struct loader {
	struct etw_schema_store *store;
	struct etw_conflicts *conflicts;
	const char *severity; /* of what cannot be read */
	size_t lines;         /* of complaints that may still be printed */
	size_t loaded;        /* files */
	size_t failed;        /* files and folders that were told of */
};

void etw_manifests_done(struct etw_manifests *manifests)
{
	free(manifests->at);
	etw_conflicts_done(&manifests->conflicts);
	*manifests = (struct etw_manifests){0};
}

static void tell_complaints(struct loader *loader, const char *path,
			    const struct etw_definition *definition)
{
	etw_complaint_list(path, definition->complaints, definition->complaint_count,
			   definition->complaint_total, &loader->lines);
}

/* Counts it as the user's, and tells where it contradicts a file before it. */
static int keep(struct loader *loader, const char *path, const struct etw_definition *definition)
{
	const char *kept = etw_arena_strdup(etw_schema_store_arena(loader->store), path);

	if (!kept)
		return -ENOMEM;
	TRY(etw_schema_store_add_definition(loader->store, definition));
	return etw_conflicts_add(loader->conflicts, kept, definition);
}

static int load_binary(struct loader *loader, const char *path, struct etw_fault *fault)
{
	struct etw_definition *definition;

	TRY(etw_binary_read(etw_schema_store_arena(loader->store), path, NULL, NULL, &definition,
			    fault));
	TRY(keep(loader, path, definition));
	tell_complaints(loader, path, definition);
	return 0;
}

static int load_manifest(struct loader *loader, const char *path, const char *text, size_t bytes,
			 struct etw_fault *fault)
{
	struct etw_definition *definition;

	TRY(etw_manifest_parse(etw_schema_store_arena(loader->store), text, bytes, &definition,
			       fault));
	TRY(keep(loader, path, definition));
	tell_complaints(loader, path, definition);
	return 0;
}

/* Classes that cannot be decoded are left out. */
static int load_mof(struct loader *loader, const char *path, const char *text, size_t bytes,
		    struct etw_fault *fault)
{
	const struct etw_definition *definition;

	TRY(etw_schema_store_add_mof(loader->store, text, bytes, &definition, fault));
	tell_complaints(loader, path, definition);
	return 0;
}

static int load_pdb(struct loader *loader, const char *path, const char *file, size_t bytes,
		    struct etw_fault *fault)
{
	size_t damage = etw_schema_store_damage(loader->store, NULL);

	TRY(etw_schema_store_add_pdb(loader->store, file, bytes, fault));
	damage = etw_schema_store_damage(loader->store, NULL) - damage;
	if (damage)
		etw_program_message("warning: %s: %zu WPP records cannot be read", path, damage);
	return 0;
}

static int load_form(struct loader *loader, const char *path, enum etw_registry_form form,
		     struct etw_fault *fault)
{
	CLEANUP(freep) char *file = NULL;
	size_t bytes;

	if (form == ETW_REGISTRY_BINARY)
		return load_binary(loader, path, fault);
	TRY(etw_file_read(path,
			  form == ETW_REGISTRY_PDB ? ETW_MSF_BYTES_MAX : ETW_MANIFEST_BYTES_MAX,
			  &file, &bytes));
	switch (form) {
	case ETW_REGISTRY_MANIFEST:
		return load_manifest(loader, path, file, bytes, fault);
	case ETW_REGISTRY_MOF:
		return load_mof(loader, path, file, bytes, fault);
	case ETW_REGISTRY_TMF:
		return etw_schema_store_add_tmf(loader->store, file, bytes, fault);
	default:
		return load_pdb(loader, path, file, bytes, fault);
	}
}

/* Returns 0; -ENODATA for a file without schemas; another error, which is told. */
static int load_file(struct loader *loader, const char *path)
{
	struct etw_fault fault = {0};
	enum etw_registry_form form;
	int result = etw_registry_look(path, &form);

	if (!result)
		result = load_form(loader, path, form, &fault);
	loader->loaded += !result;
	if (result && result != -ENODATA) {
		loader->failed++;
		etw_complaint_error(loader->severity, path, result, &fault);
	}
	return result;
}

static int load_below(void *context, const char *path)
{
	return load_file(context, path) == -ENOMEM ? -ENOMEM : 0;
}

static void complain(void *context, const char *path, int error)
{
	struct loader *loader = context;

	loader->failed++;
	etw_complaint_error(loader->severity, path, error, NULL);
}

static int load_folder(struct loader *loader, const char *path)
{
	const struct etw_registry_walk walk = {
		.context = loader,
		.file = load_below,
		.complain = complain,
	};

	loader->severity = "warning: ";
	if (etw_registry_walk(&walk, path))
		return -1;
	if (loader->loaded)
		return 0;
	etw_program_message(loader->failed ? "no event schemas of %s can be read"
					   : "%s holds no event schemas",
			    path);
	return -1;
}

static int load(struct loader *loader, const char *argument)
{
	CLEANUP(freep) char *path = NULL;
	struct stat status;
	int result = etw_path_resolve(argument, &path);

	if (!result && stat(path, &status))
		result = -errno;
	if (result) {
		etw_complaint_error("", argument, result, NULL);
		return -1;
	}
	if (S_ISDIR(status.st_mode))
		return load_folder(loader, path);
	result = load_file(loader, path);
	if (result == -ENODATA)
		etw_complaint_error("", path, result, NULL);
	return result ? -1 : 0;
}

int etw_manifests_load(struct etw_manifests *manifests, struct etw_schema_store *store,
		       const char *argument)
{
	struct loader loader = {.store = store,
				.conflicts = &manifests->conflicts,
				.severity = "",
				.lines = FOLDER_LINES_MAX};
	struct etw_manifest *grown = realloc(manifests->at,
					     (manifests->count + 1) * sizeof(*manifests->at));
	uint32_t from = etw_schema_store_next_index(store);

	if (!grown) {
		etw_program_message("out of memory");
		return -1;
	}
	manifests->at = grown;
	TRY(load(&loader, argument));
	manifests->at[manifests->count++] = (struct etw_manifest){
		.argument = argument,
		.from = from,
		.to = etw_schema_store_next_index(store),
	};
	return 0;
}

void etw_manifests_mark(struct etw_manifests *manifests, const struct etw_schema *schema)
{
	for (size_t i = 0; i < manifests->count; i++) {
		struct etw_manifest *manifest = &manifests->at[i];

		manifest->is_used |= schema->index >= manifest->from &&
				     schema->index < manifest->to;
	}
}

void etw_manifests_tell(const struct etw_manifests *manifests)
{
	for (size_t i = 0; i < manifests->count; i++) {
		if (!manifests->at[i].is_used)
			etw_program_message(
				"warning: no event was decoded with --manifest %s: it "
				"defines none of them, or they are described elsewhere, "
				"as in the trace itself",
				manifests->at[i].argument);
	}
	etw_known_providers_tell(manifests->store);
}
