/* SPDX-License-Identifier: MIT */
#include "source/kernel/machine/interrupts.h"

#include <stdbool.h>
#include <stdlib.h>

#include "source/kernel/machine/facts.h"

#define GROUPS_MAX 128 /* of 64 processors */

struct walk {
	const char *root;
	etw_kernel_interrupt_told *told;
	void *context;
	uint32_t count;
};

static void read_affinity(const char *root, const char *name, struct etw_kernel_interrupt *ret)
{
	char text[GROUPS_MAX * 18 + 1];
	uint64_t words[GROUPS_MAX];

	if (!etw_kernel_fact_text(root, text, sizeof(text), "proc/irq/%s/smp_affinity", name))
		return;
	etw_kernel_fact_mask(text, words, GROUPS_MAX);
	for (uint16_t group = 0; group < GROUPS_MAX; group++) {
		if (!words[group])
			continue;
		ret->group = group;
		ret->affinity = words[group];
		return;
	}
}

static bool tell(void *context, const char *name)
{
	struct walk *walk = context;
	struct etw_kernel_interrupt interrupt = {0};
	char *end;

	interrupt.number = (uint32_t)strtoul(name, &end, 10);
	if (*end ||
	    !etw_kernel_fact_text(walk->root, interrupt.handlers, sizeof(interrupt.handlers),
				  "sys/kernel/irq/%s/actions", name) ||
	    !interrupt.handlers[0])
		return true;
	if (walk->count++ == ETW_KERNEL_INTERRUPTS_MAX)
		return false;
	read_affinity(walk->root, name, &interrupt);
	walk->told(walk->context, &interrupt);
	return true;
}

void etw_kernel_interrupts_tell(const char *root, etw_kernel_interrupt_told *told, void *context)
{
	struct walk walk = {root, told, context, 0};

	etw_kernel_fact_list(root, "sys/kernel/irq", tell, &walk);
}
