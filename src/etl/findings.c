/* SPDX-License-Identifier: MIT */
#include "etl/findings.h"

/* Whether the finding goes on where the one before ended. */
static bool continues(const struct etw_findings *findings, enum etw_finding_kind kind,
		      uint64_t offset, uint32_t buffer, const char *sentence)
{
	const struct etw_finding *last;

	/* Behind the last that was kept, there may be others that were not. */
	if (kind != ETW_FINDING_SKIPPED || !findings->kept_count ||
	    findings->kept_count == ETW_FINDINGS_KEPT)
		return false;
	last = &findings->kept[findings->kept_count - 1];
	return last->kind == (uint32_t)kind && last->bytes &&
	       last->offset + last->bytes == offset && last->buffer == buffer &&
	       last->sentence == sentence;
}

void etw_findings_add(struct etw_findings *findings, enum etw_finding_kind kind, uint64_t offset,
		      uint64_t bytes, uint32_t buffer, const char *sentence)
{
	findings->bytes[kind] += bytes;
	if (continues(findings, kind, offset, buffer, sentence)) {
		findings->kept[findings->kept_count - 1].bytes += bytes;
		return;
	}
	findings->counts[kind]++;
	if (findings->kept_count == ETW_FINDINGS_KEPT)
		return;
	findings->kept[findings->kept_count++] = (struct etw_finding){offset, bytes, buffer, kind,
								      sentence};
}

void etw_findings_append(struct etw_findings *findings, const struct etw_findings *more)
{
	uint64_t kept[ETW_FINDING_KINDS] = {0}, kept_bytes[ETW_FINDING_KINDS] = {0};

	for (uint32_t i = 0; i < more->kept_count; i++) {
		const struct etw_finding *finding = &more->kept[i];

		etw_findings_add(findings, finding->kind, finding->offset, finding->bytes,
				 finding->buffer, finding->sentence);
		kept[finding->kind]++;
		kept_bytes[finding->kind] += finding->bytes;
	}
	/* Those that were only counted. */
	for (unsigned kind = 0; kind < ETW_FINDING_KINDS; kind++) {
		findings->counts[kind] += more->counts[kind] - kept[kind];
		findings->bytes[kind] += more->bytes[kind] - kept_bytes[kind];
	}
}

uint64_t etw_findings_total(const struct etw_findings *findings)
{
	return findings->counts[ETW_FINDING_CUT] + findings->counts[ETW_FINDING_SKIPPED] +
	       findings->counts[ETW_FINDING_EVENTS] + findings->counts[ETW_FINDING_HEADER];
}

bool etw_findings_is_sound(const struct etw_findings *findings)
{
	return !etw_findings_total(findings) && !findings->counts[ETW_FINDING_DOUBTED];
}

const char *etw_finding_kind_name(enum etw_finding_kind kind)
{
	static const char *const names[ETW_FINDING_KINDS] = {
		[ETW_FINDING_REPAIRED] = "repaired", [ETW_FINDING_UNUSED] = "unused",
		[ETW_FINDING_CUT] = "cut",           [ETW_FINDING_SKIPPED] = "skipped",
		[ETW_FINDING_EVENTS] = "events",     [ETW_FINDING_HEADER] = "header",
		[ETW_FINDING_LATE] = "late",         [ETW_FINDING_DOUBTED] = "doubted",
	};

	return kind < ETW_FINDING_KINDS ? names[kind] : "unknown";
}
