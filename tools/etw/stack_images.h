/* SPDX-License-Identifier: MIT */
/* What a trace says of images and their symbols, told to src/symbol as the events come. */
#ifndef ETW_TOOLS_ETW_STACK_IMAGES_H
#define ETW_TOOLS_ETW_STACK_IMAGES_H

#include "decode/decode.h"
#include "symbol/symbols.h"

struct stack_images {
	struct etw_symbols *symbols;
	uint64_t events;
	uint64_t kernel_base;    /* of the kernel itself; 0: not told */
	bool has_kernel_symbols; /* the trace has those of the kernel itself */
};

/* stack_images_is_wanted() - whether an event tells of images. Cheap enough to ask of every event. */
bool stack_images_is_wanted(const EVENT_RECORD *record);

/*
 * stack_images_take() - takes in such an event.
 *
 * @ret_gone: the process of which an image is gone, so that its addresses may mean something else from now on;
 *            ETW_PROCESS_NONE: none is
 *
 * What is beyond the limits of src/symbol is counted there. Returns 0 or -ENOMEM.
 */
int stack_images_take(struct stack_images *images, const struct etw_decoding *decoding,
		      uint32_t *ret_gone);

#endif
