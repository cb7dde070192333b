/* SPDX-License-Identifier: MIT */
#include "tools/common/known_providers.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "schema/store/store.h"
#include "tools/common/program.h"

#define CONSEQUENCE \
	"what Windows' providers write is decoded only where its schema is given otherwise"

/* What is wrong with the table is no reason to stop: traces bring schemas, and users name them. */
static void tell_opening(int error, const struct etw_fault *fault)
{
	const char *wish = getenv("ETW_KNOWN_PROVIDERS");
	char path[PATH_MAX];
	bool is_found = etw_known_locate(path);

	if (error == -ENOENT && wish && !*wish)
		return;
	if (error == -ENOENT)
		etw_program_message(
			"warning: the table of known providers is missing%s%s; " CONSEQUENCE,
			is_found ? ", it is not at " : "", is_found ? path : "");
	else if (fault->sentence)
		etw_program_message("warning: the table of known providers%s%s is left out: %s "
				    "(%s%s%s, byte %" PRIu64 "); " CONSEQUENCE,
				    is_found ? " at " : "", is_found ? path : "", fault->sentence,
				    fault->structure, fault->field ? ": " : "",
				    fault->field ? fault->field : "", fault->offset);
	else
		etw_program_message(
			"warning: the table of known providers%s%s is left out: %s; " CONSEQUENCE,
			is_found ? " at " : "", is_found ? path : "", strerror(-error));
}

/*
 * Opens the table, owned; NULL where there is none: what is wrong is told on standard error, unless the environment
 * says that none is wanted. Returns 0, or -1 when memory ran out, which is told.
 */
static int open_table(struct etw_known **ret)
{
	struct etw_fault fault = {0};
	int r;

	*ret = NULL;
	r = etw_known_open(NULL, ret, &fault);
	if (r == -ENOMEM) {
		etw_program_message("out of memory");
		return -1;
	}
	if (r < 0)
		tell_opening(r, &fault);
	return 0;
}

int etw_known_providers_attach(struct etw_schema_store *store)
{
	struct etw_known *known;

	TRY(open_table(&known));
	etw_schema_store_set_known(store, known);
	return 0;
}

void etw_known_providers_tell(const struct etw_schema_store *store)
{
	const struct etw_known *known = store ? etw_schema_store_known(store) : NULL;
	struct etw_fault fault;

	if (known && etw_known_damage(known, &fault))
		etw_program_message(
			"warning: the table of known providers is damaged, so that some of its "
			"events were left out: %s (%s%s%s, byte %" PRIu64 ")",
			fault.sentence, fault.structure, fault.field ? ": " : "",
			fault.field ? fault.field : "", fault.offset);
}
