/* SPDX-License-Identifier: MIT */
/*
 * A manifest as the message compiler sees it: every element with its place, every reference resolved.
 * Decoding needs less and forgives more; its model is schema/manifest. All lists are in the order of
 * the document. Attributes that have no member are asked of `element`.
 *
 * Everything lives in the manifest's arena. Context: one owner thread.
 */
#ifndef ETW_COMPILE_MODEL_H
#define ETW_COMPILE_MODEL_H

#include <guiddef.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "schema/manifest/manifest_xml.h"

#define MC_NO_MESSAGE             UINT32_MAX
#define MC_CHANNELS_MAX           8
#define MC_FIELDS_MAX             99
#define MC_PROVIDERS_WITH_IDS_MAX 16 /* the provider's index has four bits in a message id */

struct mc_culture {
	struct mc_culture *next;
	const char *name; /* "en-US" */
	size_t index;     /* in mc_message.texts; 0: the primary one */
};

/* A string of the string tables, or one of winmeta's: what `message` attributes refer to. */
struct mc_message {
	struct mc_message *next;
	const char *name;   /* id of the string; "level_Informational" for winmeta's */
	const char *symbol; /* that a <message> gives it, or NULL */
	const char **
		texts; /* as written in the manifest, one per culture; NULL: the culture lacks it */
	uint32_t id;   /* MC_NO_MESSAGE: nothing refers to it */
	bool is_id_given; /* by a <message> */
	bool is_winmeta;
	const struct etw_xml_element *element; /* of the first culture; NULL: winmeta's */
};

/* A level, task, opcode or keyword; winmeta's follow those of the manifest as events use them. */
struct mc_name {
	struct mc_name *next;
	const struct etw_xml_element *element; /* NULL: winmeta's */
	const char *name;                      /* with its prefix, for example "win:Error" */
	const char *symbol;                    /* NULL: none given */
	uint64_t value;                        /* of a keyword: its mask */
	GUID event_guid;                       /* of a task */
	const struct mc_name *task;            /* of an opcode; NULL: every task's */
	struct mc_message *message;            /* NULL: none */
	bool is_winmeta;
};

struct mc_names {
	struct mc_name *first, *last;
	size_t count;
};

enum mc_channel_type {
	MC_CHANNEL_ADMIN,
	MC_CHANNEL_OPERATIONAL,
	MC_CHANNEL_ANALYTIC,
	MC_CHANNEL_DEBUG,
};

struct mc_channel {
	struct mc_channel *next;
	const struct etw_xml_element
		*element; /* NULL: not listed, an event uses one of winmeta's */
	const char *name;
	const char *chid; /* NULL: none given */
	const char *symbol;
	uint8_t value;
	enum mc_channel_type type;
	uint64_t keyword; /* the bit that its events get; 0: not listed */
	struct mc_message *message;
	bool is_imported;
	bool is_winmeta;
};

struct mc_map_item {
	struct mc_map_item *next;
	const struct etw_xml_element *element;
	const char *symbol;
	uint32_t value;
	struct mc_message *message;
};

struct mc_map {
	struct mc_map *next;
	const struct etw_xml_element *element;
	const char *name;
	const char *symbol;
	struct mc_map_item *first;
	size_t count;
	bool is_bits;
};

/* A number, or the number that an earlier field holds. */
struct mc_extent {
	bool is_given;
	uint16_t number;
	const struct mc_field *field; /* NULL: the number counts */
};

struct mc_field {
	struct mc_field *next; /* on the same level */
	const struct etw_xml_element *element;
	const char *name;
	uint16_t index; /* among the fields of its level */
	uint16_t in_type;
	uint16_t out_type; /* the default when none is given */
	bool has_out_type;
	bool is_struct;
	struct mc_extent count, length;
	const struct mc_map *map;
	struct mc_field *members; /* of a struct */
	uint16_t member_count;
};

struct mc_template {
	struct mc_template *next;
	const struct etw_xml_element *element;
	const char *tid;
	const char *name; /* NULL: none */
	struct mc_field *fields;
	uint16_t field_count;                    /* on the top level */
	uint16_t all_count;                      /* with the members of structs */
	const struct etw_xml_element *user_data; /* NULL: none */
};

struct mc_filter {
	struct mc_filter *next;
	const struct etw_xml_element *element;
	const char *name;
	const char *symbol;
	uint8_t value, version;
	const struct mc_template *template_of;
	struct mc_message *message;
};

struct mc_event {
	struct mc_event *next;
	const struct etw_xml_element *element;
	const char *symbol; /* never NULL: the default form when none is given */
	const char *name;   /* NULL: none */
	uint16_t value;
	uint8_t version;
	const struct mc_channel *channel; /* NULL: none; so the next ones */
	const struct mc_name *level, *opcode, *task;
	const struct mc_name **keywords; /* in the order of the attribute */
	size_t keyword_count;
	uint64_t mask; /* of the keywords and the channel's bit */
	const struct mc_template *template_of;
	struct mc_message *message;
	unsigned bit; /* its (level, mask) pair in the enable bits */
	bool is_not_logged;
};

struct mc_provider {
	struct mc_provider *next;
	const struct etw_xml_element *element;
	unsigned index;
	const char *name;
	const char *symbol;
	GUID guid;
	GUID control_guid;
	GUID group_guid;
	bool has_control_guid;
	bool has_traits;
	bool has_group;
	bool includes_name; /* in the traits */
	struct mc_message *message;
	struct mc_channel *channels, *last_channel;
	size_t channel_count;
	struct mc_names levels, tasks, opcodes, keywords;
	struct mc_map *maps, *last_map;
	struct mc_template *templates, *last_template;
	struct mc_filter *filters, *last_filter;
	struct mc_event *events, *last_event;
	size_t event_count;
	unsigned bit_count;           /* of the enable bits */
	const struct mc_event **bits; /* the first event of each */
};

struct mc_complaint {
	struct mc_complaint *next;
	uint64_t line, column; /* from 1 */
	size_t number;         /* in the order of the checks */
	bool is_warning;
	const char *text;
};

struct mc_manifest {
	struct etw_arena arena; /* owned */
	const struct etw_xml_element *root;
	const char *winmeta; /* the prefix of winmeta's names, without colon */
	struct mc_culture *cultures;
	size_t culture_count;
	struct mc_message *messages, *last_message;
	struct mc_provider *providers, *last_provider;
	size_t provider_count;
	struct mc_complaint *complaints, *last_complaint; /* by line and column */
	size_t error_count, warning_count;
};

#endif
