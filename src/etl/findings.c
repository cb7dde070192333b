/* SPDX-License-Identifier: MIT */
#include "etl/findings.h"

void etw_findings_add(struct etw_findings *findings, enum etw_finding_kind kind, uint64_t offset,
		      uint64_t bytes, uint32_t buffer, const char *sentence)
{
	findings->counts[kind]++;
	findings->bytes[kind] += bytes;
	if (findings->kept_count == ETW_FINDINGS_KEPT)
		return;
	findings->kept[findings->kept_count++] = (struct etw_finding){offset, bytes, buffer, kind,
								      sentence};
}

uint64_t etw_findings_total(const struct etw_findings *findings)
{
	return findings->counts[ETW_FINDING_CUT] + findings->counts[ETW_FINDING_SKIPPED] +
	       findings->counts[ETW_FINDING_EVENTS] + findings->counts[ETW_FINDING_HEADER];
}

const char *etw_finding_kind_name(enum etw_finding_kind kind)
{
	static const char *const names[ETW_FINDING_KINDS] = {
		[ETW_FINDING_REPAIRED] = "repaired", [ETW_FINDING_UNUSED] = "unused",
		[ETW_FINDING_CUT] = "cut",           [ETW_FINDING_SKIPPED] = "skipped",
		[ETW_FINDING_EVENTS] = "events",     [ETW_FINDING_HEADER] = "header",
		[ETW_FINDING_LATE] = "late",
	};

	return kind < ETW_FINDING_KINDS ? names[kind] : "unknown";
}
