/* SPDX-License-Identifier: MIT */
#include "source/kernel/classes.h"

#include <stddef.h>

#include "base/macros.h"

/* In the words of the group masks: wire/group_masks.h. */
static const struct {
	uint32_t word, bit;
	uint32_t kind; /* enum etw_kernel_cpu_kind */
	uint16_t hook; /* of the event that the kind makes */
} classes[] = {
	{1, 0x2, ETW_KERNEL_SAMPLE, 0x0F2E},         /* PROFILE */
	{1, 0x4, ETW_KERNEL_SWITCH, 0x0524},         /* CSWITCH */
	{1, 0x200, ETW_KERNEL_READY, 0x0532},        /* DISPATCHER */
	{2, 0x40, ETW_KERNEL_SYSCALL_ENTER, 0x0F33}, /* SYSCALL */
	{2, 0x40, ETW_KERNEL_SYSCALL_EXIT, 0x0F34},
};

uint32_t etw_kernel_class_kinds(const uint32_t masks[8])
{
	uint32_t kinds = 0;

	for (size_t i = 0; i < ARRAY_SIZE(classes); i++)
		if (masks[classes[i].word] & classes[i].bit)
			kinds |= UINT32_C(1) << classes[i].kind;
	return kinds;
}

uint32_t etw_kernel_class_stack_kinds(const struct etw_source_request *request)
{
	uint32_t kinds = 0;

	for (size_t i = 0; i < ARRAY_SIZE(classes); i++) {
		for (uint32_t j = 0; j < request->stack_hook_count; j++)
			if (request->stack_hooks[j] == classes[i].hook)
				kinds |= UINT32_C(1) << classes[i].kind;
	}
	return kinds & etw_kernel_class_kinds(request->group_masks);
}
