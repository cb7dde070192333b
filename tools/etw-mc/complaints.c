/* SPDX-License-Identifier: MIT */
#include "tools/etw-mc/complaints.h"

#include "tools/etw-mc/tell.h"

void mc_tell_complaints(const char *path, const struct mc_manifest *manifest)
{
	size_t told = 0;

	for (const struct mc_complaint *at = manifest->complaints; at; at = at->next, told++)
		mc_tell_at(at->is_warning, path, at->line, at->column, at->text);
	if (told < manifest->error_count + manifest->warning_count)
		mc_tell(manifest->error_count == 0,
			"%s has %zu errors and %zu warnings; the first %zu were told", path,
			manifest->error_count, manifest->warning_count, told);
}
