/* SPDX-License-Identifier: MIT */
#include "api/consumer/buffer_reference.h"

#include <evntrace.h>
#include <winerror.h>

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/macros.h"

/* A buffer with references. */
struct referenced {
	const void *buffer;
	struct etw_open_trace *open;
	struct etw_pin *pin;
	uint64_t count;
	struct referenced *next;
};

static struct {
	pthread_mutex_t lock; /* protects all below, and what open traces say it does */
	pthread_cond_t given_back;
	struct referenced *first; /* owned; the latest one first */
} table = {.lock = PTHREAD_MUTEX_INITIALIZER, .given_back = PTHREAD_COND_INITIALIZER};

void etw_buffer_show(struct etw_open_trace *open, const void *buffer)
{
	(void)pthread_mutex_lock(&table.lock);
	open->shown_buffer = buffer;
	(void)pthread_mutex_unlock(&table.lock);
}

void etw_buffer_hide(struct etw_open_trace *open)
{
	etw_buffer_show(open, NULL);
}

/* Under the lock. Where the buffer's entry hangs; what hangs there is NULL when it has none. */
static struct referenced **find(const void *buffer)
{
	struct referenced **at = &table.first;

	while (*at && (*at)->buffer != buffer)
		at = &(*at)->next;
	return at;
}

/* Under the lock, and within the callback that is shown the buffer. */
static int add_first(struct etw_open_trace *open, const void *buffer)
{
	struct referenced *entry = calloc(1, sizeof(*entry));
	int result;

	if (!entry)
		return -ENOMEM;
	result = etw_trace_pin_buffer(open->trace, open->pins, &entry->pin);
	if (result) {
		free(entry);
		return result == -ENODATA ? -EINVAL : -ENOMEM;
	}
	entry->buffer = buffer;
	entry->open = open;
	entry->count = 1;
	entry->next = table.first;
	table.first = entry;
	open->referenced_buffers++;
	return 0;
}

int etw_buffer_reference_add(struct etw_open_trace *open, const void *buffer)
{
	struct referenced *entry;
	int result = 0;

	(void)pthread_mutex_lock(&table.lock);
	entry = *find(buffer);
	if (entry && entry->open == open)
		entry->count++;
	else if (buffer && open->shown_buffer == buffer)
		result = add_first(open, buffer);
	else
		result = -EINVAL;
	(void)pthread_mutex_unlock(&table.lock);
	return result;
}

int etw_buffer_reference_drop(const void *buffer)
{
	struct referenced *done = NULL, **at;
	int result = -EINVAL;

	(void)pthread_mutex_lock(&table.lock);
	at = find(buffer);
	if (*at) {
		result = 0;
		if (--(*at)->count == 0) {
			done = *at;
			*at = done->next;
			/* Before the pass may end: it frees what the pin is charged to. */
			etw_pin_unref(done->pin);
			done->open->referenced_buffers--;
			(void)pthread_cond_broadcast(&table.given_back);
		}
	}
	(void)pthread_mutex_unlock(&table.lock);
	free(done);
	return result;
}

void etw_buffer_references_wait(struct etw_open_trace *open)
{
	(void)pthread_mutex_lock(&table.lock);
	while (open->referenced_buffers > 0)
		(void)pthread_cond_wait(&table.given_back, &table.lock);
	(void)pthread_mutex_unlock(&table.lock);
}

struct request {
	const void *buffer;
	int result;
};

static int add_for_handle(struct etw_open_trace *open, void *context)
{
	struct request *request = context;

	request->result = etw_buffer_reference_add(open, request->buffer);
	return 0;
}

ULONG ProcessTraceBufferIncrementReference(PROCESSTRACE_HANDLE TraceHandle,
					   const ETW_BUFFER_HEADER *Buffer)
{
	struct request request = {.buffer = Buffer};

	if (etw_trace_handle_with(TraceHandle, add_for_handle, &request))
		return ERROR_INVALID_PARAMETER;
	if (request.result == -ENOMEM)
		return ERROR_OUTOFMEMORY;
	return request.result ? ERROR_INVALID_PARAMETER : ERROR_SUCCESS;
}

ULONG ProcessTraceBufferDecrementReference(const ETW_BUFFER_HEADER *Buffer)
{
	return etw_buffer_reference_drop(Buffer) ? ERROR_INVALID_PARAMETER : ERROR_SUCCESS;
}
