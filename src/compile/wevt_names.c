/* SPDX-License-Identifier: MIT */
/* Channels, levels, tasks, opcodes and keywords of a provider. */
#include <errno.h>
#include <stdlib.h>

#include "compile/wevt_internal.h"

int etw_mc_channels(struct wevt_writer *writer)
{
	const struct mc_channel *first = writer->provider->channels;
	size_t count = 0;
	size_t at;
	int r;

	etw_mc_begin_list(writer, WIRE_WEVT_CHANNELS, "CHAN", sizeof(struct wire_wevt_list));
	for (const struct mc_channel *channel = first; channel; channel = channel->next) {
		struct wire_wevt_channel entry = {
			.flags = le32_of(channel->is_imported ? WIRE_WEVT_CHANNEL_IMPORTED : 0),
			.value = le32_of(channel->value),
			.message = etw_mc_message(channel->message),
		};

		r = etw_mc_place(writer, channel, etw_mc_append(writer, &entry, sizeof(entry)));
		if (r < 0)
			return r;
		count++;
	}
	at = writer->list_at + sizeof(struct wire_wevt_list);
	for (const struct mc_channel *channel = first; channel; channel = channel->next) {
		etw_mc_set32(writer, at + offsetof(struct wire_wevt_channel, name),
			     etw_mc_name(writer, channel->name));
		at += sizeof(struct wire_wevt_channel);
	}
	return etw_mc_end_list(writer, count);
}

static uint64_t scope_of(const struct mc_name *name)
{
	return name->task ? name->task->value : 0;
}

/* By scope, then by value: opcodes of every task come before those of one. */
static int compare_names(const void *left, const void *right)
{
	const struct mc_name *a = *(const struct mc_name *const *)left;
	const struct mc_name *b = *(const struct mc_name *const *)right;

	if (scope_of(a) != scope_of(b))
		return scope_of(a) < scope_of(b) ? -1 : 1;
	return (a->value > b->value) - (a->value < b->value);
}

/* One list of names: how an entry looks, and where in it the name stands. */
struct names_form {
	enum wire_wevt_kind kind;
	const char *magic;
	size_t entry_bytes;
	size_t name_at;
	bool is_sorted;
	void (*fill)(uint8_t *entry, const struct mc_name *name);
};

static int write_names(struct wevt_writer *writer, const struct mc_names *names,
		       const struct names_form *form)
{
	const struct mc_name **all = etw_arena_array(&writer->arena, names->count, sizeof(void *));
	uint8_t entry[sizeof(struct wire_wevt_task)];
	size_t count = 0;
	size_t at;
	int r;

	if (!all && names->count)
		return -ENOMEM;
	for (const struct mc_name *name = names->first; name; name = name->next)
		all[count++] = name;
	if (form->is_sorted && count)
		qsort(all, count, sizeof(void *), compare_names);
	etw_mc_begin_list(writer, form->kind, form->magic, sizeof(struct wire_wevt_list));
	for (size_t i = 0; i < count; i++) {
		form->fill(entry, all[i]);
		r = etw_mc_place(writer, all[i], etw_mc_append(writer, entry, form->entry_bytes));
		if (r < 0)
			return r;
	}
	at = writer->list_at + sizeof(struct wire_wevt_list) + form->name_at;
	for (size_t i = 0; i < count; i++) {
		etw_mc_set32(writer, at, etw_mc_name(writer, all[i]->name));
		at += form->entry_bytes;
	}
	return etw_mc_end_list(writer, count);
}

static void fill_level(uint8_t *to, const struct mc_name *name)
{
	struct wire_wevt_level entry = {
		.value = le32_of((uint32_t)name->value),
		.message = etw_mc_message(name->message),
	};

	memcpy(to, &entry, sizeof(entry));
}

int etw_mc_levels(struct wevt_writer *writer)
{
	static const struct names_form form = {
		.kind = WIRE_WEVT_LEVELS,
		.magic = "LEVL",
		.entry_bytes = sizeof(struct wire_wevt_level),
		.name_at = offsetof(struct wire_wevt_level, name),
		.is_sorted = true,
		.fill = fill_level,
	};

	return write_names(writer, &writer->provider->levels, &form);
}

static void fill_task(uint8_t *to, const struct mc_name *name)
{
	struct wire_wevt_task entry = {
		.value = le32_of((uint32_t)name->value),
		.message = etw_mc_message(name->message),
	};

	memcpy(entry.event_guid, &name->event_guid, sizeof(entry.event_guid));
	memcpy(to, &entry, sizeof(entry));
}

/* In the order of the manifest, unlike the others. */
int etw_mc_tasks(struct wevt_writer *writer)
{
	static const struct names_form form = {
		.kind = WIRE_WEVT_TASKS,
		.magic = "TASK",
		.entry_bytes = sizeof(struct wire_wevt_task),
		.name_at = offsetof(struct wire_wevt_task, name),
		.fill = fill_task,
	};

	return write_names(writer, &writer->provider->tasks, &form);
}

static void fill_opcode(uint8_t *to, const struct mc_name *name)
{
	struct wire_wevt_opcode entry = {
		.task = le16_of((uint16_t)scope_of(name)),
		.value = le16_of((uint16_t)name->value),
		.message = etw_mc_message(name->message),
	};

	memcpy(to, &entry, sizeof(entry));
}

int etw_mc_opcodes(struct wevt_writer *writer)
{
	static const struct names_form form = {
		.kind = WIRE_WEVT_OPCODES,
		.magic = "OPCO",
		.entry_bytes = sizeof(struct wire_wevt_opcode),
		.name_at = offsetof(struct wire_wevt_opcode, name),
		.is_sorted = true,
		.fill = fill_opcode,
	};

	return write_names(writer, &writer->provider->opcodes, &form);
}

static void fill_keyword(uint8_t *to, const struct mc_name *name)
{
	struct wire_wevt_keyword entry = {
		.mask = le64_of(name->value),
		.message = etw_mc_message(name->message),
	};

	memcpy(to, &entry, sizeof(entry));
}

int etw_mc_keywords(struct wevt_writer *writer)
{
	static const struct names_form form = {
		.kind = WIRE_WEVT_KEYWORDS,
		.magic = "KEYW",
		.entry_bytes = sizeof(struct wire_wevt_keyword),
		.name_at = offsetof(struct wire_wevt_keyword, name),
		.is_sorted = true,
		.fill = fill_keyword,
	};

	return write_names(writer, &writer->provider->keywords, &form);
}
