/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* As kernel_types.h, of block devices and of the pages that their transfers are from or to. */
#ifndef ETW_SOURCE_KERNEL_BPF_DISK_TYPES_H
#define ETW_SOURCE_KERNEL_BPF_DISK_TYPES_H

#include <linux/types.h>

#include "file_types.h"

#define REQUEST_OPERATION_MASK 0xFF /* of a bio's and a request's flags */
#define OPERATION_APPEND       7    /* a write to a zone, whose place the disk chooses */
#define REQUEST_SYNC           (1u << 11)
#define REQUEST_WRITE_THROUGH  (1u << 17) /* REQ_FUA */
#define REQUEST_FLUSH_BEFORE   (1u << 18) /* REQ_PREFLUSH */
#define REQUEST_AHEAD          (1u << 19)

#define PAGE_IS_LOCKED     1u          /* bit 0 of its flags */
#define MAPPING_IS_NO_FILE 3u          /* bits of a page's mapping: anonymous, or movable */
#define BLOCK_DEVICE_FILES 0x62646576u /* s_magic */

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct blk_mq_ops;
struct gendisk;

struct request_queue {
	struct gendisk *disk;
	const struct blk_mq_ops *mq_ops; /* NULL: there are no requests, its driver takes bios */
};

struct gendisk {
	int major, first_minor;
	struct request_queue *queue;
};

struct block_device {
	struct gendisk *bd_disk;
};

struct page {
	struct address_space *mapping;
	unsigned long compound_head;
};

struct bio_vec {
	struct page *bv_page;
	unsigned int bv_len, bv_offset;
};

struct bvec_iter {
	__u64 bi_sector;
	unsigned int bi_size, bi_idx;
};

struct bio {
	struct block_device *bi_bdev;
	unsigned int bi_opf;
	unsigned short bi_ioprio;
	struct bvec_iter bi_iter;
	struct bio_vec *bi_io_vec;
	void *bi_private;
};

struct request {
	struct request_queue *q;
	unsigned int cmd_flags, __data_len;
	__u64 __sector;
	struct bio *bio;
};

#pragma clang attribute pop

enum pageflags {
	PG_writeback = 0, /* its number is found at loading */
};

#endif
