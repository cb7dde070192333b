/* SPDX-License-Identifier: MIT */
/* See tell_probe.h. */
#include "daemon/tell_probe.h"

#include "base/macros.h"
#include "source/kernel/probe.h"
#include "source/kernel/probe_class.h"

#define LOSSES_MAX 8 /* of one class */

static int tell_class(FILE *file, enum etw_kernel_class class)
{
	const struct etw_kernel_features *features = etw_kernel_probe_features();
	const char *name = etw_kernel_class_name(class);
	const char *losses[LOSSES_MAX];
	struct etw_fault fault = {0};
	size_t count;

	if (etw_kernel_class_check(features, class, &fault)) {
		fprintf(file, "missing\t%s\t%s: %s\n", name, name, fault.sentence);
		return 1;
	}
	count = etw_kernel_class_loses(features, class, losses, ARRAY_SIZE(losses));
	if (count == 0)
		fprintf(file, "ok\t%s\t\n", name);
	for (size_t i = 0; i < count && i < ARRAY_SIZE(losses); i++)
		fprintf(file, "less\t%s\t%s: %s\n", name, name, losses[i]);
	return 0;
}

int etwd_tell_probe(FILE *file)
{
	struct etw_kernel_probe probe;
	int status = 0;

	etw_kernel_probe_run(&probe);
	for (unsigned need = 0; need < ETW_KERNEL_NEEDS; need++) {
		fprintf(file, "%s\t%s\t%s\n", probe.has[need] ? "ok" : "missing",
			etw_kernel_probe_name(need),
			probe.has[need] ? "" : etw_kernel_probe_sentence(need));
		status |= !probe.has[need];
	}
	if (etw_kernel_probe_check(NULL))
		return status;
	for (unsigned class = 0; class < ETW_KERNEL_CLASSES; class ++)
		status |= tell_class(file, class);
	return status;
}
