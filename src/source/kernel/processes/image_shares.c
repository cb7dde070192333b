/* SPDX-License-Identifier: MIT */
#include "source/kernel/processes/image_shares.h"

#include <stddef.h>
#include <sys/param.h>

#define SECOND_NS UINT64_C(1000000000)

void etw_kernel_shares_init(struct etw_kernel_shares *shares)
{
	*shares = (struct etw_kernel_shares){.all.left_bytes = ETW_KERNEL_SHARES_BYTES};
}

static void refill(struct etw_kernel_share *share, uint64_t now_ns, uint64_t most,
		   uint64_t second_bytes)
{
	const uint64_t passed_ns = now_ns > share->at_ns ? now_ns - share->at_ns : 0;

	if (passed_ns >= most / second_bytes * SECOND_NS)
		share->left_bytes = most;
	else
		share->left_bytes = MIN(most, share->left_bytes + passed_ns * (second_bytes >> 10) /
									  (SECOND_NS >> 10));
	share->at_ns = MAX(share->at_ns, now_ns);
}

/* Who was not heard of for longest gives way. */
static struct etw_kernel_share *find(struct etw_kernel_shares *shares, uint32_t uid)
{
	struct etw_kernel_share *oldest = &shares->of_uid[0];

	for (uint32_t i = 0; i < shares->count; i++) {
		if (shares->of_uid[i].uid == uid)
			return &shares->of_uid[i];
		if (shares->of_uid[i].at_ns < oldest->at_ns)
			oldest = &shares->of_uid[i];
	}
	if (shares->count < ETW_KERNEL_SHARES_MAX)
		oldest = &shares->of_uid[shares->count++];
	*oldest = (struct etw_kernel_share){.uid = uid, .left_bytes = ETW_KERNEL_SHARE_BYTES};
	return oldest;
}

bool etw_kernel_shares_take(struct etw_kernel_shares *shares, uint32_t uid, uint64_t now_ns,
			    uint32_t bytes)
{
	struct etw_kernel_share *share;

	if (!uid)
		return true;
	share = find(shares, uid);
	refill(share, now_ns, ETW_KERNEL_SHARE_BYTES, ETW_KERNEL_SHARE_SECOND_BYTES);
	refill(&shares->all, now_ns, ETW_KERNEL_SHARES_BYTES, ETW_KERNEL_SHARES_SECOND_BYTES);
	if (share->left_bytes < bytes || shares->all.left_bytes < bytes)
		return false;
	share->left_bytes -= bytes;
	shares->all.left_bytes -= bytes;
	return true;
}
