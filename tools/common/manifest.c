/* SPDX-License-Identifier: MIT */
/* Schemas that the user names, as manifests or compiled into binaries, one by one or as a folder. */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/macros.h"
#include "base/path.h"
#include "schema/store/store_binary.h"
#include "schema/wpp/msf.h"
#include "tools/common/inputs.h"
#include "tools/common/program.h"

#define MANIFEST_BYTES_MAX (64u << 20)
#define PIECE_BYTES        (64u * 1024)

static int read_file(const char *path, struct etw_text *ret)
{
	FILE *file = fopen(path, "re");
	char *to;

	if (!file)
		return -errno;
	errno = 0;
	while ((to = etw_text_begin(ret, PIECE_BYTES)) && ret->bytes < MANIFEST_BYTES_MAX) {
		size_t got = fread(to, 1, PIECE_BYTES, file);

		etw_text_end(ret, to + got);
		if (!got)
			break;
	}

	int result = ferror(file) && errno ? -errno : etw_text_error(ret);

	(void)fclose(file);
	return ret->bytes < MANIFEST_BYTES_MAX ? result : -EFBIG;
}

/* Whether the file holds compiled schemas, by its first bytes. */
static int look_at_file(const char *path, bool *ret_is_binary)
{
	FILE *file = fopen(path, "re");
	uint8_t start[4];
	size_t got;

	if (!file)
		return -errno;
	got = fread(start, 1, sizeof(start), file);
	(void)fclose(file);
	*ret_is_binary = etw_binary_is((struct etw_bytes){start, got});
	return 0;
}

static bool is_mof(const char *path)
{
	const char *end = strrchr(path, '.');

	return end && !strcasecmp(end, ".mof");
}

/* Classes that cannot be decoded are left out, and the user hears of the first. */
static int load_mof(struct etw_schema_store *store, const char *path, const struct etw_text *text,
		    struct etw_fault *fault)
{
	const struct etw_definition *definition = NULL;

	TRY(etw_schema_store_add_mof(store, etw_text_string(text), text->bytes, &definition,
				     fault));
	if (definition->complaint_total)
		etw_program_error("warning: %s, line %" PRIu64 ": %s (%zu complaints)", path,
				  definition->complaints[0].line,
				  definition->complaints[0].sentence, definition->complaint_total);
	return 0;
}

static int load_manifest(struct etw_schema_store *store, const char *path, struct etw_fault *fault)
{
	CLEANUP(etw_text_done) struct etw_text text = {0};

	TRY(read_file(path, &text));
	if (is_mof(path))
		return load_mof(store, path, &text, fault);
	return etw_schema_store_add_manifest(store, etw_text_string(&text), text.bytes, fault);
}

/* A file of at most 4 GiB as it is; owned. */
static int read_whole(const char *path, uint8_t **ret, size_t *ret_bytes)
{
	FILE *file = fopen(path, "re");
	CLEANUP(freep) uint8_t *at = NULL;
	struct stat status;
	int result = 0;

	if (!file)
		return -errno;
	if (fstat(fileno(file), &status) < 0)
		result = -errno;
	else if ((uint64_t)status.st_size > ETW_MSF_BYTES_MAX)
		result = -EFBIG;
	if (!result && !(at = malloc((size_t)status.st_size + 1)))
		result = -ENOMEM;
	if (!result)
		*ret_bytes = fread(at, 1, (size_t)status.st_size, file);
	if (!result && ferror(file))
		result = -EIO;
	(void)fclose(file);
	if (!result)
		*ret = TAKE(at);
	return result;
}

static int load_pdb(struct etw_schema_store *store, const char *path, struct etw_fault *fault)
{
	CLEANUP(freep) uint8_t *file = NULL;
	size_t bytes = 0, damage = etw_schema_store_damage(store, NULL);

	TRY(read_whole(path, &file, &bytes));
	TRY(etw_schema_store_add_pdb(store, file, bytes, fault));
	if (etw_schema_store_damage(store, NULL) > damage)
		etw_program_error("warning: %s: WPP records that cannot be read: %zu", path,
				  etw_schema_store_damage(store, NULL) - damage);
	return 0;
}

static int load_tmf(struct etw_schema_store *store, const char *path, struct etw_fault *fault)
{
	CLEANUP(etw_text_done) struct etw_text text = {0};

	TRY(read_file(path, &text));
	return etw_schema_store_add_tmf(store, etw_text_string(&text), text.bytes, fault);
}

static bool ends_with(const char *name, const char *end)
{
	size_t name_bytes = strlen(name), end_bytes = strlen(end);

	return name_bytes >= end_bytes && !strcasecmp(name + name_bytes - end_bytes, end);
}

/* @is_quiet: a file without schemas is none to speak of */
static int load_file(struct etw_schema_store *store, const char *path, const char *severity,
		     bool is_quiet)
{
	struct etw_fault fault = {0};
	bool is_binary = false, is_pdb = ends_with(path, ".pdb");
	int result = look_at_file(path, &is_binary);

	if (!result && is_pdb)
		result = load_pdb(store, path, &fault);
	else if (!result && ends_with(path, ".tmf"))
		result = load_tmf(store, path, &fault);
	else if (!result)
		result = is_binary ? etw_schema_store_add_binary(store, path, NULL, NULL, &fault)
				   : load_manifest(store, path, &fault);
	if (result == -ENODATA && is_quiet)
		return result;
	if (result == -ENODATA)
		etw_program_error("%s%s holds no event schemas", severity, path);
	else if (result == -EBADMSG && fault.sentence && (is_binary || is_pdb))
		etw_program_error("%s%s, %s at byte %" PRIu64 ": %s", severity, path,
				  fault.structure, fault.offset, fault.sentence);
	else if (result == -EBADMSG && fault.sentence)
		etw_program_error("%s%s, line %" PRIu64 ": %s", severity, path, fault.offset,
				  fault.sentence);
	else if (result)
		etw_program_error("%scannot read %s: %s", severity, path, strerror(-result));
	return result;
}

static bool is_binary_name(const char *name)
{
	return ends_with(name, ".dll") || ends_with(name, ".exe") || ends_with(name, ".sys");
}

static int is_schema_file(const struct dirent *entry)
{
	if (is_mof(entry->d_name))
		return 1;
	return ends_with(entry->d_name, ".man") || ends_with(entry->d_name, ".man.xml") ||
	       ends_with(entry->d_name, ".manifest.xml") || ends_with(entry->d_name, ".tmf") ||
	       ends_with(entry->d_name, ".pdb") || is_binary_name(entry->d_name);
}

static int load_folder(struct etw_schema_store *store, const char *path)
{
	struct dirent **entries = NULL;
	int count = scandir(path, &entries, is_schema_file, alphasort);
	int loaded = 0;

	if (count < 0) {
		etw_program_error("cannot read %s: %s", path, strerror(errno));
		return -1;
	}
	for (int i = 0; i < count; i++) {
		char *file = NULL;

		if (asprintf(&file, "%s/%s", path, entries[i]->d_name) < 0)
			file = NULL;
		if (file &&
		    !load_file(store, file, "warning: ", is_binary_name(file) || is_mof(file)))
			loaded++;
		free(file);
		free(entries[i]);
	}
	free(entries);
	if (!loaded) {
		etw_program_error("%s holds no manifest that can be read", path);
		return -1;
	}
	return loaded;
}

int etw_manifest_load(struct etw_schema_store *store, const char *path)
{
	CLEANUP(freep) char *resolved = NULL;
	struct stat status;
	int result = etw_path_resolve(path, &resolved);

	if (!result && stat(resolved, &status))
		result = -errno;
	if (result) {
		etw_program_error("cannot read %s: %s", path, strerror(-result));
		return -1;
	}
	if (S_ISDIR(status.st_mode))
		return load_folder(store, resolved);
	return load_file(store, resolved, "", /* is_quiet= */ false) ? -1 : 1;
}
