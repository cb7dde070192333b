/* SPDX-License-Identifier: MIT */
/* The files of the table, one a provider, read into an index: docs/format/known-providers.md. */
#ifndef ETW_GENERATE_KNOWN_INDEX_TABLE_H
#define ETW_GENERATE_KNOWN_INDEX_TABLE_H

#include "index.h"
#include "line.h"

#define TEMPLATE_FIELDS_MAX 1024

/* A list of fields that events refer to. */
struct label {
	char *name;
	uint32_t template;
	bool is_classic;
};

/* One file while it is read. */
struct reader {
	struct index *index;
	struct line line;
	struct wire_known_provider provider;
	struct label *labels;
	size_t label_count;
	size_t label_room;
	uint32_t map;       /* the one that entries belong to, or NONE */
	uint32_t map_begin; /* of this provider in MAPS */
	uint32_t event;     /* the one that further layouts belong to, or NONE */
	unsigned list;      /* enum wire_known_list: the lists come in order */
};

/* read_provider() - adds what a file says to the index, the provider too. */
void read_provider(struct index *index, const char *path);

/* read_fields_line() - a line `fields` or `classicfields`, behind that word. */
void read_fields_line(struct reader *reader, bool is_classic);

/* find_label() - the template that a label stands for. */
uint32_t find_label(const struct reader *reader, const char *name, bool is_classic);

/* read_event_line() - a line `event`, behind that word. */
void read_event_line(struct reader *reader);

/* read_other_line() - a line `or`, behind that word. */
void read_other_line(struct reader *reader);

/* read_class_line() - a line `classic`, behind that word. */
void read_class_line(struct reader *reader);

/* take_guid() - a GUID without braces. */
void take_guid(struct line *line, uint8_t guid[16]);

#endif
