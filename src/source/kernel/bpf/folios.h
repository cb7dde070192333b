/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* What programs read of folios, the pieces of files in memory. */
#ifndef ETW_SOURCE_KERNEL_BPF_FOLIOS_H
#define ETW_SOURCE_KERNEL_BPF_FOLIOS_H

#include "file_types.h"

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct folio {
	struct address_space *mapping;
	unsigned long index;
	unsigned int _nr_pages; /* of a large one, since Linux 6.15 */
};

struct folio___named_before {
	unsigned int _folio_nr_pages;
};

#pragma clang attribute pop

enum pageflags {
	PG_head = 6, /* found at loading */
};

static __always_inline __u32 pages_of(struct folio *folio)
{
	unsigned long flags = 0;
	__u32 pages = 0;

	/* They come first; newer kernels have them in a structure. */
	bpf_probe_read_kernel(&flags, sizeof(flags), folio);
	if (!(flags >> bpf_core_enum_value(enum pageflags, PG_head) & 1))
		return 1;
	if (bpf_core_field_exists(folio->_nr_pages)) {
		pages = BPF_CORE_READ(folio, _nr_pages);
	} else {
		struct folio___named_before *before = (void *)folio;

		if (bpf_core_field_exists(before->_folio_nr_pages))
			pages = BPF_CORE_READ(before, _folio_nr_pages);
	}
	return pages ? pages : 1;
}

#endif
