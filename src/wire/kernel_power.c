/* SPDX-License-Identifier: MIT */
/* The bytes of these events; see wire/kernel_power.h. Source: docs/format/tracelogging.md. */
#include "wire/kernel_power.h"

#include <string.h>

#include <evntrace.h>

#include "wire/kernel_account.h"
#include "wire/own_event.h"

/* Types of fields, as docs/format/tracelogging.md has them. */
#define AS_U32  "\x08"
#define AS_UTF8 "\x82\x23"

/* clang-format off */
#define STATE_SCHEMA                  \
	"\0"                          \
	"IdleState\0"                 \
	"FirstProcessor\0" AS_U32     \
	"LastProcessor\0" AS_U32      \
	"State\0" AS_U32              \
	"LatencyUs\0" AS_U32          \
	"ResidencyUs\0" AS_U32        \
	"Driver\0" AS_UTF8            \
	"Name\0" AS_UTF8              \
	"Description\0" AS_UTF8

#define FREQUENCY_SCHEMA              \
	"\0"                          \
	"ProcessorFrequency\0"        \
	"Processor\0" AS_U32          \
	"CurrentKHz\0" AS_U32         \
	"LeastKHz\0" AS_U32           \
	"MostKHz\0" AS_U32            \
	"Driver\0" AS_UTF8            \
	"Governor\0" AS_UTF8

#define CHANGE_SCHEMA                 \
	"\0"                          \
	"FrequencyChange\0"           \
	"Processor\0" AS_U32          \
	"KHz\0" AS_U32
/* clang-format on */

#define HEAD_BYTES(schema) \
	WIRE_OWN_HEAD_BYTES(sizeof(WIRE_KERNEL_ACCOUNT_PROVIDER_NAME), sizeof(schema) - 1)

static_assert(HEAD_BYTES(STATE_SCHEMA) + 5 * 4 + 3 * WIRE_POWER_TEXT_BYTES <=
		      WIRE_KERNEL_POWER_BYTES_MAX,
	      "room");
static_assert(HEAD_BYTES(FREQUENCY_SCHEMA) + 4 * 4 + 2 * WIRE_POWER_TEXT_BYTES <=
		      WIRE_KERNEL_POWER_BYTES_MAX,
	      "room");
static_assert(HEAD_BYTES(CHANGE_SCHEMA) + 2 * 4 <= WIRE_FREQUENCY_BYTES_MAX, "room");

static uint8_t *begin(const char *schema, uint32_t schema_bytes, uint8_t *room, uint32_t room_bytes)
{
	static const GUID provider = WIRE_KERNEL_ACCOUNT_PROVIDER;
	const struct wire_own_event event = {
		.provider = &provider,
		.provider_name = WIRE_KERNEL_ACCOUNT_PROVIDER_NAME,
		.schema = schema,
		.schema_bytes = schema_bytes,
		.level = TRACE_LEVEL_INFORMATION,
		.process_id = WIRE_OWN_NOBODY,
		.thread_id = WIRE_OWN_NOBODY,
	};

	memset(room, 0, room_bytes);
	return wire_own_event_begin(&event, room);
}

static uint8_t *put_number(uint8_t *at, uint32_t number)
{
	etw_store32(at, number);
	return at + 4;
}

/* @text: of WIRE_POWER_TEXT_BYTES */
static uint8_t *put_text(uint8_t *at, const char *text)
{
	size_t bytes = strnlen(text, WIRE_POWER_TEXT_BYTES - 1);

	memcpy(at, text, bytes);
	at[bytes] = '\0';
	return at + bytes + 1;
}

uint32_t wire_idle_state_encode(const struct wire_idle_state *state, uint8_t *room)
{
	uint8_t *at = begin(STATE_SCHEMA, sizeof(STATE_SCHEMA) - 1, room,
			    WIRE_KERNEL_POWER_BYTES_MAX);

	at = put_number(at, state->first_processor);
	at = put_number(at, state->last_processor);
	at = put_number(at, state->state);
	at = put_number(at, state->latency_us);
	at = put_number(at, state->residency_us);
	at = put_text(at, state->driver);
	at = put_text(at, state->name);
	return wire_own_event_end(room, put_text(at, state->description));
}

uint32_t wire_processor_frequency_encode(const struct wire_processor_frequency *frequency,
					 uint8_t *room)
{
	uint8_t *at = begin(FREQUENCY_SCHEMA, sizeof(FREQUENCY_SCHEMA) - 1, room,
			    WIRE_KERNEL_POWER_BYTES_MAX);

	at = put_number(at, frequency->processor);
	at = put_number(at, frequency->current_khz);
	at = put_number(at, frequency->least_khz);
	at = put_number(at, frequency->most_khz);
	at = put_text(at, frequency->driver);
	return wire_own_event_end(room, put_text(at, frequency->governor));
}

uint32_t wire_frequency_encode(uint32_t processor, uint32_t khz, uint8_t *room)
{
	uint8_t *at = begin(CHANGE_SCHEMA, sizeof(CHANGE_SCHEMA) - 1, room,
			    WIRE_FREQUENCY_BYTES_MAX);

	at = put_number(at, processor);
	return wire_own_event_end(room, put_number(at, khz));
}
