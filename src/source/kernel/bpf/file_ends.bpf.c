/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * That a file is gone: its last name was deleted, and nobody has it open or mapped. Linux has no tracepoint for that; ext4 has
 * one of its own, and of other file systems what the page cache had of the file is seen to go.
 */
#include "files.h"
#include "folios.h"

static __always_inline void end_inode(__u64 inode_at)
{
	struct inode *inode = (void *)inode_at;

	if (inode && !BPF_CORE_READ(inode, i_nlink) && !BPF_CORE_READ(inode, i_count.counter))
		tell_deleted(inode_at, 0);
}

SEC("tp_btf/ext4_evict_inode")
int etw_end_ext4_file(__u64 *context)
{
	end_inode(given_address(context));
	return 0;
}

SEC("tp_btf/mm_filemap_delete_from_page_cache")
int etw_end_cached_file(__u64 *context)
{
	struct folio *folio = (void *)context[0];

	end_inode((__u64)BPF_CORE_READ(folio, mapping, host));
	return 0;
}

char etw_license[] SEC("license") = "Dual MIT/GPL";
