/* SPDX-License-Identifier: MIT */
#include "api/consumer/legacy_event.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/guid.h"

struct binding {
	GUID class_guid;
	PEVENT_CALLBACK callback;
};

static struct {
	pthread_mutex_t lock;
	struct binding *bindings; /* owned; under the lock */
	size_t count;             /* under the lock */
	atomic_size_t published;  /* count, readable without the lock */
} classes = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void set_instance(const EVENT_RECORD *record, EVENT_TRACE *ret)
{
	for (unsigned i = 0; i < record->ExtendedDataCount; i++) {
		const EVENT_HEADER_EXTENDED_DATA_ITEM *item = &record->ExtendedData[i];
		EVENT_EXTENDED_ITEM_INSTANCE instance;

		if (item->ExtType != EVENT_HEADER_EXT_TYPE_INSTANCE_INFO ||
		    item->DataSize < sizeof(instance))
			continue;
		memcpy(&instance, (const void *)(uintptr_t)item->DataPtr, sizeof(instance));
		ret->InstanceId = instance.InstanceId;
		ret->ParentInstanceId = instance.ParentInstanceId;
		ret->ParentGuid = instance.ParentGuid;
	}
}

void etw_legacy_event(const EVENT_RECORD *record, EVENT_TRACE *ret)
{
	const EVENT_HEADER *header = &record->EventHeader;

	memset(ret, 0, sizeof(*ret));
	ret->Header.Size = header->Size;
	ret->Header.FieldTypeFlags = header->Flags & EVENT_HEADER_FLAG_NO_CPUTIME
					     ? EVENT_TRACE_USE_NOCPUTIME
					     : EVENT_TRACE_USE_PROCTIME;
	ret->Header.Class.Type = header->EventDescriptor.Opcode;
	ret->Header.Class.Level = header->EventDescriptor.Level;
	ret->Header.Class.Version = header->EventDescriptor.Version;
	ret->Header.ThreadId = header->ThreadId;
	ret->Header.ProcessId = header->ProcessId;
	ret->Header.TimeStamp = header->TimeStamp;
	ret->Header.Guid = header->ProviderId;
	ret->Header.KernelTime = header->KernelTime;
	ret->Header.UserTime = header->UserTime;
	ret->MofData = record->UserData;
	ret->MofLength = record->UserDataLength;
	ret->BufferContext = record->BufferContext;
	set_instance(record, ret);
}

/* Under the lock. */
static struct binding *find_binding(const GUID *class_guid)
{
	for (size_t i = 0; i < classes.count; i++) {
		if (etw_guid_equal(&classes.bindings[i].class_guid, class_guid))
			return &classes.bindings[i];
	}
	return NULL;
}

int etw_class_callback_set(const GUID *class_guid, PEVENT_CALLBACK callback)
{
	struct binding *binding;
	int result = 0;

	(void)pthread_mutex_lock(&classes.lock);
	binding = find_binding(class_guid);
	if (!binding) {
		struct binding *grown = realloc(classes.bindings,
						(classes.count + 1) * sizeof(*grown));

		if (grown) {
			classes.bindings = grown;
			binding = &grown[classes.count++];
			binding->class_guid = *class_guid;
		} else {
			result = -ENOMEM;
		}
	}
	if (binding)
		binding->callback = callback;
	/* Relaxed: a pass that starts later sees it through whatever ordered the two calls. */
	atomic_store_explicit(&classes.published, classes.count, memory_order_relaxed);
	(void)pthread_mutex_unlock(&classes.lock);
	return result;
}

int etw_class_callback_remove(const GUID *class_guid)
{
	struct binding *binding;

	(void)pthread_mutex_lock(&classes.lock);
	binding = find_binding(class_guid);
	if (binding)
		*binding = classes.bindings[--classes.count];
	if (!classes.count) {
		free(classes.bindings);
		classes.bindings = NULL;
	}
	atomic_store_explicit(&classes.published, classes.count, memory_order_relaxed);
	(void)pthread_mutex_unlock(&classes.lock);
	return binding ? 0 : -ENOENT;
}

PEVENT_CALLBACK etw_class_callback_find(const GUID *class_guid)
{
	PEVENT_CALLBACK callback = NULL;
	struct binding *binding;

	(void)pthread_mutex_lock(&classes.lock);
	binding = find_binding(class_guid);
	if (binding)
		callback = binding->callback;
	(void)pthread_mutex_unlock(&classes.lock);
	return callback;
}

bool etw_class_callback_any(void)
{
	return atomic_load_explicit(&classes.published, memory_order_relaxed) > 0;
}
