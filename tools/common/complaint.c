/* SPDX-License-Identifier: MIT */
#include "tools/common/complaint.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "base/macros.h"
#include "base/text.h"
#include "consumer/trace.h"
#include "export/export.h"
#include "registry/item.h"
#include "tools/common/foreign.h"
#include "tools/common/program.h"

#define FILE_LINES_MAX 5 /* of one file */

/* "line" of what people write, "byte" of what programs make. */
static const char *unit_of(const char *path)
{
	enum etw_registry_form form;

	if (etw_registry_look(path, &form))
		return "line";
	return form == ETW_REGISTRY_BINARY || form == ETW_REGISTRY_PDB ? "byte" : "line";
}

static bool is_trace(const char *path)
{
	CLEANUP(etw_trace_closep) struct etw_trace *trace = NULL;

	return !etw_trace_open(path, &trace, NULL);
}

static void tell_nothing(const char *severity, const char *path)
{
	const char *name = etw_foreign_name(path);
	enum etw_registry_form form;

	if (is_trace(path))
		name = "a trace";
	if (name && etw_registry_look(path, &form) == -ENODATA)
		etw_program_message(
			"%s%s is %s; event schemas are in manifests, binaries that have "
			"them, MOF, TMF and PDB files",
			severity, path, name);
	else
		etw_program_message("%s%s holds no event schemas", severity, path);
}

void etw_complaint_error(const char *severity, const char *path, int error,
			 const struct etw_fault *fault)
{
	if (error == -EBADMSG && fault && fault->sentence)
		etw_program_message("%s%s, %s %" PRIu64 ": %s (%s)", severity, path, unit_of(path),
				    fault->offset, fault->sentence, fault->structure);
	else if (error == -ENODATA)
		tell_nothing(severity, path);
	else if (error == -EINVAL)
		etw_program_message("%s%s is no regular file", severity, path);
	else
		etw_program_message("%scannot read %s: %s", severity, path, strerror(-error));
}

void etw_complaint_list(const char *path, const struct etw_complaint *at, size_t kept, size_t total,
			size_t *budget)
{
	const char *unit = total ? unit_of(path) : NULL;
	size_t own = FILE_LINES_MAX, told = 0;
	CLEANUP(etw_text_done) struct etw_text name = {0};

	if (!budget)
		budget = &own;
	for (; told < kept && told < FILE_LINES_MAX && *budget; told++, --*budget) {
		etw_text_clear(&name);
		if (at[told].name) {
			etw_text_printf(&name, ": %s", at[told].name);
			(void)etw_export_clean(&name, 0);
		}
		etw_program_message("warning: %s, %s %" PRIu64 ": %s%s", path, unit, at[told].line,
				    at[told].sentence, etw_text_string(&name));
	}
	if (told && told < total)
		etw_program_message("warning: %s: %zu more complaints", path, total - told);
}
