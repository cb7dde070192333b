/* SPDX-License-Identifier: MIT */
#include "consumer/pin.h"

#include <errno.h>
#include <stdlib.h>

#include "base/atomic.h"
#include "base/macros.h"
#include "etl/block.h"

struct etw_pin {
	uint64_t refs;                   /* atomic */
	struct etw_pin_account *account; /* a reference */
	uint64_t bytes;                  /* in the account */
	uint8_t *memory, *unpacked;      /* owned once the block's owner has left; else NULL */
};

int etw_pin_account_create(uint64_t limit_bytes, struct etw_pin_account **ret)
{
	struct etw_pin_account *account = calloc(1, sizeof(*account));

	if (!account)
		return -ENOMEM;
	account->refs = 1;
	account->limit = limit_bytes;
	*ret = account;
	return 0;
}

void etw_pin_account_unref(struct etw_pin_account *account)
{
	/* Whoever is last frees what others have written. */
	if (account && add_acq_rel(&account->refs, (uint64_t)-1) == 1)
		free(account);
}

uint64_t etw_pin_account_bytes(const struct etw_pin_account *account)
{
	return load_relaxed(&account->bytes);
}

int etw_pin_create(struct etw_pin_account *account, const struct etw_etl_block *block,
		   struct etw_pin **ret)
{
	uint64_t bytes = block->memory_room + block->unpacked_room;
	uint64_t before = add_relaxed(&account->bytes, bytes);
	struct etw_pin *pin = NULL;
	int result = -ENOBUFS;

	if (before <= account->limit && bytes <= account->limit - before) {
		pin = calloc(1, sizeof(*pin));
		result = -ENOMEM;
	}
	if (!pin) {
		(void)add_relaxed(&account->bytes, -bytes);
		return result;
	}
	(void)add_relaxed(&account->refs, 1);
	pin->refs = 1;
	pin->account = account;
	pin->bytes = bytes;
	*ret = pin;
	return 0;
}

struct etw_pin *etw_pin_ref(struct etw_pin *pin)
{
	(void)add_relaxed(&pin->refs, 1);
	return pin;
}

void etw_pin_unref(struct etw_pin *pin)
{
	if (!pin || add_acq_rel(&pin->refs, (uint64_t)-1) != 1)
		return;
	free(pin->memory);
	free(pin->unpacked);
	(void)add_relaxed(&pin->account->bytes, -pin->bytes);
	etw_pin_account_unref(pin->account);
	free(pin);
}

void etw_pin_leave(struct etw_pin *pin, struct etw_etl_block *block)
{
	/*
	 * Pairs with etw_pin_unref(): who read the bytes has done so before they are written again. Nobody
	 * can come by a reference any more: only the block's owner hands out new ones of one that is his alone.
	 */
	if (load_acquire(&pin->refs) != 1) {
		pin->memory = TAKE(block->memory);
		pin->unpacked = TAKE(block->unpacked);
		etw_etl_block_done(block);
	}
	etw_pin_unref(pin);
}
