/* SPDX-License-Identifier: MIT */
#include "tools/wevtutil/change.h"

#include <errno.h>
#include <string.h>

#include "base/macros.h"
#include "registry/folder.h"
#include "tools/common/program.h"

int wevtutil_change_begin(struct etw_registry_change **ret)
{
	CLEANUP(freep) char *folder = NULL;
	struct etw_fault fault = {0};
	int r = etw_registry_folder(ETW_REGISTRY_USER, &folder);

	if (r < 0) {
		etw_program_message("no home folder is known to keep providers in; set "
				    "ETW_PROVIDERS_DIR");
		return -1;
	}
	r = etw_registry_change_begin(folder, ret, &fault);
	if (r == -EBADMSG || r == -EPROTONOSUPPORT)
		etw_program_message(
			"%s/index cannot be used: %s; without the folder, providers can "
			"be installed anew",
			folder, fault.sentence);
	else if (r < 0)
		etw_program_message("cannot change the providers in %s: %s", folder, strerror(-r));
	return r < 0 ? -1 : 0;
}

int wevtutil_change_commit(struct etw_registry_change *change)
{
	int r = etw_registry_change_commit(change);

	if (r < 0)
		etw_program_message("cannot write the index of providers: %s; nothing has changed",
				    strerror(-r));
	return r < 0 ? -1 : 0;
}
