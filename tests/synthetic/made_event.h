/* SPDX-License-Identifier: MIT */
/*
 * One event under construction, in the bytes that a buffer holds: a header of any type, then extended
 * items (modern headers only), then the payload. Sizes and the links between items are set as pieces are
 * added. Test code: running out of room or memory aborts.
 */
#ifndef ETW_TESTS_SYNTHETIC_MADE_EVENT_H
#define ETW_TESTS_SYNTHETIC_MADE_EVENT_H

#include <stddef.h>
#include <stdint.h>

#include <guiddef.h>

#include "wire/etl_event.h"

#define MADE_EVENT_BYTES_MAX 0xFFFF

struct made_event {
	uint8_t bytes[MADE_EVENT_BYTES_MAX + 8];
	size_t count;
	size_t size_at;   /* of the u16 that holds the size */
	size_t link_at;   /* of the last item's linkage; 0 without items */
	int64_t time_raw; /* what the maker takes for the session's now */
};

/* What several header types share. */
struct made_ids {
	uint32_t process_id;
	uint32_t thread_id;
	uint32_t kernel_ticks;
	uint32_t user_ticks;
};

/* What a modern header says beside times and ids. */
struct made_descriptor {
	const GUID *provider;
	const GUID *activity; /* NULL for the null GUID */
	uint16_t id;
	uint8_t version, channel, level, opcode;
	uint16_t task;
	uint64_t keyword;
};

/* A WPP message's optional words; which of them are written is up to the options. */
struct made_message {
	uint16_t number;
	uint16_t options;
	uint32_t sequence;
	uint32_t component;
	const GUID *guid;
	struct made_ids ids;
};

/* made_system() - SYSTEM32/64, or COMPACT32/64, which ends before the times. */
void made_system(struct made_event *event, enum wire_header_type type, uint16_t hook,
		 uint16_t version, int64_t time_raw, const struct made_ids *ids);

/* made_perfinfo() - PERFINFO32/64 with @words u64 words, which @version must announce. */
void made_perfinfo(struct made_event *event, enum wire_header_type type, uint16_t hook,
		   uint16_t version, int64_t time_raw, const uint64_t *words, size_t word_count);

/* made_full() - FULL_HEADER32/64, the classic event of user mode. */
void made_full(struct made_event *event, enum wire_header_type type, const GUID *guid,
	       uint8_t opcode, uint8_t level, uint16_t version, int64_t time_raw,
	       const struct made_ids *ids);

/* made_instance() - turns a FULL header of made_full() into INSTANCE32/64, before any payload. */
void made_instance(struct made_event *event, uint32_t instance, uint32_t parent,
		   const GUID *parent_guid);

/* made_modern() - EVENT32/64. */
void made_modern(struct made_event *event, enum wire_header_type type,
		 const struct made_descriptor *descriptor, int64_t time_raw,
		 const struct made_ids *ids);

/* made_item() - an extended item behind a modern header, before any payload. */
void made_item(struct made_event *event, uint16_t type, const void *data, size_t bytes);

/* made_wpp() - a WPP message; @time_raw is written only when the options say so. */
void made_wpp(struct made_event *event, const struct made_message *message, int64_t time_raw);

/* made_put() and its like append to the payload. */
void made_put(struct made_event *event, const void *data, size_t bytes);
void made_fill(struct made_event *event, uint8_t value, size_t bytes);
void made_u8(struct made_event *event, uint8_t value);
void made_u16(struct made_event *event, uint16_t value);
void made_u32(struct made_event *event, uint32_t value);
void made_u64(struct made_event *event, uint64_t value);
void made_pointer(struct made_event *event, unsigned pointer_bytes, uint64_t value);
void made_ansi(struct made_event *event, const char *text);  /* with its NUL */
void made_utf16(struct made_event *event, const char *text); /* of ASCII, with its NUL */
void made_guid(struct made_event *event, const GUID *guid);

#endif
