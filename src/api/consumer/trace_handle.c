/* SPDX-License-Identifier: MIT */
#include "api/consumer/trace_handle.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#define FIRST_SLOTS 16

/* A handle is (generation << 32 | index + 1); index and generation never make an invalid one. */
struct slot {
	struct etw_open_trace *open; /* NULL when free */
	uint32_t generation;
};

static struct {
	pthread_mutex_t lock; /* protects all below, and what open traces say it does */
	struct slot *slots;   /* owned */
	uint32_t count;
} table = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void free_open_trace(struct etw_open_trace *open)
{
	if (!open)
		return;
	etw_trace_close(open->trace);
	free(open->path);
	free(open->logfile.LogFileName);
	free(open->logfile.LoggerName);
	etw_pin_account_unref(open->pins);
	free(open);
}

void etw_open_trace_freep(struct etw_open_trace **open)
{
	free_open_trace(*open);
}

/* Under the lock. A free slot's index, or UINT32_MAX when memory ran out. */
static uint32_t find_free(void)
{
	uint32_t count = table.count ? 2 * table.count : FIRST_SLOTS;
	struct slot *grown;

	for (uint32_t i = 0; i < table.count; i++) {
		if (!table.slots[i].open)
			return i;
	}
	grown = realloc(table.slots, count * sizeof(*grown));
	if (!grown)
		return UINT32_MAX;
	for (uint32_t i = table.count; i < count; i++)
		grown[i] = (struct slot){0};
	uint32_t first = table.count;

	table.slots = grown;
	table.count = count;
	return first;
}

int etw_trace_handle_create(struct etw_open_trace *open, PROCESSTRACE_HANDLE *ret)
{
	uint32_t index;

	(void)pthread_mutex_lock(&table.lock);
	index = find_free();
	if (index != UINT32_MAX) {
		struct slot *slot = &table.slots[index];

		slot->open = open;
		/* 31 bits, so that no handle ever equals an invalid one. */
		slot->generation = (slot->generation + 1) & 0x7FFFFFFF;
		*ret = (PROCESSTRACE_HANDLE)slot->generation << 32 | (index + 1);
		open->handle = *ret;
	}
	(void)pthread_mutex_unlock(&table.lock);
	return index == UINT32_MAX ? -ENOMEM : 0;
}

/* Under the lock. The handle's slot, or NULL. */
static struct slot *find_slot(PROCESSTRACE_HANDLE handle)
{
	uint32_t index = (uint32_t)handle - 1;

	if (index >= table.count || !table.slots[index].open ||
	    table.slots[index].generation != (uint32_t)(handle >> 32))
		return NULL;
	return &table.slots[index];
}

int etw_trace_handle_begin(const PROCESSTRACE_HANDLE *handles, ULONG count, atomic_bool *stop,
			   struct etw_open_trace **ret)
{
	ULONG marked = 0;

	(void)pthread_mutex_lock(&table.lock);
	for (; marked < count; marked++) {
		struct slot *slot = find_slot(handles[marked]);

		if (!slot || slot->open->stop_pass)
			break;
		slot->open->stop_pass = stop;
		ret[marked] = slot->open;
	}
	if (marked < count) {
		for (ULONG i = 0; i < marked; i++)
			ret[i]->stop_pass = NULL;
	}
	(void)pthread_mutex_unlock(&table.lock);
	return marked < count ? -EBADF : 0;
}

void etw_trace_handle_end(struct etw_open_trace **opens, ULONG count)
{
	(void)pthread_mutex_lock(&table.lock);
	for (ULONG i = 0; i < count; i++) {
		opens[i]->stop_pass = NULL;
		/* One that is still used may be freed by anyone as soon as the lock is gone. */
		if (!opens[i]->is_closed || opens[i]->borrowers)
			opens[i] = NULL;
	}
	(void)pthread_mutex_unlock(&table.lock);
	for (ULONG i = 0; i < count; i++)
		free_open_trace(opens[i]);
}

int etw_trace_handle_close(PROCESSTRACE_HANDLE handle)
{
	struct etw_open_trace *open = NULL;
	bool is_busy = false;
	struct slot *slot;

	(void)pthread_mutex_lock(&table.lock);
	slot = find_slot(handle);
	if (slot) {
		open = slot->open;
		slot->open = NULL;
		is_busy = open->stop_pass != NULL || open->borrowers;
		open->is_closed = true;
		/* Relaxed: the pass only looks whether to go on; the lock orders everything else. */
		if (open->stop_pass) {
			atomic_store_explicit(open->stop_pass, true, memory_order_relaxed);
			etw_trace_wake(open->trace);
		}
		etw_trace_end_pushed(open->trace);
	}
	(void)pthread_mutex_unlock(&table.lock);
	if (!open)
		return -EBADF;
	if (is_busy)
		return -EINPROGRESS;
	free_open_trace(open);
	return 0;
}

int etw_trace_handle_borrow(PROCESSTRACE_HANDLE handle, struct etw_open_trace **ret)
{
	struct slot *slot;

	(void)pthread_mutex_lock(&table.lock);
	slot = find_slot(handle);
	if (slot) {
		slot->open->borrowers++;
		*ret = slot->open;
	}
	(void)pthread_mutex_unlock(&table.lock);
	return slot ? 0 : -EBADF;
}

void etw_trace_handle_return(struct etw_open_trace *open)
{
	bool is_last;

	(void)pthread_mutex_lock(&table.lock);
	is_last = --open->borrowers == 0 && open->is_closed && !open->stop_pass;
	(void)pthread_mutex_unlock(&table.lock);
	if (is_last)
		free_open_trace(open);
}

int etw_trace_handle_with(PROCESSTRACE_HANDLE handle,
			  int (*use)(struct etw_open_trace *open, void *context), void *context)
{
	int result = -EBADF;
	struct slot *slot;

	(void)pthread_mutex_lock(&table.lock);
	slot = find_slot(handle);
	if (slot)
		result = use(slot->open, context);
	(void)pthread_mutex_unlock(&table.lock);
	return result;
}
