/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Modules of the kernel that come and go: their code is images of the kernel. A module is told when its addresses are final,
 * in front of its init function, and when it is about to be thrown away, also because that function failed.
 */
#include "stacks.h"

#define MODULE_PARTS \
	4 /* code and three kinds of data; what init alone needs, which goes soon, follows */

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct module_memory {
	void *base;
	unsigned int size;
};

struct module { /* since Linux 6.4 */
	char name[ETW_KERNEL_MODULE_BYTES];
	struct module_memory mem[MODULE_PARTS];
};

struct module_layout {
	void *base;
	unsigned int size;
};

struct module___before { /* Linux 6.4 */
	char name[ETW_KERNEL_MODULE_BYTES];
	struct module_layout core_layout;
};

#pragma clang attribute pop

/* The place as /proc/modules tells it as soon as the module is there; its size counts data. */
static __always_inline void find_place(const struct module *module,
				       struct etw_kernel_module *record)
{
	const struct module___before *before = (const void *)module;

	if (bpf_core_field_exists(before->core_layout)) {
		record->base = (__u64)BPF_CORE_READ(before, core_layout.base);
		record->byte_count = BPF_CORE_READ(before, core_layout.size);
		return;
	}
	record->base = (__u64)BPF_CORE_READ(module, mem[0].base);
	record->byte_count =
		(__u64)BPF_CORE_READ(module, mem[0].size) + BPF_CORE_READ(module, mem[1].size) +
		BPF_CORE_READ(module, mem[2].size) + BPF_CORE_READ(module, mem[3].size);
}

static __always_inline void send_module(__u64 *context, __u32 is_loaded, const __u32 stack_bytes)
{
	const struct module *module = (const void *)context[0];
	struct etw_kernel_module *record;

	record = bpf_ringbuf_reserve(&etw_ring, sizeof(*record) + stack_bytes, 0);
	if (!record) {
		count_drop(ETW_KERNEL_DROP_RING_FULL);
		return;
	}
	begin_record(&record->head, ETW_KERNEL_MODULE);
	record->is_loaded = is_loaded;
	record->reserved = 0;
	find_place(module, record);
	if (bpf_core_read_str(record->name, sizeof(record->name), &module->name) < 0)
		record->name[0] = 0;
	add_stack(context, &record->head, record + 1, stack_bytes);
	bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP);
}

static __always_inline int tell(__u64 *context, __u32 is_loaded)
{
	__u32 stack_bytes;

	if (!is_collected(ETW_KERNEL_COLLECT_MODULES))
		return 0;
	stack_bytes = stack_bytes_of(find_control(), is_loaded ? ETW_KERNEL_STACK_IMAGE_LOAD
							       : ETW_KERNEL_STACK_IMAGE_UNLOAD);
	if (!stack_bytes)
		send_module(context, is_loaded, 0);
	else if (stack_bytes == FRAMED_BYTES)
		send_module(context, is_loaded, FRAMED_BYTES);
	else
		send_module(context, is_loaded, COPIED_BYTES);
	return 0;
}

SEC("tp_btf/module_load")
int etw_module_load(__u64 *context)
{
	return tell(context, 1);
}

SEC("tp_btf/module_free")
int etw_module_free(__u64 *context)
{
	return tell(context, 0);
}

char etw_license[] SEC("license") = "Dual MIT/GPL";
