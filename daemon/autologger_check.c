/* SPDX-License-Identifier: MIT */
#include "daemon/autologger_check.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "autologger/folder.h"
#include "autologger/status.h"
#include "base/macros.h"
#include "session/session.h"

static int check(const char *state_folder, struct etw_autologger *settings,
		 const struct etw_session_host *host, struct etw_fault *reterr)
{
	TRY(etw_autologger_place(state_folder, /* counter= */ 0, settings, reterr));
	return etw_session_check(host, &settings->config, reterr);
}

static int check_one(const char *config_folder, const char *state_folder, const char *name,
		     const struct etw_session_host *host, FILE *out)
{
	CLEANUP(freep) struct etw_autologger *settings = calloc(1, sizeof(*settings));
	struct etw_fault fault = {0};
	int r;

	if (!settings)
		return -ENOMEM;
	if (etw_autologger_read(config_folder, name, settings, &fault) < 0)
		return 0;
	if (settings->starts) {
		r = check(state_folder, settings, host, &fault);
		if (r < 0)
			(void)fprintf(out, "%s\t%s%s%s\n", name, fault.field ? fault.field : "",
				      fault.field ? ": " : "",
				      fault.sentence ? fault.sentence : strerror(-r));
	}
	etw_autologger_done(settings);
	return 0;
}

int etwd_autologger_check(bool is_system, const struct etw_session_host *host, FILE *out)
{
	CLEANUP(freep) char *config_folder = NULL;
	CLEANUP(freep) char *state_folder = NULL;
	char **names = NULL;
	size_t count = 0;
	int r = etw_autologger_folders(is_system, &config_folder, &state_folder);

	if (r < 0)
		return r == -ENOENT ? 0 : r;
	TRY(etw_autologger_names(config_folder, &names, &count));
	for (size_t i = 0; i < count && r == 0; i++)
		r = check_one(config_folder, state_folder, names[i], host, out);
	etw_autologger_names_free(names, count);
	return r;
}
