/* SPDX-License-Identifier: MIT */
/* The names in the language that are not fields of a payload: what the header and what the schema says. */
#ifndef ETW_FILTER_OPERAND_H
#define ETW_FILTER_OPERAND_H

#include <stddef.h>
#include <stdint.h>

enum etw_filter_operand_id {
	ETW_FILTER_PROVIDER,
	ETW_FILTER_PROVIDER_ID,
	ETW_FILTER_EVENT,
	ETW_FILTER_ID,
	ETW_FILTER_VERSION,
	ETW_FILTER_LEVEL,
	ETW_FILTER_OPCODE,
	ETW_FILTER_TASK,
	ETW_FILTER_KEYWORD,
	ETW_FILTER_CHANNEL,
	ETW_FILTER_PID,
	ETW_FILTER_TID,
	ETW_FILTER_HEADER_PID,
	ETW_FILTER_HEADER_TID,
	ETW_FILTER_CPU,
	ETW_FILTER_ACTIVITY,
	ETW_FILTER_RELATED_ACTIVITY,
	ETW_FILTER_MOMENT,
	ETW_FILTER_PROCESS,
	ETW_FILTER_USER,
	ETW_FILTER_CLASSIC,
	ETW_FILTER_STATUS,
	ETW_FILTER_MESSAGE,
	ETW_FILTER_PAYLOAD_BYTES,
};

/* What it costs to ask: what is cheaper is asked first. */
enum etw_filter_cost {
	ETW_FILTER_FREE,    /* the header */
	ETW_FILTER_LOOKUP,  /* a table by the header; of some events the payload */
	ETW_FILTER_SCHEMA,  /* the event is decoded, and the answer is remembered for its kind */
	ETW_FILTER_PAYLOAD, /* the event is decoded */
	ETW_FILTER_SEARCH,  /* and a text is made and searched */
};

struct etw_filter_operand {
	const char *name;
	const char *wants; /* "a process id": for sentences */
	uint64_t max;      /* of numbers */
	uint16_t readings; /* enum etw_filter_reading: what it can be compared with */
	uint8_t id;        /* enum etw_filter_operand_id */
	uint8_t cost;      /* enum etw_filter_cost of comparing its numbers, GUIDs or times */
	uint8_t text_cost; /* of comparing its names */
};

/* etw_filter_operand_find() - the operand of this name, which counts as it is written; or NULL. Static. */
const struct etw_filter_operand *etw_filter_operand_find(const char *name, size_t bytes);

/* etw_filter_operand() - by number. Static. */
const struct etw_filter_operand *etw_filter_operand(enum etw_filter_operand_id id);

/* etw_filter_operand_next() - one after the other, from 0; NULL behind the last. */
const struct etw_filter_operand *etw_filter_operand_next(size_t index);

/* etw_filter_level() - the number of a level's name such as "warning", or -1. */
int etw_filter_level(const char *name);

/* etw_filter_status_exists() - whether "complete" or the like is a status (etw_decode_status_name()). */
int etw_filter_status_exists(const char *name);

#endif
