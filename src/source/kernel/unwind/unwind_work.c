/* SPDX-License-Identifier: MIT */
#include "source/kernel/unwind/unwind_work.h"

#include <sys/param.h>

#include "base/time.h"

static struct etw_kernel_work_account *account_of(struct etw_kernel_work *work, uint32_t uid)
{
	return &work->of_uid[uid * UINT32_C(0x9E3779B1) >> 24 & (ETW_KERNEL_WORK_ACCOUNTS - 1)];
}

static bool has_left(struct etw_kernel_work_account *account, uint64_t most, uint64_t now_ns)
{
	const uint64_t passed_us = (now_ns - account->filled_ns) / 1000;
	const uint64_t again = most / ETW_KERNEL_WORK_REFILL_S *
			       MIN(passed_us, ETW_KERNEL_WORK_REFILL_S * UINT64_C(1000000)) /
			       1000000;

	/* What is too little to count waits for more. */
	if (again) {
		account->used -= MIN(account->used, again);
		account->filled_ns = now_ns;
	}
	return account->used < most;
}

bool etw_kernel_work_may(struct etw_kernel_work *work, uint32_t uid, uint64_t now_ns)
{
	return uid == 0 || (has_left(account_of(work, uid), ETW_KERNEL_WORK_OF_UID, now_ns) &&
			    has_left(&work->of_all, ETW_KERNEL_WORK_OF_ALL, now_ns));
}

void etw_kernel_work_done(struct etw_kernel_work *work, uint32_t uid, uint64_t byte_count)
{
	if (uid == 0)
		return;
	account_of(work, uid)->used += byte_count;
	work->of_all.used += byte_count;
}
