/* SPDX-License-Identifier: MIT */
/*
 * How long 1,000 manifests take to be imported into an empty registry, the same again when they are there, twice
 * as many, which is to take twice as long, also when the import is given up and all of it is swept away, and what
 * opening an index of 10,000 providers and finding one of them costs.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/guid.h"
#include "base/time.h"
#include "registry/import.h"
#include "registry/registry.h"

#define MANIFESTS 1000 /* and the same number in a folder below */
#define PROVIDERS 10000
#define EVENTS    40 /* in each manifest */
#define ROUNDS    100

static GUID guid_of(unsigned number)
{
	/* Spread as genuine ones are. */
	GUID guid = {number * 2654435761u, 0x3333, 0x4444, {0x55, 0x55, 0, 0, 0, 0, 0, 0}};

	memcpy(guid.Data4 + 4, &number, sizeof(number));
	return guid;
}

static int put_manifest(FILE *file, unsigned number, unsigned events)
{
	char guid[ETW_GUID_BRACED_BYTES];
	const GUID id = guid_of(number);

	etw_guid_format_braced(&id, guid);
	(void)fprintf(file,
		      "<instrumentationManifest "
		      "xmlns='http://schemas.microsoft.com/win/2004/08/events' "
		      "xmlns:win='http://manifests.microsoft.com/win/2004/08/windows/events'>"
		      "<instrumentation><events>"
		      "<provider name='Made-Provider-%u' guid='%s' symbol='P%u' "
		      "resourceFileName='p.dll' messageFileName='p.dll'>\n<templates>\n",
		      number, guid, number);
	for (unsigned i = 0; i < events; i++)
		(void)fprintf(file,
			      "<template tid='T%u'><data name='A' inType='win:UInt32'/>"
			      "<data name='B' inType='win:UnicodeString'/>"
			      "<data name='C' inType='win:Pointer'/></template>\n",
			      i);
	(void)fputs("</templates>\n<events>\n", file);
	for (unsigned i = 0; i < events; i++)
		(void)fprintf(file,
			      "<event value='%u' version='0' level='win:Informational' "
			      "template='T%u' message='$(string.m%u)'/>\n",
			      i, i, i);
	(void)fputs("</events></provider></events></instrumentation><localization>"
		    "<resources culture='en-US'><stringTable>\n",
		    file);
	for (unsigned i = 0; i < events; i++)
		(void)fprintf(file, "<string id='m%u' value='Event %u: %%1, %%2, %%3'/>\n", i, i);
	return fputs("</stringTable></resources></localization></instrumentationManifest>\n",
		     file) < 0;
}

static int make_manifests(const char *folder)
{
	char path[256];

	for (unsigned i = 0; i < 2 * MANIFESTS; i++) {
		FILE *file;
		int r;

		(void)snprintf(path, sizeof(path), "%s/%s/%04u.man", folder,
			       i < MANIFESTS ? "first" : "second", i);
		file = fopen(path, "we");
		if (!file)
			return -1;
		r = put_manifest(file, i, EVENTS);
		if (fclose(file) || r)
			return -1;
	}
	return 0;
}

static double ms_since(uint64_t begin_ns)
{
	return (double)(etw_monotonic_ns() - begin_ns) / 1e6;
}

static int import(const char *what, const char *registry, const char *folder, bool is_kept)
{
	struct etw_registry_import import = {0};
	uint64_t begin_ns = etw_monotonic_ns();
	int r = etw_registry_change_begin(registry, &import.change, NULL);

	if (!r)
		r = etw_registry_import_folder(&import, folder);
	if (!r && is_kept)
		r = etw_registry_change_commit(import.change);
	etw_registry_change_end(import.change);
	printf("%-28s %9.1f ms, %llu definitions, %llu events, %llu already there\n", what,
	       ms_since(begin_ns), (unsigned long long)import.added,
	       (unsigned long long)import.events, (unsigned long long)import.same);
	return r;
}

static int add_many(const char *registry)
{
	struct etw_registry_change *change;
	int r = etw_registry_change_begin(registry, &change, NULL);

	for (unsigned i = MANIFESTS; !r && i < PROVIDERS; i++) {
		struct etw_registry_item item;
		char *text = NULL;
		size_t bytes = 0;
		FILE *file = open_memstream(&text, &bytes);

		r = file ? put_manifest(file, i, 1) : -1;
		if (file)
			(void)fclose(file);
		if (!r)
			r = etw_registry_item_parse(
				WIRE_REGISTRY_MANIFEST,
				(struct etw_bytes){(const uint8_t *)text, bytes}, "made", &item,
				NULL);
		if (!r) {
			r = etw_registry_change_add(change, &item);
			etw_registry_item_done(&item);
		}
		free(text);
	}
	if (!r)
		r = etw_registry_change_commit(change);
	etw_registry_change_end(change);
	return r;
}

static int measure_open(const char *registry)
{
	struct etw_registry_index index;
	uint64_t begin_ns = etw_monotonic_ns();
	uint64_t found = 0;

	for (unsigned i = 0; i < ROUNDS; i++) {
		if (etw_registry_index_open(registry, &index, NULL) < 0)
			return -1;
		etw_registry_index_close(&index);
	}
	if (etw_registry_index_open(registry, &index, NULL) < 0)
		return -1;
	printf("%-28s %9.3f ms, %u rows, %zu bytes\n", "open the index",
	       ms_since(begin_ns) / (ROUNDS + 1), index.row_count, index.bytes.left);
	begin_ns = etw_monotonic_ns();
	for (unsigned i = 0; i < PROVIDERS; i++) {
		const GUID guid = guid_of(i);
		uint32_t first;

		found += etw_registry_index_find(&index, &guid, &first);
	}
	printf("%-28s %9.1f ns, %llu of %u found\n", "find a provider",
	       ms_since(begin_ns) * 1e6 / PROVIDERS, (unsigned long long)found, PROVIDERS);
	etw_registry_index_close(&index);
	return 0;
}

static int measure_first_event(void)
{
	struct etw_schema_store *store;
	struct etw_registry *registry;
	EVENT_RECORD record = {0};
	uint64_t begin_ns = etw_monotonic_ns();

	if (etw_schema_store_create(&store) < 0 || etw_registry_open(&registry) < 0)
		return -1;
	etw_registry_attach(registry, store);
	record.EventHeader.ProviderId = guid_of(7);
	if (!etw_schema_store_find(store, &record, NULL))
		return -1;
	printf("%-28s %9.3f ms\n", "first event of a provider", ms_since(begin_ns));
	etw_schema_store_free(store);
	return 0;
}

static int measure_imports(const char *base)
{
	char first[64], both[64], one[64], two[64];

	(void)snprintf(first, sizeof(first), "%s/manifests/first", base);
	(void)snprintf(both, sizeof(both), "%s/manifests", base);
	(void)snprintf(one, sizeof(one), "%s/registry", base);
	(void)snprintf(two, sizeof(two), "%s/other", base);
	return import("import 1,000 manifests", one, first, true) ||
	       import("the same again", one, first, true) ||
	       import("import 2,000, give up", two, both, false) ||
	       import("import 2,000 manifests", two, both, true) || add_many(one) ||
	       measure_open(one);
}

int main(void)
{
	char base[] = "/tmp/etw-import-XXXXXX";
	char folder[64], registry[64], command[192];
	int r;

	if (!mkdtemp(base))
		return 1;
	(void)snprintf(folder, sizeof(folder), "%s/manifests", base);
	(void)snprintf(registry, sizeof(registry), "%s/registry", base);
	(void)snprintf(command, sizeof(command), "mkdir -p %s/first %s/second", folder, folder);
	(void)setenv("ETW_PROVIDERS_DIR", registry, 1);
	r = system(command) || make_manifests(folder) || measure_imports(base) ||
	    measure_first_event();
	(void)snprintf(command, sizeof(command), "rm -rf %s", base);
	return system(command) || r;
}
