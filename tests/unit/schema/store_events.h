/* SPDX-License-Identifier: MIT */
/* A store and the events it is asked about or learns from, for tests of it. */
#ifndef ETW_TESTS_UNIT_SCHEMA_STORE_EVENTS_H
#define ETW_TESTS_UNIT_SCHEMA_STORE_EVENTS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "schema/store/store.h"
#include "unit/schema/info_blob.h"

#define MANIFEST(version, field)                                                              \
	"<instrumentationManifest><instrumentation><events>"                                  \
	"<provider name='By-Manifest' guid='{11112222-3333-4444-5555-666677778888}'>"         \
	"<templates><template tid='t'><data name='" field "' inType='win:UInt8'/></template>" \
	"</templates><events><event value='7' version='" version "' template='t'/></events>"  \
	"</provider></events></instrumentation></instrumentationManifest>"

static const GUID metadata_class = {
	0xbbccf6c1, 0x6cd1, 0x48c4, {0x80, 0xff, 0x83, 0x94, 0x82, 0xe3, 0x76, 0x71}};

static struct etw_schema_store *store;

static inline int begin(void **state)
{
	(void)state;
	return etw_schema_store_create(&store);
}

static inline int end(void **state)
{
	(void)state;
	etw_schema_store_freep(&store);
	return 0;
}

static inline EVENT_RECORD event_of(const GUID *provider, uint16_t id, uint8_t version,
				    uint16_t flags)
{
	EVENT_RECORD record = {0};

	record.EventHeader.ProviderId = *provider;
	record.EventHeader.EventDescriptor.Id = id;
	record.EventHeader.EventDescriptor.Version = version;
	record.EventHeader.Flags = flags;
	return record;
}

static inline void check_miss(const EVENT_RECORD *record, enum etw_schema_miss expected)
{
	enum etw_schema_miss why = ETW_SCHEMA_FOUND;

	for (int i = 0; i < 2; i++) {
		assert_null(etw_schema_store_find(store, record, &why));
		assert_int_equal(why, expected);
	}
}

/* Twice: the second answer comes from the cache. */
static inline const struct etw_schema *check_found(const EVENT_RECORD *record)
{
	enum etw_schema_miss why = ETW_SCHEMA_WPP;
	const struct etw_schema *schema = etw_schema_store_find(store, record, &why);

	assert_non_null(schema);
	assert_int_equal(why, ETW_SCHEMA_FOUND);
	assert_ptr_equal(etw_schema_store_find(store, record, NULL), schema);
	return schema;
}

static inline void learn(uint8_t opcode, const uint8_t *at, size_t bytes)
{
	EVENT_RECORD record = event_of(&metadata_class, 0, 0, EVENT_HEADER_FLAG_CLASSIC_HEADER);

	record.EventHeader.EventDescriptor.Opcode = opcode;
	record.UserData = (void *)(uintptr_t)at;
	record.UserDataLength = (USHORT)bytes;
	assert_true(etw_schema_store_is_metadata(&record));
	assert_int_equal(etw_schema_store_learn(store, &record), 0);
}

static inline void learn_embedded(uint32_t process_id, const char *manifest)
{
	uint8_t payload[2048] = {1, 1, 0, 0x5b, 1, 0, 0, 0};
	EVENT_RECORD record = event_of(&info_blob_provider, 0xfffe, 1, 0);

	record.EventHeader.ProcessId = process_id;
	record.EventHeader.EventDescriptor.Task = 0xfffe;
	record.EventHeader.EventDescriptor.Opcode = 0xfe;
	assert_true(strlen(manifest) < sizeof(payload) - 8);
	memcpy(payload + 8, manifest, strlen(manifest));
	record.UserData = payload;
	record.UserDataLength = (USHORT)(8 + strlen(manifest));
	assert_true(etw_schema_store_is_metadata(&record));
	assert_int_equal(etw_schema_store_learn(store, &record), 0);
}

static inline void add_manifest(const char *text)
{
	struct etw_fault fault;

	assert_int_equal(etw_schema_store_add_manifest(store, text, strlen(text), &fault), 0);
}

static inline EVENT_RECORD tracelogging_event(EVENT_HEADER_EXTENDED_DATA_ITEM items[2],
					      const void *metadata, size_t bytes)
{
	static const uint8_t traits[] = {7, 0, 'N', 'a', 'm', 'e', 0};
	EVENT_RECORD record = event_of(&info_blob_provider, 0, 0, 0);

	items[0] = (EVENT_HEADER_EXTENDED_DATA_ITEM){
		.ExtType = EVENT_HEADER_EXT_TYPE_PROV_TRAITS,
		.DataSize = sizeof(traits),
		.DataPtr = (uintptr_t)traits,
	};
	items[1] = (EVENT_HEADER_EXTENDED_DATA_ITEM){
		.ExtType = EVENT_HEADER_EXT_TYPE_EVENT_SCHEMA_TL,
		.DataSize = (USHORT)bytes,
		.DataPtr = (uintptr_t)metadata,
	};
	record.ExtendedData = items;
	record.ExtendedDataCount = 2;
	return record;
}

#endif
