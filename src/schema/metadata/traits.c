/* SPDX-License-Identifier: MIT */
#include "schema/metadata/traits.h"

#include <evntcons.h>
#include <string.h>

#define TRAIT_HEAD_BYTES 3 /* u16 bytes of the trait, u8 type */

/* Leaves what is behind the provider's name. */
static bool skip_name(struct etw_bytes *traits)
{
	const uint8_t *end;
	uint16_t total;

	if (!etw_bytes_u16(traits, &total) || total < sizeof(total))
		return false;
	if (total - sizeof(total) < traits->left)
		traits->left = total - sizeof(total);
	end = traits->left ? memchr(traits->at, 0, traits->left) : NULL;
	if (!end)
		return false;
	traits->left -= (size_t)(end + 1 - traits->at);
	traits->at = end + 1;
	return true;
}

bool etw_traits_decode_guid(struct etw_bytes traits, GUID *ret)
{
	if (!skip_name(&traits))
		return false;
	while (traits.left >= TRAIT_HEAD_BYTES) {
		const size_t bytes = etw_load16(traits.at);

		if (bytes < TRAIT_HEAD_BYTES || bytes > traits.left)
			return false;
		if (traits.at[2] == EtwProviderTraitDecodeGuid) {
			if (bytes < TRAIT_HEAD_BYTES + sizeof(*ret))
				return false;
			memcpy(ret, traits.at + TRAIT_HEAD_BYTES, sizeof(*ret));
			return true;
		}
		traits.at += bytes;
		traits.left -= bytes;
	}
	return false;
}
