/* SPDX-License-Identifier: MIT */
/* See tell_probe.h. */
#include "daemon/tell_probe.h"

#include <string.h>

#include "base/macros.h"
#include "base/profile_source.h"
#include "source/kernel/kernel_source.h"
#include "source/kernel/probe/probe.h"
#include "source/kernel/probe/probe_class.h"
#include "wire/kernel_names.h"

#define LOSSES_MAX     8 /* of one class */
#define UNSERVED_BYTES 512

static int tell_class(FILE *file, enum etw_kernel_class class)
{
	const struct etw_kernel_features *features = etw_kernel_probe_features();
	const char *name = etw_kernel_probe_class_name(class);
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

/*
 * Kinds of events that Windows has names for, and of which nothing will come on any machine: those of EnableFlags, and
 * those that xperf's groups have.
 */
static void tell_unserved(FILE *file)
{
	uint32_t masks[WIRE_GROUP_MASKS_WORDS] = {0}, ret[WIRE_GROUP_MASKS_WORDS];
	char names[UNSERVED_BYTES];
	const char *group;

	etw_group_masks_of_flags(UINT32_MAX, masks);
	for (size_t i = 0; (group = etw_kernel_group_name(i)); i++)
		(void)etw_kernel_kinds_parse(group, strlen(group), masks);
	(void)etw_kernel_masks_events(masks, ret);
	for (size_t i = 0; i < WIRE_GROUP_MASKS_WORDS; i++)
		ret[i] &= ~etw_kernel_source.masks[i];
	/* A bit of EnableFlags that Windows itself has no name for. */
	ret[0] &= ~UINT32_C(0x08000000);
	if (!etw_kernel_masks_events(ret, ret))
		return;
	etw_kernel_masks_format(ret, names, sizeof(names));
	fprintf(file,
		"less\tunserved\tsessions may ask for these kernel events, and none will come: "
		"%s\n",
		names);
}

/* What samples can be taken by, which only a try tells. */
static void tell_sources(FILE *file)
{
	uint32_t set = etw_profile_sources_probe(etw_perf_open);
	const char *comma = "";
	bool has_counter = false;

	if (!set)
		return;
	fprintf(file, "has\tprofile sources\tsamples can be taken by: ");
	for (uint32_t i = 0; i < ETW_PROFILE_SOURCES; i++) {
		if (!(set >> i & 1))
			continue;
		fprintf(file, "%s%s", comma, etw_profile_source(i)->name);
		comma = ", ";
		has_counter |= etw_profile_source_is_counter(i);
	}
	fprintf(file, "%s\n",
		has_counter
			? ""
			: "; the processors give Linux no counters, as in most virtual machines");
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
	for (unsigned class = 0; class < ETW_KERNEL_CLASSES; class ++) {
		status |= tell_class(file, class);
		/* Without processes nothing is recorded. */
		if (class == ETW_KERNEL_CLASS_TASKS && status &&
		    etw_kernel_probe_class(ETW_KERNEL_CLASS_TASKS, NULL))
			return status;
	}
	tell_sources(file);
	tell_unserved(file);
	return status;
}
