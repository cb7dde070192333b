/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Transfers of disks. A request begins when it is put into its disk's queue, or goes to the driver at once, and ends when its
 * last part is done. Until then nobody but the thread that asked for it has touched it, flushes excepted: those, and writes
 * that wait for one, are begun by a kernel worker. A disk without requests (RAM disks, volumes) has its bios followed instead.
 */
#include "disks.h"

/* Who asked for the request, if that is not the thread that runs; NULL: it is. */
static __always_inline struct asker *find_asker(struct request *request, struct bio *bio,
						__u32 operation)
{
	__u64 key = (__u64)bio;

	if (operation == ETW_KERNEL_DISK_FLUSH)
		key = (__u64)request->q;
	else if (!bio || !(bio->bi_opf & (REQUEST_FLUSH_BEFORE | REQUEST_WRITE_THROUGH)))
		return NULL;
	return bpf_map_lookup_elem(&etw_disk_askers, &key);
}

/* One flush serves all who asked since the last one began; the first of them counts. */
static __always_inline void forget_asker(struct request *request, struct bio *bio, __u32 operation,
					 struct asker *asker)
{
	__u64 key = (__u64)bio;

	if (operation == ETW_KERNEL_DISK_FLUSH) {
		key = (__u64)request->q;
		if (asker->is_for_two) {
			asker->is_for_two = 0;
			asker->is_for_later = 1;
			return;
		}
	}
	bpf_map_delete_elem(&etw_disk_askers, &key);
}

static __always_inline void tell_part(const struct etw_kernel_control *control,
				      struct request *request, struct bio *bio, int is_inside)
{
	struct etw_kernel_cpu_record head = {};
	struct etw_kernel_split payload = {.transfer = (__u64)request};
	__u64 key = (__u64)bio, *whole;

	if (!is_wanted(control, ETW_KERNEL_SPLIT))
		return;
	whole = bpf_map_lookup_elem(&etw_disk_parts, &key);
	if (!whole)
		return;
	head.kind = ETW_KERNEL_SPLIT;
	payload.whole = *whole;
	bpf_map_delete_elem(&etw_disk_parts, &key);
	if (is_inside)
		send(&head, &payload, sizeof(payload), NULL);
}

/* Returns whether the request has begun already. */
static __always_inline int goes_on(struct request *request, __u8 state)
{
	__u64 key = (__u64)request;
	struct transfer *transfer = bpf_map_lookup_elem(&etw_transfers, &key);

	/* One that is queued was given back, or never queued; one that is issued was queued, or given back. */
	if (!transfer || transfer->state == TRANSFER_ISSUED ||
	    (state == TRANSFER_QUEUED && transfer->state != TRANSFER_AGAIN))
		return 0;
	transfer->state = state;
	return 1;
}

/* @scratch: a map with a struct asker for each processor */
static __always_inline int begin_request(__u64 *context, __u8 state, void *scratch)
{
	const struct etw_kernel_control *control = find_disk_control();
	struct request *request = READABLE(struct request, (void *)context[0]);
	struct transfer transfer = {};
	struct gendisk *disk;
	struct asker *asker;
	struct bio *bio;
	__u32 flags, key = 0;

	if (!control || goes_on(request, state))
		return 0;
	flags = request->cmd_flags;
	transfer.end.operation = operation_of(flags);
	disk = request->q->disk;
	if (transfer.end.operation == ETW_KERNEL_DISK_OPERATIONS || !disk)
		return 0;
	transfer.state = state;
	transfer.end.transfer = (__u64)request;
	transfer.end.device = device_of(disk);
	bio = request->bio;
	describe_bio(&transfer.end, bio, flags);
	asker = find_asker(request, bio, transfer.end.operation);
	if (asker) {
		begin_transfer(control, &transfer, asker);
		forget_asker(request, bio, transfer.end.operation, asker);
		return 0;
	}
	asker = bpf_map_lookup_elem(scratch, &key);
	if (!asker)
		return 0;
	ask_now(context, control, asker, wants_any_stack(control, transfer.end.operation));
	tell_part(control, request, bio, asker->is_inside);
	begin_transfer(control, &transfer, asker);
	return 0;
}

SEC("tp_btf/block_rq_insert")
int etw_queue_request(__u64 *context)
{
	return begin_request(context, TRANSFER_QUEUED, &etw_queue_scratch);
}

SEC("tp_btf/block_rq_issue")
int etw_issue_request(__u64 *context)
{
	return begin_request(context, TRANSFER_ISSUED, &etw_issue_scratch);
}

/* The driver has no room for it now. */
SEC("tp_btf/block_rq_requeue")
int etw_requeue_request(__u64 *context)
{
	__u64 key = context[0];
	struct transfer *transfer;

	if (!find_disk_control())
		return 0;
	transfer = bpf_map_lookup_elem(&etw_transfers, &key);
	if (transfer)
		transfer->state = TRANSFER_AGAIN;
	return 0;
}

/* It became a part of the request before it, which alone ends. */
SEC("tp_btf/block_rq_merge")
int etw_merge_request(__u64 *context)
{
	__u64 key = context[0];

	if (find_disk_control())
		forget_transfer(key);
	return 0;
}

SEC("tp_btf/block_rq_complete")
int etw_complete_request(__u64 *context)
{
	const struct etw_kernel_control *control = find_disk_control();
	struct request *request = READABLE(struct request, (void *)context[0]);
	__u32 byte_count = context[2], left;
	__u64 key = (__u64)request;
	struct transfer *transfer;

	if (!control)
		return 0;
	transfer = bpf_map_lookup_elem(&etw_transfers, &key);
	if (!transfer)
		return 0;
	left = request->__data_len;
	if (!transfer->end.byte_count)
		transfer->end.sector = request->__sector;
	transfer->end.byte_count += byte_count;
	if (byte_count < left)
		return 0;
	end_transfer(control, transfer);
	return 0;
}

/* A bio that needs the disk's cache flushed becomes a request, of which the thread that asked sees nothing any more. */
SEC("tp_btf/block_getrq")
int etw_ask_flush(__u64 *context)
{
	const struct etw_kernel_control *control = find_disk_control();
	struct bio *bio = READABLE(struct bio, (void *)context[0]);
	struct asker *asker, *before;
	__u32 flags, zero = 0;
	__u64 key;

	if (!control)
		return 0;
	flags = bio->bi_opf;
	if (!(flags & (REQUEST_FLUSH_BEFORE | REQUEST_WRITE_THROUGH)))
		return 0;
	asker = bpf_map_lookup_elem(&etw_ask_scratch, &zero);
	if (!asker)
		return 0;
	ask_now(context, control, asker,
		wants_any_stack(control, ETW_KERNEL_DISK_WRITE) ||
			wants_any_stack(control, ETW_KERNEL_DISK_FLUSH));
	key = (__u64)bio;
	if (bio->bi_iter.bi_size)
		bpf_map_update_elem(&etw_disk_askers, &key, asker, BPF_ANY);
	key = (__u64)bio->bi_bdev->bd_disk->queue;
	before = bpf_map_lookup_elem(&etw_disk_askers, &key);
	asker->is_for_later = !(flags & REQUEST_FLUSH_BEFORE);
	asker->is_for_two = flags & REQUEST_FLUSH_BEFORE && flags & REQUEST_WRITE_THROUGH;
	if (!before || before->is_for_later)
		bpf_map_update_elem(&etw_disk_askers, &key, asker, BPF_ANY);
	return 0;
}

/* Of a disk without requests. */
SEC("tp_btf/block_bio_queue")
int etw_queue_bio(__u64 *context)
{
	const struct etw_kernel_control *control = find_disk_control();
	struct transfer transfer = {};
	struct bio *bio = READABLE(struct bio, (void *)context[0]);
	struct gendisk *disk;
	struct asker *asker;
	__u32 flags, key = 0;

	if (!control)
		return 0;
	disk = bio->bi_bdev->bd_disk;
	if (!disk || disk->queue->mq_ops)
		return 0;
	flags = bio->bi_opf;
	transfer.end.byte_count = bio->bi_iter.bi_size;
	transfer.end.operation = operation_of(flags);
	if (flags & REQUEST_FLUSH_BEFORE && !transfer.end.byte_count)
		transfer.end.operation = ETW_KERNEL_DISK_FLUSH;
	asker = bpf_map_lookup_elem(&etw_bio_scratch, &key);
	if (transfer.end.operation == ETW_KERNEL_DISK_OPERATIONS || !asker)
		return 0;
	transfer.state = TRANSFER_ISSUED;
	transfer.end.transfer = (__u64)bio;
	transfer.end.device = device_of(disk);
	transfer.end.sector = bio->bi_iter.bi_sector;
	describe_bio(&transfer.end, bio, flags);
	ask_now(context, control, asker, wants_any_stack(control, transfer.end.operation));
	begin_transfer(control, &transfer, asker);
	return 0;
}

SEC("tp_btf/block_bio_complete")
int etw_complete_bio(__u64 *context)
{
	const struct etw_kernel_control *control = find_disk_control();
	__u64 key = context[1];
	struct transfer *transfer;

	if (!control)
		return 0;
	transfer = bpf_map_lookup_elem(&etw_transfers, &key);
	if (!transfer)
		return 0;
	end_transfer(control, transfer);
	return 0;
}

/* The argument is the part in front, which is chained to the whole; what is left of the whole is its last part. */
SEC("tp_btf/block_split")
int etw_split_bio(__u64 *context)
{
	const struct etw_kernel_control *control = find_disk_control();
	struct bio *bio = READABLE(struct bio, (void *)context[0]);
	__u64 part = (__u64)bio, whole;

	if (!control || !is_wanted(control, ETW_KERNEL_SPLIT) ||
	    !bio->bi_bdev->bd_disk->queue->mq_ops)
		return 0;
	whole = (__u64)bio->bi_private;
	if (!whole)
		return 0;
	bpf_map_update_elem(&etw_disk_parts, &part, &whole, BPF_ANY);
	bpf_map_update_elem(&etw_disk_parts, &whole, &whole, BPF_ANY);
	return 0;
}

char etw_license[] SEC("license") = "Dual MIT/GPL";
