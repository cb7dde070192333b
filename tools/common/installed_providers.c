/* SPDX-License-Identifier: MIT */
#include "tools/common/installed_providers.h"

#include <string.h>

#include "tools/common/program.h"

static void warn(void *context, const char *path, const struct etw_fault *fault)
{
	(void)context;
	etw_program_message("warning: what was installed from %s is left out: %s",
			    path ? path : "a file", fault->sentence);
}

int etw_installed_providers_open(struct etw_registry **ret)
{
	struct etw_fault fault = {0};
	const char *folder;
	int trouble;

	if (etw_registry_open(ret) < 0) {
		etw_program_message("out of memory");
		return -1;
	}
	trouble = etw_registry_trouble(*ret, &folder, &fault);
	if (trouble)
		etw_program_message("warning: the providers installed in %s are left out: %s",
				    folder, fault.sentence ? fault.sentence : strerror(-trouble));
	etw_registry_set_complain(*ret, warn, NULL);
	return 0;
}

int etw_installed_providers_attach(struct etw_schema_store *store)
{
	struct etw_registry *registry;

	if (etw_installed_providers_open(&registry) < 0)
		return -1;
	etw_registry_attach(registry, store);
	return 0;
}
