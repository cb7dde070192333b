/* SPDX-License-Identifier: MIT */
#include "source/kernel/out/stack_account.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

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
}

void etw_kernel_stack_account_close(struct etw_kernel_stack_account *account)
{
	if (account->safe)
		munmap(account->safe, sizeof(account->now));
	account->safe = NULL;
}

void etw_kernel_stack_account_add(struct etw_kernel_stack_account *account, unsigned kind,
				  enum wire_stack_fate fate, bool lacks_user)
{
	account->now[kind].fates[fate]++;
	if (fate == WIRE_STACK_IS_THERE && lacks_user)
		account->now[kind].without_user++;
}

void etw_kernel_stack_account_save(struct etw_kernel_stack_account *account)
{
	if (account->safe)
		memcpy(account->safe, account->now, sizeof(account->now));
}

uint64_t etw_kernel_stack_account_missing(const struct etw_kernel_stack_account *account)
{
	uint64_t missing = 0;

	for (unsigned kind = 0; kind < ETW_KERNEL_STACK_KINDS; kind++) {
		const uint64_t *fates = account->now[kind].fates;

		for (unsigned fate = 0; fate < WIRE_STACK_FATES; fate++)
			if (fate != WIRE_STACK_IS_THERE && fate != WIRE_STACK_OF_IDLE_THREAD &&
			    fate != WIRE_STACK_OF_OTHERS)
				missing += fates[fate];
	}
	return missing;
}

bool etw_kernel_stack_account_get(const struct etw_kernel_stack_account *account, unsigned kind,
				  struct wire_stack_account *ret)
{
	const struct etw_kernel_stack_counts *counts = &account->now[kind];
	uint64_t any = 0;

	*ret = (struct wire_stack_account){.without_user = counts->without_user};
	for (unsigned fate = 0; fate < WIRE_STACK_FATES; fate++)
		any |= ret->fates[fate] = counts->fates[fate];
	return any != 0;
}
