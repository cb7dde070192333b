/* SPDX-License-Identifier: MIT */
/* A registry's folder that lasts for one test, and manifests to put into it. */
#ifndef ETW_TESTS_UNIT_REGISTRY_FIXTURE_H
#define ETW_TESTS_UNIT_REGISTRY_FIXTURE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/guid.h"
#include "registry/change.h"
#include "registry/registry.h"

static char fixture_folder[64];

static inline int fixture_begin(void **state)
{
	(void)state;
	(void)strcpy(fixture_folder, "/tmp/etw-registry-XXXXXX");
	if (!mkdtemp(fixture_folder))
		return -1;
	return setenv("ETW_PROVIDERS_DIR", fixture_folder, 1);
}

static inline int fixture_end(void **state)
{
	char command[128];

	(void)state;
	(void)snprintf(command, sizeof(command), "rm -rf %s", fixture_folder);
	return system(command);
}

static inline GUID fixture_guid(unsigned number)
{
	GUID guid = {0x11112222, 0x3333, 0x4444, {0x55, 0x55, 0, 0, 0, 0, 0, 0}};

	guid.Data1 += number;
	return guid;
}

/* A manifest of provider "P<number>" with event 1, whose symbol is @word. */
static inline int fixture_item(unsigned number, const char *word, struct etw_registry_item *ret)
{
	char text[1024], guid[ETW_GUID_BRACED_BYTES];
	const GUID id = fixture_guid(number);
	int bytes;

	etw_guid_format_braced(&id, guid);
	bytes = snprintf(text, sizeof(text),
			 "<instrumentationManifest><instrumentation><events>"
			 "<provider name='P%u' guid='%s'><events><event value='1' symbol='%s'/>"
			 "</events></provider></events></instrumentation>"
			 "</instrumentationManifest>",
			 number, guid, word);
	return etw_registry_item_parse(WIRE_REGISTRY_MANIFEST,
				       (struct etw_bytes){(const uint8_t *)text, (size_t)bytes},
				       "/from/here.man", ret, NULL);
}

/* Adds one manifest in a change that is under way; returns as etw_registry_change_add(). */
static inline int fixture_add(struct etw_registry_change *change, unsigned number, const char *word)
{
	struct etw_registry_item item;
	int r = fixture_item(number, word, &item);

	if (r < 0)
		return r;
	r = etw_registry_change_add(change, &item);
	etw_registry_item_done(&item);
	return r;
}

/* Imports one manifest in a change of its own. */
static inline int fixture_import(unsigned number, const char *word)
{
	struct etw_registry_change *change;
	int r = etw_registry_change_begin(fixture_folder, &change, NULL);

	if (r < 0)
		return r;
	r = fixture_add(change, number, word);
	if (r >= 0 && etw_registry_change_commit(change) < 0)
		r = -1;
	etw_registry_change_end(change);
	return r;
}

#endif
