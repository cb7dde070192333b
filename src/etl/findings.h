/* SPDX-License-Identifier: MIT */
/*
 * What a reader skipped, repaired or doubts. A damaged file gives every event that can be had; this is
 * the account of the rest. The first findings are kept one by one, all are counted.
 */
#ifndef ETW_ETL_FINDINGS_H
#define ETW_ETL_FINDINGS_H

#include <stdbool.h>
#include <stdint.h>

enum etw_finding_kind {
	ETW_FINDING_REPAIRED, /* a header field was wrong and could be replaced; nothing is lost */
	ETW_FINDING_UNUSED, /* a place for a buffer that was never written (preallocated, crashed) */
	ETW_FINDING_CUT,    /* the file ends within a buffer */
	ETW_FINDING_SKIPPED, /* bytes that belong to no readable buffer */
	ETW_FINDING_EVENTS,  /* bytes within a buffer that are no readable event */
	ETW_FINDING_HEADER,  /* the header event is missing or damaged: times may be wrong */
	ETW_FINDING_LATE,    /* an event older than one already delivered */
	ETW_FINDING_DOUBTED, /* readable, but a sound file does not look so: read with doubt */
	ETW_FINDING_KINDS,
};

struct etw_finding {
	uint64_t
		offset; /* in the file; for ETW_FINDING_EVENTS of a compressed buffer: of the buffer */
	uint64_t bytes;       /* skipped; 0 when none are */
	uint32_t buffer;      /* number in file order, from 0 */
	uint32_t kind;        /* enum etw_finding_kind */
	const char *sentence; /* static, without a full stop */
};

#define ETW_FINDINGS_KEPT 64

struct etw_findings {
	struct etw_finding kept[ETW_FINDINGS_KEPT];
	uint32_t kept_count;
	uint64_t counts[ETW_FINDING_KINDS];
	uint64_t bytes[ETW_FINDING_KINDS];
};

/*
 * etw_findings_add() - counts a finding and keeps it while there is room.
 *
 * Bytes of no buffer that follow those of the finding before, for the same reason, are one finding with them.
 */
void etw_findings_add(struct etw_findings *findings, enum etw_finding_kind kind, uint64_t offset,
		      uint64_t bytes, uint32_t buffer, const char *sentence);

/* etw_findings_append() - adds all of @more, in their order. */
void etw_findings_append(struct etw_findings *findings, const struct etw_findings *more);

/* etw_findings_total() - findings of every kind that mean something could not be read. */
uint64_t etw_findings_total(const struct etw_findings *findings);

/* etw_findings_is_sound() - whether all could be read, and nothing was read with doubt. */
bool etw_findings_is_sound(const struct etw_findings *findings);

/* etw_finding_kind_name() - "repaired", "unused" ... for output; static. */
const char *etw_finding_kind_name(enum etw_finding_kind kind);

#endif
