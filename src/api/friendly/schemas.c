/* SPDX-License-Identifier: MIT */
/* etw/schemas.h: what is known, and from where. */
#include <etw/schemas.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/friendly/error.h"
#include "api/friendly/friendly.h"
#include "api/friendly/installed.h"
#include "api/friendly/schemas.h"
#include "base/atomic.h"
#include "base/file.h"
#include "base/guid.h"
#include "base/macros.h"
#include "base/path.h"
#include "consumer/trace.h"
#include "etl/header.h"
#include "schema/compiled/binary_file.h"
#include "schema/kernel.h"
#include "schema/manifest/manifest_limits.h"
#include "schema/mof/mof.h"
#include "schema/provider_id.h"
#include "schema/store/store_binary.h"
#include "schema/wpp/msf.h"

#define TMF_BYTES_MAX ((size_t)64 << 20)

/* As the decoder numbers files: all of a kind are one to it, for nothing is weighed of them here. */
enum {
	OTHER_TRACES,
	TRACES_OF_LINUX
};

/* Counts what was ever created; atomic. */
static uint64_t serials;

static void schemas_freep(struct libetw_schemas **schemas)
{
	libetw_schemas_free(*schemas);
}

int libetw_schemas_create_with(uint32_t options, struct libetw_schemas **ret)
{
	CLEANUP(schemas_freep) struct libetw_schemas *schemas = NULL;

	if (options & ~(uint32_t)(LIBETW_SCHEMAS_NOT_INSTALLED | LIBETW_SCHEMAS_NOT_KNOWN))
		return etw_friendly_fail(-EINVAL, "schemas have no option 0x%x", options);
	schemas = calloc(1, sizeof(*schemas));
	if (!schemas)
		return etw_friendly_fail(-ENOMEM, "no memory for schemas");
	schemas->refs = 1;
	schemas->serial = add_relaxed(&serials, 1) + 1;
	(void)pthread_mutex_init(&schemas->lock, NULL);
	if (etw_schema_store_create(&schemas->store) ||
	    etw_decoder_create(schemas->store, &schemas->decoder) ||
	    etw_installed_open(schemas, options))
		return etw_friendly_fail(-ENOMEM, "no memory for schemas");
	etw_decoder_mend(schemas->decoder);
	if (etw_decoder_trust_text(schemas->decoder, TRACES_OF_LINUX))
		return etw_friendly_fail(-ENOMEM, "no memory for schemas");
	*ret = TAKE(schemas);
	return 0;
}

int libetw_schemas_create(struct libetw_schemas **ret)
{
	return libetw_schemas_create_with(0, ret);
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
	etw_tracepoint_machine_free(schemas->tracepoints);
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

int etw_schemas_decode(struct libetw_schemas *schemas, const struct etw_trace *trace,
		       const EVENT_RECORD *record, struct etw_decoding *ret)
{
	bool is_linux = trace && (etw_trace_is_live(trace) ||
				  etw_etl_header_has_unix_path(etw_trace_header(trace)));

	etw_decoder_set_file(schemas->decoder, is_linux ? TRACES_OF_LINUX : OTHER_TRACES);
	schemas->runs++;
	return etw_decoder_run(schemas->decoder, record, ret);
}

/* What a text or a PDB is, its name says. */
struct format {
	const char *end;
	uint64_t bytes_max;
	int (*add)(struct etw_schema_store *store, const char *at, size_t bytes,
		   struct etw_fault *reterr);
};

static int add_mof(struct etw_schema_store *store, const char *at, size_t bytes,
		   struct etw_fault *reterr)
{
	return etw_schema_store_add_mof(store, at, bytes, NULL, reterr);
}

static int add_pdb(struct etw_schema_store *store, const char *at, size_t bytes,
		   struct etw_fault *reterr)
{
	return etw_schema_store_add_pdb(store, at, bytes, reterr);
}

static const struct format formats[] = {
	{".mof", ETW_MOF_BYTES_MAX, add_mof},
	{".tmf", TMF_BYTES_MAX, etw_schema_store_add_tmf},
	{".pdb", ETW_MSF_BYTES_MAX, add_pdb},
};

static int add_named(struct libetw_schemas *schemas, const struct format *format, const char *path,
		     struct etw_fault *reterr)
{
	CLEANUP(freep) char *at = NULL;
	size_t bytes = 0;
	int result;

	TRY(etw_file_read(path, format->bytes_max, &at, &bytes));
	(void)pthread_mutex_lock(&schemas->lock);
	result = format->add(schemas->store, at, bytes, reterr);
	(void)pthread_mutex_unlock(&schemas->lock);
	return result;
}

static struct etw_bytes bytes_of(const struct etw_binary_file *file)
{
	return (struct etw_bytes){file->at, file->bytes};
}

/* A manifest or a binary, as its first bytes say. */
static int add_unnamed(struct libetw_schemas *schemas, const char *path, struct etw_fault *reterr)
{
	CLEANUP(etw_binary_file_close) struct etw_binary_file file = {0};
	CLEANUP(etw_binary_file_close) struct etw_binary_file messages = {0};
	bool is_binary;
	int result;

	TRY(etw_binary_file_open(path, &file));
	is_binary = etw_binary_is(bytes_of(&file));
	if (is_binary)
		TRY(etw_binary_file_open_messages(path, &file, NULL, &messages));
	else if (file.bytes > ETW_MANIFEST_BYTES_MAX)
		return -EFBIG;
	(void)pthread_mutex_lock(&schemas->lock);
	if (is_binary)
		result = etw_schema_store_add_binary_bytes(schemas->store, bytes_of(&file),
							   bytes_of(&messages), NULL, reterr);
	else
		result = etw_schema_store_add_manifest(schemas->store, (const char *)file.at,
						       file.bytes, reterr);
	(void)pthread_mutex_unlock(&schemas->lock);
	return result;
}

static int add_file(struct libetw_schemas *schemas, const char *path, struct etw_fault *reterr)
{
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
		if (etw_path_ends_with(path, formats[i].end))
			return add_named(schemas, &formats[i], path, reterr);
	}
	return add_unnamed(schemas, path, reterr);
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
	int result;

	if (!path)
		return etw_friendly_fail(-EINVAL, "a file's path is missing");
	result = etw_path_resolve(path, &resolved);
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

	if (!name)
		return etw_friendly_fail(-EINVAL, "a provider's name is missing");
	while (schemas && (known = etw_schema_store_next_provider(schemas->store, known))) {
		if (known->name && !strcasecmp(known->name, name)) {
			*ret = etw_guid_is_null(&known->control_guid) ? known->guid
								      : known->control_guid;
			return 0;
		}
	}
	if (schemas && etw_installed_find(schemas, name, ret))
		return 0;
	result = etw_provider_id_find(name, ret);
	if (!result)
		return 0;
	if (result == -ENOMEM)
		return etw_friendly_fail(result, "no memory for a provider's name");
	return etw_friendly_fail(-EINVAL, "\"%s\" is no name of a provider", name);
}

const char *libetw_schemas_trouble(struct libetw_schemas *schemas)
{
	struct etw_fault fault = {0};
	const char *folder = NULL;
	int error = schemas->installed ? etw_registry_trouble(schemas->installed, &folder, &fault)
				       : 0;
	size_t count;

	if (error) {
		(void)snprintf(schemas->trouble, sizeof(schemas->trouble),
			       "the providers installed in %s are left out: %s", folder,
			       fault.sentence ? fault.sentence : strerror(-error));
		return schemas->trouble;
	}
	error = schemas->known_trouble;
	if (error)
		fault = schemas->known_fault;
	else if (schemas->known && etw_known_damage(schemas->known, &fault))
		error = -EBADMSG;
	if (error) {
		(void)snprintf(schemas->trouble, sizeof(schemas->trouble),
			       "known providers are left out: %s",
			       fault.sentence ? fault.sentence : strerror(-error));
		return schemas->trouble;
	}
	count = etw_schema_store_damage(schemas->store, &fault);
	if (!count)
		return NULL;
	(void)snprintf(schemas->trouble, sizeof(schemas->trouble),
		       "schemas that cannot be read: %zu; the first: %s (%s)", count,
		       fault.sentence ? fault.sentence : "damaged",
		       fault.structure ? fault.structure : "definition");
	return schemas->trouble;
}

const char *libetw_schemas_provider_name(const struct libetw_schemas *schemas, const GUID *provider)
{
	return etw_schema_store_provider_name(schemas->store, provider);
}

/* A provider that libetw_schemas_each_provider() tells of. */
struct listed {
	GUID guid;
	const char *name; /* NULL: not known */
	size_t event_count;
};

/* @ret is owned. */
static int list_providers(const struct libetw_schemas *schemas, struct listed **ret,
			  size_t *ret_count)
{
	CLEANUP(freep) struct etw_registry_row *rows = NULL;
	CLEANUP(etw_arena_done) struct etw_arena arena = {0};
	const struct etw_provider_schema *known = NULL;
	struct etw_tracepoint_listed *systems = NULL;
	size_t row_count, system_count = 0, count = 0;
	struct listed *list;

	TRY(etw_installed_list(schemas, &rows, &row_count));
	if (schemas->tracepoints)
		TRY(etw_tracepoint_machine_list(schemas->tracepoints, &arena, &systems,
						&system_count));
	while ((known = etw_schema_store_next_provider(schemas->store, known)))
		count++;
	list = calloc(count + row_count + system_count + 1, sizeof(*list));
	if (!list)
		return -ENOMEM;
	count = 0;
	while ((known = etw_schema_store_next_provider(schemas->store, known)))
		list[count++] = (struct listed){known->guid, known->name, known->schema_count};
	for (size_t i = 0; i < row_count; i++)
		list[count++] = (struct listed){rows[i].guid, rows[i].name,
						rows[i].counts[WIRE_REGISTRY_COUNT_EVENTS]};
	for (size_t i = 0; i < system_count; i++)
		list[count++] = (struct listed){systems[i].guid, systems[i].name,
						systems[i].event_count};
	*ret = list;
	*ret_count = count;
	return 0;
}

/* Listed before anybody is called: who asks for a provider's events loads it, with all of its file. */
int libetw_schemas_each_provider(const struct libetw_schemas *schemas,
				 int (*provider)(void *context, const GUID *guid, const char *name,
						 size_t event_count),
				 void *context)
{
	CLEANUP(freep) struct listed *list = NULL;
	size_t count = 0;
	int result = list_providers(schemas, &list, &count);

	if (result)
		return etw_friendly_fail(result, "no memory for the list of providers");
	for (size_t i = 0; i < count && !result; i++)
		result = provider(context, &list[i].guid, list[i].name, list[i].event_count);
	return result;
}

int libetw_schemas_each_event(const struct libetw_schemas *schemas, const GUID *provider,
			      int (*event)(void *context, const struct libetw_schema *schema),
			      void *context)
{
	const struct etw_provider_schema *known = NULL;
	int result = etw_schema_store_demand_provider(schemas->store, provider, &known);

	if (result == -ESRCH && schemas->tracepoints)
		result = etw_tracepoint_machine_find(schemas->tracepoints, provider, &known);
	if (result == -ENOMEM)
		return etw_friendly_fail(result, "no memory for the provider's schemas");
	result = 0;
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
