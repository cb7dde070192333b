/* SPDX-License-Identifier: MIT */
/*
 * Buffers that stay in memory for events kept beyond their callback. A pin counts who needs a buffer's bytes;
 * the merge holds one while it uses the buffer. When the merge is done and others still hold it, the memory
 * goes over to the pin, and the merge takes new memory for its next buffer; else the merge uses it again.
 *
 * Context: references are taken and given back by any thread; the bytes are read only.
 */
#ifndef ETW_CONSUMER_PIN_H
#define ETW_CONSUMER_PIN_H

#include <stddef.h>
#include <stdint.h>

struct etw_etl_block;
struct etw_pin;

/* How much is pinned on somebody's behalf. Outlives whom it belongs to while there are pins. */
struct etw_pin_account {
	uint64_t refs;  /* atomic: the owner, and each pin */
	uint64_t bytes; /* atomic: memory of the pinned buffers, whole */
	uint64_t limit; /* bytes beyond which no further buffer is pinned */
};

/* etw_pin_account_create() - an account with one reference. Returns 0 or -ENOMEM. */
int etw_pin_account_create(uint64_t limit_bytes, struct etw_pin_account **ret);

/* etw_pin_account_unref() - gives a reference back; takes NULL. */
void etw_pin_account_unref(struct etw_pin_account *account);

/* etw_pin_account_bytes() - what is pinned now. */
uint64_t etw_pin_account_bytes(const struct etw_pin_account *account);

/*
 * etw_pin_create() - a pin for a loaded block, held by the block's owner.
 *
 * Returns 0 with one reference; -ENOBUFS when the account is full; -ENOMEM.
 */
int etw_pin_create(struct etw_pin_account *account, const struct etw_etl_block *block,
		   struct etw_pin **ret);

/* etw_pin_ref() - one more reference; returns @pin. */
struct etw_pin *etw_pin_ref(struct etw_pin *pin);

/* etw_pin_unref() - gives a reference back; the last one frees the bytes if they are the pin's. Takes NULL. */
void etw_pin_unref(struct etw_pin *pin);

/*
 * etw_pin_leave() - the block's owner has no more use for its events, and gives its reference back.
 *
 * @block: left with its memory when nobody else holds the pin, else without, as a zeroed block
 */
void etw_pin_leave(struct etw_pin *pin, struct etw_etl_block *block);

#endif
