/* SPDX-License-Identifier: MIT */
#include "tools/etw/tree.h"

#include <errno.h>
#include <string.h>
#include <sys/wait.h>

#include "base/guid.h"
#include "base/macros.h"
#include "base/time.h"
#include "decode/format.h"
#include "export/export.h"
#include "tools/common/grid.h"
#include "tools/common/number.h"
#include "tools/etw/kernel_class.h"

enum {
	OPCODE_START = 1,
	OPCODE_END = 2,
	OPCODE_DC_START = 3,
	OPCODE_DC_END = 4,
};

void tree_done(struct tree *tree)
{
	etw_table_done(&tree->pids);
	etw_table_done(&tree->tids);
	etw_arena_done(&tree->arena);
}

/* An entry of the table: the pid's last node. */
struct holder {
	uint32_t pid;
	struct tree_node *node;
};

static bool has_pid(const void *item, const void *key)
{
	return ((const struct holder *)item)->pid == *(const uint32_t *)key;
}

static struct tree_node *last_node(const struct tree *tree, uint32_t pid)
{
	const struct holder *holder = etw_table_find(&tree->pids, etw_hash_mix(1, pid), has_pid,
						     &pid);

	return holder ? holder->node : NULL;
}

static int hold(struct tree *tree, struct tree_node *node)
{
	uint64_t hash = etw_hash_mix(1, node->pid);
	struct holder *holder = etw_table_find(&tree->pids, hash, has_pid, &node->pid);

	if (holder) {
		holder->node = node;
		return 0;
	}
	holder = etw_arena_alloc(&tree->arena, sizeof(*holder));
	if (!holder)
		return -ENOMEM;
	*holder = (struct holder){node->pid, node};
	return etw_table_insert(&tree->pids, hash, holder);
}

/* The command line, or the program's name in brackets where there is none. */
static const char *read_command(struct tree *tree, const struct etw_decoding *decoding)
{
	const struct etw_item *line = etw_decoding_find(decoding, "CommandLine");
	const struct etw_item *name = etw_decoding_find(decoding, "ImageFileName");
	struct etw_text text = {0};
	const char *command;

	if (line)
		etw_format_item(decoding, line, &text);
	if (!text.bytes && name) {
		etw_text_putc(&text, '[');
		etw_format_item(decoding, name, &text);
		etw_text_putc(&text, ']');
	}
	(void)etw_export_clean(&text, 0);
	command = etw_text_error(&text) ? NULL
					: etw_arena_strdup(&tree->arena, etw_text_string(&text));
	etw_text_done(&text);
	return command;
}

static void link_parent(struct tree *tree, struct tree_node *node)
{
	struct tree_node *parent = last_node(tree, node->parent_pid);

	if (!parent || parent == node)
		return;
	node->parent = parent;
	if (parent->last_child)
		parent->last_child->next = node;
	else
		parent->first_child = node;
	parent->last_child = node;
}

static struct tree_node *make_node(struct tree *tree, uint32_t pid, uint64_t key,
				   const struct etw_decoding *decoding)
{
	struct tree_node *node = etw_arena_alloc(&tree->arena, sizeof(*node));
	uint64_t parent = 0;

	if (!node)
		return NULL;
	(void)kernel_class_number(decoding, "ParentId", &parent);
	node->pid = pid;
	node->parent_pid = (uint32_t)parent;
	node->key = key;
	link_parent(tree, node);
	if (hold(tree, node))
		return NULL;
	if (tree->last)
		tree->last->next_node = node;
	else
		tree->first = node;
	tree->last = node;
	return node;
}

static int take_process(struct tree *tree, const struct etw_decoding *decoding, uint8_t opcode)
{
	int64_t now = decoding->record->EventHeader.TimeStamp.QuadPart;
	uint64_t pid, key = 0, status = 0;
	struct tree_node *node;

	if (!kernel_class_number(decoding, "ProcessId", &pid))
		return 0;
	(void)kernel_class_number(decoding, "UniqueProcessKey", &key);
	node = last_node(tree, (uint32_t)pid);
	if (node && node->key != key)
		node = NULL;
	if (opcode == OPCODE_DC_END) {
		if (node)
			node->is_seen_at_end = true;
		return 0;
	}
	if (opcode == OPCODE_END) {
		(void)kernel_class_number(decoding, "ExitStatus", &status);
		if (node) {
			node->end_ft = now;
			node->status = (uint32_t)status;
		}
		return 0;
	}
	if (!node) {
		node = make_node(tree, (uint32_t)pid, key, decoding);
		if (!node)
			return -ENOMEM;
		node->start_ft = opcode == OPCODE_START ? now : 0;
	}
	node->end_ft = 0;
	node->command = read_command(tree, decoding);
	return node->command ? 0 : -ENOMEM;
}

/* A thread's end at an exec, and its place in the account. */
struct ender {
	uint32_t tid;
	const struct tree_node *node;
	uint64_t ticks;
};

static bool has_tid(const void *item, const void *key)
{
	return ((const struct ender *)item)->tid == *(const uint32_t *)key;
}

static struct ender *find_ender(struct tree *tree, uint32_t tid)
{
	uint64_t hash = etw_hash_mix(2, tid);
	struct ender *ender = etw_table_find(&tree->tids, hash, has_tid, &tid);

	if (ender)
		return ender;
	ender = etw_arena_alloc(&tree->arena, sizeof(*ender));
	if (!ender || etw_table_insert(&tree->tids, hash, ender))
		return NULL;
	ender->tid = tid;
	return ender;
}

/* A header's ticks are those of the thread that acts: at its own end, all that it ever had. */
static int take_thread_end(struct tree *tree, const struct etw_decoding *decoding)
{
	const EVENT_HEADER *header = &decoding->record->EventHeader;
	uint64_t ticks = (uint64_t)header->KernelTime + header->UserTime;
	struct tree_node *node;
	struct ender *ender;
	uint64_t pid, tid;

	if (!ticks || !kernel_class_number(decoding, "ProcessId", &pid) ||
	    !kernel_class_number(decoding, "TThreadId", &tid) || tid != header->ThreadId)
		return 0;
	node = last_node(tree, (uint32_t)pid);
	if (!node)
		return 0;
	ender = find_ender(tree, (uint32_t)tid);
	if (!ender)
		return -ENOMEM;
	/* It lives on after an exec, with its account. */
	if (ender->node == node && ender->ticks <= ticks)
		node->cpu_ft += (ticks - ender->ticks) * tree->tick_ft;
	else
		node->cpu_ft += ticks * tree->tick_ft;
	ender->node = node;
	ender->ticks = ticks;
	tree->has_time = true;
	return 0;
}

int tree_add(struct tree *tree, const struct etw_decoding *decoding)
{
	const EVENT_HEADER *header = &decoding->record->EventHeader;
	uint8_t opcode = header->EventDescriptor.Opcode;

	if (header->ProviderId.Data1 == kernel_class_process.Data1 && opcode >= OPCODE_START &&
	    opcode <= OPCODE_DC_END && etw_guid_equal(&header->ProviderId, &kernel_class_process))
		return take_process(tree, decoding, opcode);
	if (header->ProviderId.Data1 == kernel_class_thread.Data1 && opcode == OPCODE_END &&
	    etw_guid_equal(&header->ProviderId, &kernel_class_thread))
		return take_thread_end(tree, decoding);
	return 0;
}

const struct tree_node *tree_find(const struct tree *tree, uint32_t pid, const char *command)
{
	const struct tree_node *other = NULL;

	for (const struct tree_node *node = tree->first; node; node = node->next_node) {
		if (!node->start_ft)
			continue;
		if (node->pid == pid)
			return node;
		if (!other && !strcmp(node->command, command))
			other = node;
	}
	return other;
}

/* The node after @node, depth first, below @root; NULL at the end. */
static const struct tree_node *next_below(const struct tree_node *root,
					  const struct tree_node *node, size_t *depth)
{
	if (node->first_child) {
		++*depth;
		return node->first_child;
	}
	while (node != root && !node->next) {
		node = node->parent;
		--*depth;
	}
	return node == root ? NULL : node->next;
}

size_t tree_count(const struct tree_node *node)
{
	const struct tree_node *at = node;
	size_t count = 0, depth = 0;

	for (; at; at = next_below(node, at, &depth))
		count++;
	return count;
}

static void put_status(struct etw_text *text, const struct tree_node *node)
{
	int status = (int)node->status;

	if (!node->end_ft)
		etw_text_puts(text, node->is_seen_at_end ? "still running" : "end not seen");
	else if (WIFSIGNALED(status))
		etw_text_printf(text, "signal %d", WTERMSIG(status));
	else
		etw_text_printf(text, "%d", WEXITSTATUS(status));
}

static void put_row(struct etw_grid *grid, const struct tree *tree, const struct tree_node *node,
		    size_t depth)
{
	struct etw_text *cell = etw_grid_cell(grid);

	if (node->end_ft)
		etw_number_duration(cell, etw_filetime_between(node->start_ft, node->end_ft));
	else
		etw_text_putc(cell, '-');
	if (tree->has_time)
		etw_number_duration(etw_grid_cell(grid), (int64_t)node->cpu_ft);
	put_status(etw_grid_cell(grid), node);
	etw_text_unsigned(etw_grid_cell(grid), node->pid);
	etw_text_unsigned(etw_grid_cell(grid), node->parent_pid);
	cell = etw_grid_cell(grid);
	for (size_t i = 0; i < depth; i++)
		etw_text_puts(cell, "  ");
	etw_text_puts(cell, node->command);
}

void tree_write(struct etw_text *text, const struct tree *tree, const struct tree_node *root,
		size_t rows, size_t width, const char *bold, const char *plain)
{
	static const struct etw_grid_column with_time[] = {
		{.title = "duration", .is_right = true}, {.title = "CPU", .is_right = true},
		{.title = "exit", .is_right = true},     {.title = "pid", .is_right = true},
		{.title = "parent", .is_right = true},   {.title = "process", .gives_way = true},
	};
	static const struct etw_grid_column without_time[] = {
		{.title = "duration", .is_right = true}, {.title = "exit", .is_right = true},
		{.title = "pid", .is_right = true},      {.title = "parent", .is_right = true},
		{.title = "process", .gives_way = true},
	};
	const struct tree_node *node = root;
	size_t shown = 0, depth = 0, count = tree_count(root);
	struct etw_grid grid;

	if (tree->has_time)
		etw_grid_init(&grid, with_time, ARRAY_SIZE(with_time));
	else
		etw_grid_init(&grid, without_time, ARRAY_SIZE(without_time));
	for (; node && shown < rows; node = next_below(root, node, &depth), shown++)
		put_row(&grid, tree, node, depth);
	etw_grid_print(&grid, width, bold, plain, text);
	if (count > shown)
		etw_text_printf(text, "  ... and %zu more\n", count - shown);
	etw_grid_done(&grid);
}
