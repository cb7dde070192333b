/* SPDX-License-Identifier: MIT */
/*
 * The names of code in an announced image: what was announced with it, and what came later. Lists of images that were
 * copied at a fork share them. Context: the session's thread.
 */
#ifndef ETW_SOURCE_KERNEL_PROCESSES_ANNOUNCED_NAMES_H
#define ETW_SOURCE_KERNEL_PROCESSES_ANNOUNCED_NAMES_H

#include <stdint.h>

#include "base/announced.h"

struct etw_kernel_names {
	uint32_t refs;
	uint32_t count, room;
	struct etw_announced_image **at; /* owned, each with a reference */
	uint64_t symbol_bytes;           /* of all */
	/* Which description of the machine had them last, and as whose. */
	uint32_t description, described_pid;
};

/* etw_kernel_names_new() - none yet; one reference, the caller's. NULL without memory. */
struct etw_kernel_names *etw_kernel_names_new(void);

/* etw_kernel_names_ref() / _unref() - one more, one less owner; both take NULL. */
struct etw_kernel_names *etw_kernel_names_ref(struct etw_kernel_names *names);
void etw_kernel_names_unref(struct etw_kernel_names *names);

/* etw_kernel_names_add() - the symbols of @image. Returns 0 or -ENOMEM. */
int etw_kernel_names_add(struct etw_kernel_names *names, struct etw_announced_image *image);

#endif
