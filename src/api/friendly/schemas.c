/* SPDX-License-Identifier: MIT */
/* etw/schemas.h: what is known, and from where. */
#include <etw/schemas.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/friendly/friendly.h"
#include "base/atomic.h"
#include "base/guid.h"
#include "base/macros.h"
#include "base/path.h"
#include "schema/kernel.h"
#include "schema/provider_id.h"
#include "schema/store/store_binary.h"

#define FILE_BYTES_MAX ((size_t)1 << 30) /* of manifests, TMF files and PDBs */

/* Counts what was ever created; atomic. */
static uint64_t serials;

static void schemas_freep(struct libetw_schemas **schemas)
{
	libetw_schemas_free(*schemas);
}

int libetw_schemas_create(struct libetw_schemas **ret)
{
	CLEANUP(schemas_freep) struct libetw_schemas *schemas = calloc(1, sizeof(*schemas));

	if (!schemas)
		return etw_friendly_fail(-ENOMEM, "no memory for schemas");
	schemas->refs = 1;
	schemas->serial = add_relaxed(&serials, 1) + 1;
	(void)pthread_mutex_init(&schemas->lock, NULL);
	if (etw_schema_store_create(&schemas->store) ||
	    etw_decoder_create(schemas->store, &schemas->decoder))
		return etw_friendly_fail(-ENOMEM, "no memory for schemas");
	*ret = TAKE(schemas);
	return 0;
}

struct libetw_schemas *etw_schemas_ref(struct libetw_schemas *schemas)
{
	(void)add_relaxed(&schemas->refs, 1);
	return schemas;
}

void libetw_schemas_free(struct libetw_schemas *schemas)
{
	if (!schemas || add_acq_rel(&schemas->refs, (uint64_t)-1) != 1)
		return;
	etw_decoder_free(schemas->decoder);
	etw_schema_store_free(schemas->store);
	(void)pthread_mutex_destroy(&schemas->lock);
	free(schemas);
}

int etw_schemas_learn(struct libetw_schemas *schemas, const EVENT_RECORD *record)
{
	int result;

	(void)pthread_mutex_lock(&schemas->lock);
	result = etw_schema_store_learn(schemas->store, record);
	(void)pthread_mutex_unlock(&schemas->lock);
	return result ? etw_friendly_fail(result, "no memory for an event's schema") : 0;
}

/* All of a file; @ret is owned. */
static int read_file(const char *path, uint8_t **ret, size_t *ret_bytes)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat status;
	uint8_t *at = NULL;
	size_t got = 0;
	ssize_t piece = 0;
	int result = 0;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &status))
		result = -errno;
	else if (S_ISDIR(status.st_mode))
		result = -EISDIR;
	else if ((uint64_t)status.st_size > FILE_BYTES_MAX)
		result = -EFBIG;
	else if (!(at = malloc((size_t)status.st_size + 1)))
		result = -ENOMEM;
	while (!result && got < (size_t)status.st_size) {
		piece = read(fd, at + got, (size_t)status.st_size - got);
		if (piece < 0 && errno == EINTR)
			continue;
		if (piece < 0)
			result = -errno;
		if (piece <= 0)
			break;
		got += (size_t)piece;
	}
	(void)close(fd);
	if (result) {
		free(at);
		return result;
	}
	*ret = at;
	*ret_bytes = got;
	return 0;
}

static bool ends_with(const char *name, const char *end)
{
	size_t name_bytes = strlen(name), end_bytes = strlen(end);

	return name_bytes >= end_bytes && !strcasecmp(name + name_bytes - end_bytes, end);
}

static int add_file(struct libetw_schemas *schemas, const char *path, struct etw_fault *reterr)
{
	CLEANUP(freep) uint8_t *file = NULL;
	size_t bytes = 0;
	int result;

	TRY(read_file(path, &file, &bytes));
	(void)pthread_mutex_lock(&schemas->lock);
	if (ends_with(path, ".pdb"))
		result = etw_schema_store_add_pdb(schemas->store, file, bytes, reterr);
	else if (ends_with(path, ".tmf"))
		result = etw_schema_store_add_tmf(schemas->store, (const char *)file, bytes,
						  reterr);
	else if (etw_binary_is((struct etw_bytes){file, bytes}))
		result = etw_schema_store_add_binary(schemas->store, path, NULL, NULL, reterr);
	else
		result = etw_schema_store_add_manifest(schemas->store, (const char *)file, bytes,
						       reterr);
	(void)pthread_mutex_unlock(&schemas->lock);
	return result;
}

static int tell_fault(int result, const char *what, const struct etw_fault *fault)
{
	if (result == -EBADMSG && fault->sentence)
		return etw_friendly_fail(result, "%s: %s (%s, at %llu)", what, fault->sentence,
					 fault->structure ? fault->structure : "file",
					 (unsigned long long)fault->offset);
	if (result == -ENODATA)
		return etw_friendly_fail(result, "%s: there are no schemas in it", what);
	return etw_friendly_fail(result, "%s: %s", what, strerror(-result));
}

int libetw_schemas_add_file(struct libetw_schemas *schemas, const char *path)
{
	CLEANUP(freep) char *resolved = NULL;
	struct etw_fault fault = {0};
	int result = etw_path_resolve(path, &resolved);

	if (!result)
		result = add_file(schemas, resolved, &fault);
	return result ? tell_fault(result, path, &fault) : 0;
}

int libetw_schemas_add_manifest(struct libetw_schemas *schemas, const char *text, size_t bytes)
{
	struct etw_fault fault = {0};
	int result;

	(void)pthread_mutex_lock(&schemas->lock);
	result = etw_schema_store_add_manifest(schemas->store, text, bytes, &fault);
	(void)pthread_mutex_unlock(&schemas->lock);
	return result ? tell_fault(result, "manifest", &fault) : 0;
}

int libetw_schemas_find_provider(const struct libetw_schemas *schemas, const char *name, GUID *ret)
{
	const struct etw_provider_schema *known = NULL;
	int result;

	while (schemas && (known = etw_schema_store_next_provider(schemas->store, known))) {
		if (known->name && !strcasecmp(known->name, name)) {
			*ret = etw_guid_is_null(&known->control_guid) ? known->guid
								      : known->control_guid;
			return 0;
		}
	}
	result = etw_provider_id_find(name, ret);
	if (!result)
		return 0;
	if (result == -ENOMEM)
		return etw_friendly_fail(result, "no memory for a provider's name");
	return etw_friendly_fail(-EINVAL, "\"%s\" is no name of a provider", name);
}

const char *libetw_schemas_provider_name(const struct libetw_schemas *schemas, const GUID *provider)
{
	return etw_schema_store_provider_name(schemas->store, provider);
}

int libetw_schemas_each_provider(const struct libetw_schemas *schemas,
				 int (*provider)(void *context, const GUID *guid, const char *name,
						 size_t event_count),
				 void *context)
{
	const struct etw_provider_schema *known = NULL;
	int result = 0;

	while (!result && (known = etw_schema_store_next_provider(schemas->store, known)))
		result = provider(context, &known->guid, known->name, known->schema_count);
	return result;
}

int libetw_schemas_each_event(const struct libetw_schemas *schemas, const GUID *provider,
			      int (*event)(void *context, const struct libetw_schema *schema),
			      void *context)
{
	const struct etw_provider_schema *known = etw_schema_store_provider(schemas->store,
									    provider);
	int result = 0;

	for (size_t i = 0; known && i < known->schema_count && !result; i++)
		result = event(context, (const struct libetw_schema *)&known->schemas[i]);
	for (size_t i = 0; !known && i < etw_kernel_class_count() && !result; i++) {
		const struct etw_schema *schema = etw_kernel_class_at(i);

		if (etw_guid_equal(&schema->event_guid, provider) ||
		    etw_guid_equal(&schema->provider, provider))
			result = event(context, (const struct libetw_schema *)schema);
	}
	return result;
}
