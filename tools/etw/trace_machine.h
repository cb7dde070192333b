/* SPDX-License-Identifier: MIT */
/* What a trace says of the machine and the session it comes from, in words. */
#ifndef ETW_TOOLS_ETW_TRACE_MACHINE_H
#define ETW_TOOLS_ETW_TRACE_MACHINE_H

#include "base/text.h"
#include "decode/decode.h"
#include "etl/header.h"
#include "tools/etw/account.h"

/* Facts of SystemConfig and SysConfig events; "" where the trace has none. */
struct machine {
	struct etw_text computer;
	struct etw_text product;   /* "Windows 10 Pro" */
	struct etw_text processor; /* "Intel(R) Core(TM) ..." */
	struct etw_text model;     /* "Dell Inc. Latitude 7400" */
	uint64_t memory_mb;
	struct account account; /* of the trace itself, not of what others say of the machine */
	bool is_linux;          /* a user of it has a SID of a Unix user; see machine_is_linux() */
	bool is_repeated;       /* an earlier trace is of the same machine, and has its facts */
};

/* machine_done() - frees the texts; takes a zeroed struct. */
void machine_done(struct machine *machine);

/* machine_add() - takes in one event. */
void machine_add(struct machine *machine, const struct etw_decoding *decoding);

/*
 * machine_unite() - when both traces are of one machine, moves the facts that @machine lacks to it.
 *
 * Two computer names decide; where one is unknown, the headers must agree down to the time of boot.
 * Returns whether they are, and marks @other as repeated.
 */
bool machine_unite(struct machine *machine, const struct etw_etl_header *header,
		   struct machine *other, const struct etw_etl_header *other_header);

/*
 * machine_is_linux() - whether the trace was recorded on Linux, which its version numbers do not tell.
 *
 * Two things do: a process of a Unix user (S-1-22-1-...), or that the log file has a path that begins with a
 * slash, which none of Windows does.
 */
bool machine_is_linux(const struct machine *machine, const struct etw_etl_header *header);

/* machine_os_name() - "Windows 10 version 22H2" by version and build; NULL when unknown. Static. */
const char *machine_os_name(const struct etw_etl_header *header);

/* machine_write() - "HOST, Windows 7 SP1 (6.1, build 7601), 4 processors at 1,861 MHz, 64-bit". */
void machine_write(struct etw_text *text, const struct machine *machine,
		   const struct etw_etl_header *header);

/* machine_clock_write() - "performance counter, 10,000,000 Hz". */
void machine_clock_write(struct etw_text *text, const struct etw_etl_header *header);

/*
 * machine_overwritten_buffers() - how many buffers a circular file, or the flush of a buffering session, had before those
 * that are there.
 *
 * @buffers:       that are there, with the header's
 * @last_sequence: the highest sequence number in them, by which a flush and a file that was not closed are judged; 0: not
 *                 known
 *
 * Returns 0 for none, and for a file of another mode.
 */
uint64_t machine_overwritten_buffers(const struct etw_etl_header *header, uint64_t buffers,
				     uint64_t last_sequence);

/* machine_mode_write() - the bits of LogFileMode as names joined by ", ". */
void machine_mode_write(struct etw_text *text, uint32_t mode);

/*
 * machine_zone_write() - "UTC-7, Pacific Daylight Time": what was in force when the trace began.
 *
 * Returns false, nothing appended, when the header has none.
 */
bool machine_zone_write(struct etw_text *text, const struct etw_etl_header *header);

#endif
