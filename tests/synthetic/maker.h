/* SPDX-License-Identifier: MIT */
/*
 * Writes .etl files as a session, a relogger or a crash would leave them. Events go into one open buffer
 * per processor; a buffer is written when the next event does not fit or when it is flushed. What is
 * written by default passes `tests/walker/etl_walk.py check --strict`. Test code: errors abort.
 * Source: docs/format/etl.md.
 */
#ifndef ETW_TESTS_SYNTHETIC_MAKER_H
#define ETW_TESTS_SYNTHETIC_MAKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/time.h"
#include "synthetic/made_event.h"

enum maker_packing {
	MAKER_PLAIN,
	MAKER_LITERAL, /* compressed, without a single match */
	MAKER_GREEDY,  /* compressed */
};

/* Companions of the header event, in the order in which they are written. */
enum maker_companion {
	MAKER_GROUP_MASKS = 1,   /* 0005 */
	MAKER_PARTITION = 2,     /* 0050 */
	MAKER_DROPPED_TIMES = 4, /* 0052 */
	MAKER_BUILD_LAB = 8,     /* 0042 */
	MAKER_RSDS = 16,         /* 0040 */
};

/* Zero means the default that the comment names. */
struct maker_options {
	uint32_t buffer_bytes; /* 4096 */
	uint32_t processors;   /* 2 */
	uint32_t mode; /* LogFileMode as stored: 1, sequential; maker_open() adds the relogger's */
	unsigned pointer_bytes;    /* of the header event: 8 */
	unsigned os;               /* major << 8 | minor: 10.0 */
	uint32_t build;            /* 19041 */
	enum etw_clock_type clock; /* QPC */
	uint64_t frequency;        /* 10 MHz */
	uint32_t mhz;              /* 2000 */
	int64_t t0_raw;            /* 1,000,000; with the system clock start_ft */
	int64_t start_ft;          /* 2022-06-18 04:26:40 */
	enum maker_packing packing;
	unsigned companions;       /* MAKER_PARTITION where the build has it */
	const char *logger_name;   /* "synthetic" */
	const char *log_file_name; /* "C:\synthetic.etl" */
	uint32_t header_pid;       /* 22 */
	uint32_t events_lost, buffers_lost;
	uint64_t first_sequence; /* 1 */
	uint32_t slots;   /* circular: buffers in the file, the header's included; 0 for no wrap */
	bool is_relogged; /* written by the relogger; compressed files always are */
	bool is_crashed;  /* the header buffer is never rewritten */
	uint64_t preallocated; /* bytes of the whole file, zeros behind what was written */
	uint64_t cut_bytes;    /* taken off the end */
};

struct maker;

/* maker_open() - starts a file: in memory, or in @file, which must be seekable and outlive the maker. */
struct maker *maker_open(const struct maker_options *options, FILE *file);

/* maker_add() - logs an event on a processor. */
void maker_add(struct maker *maker, unsigned processor, const struct made_event *event);

/* maker_flag() - sets flags of the processor's open buffer. */
void maker_flag(struct maker *maker, unsigned processor, uint16_t flags);

/* maker_type() - sets the type of the processor's open buffer. */
void maker_type(struct maker *maker, unsigned processor, uint16_t type);

/* maker_flush() - writes a processor's open buffer, if it holds an event. */
void maker_flush(struct maker *maker, unsigned processor);

/* maker_flush_all() - the same for all processors; the last buffer gets the flush marker. */
void maker_flush_all(struct maker *maker);

/* maker_append() - flushes and goes on as a session that was started in append mode. */
void maker_append(struct maker *maker);

/* maker_next_sequence() - the number that the next fresh buffer gets: where a new file goes on. */
uint64_t maker_next_sequence(const struct maker *maker);

/* maker_close() - flushes, writes the header buffer anew, frees. With memory: returns owned bytes. */
uint8_t *maker_close(struct maker *maker, size_t *ret_bytes);

#endif
