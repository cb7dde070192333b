/* SPDX-License-Identifier: MIT */
/*
 * The configuration of a session that the host starts by itself (an AutoLogger), as one text file: what Windows keeps in
 * the registry key of that name. Lines in front of the first section are the key's values, a section "[{guid}]" is the
 * subkey of a provider, a section "[{guid}\Filters]" behind it that subkey's own; names and meanings are those of the registry's values, in any case of letters.
 * Source: Microsoft, "Configuring and Starting an AutoLogger Session"; man/etw-autologger.5.
 */
#ifndef ETW_AUTOLOGGER_CONFIG_H
#define ETW_AUTOLOGGER_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <guiddef.h>

#include "autologger/filters.h"
#include "base/fault.h"
#include "wire/message.h"

#define ETW_AUTOLOGGER_BYTES_MAX     (64 * 1024) /* of a file */
#define ETW_AUTOLOGGER_PROVIDERS_MAX 1024
#define ETW_AUTOLOGGER_FILES_MAX     16 /* FileMax */

/* What a section says. */
struct etw_autologger_provider {
	GUID guid;
	bool is_enabled;
	uint8_t level;
	uint32_t property;             /* EVENT_ENABLE_PROPERTY_* */
	uint64_t match_any, match_all; /* of a classic provider: EnableFlags, in match_any */
	struct etw_autologger_filters filters;
};

struct etw_autologger {
	/* Its log_file is as the file has it: neither resolved nor numbered; empty: none was named. */
	struct wire_session_config config;
	bool starts;       /* Start is 1 */
	uint32_t file_max; /* FileMax; 0: one file, overwritten each time */
	bool has_mode, has_guid, has_size;
	struct etw_autologger_provider *providers; /* owned */
	size_t provider_count;
};

/*
 * etw_autologger_parse() - reads the text of a configuration file.
 *
 * @name:   of the session; "GlobalLogger" is the Global Logger, whose GUID need not be given, and which is the NT Kernel
 *          Logger when it has EnableKernelFlags
 * @text:   @bytes bytes; need not be terminated
 * @reterr: its offset is the number of the line, from 1; 0: the file as a whole
 *
 * Returns 0; -EINVAL: a line is not understood, a value is out of range, or there is no Guid; -EOPNOTSUPP: a filter of
 * a type that is not built; -EFBIG: more than ETW_AUTOLOGGER_BYTES_MAX bytes or ETW_AUTOLOGGER_PROVIDERS_MAX providers;
 * -ENAMETOOLONG; -ENOMEM.
 */
int etw_autologger_parse(const char *name, const char *text, size_t bytes,
			 struct etw_autologger *ret, struct etw_fault *reterr);

/* etw_autologger_done() - frees what it owns; harmless on one that is done. */
void etw_autologger_done(struct etw_autologger *autologger);

#endif
