/* SPDX-License-Identifier: MIT */
#include "source/kernel/machine/processors.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "source/kernel/machine/facts.h"

#define LIST_BYTES 4096

struct walk {
	const char *root;
	struct etw_kernel_processors *processors;
};

static bool add_node(void *context, const char *name)
{
	struct walk *walk = context;
	struct etw_kernel_processors *processors = walk->processors;
	uint64_t masks[ETW_KERNEL_GROUPS_MAX];
	struct etw_kernel_node node = {0};
	char list[LIST_BYTES];

	if (strncmp(name, "node", 4) != 0 ||
	    !etw_kernel_fact_text(walk->root, list, sizeof(list),
				  "sys/devices/system/node/%s/cpulist", name))
		return true;
	etw_kernel_fact_processors(list, masks, ETW_KERNEL_GROUPS_MAX);
	for (uint32_t i = 0; i < ETW_KERNEL_GROUPS_MAX && !node.mask; i++)
		node = (struct etw_kernel_node){.mask = masks[i], .group = i};
	/* A node of memory alone has none. */
	if (!node.mask)
		node.group = 0;
	processors->nodes[processors->node_count++] = node;
	return processors->node_count < ETW_KERNEL_NODES_MAX;
}

void etw_kernel_processors_read(const char *root, struct etw_kernel_processors *ret)
{
	struct walk walk = {root, ret};
	char list[LIST_BYTES];

	*ret = (struct etw_kernel_processors){0};
	(void)etw_kernel_fact_text(root, list, sizeof(list), "sys/devices/system/cpu/possible");
	etw_kernel_fact_processors(list, ret->masks, ETW_KERNEL_GROUPS_MAX);
	for (uint32_t i = 0; i < ETW_KERNEL_GROUPS_MAX; i++) {
		if (!ret->masks[i])
			continue;
		ret->group_count = i + 1;
		ret->count = i * ETW_KERNEL_GROUP_PROCESSORS + 64 -
			     (uint32_t)__builtin_clzll(ret->masks[i]);
	}
	etw_kernel_fact_list(root, "sys/devices/system/node", add_node, &walk);
}

static void take_text(const char *value, char *to, size_t room)
{
	(void)snprintf(to, room, "%.*s", (int)strcspn(value, "\n"), value);
}

static void take_line(struct etw_kernel_processor *processor, const char *key, const char *value)
{
	static const struct {
		const char *key;
		size_t at;
	} numbers[] = {
		{"cpu family", offsetof(struct etw_kernel_processor, family)},
		{"model", offsetof(struct etw_kernel_processor, model)},
		{"stepping", offsetof(struct etw_kernel_processor, stepping)},
		{"CPU architecture", offsetof(struct etw_kernel_processor, family)},
		{"CPU part", offsetof(struct etw_kernel_processor, model)},
		{"CPU revision", offsetof(struct etw_kernel_processor, stepping)},
	};
	uint32_t number = (uint32_t)strtoul(value, NULL, 0);

	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		if (strcmp(key, numbers[i].key) == 0)
			memcpy((char *)processor + numbers[i].at, &number, sizeof(number));
	if (strcmp(key, "model name") == 0)
		take_text(value, processor->name, sizeof(processor->name));
	else if (strcmp(key, "vendor_id") == 0 || strcmp(key, "CPU implementer") == 0)
		take_text(value, processor->vendor, sizeof(processor->vendor));
}

/* "key<tabs>: value" in place: cuts the key off. Returns the value, or NULL. */
static const char *split(char *line)
{
	char *colon = strchr(line, ':'), *end = colon;

	if (!colon)
		return NULL;
	while (end > line && strchr(" \t", end[-1]))
		end--;
	*end = '\0';
	return colon + 1 + strspn(colon + 1, " \t");
}

void etw_kernel_processors_tell(const char *root, etw_kernel_processor_told *told, void *context)
{
	struct etw_kernel_processor processor = {0};
	char path[ETW_KERNEL_FACT_PATH_BYTES], line[1024];
	bool is_inside = false;
	FILE *file;

	(void)snprintf(path, sizeof(path), "%s/proc/cpuinfo", root);
	file = fopen(path, "re");
	if (!file)
		return;
	while (fgets(line, sizeof(line), file)) {
		const char *value = split(line);

		if (value && strcmp(line, "processor") == 0) {
			if (is_inside)
				told(context, &processor);
			processor = (struct etw_kernel_processor){0};
			processor.index = (uint32_t)strtoul(value, NULL, 10);
			is_inside = true;
		} else if (value) {
			take_line(&processor, line, value);
		}
	}
	(void)fclose(file);
	if (is_inside)
		told(context, &processor);
}
