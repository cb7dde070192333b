/* SPDX-License-Identifier: MIT */
/*
 * What a message consists of, told once for encoder and decoder: a table of fields for each struct, in
 * the order in which they are sent.
 */
#include "wire/message.h"

#include <assert.h>

#include "base/macros.h"
#include "wire/message_internal.h"
#include "wire/ring_layout.h"
#include "wire/security.h"

#define CONTROL_CODES   3 /* EVENT_CONTROL_CODE_*: disable, enable, capture state */
#define CLOCK_TYPES_MAX 3 /* enum etw_clock_type; 0: the default */

#define MEMBER(type, member) \
	.offset = offsetof(type, member), .width = (uint32_t)sizeof(((type *)0)->member), .count = 1
#define UP_TO(type, member, largest)                                           \
	{                                                                      \
		.kind = FIELD_NUMBER, MEMBER(type, member), .limit = (largest) \
	}
#define BETWEEN(type, member, least_, largest)                                                    \
	{                                                                                         \
		.kind = FIELD_NUMBER, MEMBER(type, member), .least = (least_), .limit = (largest) \
	}
#define NUMBER(type, member) UP_TO(type, member, UINT64_MAX)
#define FLAG(type, member)   UP_TO(type, member, 1)
#define STATUS(type, member)                               \
	{                                                  \
		.kind = FIELD_STATUS, MEMBER(type, member) \
	}
#define ID(type, member)                                 \
	{                                                \
		.kind = FIELD_GUID, MEMBER(type, member) \
	}
#define NAME(type, member)                               \
	{                                                \
		.kind = FIELD_NAME, MEMBER(type, member) \
	}
#define BYTES(type, member, longest)                                          \
	{                                                                     \
		.kind = FIELD_BYTES, MEMBER(type, member), .limit = (longest) \
	}
#define GROUP(type, member, layout_, count_)                                                    \
	{                                                                                       \
		.kind = FIELD_GROUP, .offset = offsetof(type, member),                          \
		.width = (uint32_t)(sizeof(((type *)0)->member) / (count_)), .count = (count_), \
		.group = &(layout_)                                                             \
	}

#define LAYOUT(type)                                                                               \
	static const struct wire_layout type##_layout = {type##_fields, ARRAY_SIZE(type##_fields), \
							 sizeof(struct type)}

#define T struct wire_hello
static const struct wire_field wire_hello_fields[] = {
	NUMBER(T, protocol),
	BETWEEN(T, role, WIRE_ROLE_PROVIDER, WIRE_ROLE_CONSUMER),
};
LAYOUT(wire_hello);
#undef T

#define T struct wire_welcome
static const struct wire_field wire_welcome_fields[] = {
	NUMBER(T, protocol), FLAG(T, is_system),     NUMBER(T, pid),
	NUMBER(T, uid),      NUMBER(T, incarnation),
};
LAYOUT(wire_welcome);
#undef T

#define T struct wire_register
static const struct wire_field wire_register_fields[] = {
	NUMBER(T, registration),
	FLAG(T, kind),
	ID(T, provider),
	BYTES(T, traits, WIRE_TRAITS_BYTES_MAX),
};
LAYOUT(wire_register);
#undef T

#define T struct wire_unregister
static const struct wire_field wire_unregister_fields[] = {NUMBER(T, registration)};
LAYOUT(wire_unregister);
#undef T

#define T struct wire_enable_slot
static const struct wire_field wire_enable_slot_fields[] = {
	FLAG(T, is_used),     NUMBER(T, session_id),
	NUMBER(T, ring_set),  NUMBER(T, level),
	NUMBER(T, property),  NUMBER(T, match_any),
	NUMBER(T, match_all), BYTES(T, filters, WIRE_SLOT_FILTERS_MAX),
};
LAYOUT(wire_enable_slot);
#undef T

#define T struct wire_enable
static const struct wire_field wire_enable_fields[] = {
	NUMBER(T, registration), UP_TO(T, control_code, CONTROL_CODES - 1),
	FLAG(T, has_callback),   NUMBER(T, level),
	NUMBER(T, match_any),    NUMBER(T, match_all),
	ID(T, source),           GROUP(T, slots, wire_enable_slot_layout, WIRE_ENABLE_SLOTS),
	NUMBER(T, filter_type),  BYTES(T, filter, WIRE_CALLBACK_DATA_MAX),
};
LAYOUT(wire_enable);
#undef T

#define T struct wire_ring_set_ref
static const struct wire_field wire_ring_set_ref_fields[] = {NUMBER(T, ring_set)};
LAYOUT(wire_ring_set_ref);
#undef T

#define T struct wire_image
static const struct wire_field wire_image_fields[] = {
	NUMBER(T, image),
	UP_TO(T, code, WIRE_IMAGE_UNLOADED),
	NUMBER(T, base),
	NUMBER(T, byte_count),
	NAME(T, path),
	BYTES(T, build_id, WIRE_BUILD_ID_BYTES),
	BYTES(T, symbols, WIRE_IMAGE_SYMBOL_BYTES_MAX),
};
LAYOUT(wire_image);
#undef T

#define T struct wire_undelivered
static const struct wire_field wire_undelivered_fields[] = {
	NUMBER(T, session_id),
	NUMBER(T, events),
	NUMBER(T, late_ms),
};
LAYOUT(wire_undelivered);
#undef T

#define T struct wire_kernel_request
static const struct wire_field wire_mask_fields[] = {
	{.kind = FIELD_NUMBER, .width = sizeof(uint32_t), .count = 1, .limit = UINT32_MAX},
};
static const struct wire_layout wire_mask_layout = {wire_mask_fields, 1, sizeof(uint32_t)};
static const struct wire_field wire_kernel_request_fields[] = {
	UP_TO(T, parts, WIRE_KERNEL_PARTS),
	GROUP(T, group_masks, wire_mask_layout, WIRE_GROUP_MASKS_WORDS),
	NUMBER(T, profile_interval_ft),
	NUMBER(T, only_pid),
	UP_TO(T, options, WIRE_KERNEL_UNWIND),
	UP_TO(T, profile_sources, (UINT32_C(1) << ETW_PROFILE_SOURCES) - 1),
	GROUP(T, source_intervals, wire_mask_layout, ETW_PROFILE_SOURCES),
	{.kind = FIELD_HOOKS, MEMBER(T, stack_hooks), .limit = WIRE_STACK_HOOKS_MAX},
};
static_assert(offsetof(T, stack_hooks) - offsetof(T, stack_hook_count) == sizeof(uint32_t),
	      "the count of FIELD_HOOKS is the member before it");
LAYOUT(wire_kernel_request);
#undef T

#define T struct wire_session_config
static const struct wire_field wire_session_config_fields[] = {
	NAME(T, name),
	NAME(T, log_file),
	NAME(T, log_file_shown),
	ID(T, guid),
	UP_TO(T, clock_type, CLOCK_TYPES_MAX),
	NUMBER(T, buffer_kib),
	NUMBER(T, minimum_buffers),
	NUMBER(T, maximum_buffers),
	NUMBER(T, maximum_file_size),
	NUMBER(T, log_file_mode),
	NUMBER(T, flush_timer),
	NUMBER(T, enable_flags),
	NUMBER(T, age_limit),
	NUMBER(T, controller_pid),
	NUMBER(T, controller_tid),
	NUMBER(T, file_mode),
	FLAG(T, is_leased),
	GROUP(T, kernel, wire_kernel_request_layout, 1),
};
LAYOUT(wire_session_config);
#undef T

#define T struct wire_claim
static const struct wire_field wire_claim_fields[] = {
	NUMBER(T, uid),
	NUMBER(T, events),
	NUMBER(T, disregarded),
};
LAYOUT(wire_claim);
#undef T

#define T struct wire_source_loss
static const struct wire_field wire_source_loss_fields[] = {
	NUMBER(T, cause),
	NUMBER(T, class_number),
	NUMBER(T, events),
};
LAYOUT(wire_source_loss);
#undef T

#define T struct wire_session_loss
static const struct wire_field wire_session_loss_fields[] = {
	NUMBER(T, no_buffer),
	NUMBER(T, too_large),
	NUMBER(T, gaps),
	NUMBER(T, rejected),
	NUMBER(T, source),
	NUMBER(T, file),
	NUMBER(T, replaced),
	NUMBER(T, others),
	NUMBER(T, others_counted),
	NUMBER(T, disregarded),
	GROUP(T, claims, wire_claim_layout, WIRE_CLAIMS_MAX),
	GROUP(T, sources, wire_source_loss_layout, WIRE_SOURCE_LOSSES_MAX),
};
LAYOUT(wire_session_loss);
#undef T

#define T struct wire_session_info
static const struct wire_field wire_session_info_fields[] = {
	NUMBER(T, handle),
	GROUP(T, config, wire_session_config_layout, 1),
	NUMBER(T, number_of_buffers),
	NUMBER(T, free_buffers),
	NUMBER(T, events),
	NUMBER(T, bytes),
	NUMBER(T, overwritten),
	NUMBER(T, events_lost),
	NUMBER(T, buffers_written),
	NUMBER(T, log_buffers_lost),
	NUMBER(T, real_time_buffers_lost),
	NUMBER(T, logger_thread_id),
	NUMBER(T, uid),
	NUMBER(T, start_ft),
	FLAG(T, is_leased),
	FLAG(T, is_kernel),
	STATUS(T, file_status),
	GROUP(T, loss, wire_session_loss_layout, 1),
	NAME(T, complaint),
};
LAYOUT(wire_session_info);
#undef T

#define T struct wire_control
static const struct wire_field wire_control_fields[] = {
	UP_TO(T, code, WIRE_CONTROL_KERNEL),
	NUMBER(T, handle),
	NAME(T, name),
	ID(T, guid),
	GROUP(T, config, wire_session_config_layout, 1),
};
LAYOUT(wire_control);
#undef T

#define T struct wire_enable_provider
static const struct wire_field wire_enable_provider_fields[] = {
	NUMBER(T, handle),
	ID(T, provider),
	UP_TO(T, code, CONTROL_CODES - 1),
	NUMBER(T, level),
	NUMBER(T, match_any),
	NUMBER(T, match_all),
	NUMBER(T, timeout_ms),
	NUMBER(T, property),
	ID(T, source),
	BYTES(T, filters, WIRE_FILTER_BYTES_MAX),
};
LAYOUT(wire_enable_provider);
#undef T

#define T struct wire_sessions
static const struct wire_field wire_sessions_fields[] = {
	{.kind = FIELD_HANDLES, MEMBER(T, handles), .limit = WIRE_LIST_SESSIONS_MAX},
};
static_assert(offsetof(T, count) == 0, "the count of FIELD_HANDLES is the first member");
LAYOUT(wire_sessions);
#undef T

#define T struct wire_lease
static const struct wire_field wire_lease_fields[] = {NUMBER(T, handle)};
LAYOUT(wire_lease);
#undef T

#define T struct wire_subscribe
static const struct wire_field wire_subscribe_fields[] = {
	NAME(T, name),     NUMBER(T, consumer),     NUMBER(T, last_batch),
	NUMBER(T, pieces), NUMBER(T, memory_bytes),
};
LAYOUT(wire_subscribe);
#undef T

#define T struct wire_subscribed
static const struct wire_field wire_subscribed_fields[] = {
	NUMBER(T, handle),
	NUMBER(T, session_id),
	NUMBER(T, delivery_bytes),
	NUMBER(T, next_slot),
	NUMBER(T, pieces),
	NUMBER(T, events),
	BYTES(T, header_buffer, WIRE_MESSAGE_BYTES_MAX),
};
LAYOUT(wire_subscribed);
#undef T

#define T struct wire_batch
static const struct wire_field wire_batch_fields[] = {
	NUMBER(T, batch),        NUMBER(T, first_slot),    NUMBER(T, slot_count),
	NUMBER(T, buffer_count), NUMBER(T, watermark_raw), NUMBER(T, pieces),
	NUMBER(T, events),       NUMBER(T, events_lost),
};
LAYOUT(wire_batch);
#undef T

#define T struct wire_statistics_query
static const struct wire_field wire_statistics_query_fields[] = {
	NUMBER(T, handle),
	NUMBER(T, first_cpu),
};
LAYOUT(wire_statistics_query);
#undef T

#define T struct wire_cpu_statistics
static const struct wire_field wire_cpu_statistics_fields[] = {
	NUMBER(T, buffers),
	NUMBER(T, free_buffers),
	NUMBER(T, events),
	NUMBER(T, notes),
	NUMBER(T, buffers_written),
	NUMBER(T, log_buffers_lost),
	NUMBER(T, no_buffer),
	NUMBER(T, too_large),
	NUMBER(T, gaps),
	NUMBER(T, rejected),
	NUMBER(T, source),
	NUMBER(T, file),
	NUMBER(T, delivered_buffers),
	NUMBER(T, delivered_events),
	NUMBER(T, slow_buffers),
	NUMBER(T, slow_events),
	NUMBER(T, unheard_buffers),
	NUMBER(T, unheard_events),
};
LAYOUT(wire_cpu_statistics);
#undef T

#define T struct wire_consumer_statistics
static const struct wire_field wire_consumer_statistics_fields[] = {
	UP_TO(T, state, WIRE_CONSUMER_FUTURE),
	NUMBER(T, buffers),
	NUMBER(T, lost),
	NUMBER(T, waiting),
};
LAYOUT(wire_consumer_statistics);
#undef T

#define T struct wire_statistics
static const struct wire_field wire_statistics_fields[] = {
	NUMBER(T, handle),
	NUMBER(T, number_of_buffers),
	NUMBER(T, free_buffers),
	GROUP(T, loss, wire_session_loss_layout, 1),
	NUMBER(T, filtered),
	NUMBER(T, others_filtered),
	NUMBER(T, missed_buffers),
	NUMBER(T, unread_buffers),
	GROUP(T, consumers, wire_consumer_statistics_layout, WIRE_STATISTICS_CONSUMERS),
	UP_TO(T, cpu_count, WIRE_RING_CPUS_MAX),
	NUMBER(T, first_cpu),
	UP_TO(T, told_cpus, WIRE_STATISTICS_CPUS),
	GROUP(T, cpus, wire_cpu_statistics_layout, WIRE_STATISTICS_CPUS),
};
LAYOUT(wire_statistics);
#undef T

#define T struct wire_access
static const struct wire_field wire_access_fields[] = {
	UP_TO(T, code, WIRE_ACCESS_REMOVE),
	ID(T, guid),
	NUMBER(T, operation),
	NUMBER(T, rights),
	FLAG(T, is_allowed),
	BYTES(T, sid, WIRE_SID_BYTES_MAX),
};
LAYOUT(wire_access);
#undef T

#define T struct wire_run
static const struct wire_field wire_run_fields[] = {BYTES(T, bytes, WIRE_RUN_BYTES_MAX)};
LAYOUT(wire_run);
#undef T

#define T struct wire_enumerate
static const struct wire_field wire_enumerate_fields[] = {
	UP_TO(T, code, WIRE_ENUMERATE_GROUP_SESSIONS),
	ID(T, guid),
	NUMBER(T, cursor),
};
LAYOUT(wire_enumerate);
#undef T

#define T struct wire_enumerated
static const struct wire_field wire_enumerated_fields[] = {
	NUMBER(T, next),
	NUMBER(T, count),
	BYTES(T, bytes, WIRE_RUN_BYTES_MAX),
};
LAYOUT(wire_enumerated);
#undef T

#define T struct wire_inform
static const struct wire_field wire_inform_fields[] = {
	FLAG(T, is_set),
	NUMBER(T, class_),
	NUMBER(T, handle),
	BYTES(T, bytes, WIRE_RUN_BYTES_MAX),
};
LAYOUT(wire_inform);
#undef T

size_t wire_message_encode_plain(const struct wire_message *message, uint8_t *room)
{
	return wire_layout_encode(message, NULL, NULL, room);
}

#define CODEC(name)                                                                        \
	size_t wire_message_encode_##name(const struct wire_message *message,              \
					  const struct wire_##name *body, uint8_t *room)   \
	{                                                                                  \
		return wire_layout_encode(message, &wire_##name##_layout, body, room);     \
	}                                                                                  \
	int wire_message_decode_##name(struct etw_bytes datagram, struct wire_##name *ret) \
	{                                                                                  \
		return wire_layout_decode(datagram, &wire_##name##_layout, ret);           \
	}

CODEC(hello)
CODEC(welcome)
CODEC(register)
CODEC(unregister)
CODEC(enable)
CODEC(ring_set_ref)
CODEC(undelivered)
CODEC(image)
CODEC(session_config)
CODEC(session_info)
CODEC(control)
CODEC(enable_provider)
CODEC(sessions)
CODEC(lease)
CODEC(subscribe)
CODEC(subscribed)
CODEC(batch)
CODEC(statistics_query)
CODEC(statistics)
CODEC(access)
CODEC(run)
CODEC(enumerate)
CODEC(enumerated)
CODEC(inform)
