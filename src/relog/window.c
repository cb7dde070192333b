/* SPDX-License-Identifier: MIT */
#include "relog/window.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool is_before(const struct etw_relog_held *left, const struct etw_relog_held *right)
{
	if (left->time_raw != right->time_raw)
		return left->time_raw < right->time_raw;
	return left->order < right->order;
}

static void rise(struct etw_relog_window *window, size_t at)
{
	struct etw_relog_held *held = window->heap[at];

	while (at > 0 && is_before(held, window->heap[(at - 1) / 2])) {
		window->heap[at] = window->heap[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	window->heap[at] = held;
}

/* Puts @held where the first one was. */
static void sink(struct etw_relog_window *window, struct etw_relog_held *held)
{
	size_t at = 0, child;

	while ((child = 2 * at + 1) < window->count) {
		if (child + 1 < window->count &&
		    is_before(window->heap[child + 1], window->heap[child]))
			child++;
		if (is_before(held, window->heap[child]))
			break;
		window->heap[at] = window->heap[child];
		at = child;
	}
	window->heap[at] = held;
}

int etw_relog_window_hold(struct etw_relog_window *window, const struct etw_relog_held *like,
			  const uint8_t *event, uint32_t bytes)
{
	struct etw_relog_held *held = malloc(sizeof(*held) + bytes);

	if (!held)
		return -ENOMEM;
	memcpy(held, like, sizeof(*held));
	held->order = window->order++;
	held->bytes = bytes;
	if (bytes)
		memcpy(held->event, event, bytes);
	window->bytes += bytes;
	window->heap[window->count++] = held;
	rise(window, window->count - 1);
	return 0;
}

bool etw_relog_window_is_full(const struct etw_relog_window *window)
{
	return window->count == ETW_RELOG_WINDOW_EVENTS || window->bytes > ETW_RELOG_WINDOW_BYTES;
}

struct etw_relog_held *etw_relog_window_take(struct etw_relog_window *window)
{
	struct etw_relog_held *first, *last;

	if (!window->count)
		return NULL;
	first = window->heap[0];
	last = window->heap[--window->count];
	if (window->count)
		sink(window, last);
	window->bytes -= first->bytes;
	return first;
}

void etw_relog_window_done(struct etw_relog_window *window)
{
	for (size_t i = 0; i < window->count; i++)
		free(window->heap[i]);
	window->count = 0;
	window->bytes = 0;
}
