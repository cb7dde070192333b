/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * What a process used, and where its program began, read from the kernel's structures. Since Linux 6.16 a process still has
 * its memory at sched_process_exit; before, only what its signal_struct remembers.
 */
#ifndef ETW_SOURCE_KERNEL_BPF_COUNTERS_H
#define ETW_SOURCE_KERNEL_BPF_COUNTERS_H

#include <linux/bpf.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "kernel_types.h"
#include "records.h"

#define SIZE_OF_32_BITS (1ull << 32)
#define AT_ENTRY        9

#define FILE_PAGES  0 /* MM_FILEPAGES and its like */
#define ANON_PAGES  1
#define SWAP_PAGES  2
#define SHMEM_PAGES 3

#define FILE_WORDS_MAX 4096 /* of 64 descriptors */

static __always_inline __u64 find_entry(struct mm_struct *mm)
{
	__u64 words[AUXILIARY_WORDS];

	if (bpf_core_read(words, sizeof(words), &mm->saved_auxv))
		return 0;
	for (int i = 0; i < AUXILIARY_WORDS; i += 2)
		if (words[i] == AT_ENTRY)
			return words[i + 1];
	return 0;
}

struct file_words {
	const __u64 *at;
	__u32 count;
};

static long count_word(__u32 index, struct file_words *words)
{
	__u64 word;

	if (bpf_probe_read_kernel(&word, sizeof(word), words->at + index))
		return 1;
	/* BPF has no instruction that counts bits. */
	word -= word >> 1 & 0x5555555555555555ull;
	word = (word & 0x3333333333333333ull) + (word >> 2 & 0x3333333333333333ull);
	word = (word + (word >> 4)) & 0x0F0F0F0F0F0F0F0Full;
	words->count += word * 0x0101010101010101ull >> 56;
	return 0;
}

static __always_inline __u32 count_files(struct task_struct *task)
{
	struct files_struct *files = BPF_CORE_READ(task, files);
	struct file_words words = {};
	__u32 max;

	if (!files)
		return 0;
	max = BPF_CORE_READ(files, fdt, max_fds) / 64;
	words.at = (const void *)BPF_CORE_READ(files, fdt, open_fds);
	bpf_loop(max < FILE_WORDS_MAX ? max : FILE_WORDS_MAX, count_word, &words, 0);
	return words.count;
}

/*
 * As the kernel itself reads it for getrusage(); what single processors have not added yet is missing. A macro, since the place
 * of an element is found at loading where its index is a constant of the source.
 */
#define READ_PAGES(mm, which) not_negative(BPF_CORE_READ(mm, rss_stat[which].count))

static __always_inline __u64 not_negative(__s64 count)
{
	return count > 0 ? count : 0;
}

static __always_inline void count_memory(struct etw_kernel_counters *to, struct mm_struct *mm)
{
	__u64 peak = BPF_CORE_READ(mm, hiwater_vm), anonymous = 0;

	to->virtual_pages = BPF_CORE_READ(mm, total_vm);
	to->peak_virtual_pages = peak > to->virtual_pages ? peak : to->virtual_pages;
	to->writable_pages = BPF_CORE_READ(mm, data_vm) + BPF_CORE_READ(mm, stack_vm);
	if (bpf_core_field_exists(mm->rss_stat[0].count)) {
		anonymous = READ_PAGES(mm, ANON_PAGES);
		to->resident_pages = anonymous + READ_PAGES(mm, FILE_PAGES) +
				     READ_PAGES(mm, SHMEM_PAGES);
		to->private_pages = anonymous + READ_PAGES(mm, SWAP_PAGES);
	}
	peak = BPF_CORE_READ(mm, hiwater_rss);
	to->peak_resident_pages = peak > to->resident_pages ? peak : to->resident_pages;
}

static __always_inline void count_process(struct etw_kernel_counters *to, struct task_struct *task)
{
	struct signal_struct *signal = BPF_CORE_READ(task, signal);
	struct task_struct *leader = BPF_CORE_READ(task, group_leader);
	struct mm_struct *mm = BPF_CORE_READ(task, mm);

	__builtin_memset(to, 0, sizeof(*to));
	to->is_known = 1;
	/* Threads that were waited for have theirs in the sum; a main thread stays until all have ended. */
	to->fault_count = BPF_CORE_READ(signal, min_flt) + BPF_CORE_READ(signal, maj_flt) +
			  BPF_CORE_READ(task, min_flt) + BPF_CORE_READ(task, maj_flt);
	if (leader != task)
		to->fault_count += BPF_CORE_READ(leader, min_flt) + BPF_CORE_READ(leader, maj_flt);
	to->file_count = count_files(task);
	if (mm)
		count_memory(to, mm);
	else
		to->peak_resident_pages = BPF_CORE_READ(signal, maxrss);
}

#endif
