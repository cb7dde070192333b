/* SPDX-License-Identifier: MIT */
#include "source/kernel/out/stack_account.h"

#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/macros.h"
#include "wire/etl_event.h"

#define NAME "stack-account"

/* Of this version of the counts; a kept one of another size is left alone. Returns a descriptor, or -1. */
static int open_memory(const struct etw_source_host *host, size_t bytes)
{
	struct stat info;
	int fd = host->kept_fd ? host->kept_fd(host->context, NAME) : -1;

	if (fd >= 0 && fstat(fd, &info) == 0 && (size_t)info.st_size == bytes)
		return fd;
	if (fd >= 0)
		close(fd);
	fd = memfd_create("etw-" NAME, MFD_CLOEXEC);
	if (fd < 0)
		return -1;
	if (ftruncate(fd, (off_t)bytes)) {
		close(fd);
		return -1;
	}
	if (host->keep_fd)
		(void)host->keep_fd(host->context, NAME, fd);
	return fd;
}

void etw_kernel_stack_account_open(struct etw_kernel_stack_account *account,
				   const struct etw_source_host *host)
{
	int fd = open_memory(host, sizeof(account->now));
	void *at = MAP_FAILED;

	*account = (struct etw_kernel_stack_account){0};
	if (fd < 0)
		return;
	at = mmap(NULL, sizeof(account->now), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (at == MAP_FAILED)
		return;
	account->safe = at;
	memcpy(account->now, account->safe, sizeof(account->now));
	for (uint32_t row = 1; row < ETW_KERNEL_STACK_ROWS && account->now[row].hook; row++) {
		account->rows[(uint16_t)account->now[row].hook] = (uint8_t)row;
		account->row_count = row;
	}
}

void etw_kernel_stack_account_close(struct etw_kernel_stack_account *account)
{
	if (account->safe)
		munmap(account->safe, sizeof(account->now));
	account->safe = NULL;
}

/* The row of a hook, which gets one where it has none. Hooks beyond the last row share that one's counts. */
static uint32_t row_of(struct etw_kernel_stack_account *account, uint16_t hook)
{
	uint32_t row = account->rows[hook];

	if (LIKELY(row))
		return row;
	if (account->row_count < ETW_KERNEL_STACK_ROWS - 1)
		account->now[++account->row_count].hook = hook;
	account->rows[hook] = (uint8_t)account->row_count;
	return account->row_count;
}

void etw_kernel_stack_account_add(struct etw_kernel_stack_account *account, const uint8_t *event,
				  enum wire_stack_fate fate, bool lacks_user)
{
	uint16_t hook = (uint16_t)(event[offsetof(struct wire_system_header, group)] << 8 |
				   event[offsetof(struct wire_system_header, type)]);
	struct etw_kernel_stack_counts *counts = &account->now[row_of(account, hook)];

	counts->fates[fate]++;
	if (fate == WIRE_STACK_IS_THERE && lacks_user)
		counts->without_user++;
}

const struct etw_kernel_stack_counts *etw_kernel_stack_account_of(
	const struct etw_kernel_stack_account *account, uint16_t hook)
{
	return &account->now[account->rows[hook]];
}

void etw_kernel_stack_account_save(struct etw_kernel_stack_account *account)
{
	if (account->safe)
		memcpy(account->safe, account->now,
		       (account->row_count + 1) * sizeof(account->now[0]));
}

uint64_t etw_kernel_stack_account_missing(const struct etw_kernel_stack_account *account)
{
	uint64_t missing = 0;

	for (uint32_t row = 1; row <= account->row_count; row++) {
		const uint64_t *fates = account->now[row].fates;

		for (unsigned fate = 0; fate < WIRE_STACK_FATES; fate++)
			if (fate != WIRE_STACK_IS_THERE && fate != WIRE_STACK_OF_IDLE_THREAD &&
			    fate != WIRE_STACK_OF_OTHERS)
				missing += fates[fate];
	}
	return missing;
}

bool etw_kernel_stack_account_get(const struct etw_kernel_stack_account *account, uint32_t row,
				  struct wire_stack_account *ret)
{
	const struct etw_kernel_stack_counts *counts = &account->now[row];

	if (!row || row > account->row_count)
		return false;
	*ret = (struct wire_stack_account){.hook = (uint16_t)counts->hook,
					   .without_user = counts->without_user};
	for (unsigned fate = 0; fate < WIRE_STACK_FATES; fate++)
		ret->fates[fate] = counts->fates[fate];
	return true;
}
