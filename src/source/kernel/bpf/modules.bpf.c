/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Modules of the kernel that come and go: their code is images of the kernel. A module is told when its addresses are final,
 * in front of its init function, and when it is about to be thrown away, also because that function failed.
 */
#include "ring.h"

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

static __always_inline int tell(const struct module *module, __u32 is_loaded)
{
	struct etw_kernel_module *record;

	if (!is_collected(ETW_KERNEL_COLLECT_MODULES))
		return 0;
	record = bpf_ringbuf_reserve(&etw_ring, sizeof(*record), 0);
	if (!record) {
		count_drop(ETW_KERNEL_DROP_RING_FULL);
		return 0;
	}
	begin_record(&record->head, ETW_KERNEL_MODULE);
	record->is_loaded = is_loaded;
	record->reserved = 0;
	find_place(module, record);
	if (bpf_core_read_str(record->name, sizeof(record->name), &module->name) < 0)
		record->name[0] = 0;
	bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP);
	return 0;
}

SEC("tp_btf/module_load")
int etw_module_load(__u64 *context)
{
	return tell((const struct module *)context[0], 1);
}

SEC("tp_btf/module_free")
int etw_module_free(__u64 *context)
{
	return tell((const struct module *)context[0], 0);
}

char etw_license[] SEC("license") = "Dual MIT/GPL";
