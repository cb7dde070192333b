/* SPDX-License-Identifier: MIT */
/* What is told of the kernel's own code. See own.h. */
#include "source/kernel/tracker/own.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

#include "base/macros.h"
#include "source/kernel/events/events.h"
#include "source/kernel/events/symbol_events.h"
#include "source/kernel/events/task_stacks.h"

#define KERNEL_PID 0

/* Symbols of one image, in the order of their addresses. */
struct table {
	struct etw_image_symbol *at; /* owned */
	uint32_t count;
};

void etw_kernel_own_done(struct etw_kernel_own *own)
{
	etw_kernel_own_images_done(&own->images);
	etw_kernel_seen_done(&own->seen);
}

static bool list_path(const struct etw_kernel_own *own, char ret[PATH_MAX])
{
	return own->root && snprintf(ret, PATH_MAX, "%s/proc/kallsyms", own->root) < PATH_MAX;
}

bool etw_kernel_own_is_hidden(const struct etw_kernel_own *own)
{
	char path[PATH_MAX];

	return list_path(own, path) && etw_kallsyms_shows_addresses(path) == 0;
}

static void write_image(struct etw_kernel_out *out, enum etw_kernel_opcode opcode,
			const struct etw_kernel_image *image)
{
	const struct etw_kernel_actor nobody = {.tid = 0, .pid = KERNEL_PID};

	etw_kernel_write_image(out, opcode, nobody, KERNEL_PID, image);
	/* Nobody saw who did it: counted as stacks that are missing. */
	if (opcode == ETW_KERNEL_OPCODE_LOAD)
		etw_kernel_task_stack_write(out, ETW_KERNEL_STACK_IMAGE_LOAD, nobody.tid,
					    nobody.pid);
	else if (opcode == ETW_KERNEL_OPCODE_END)
		etw_kernel_task_stack_write(out, ETW_KERNEL_STACK_IMAGE_UNLOAD, nobody.tid,
					    nobody.pid);
}

/* What went, then what came: addresses are used again. */
static void write_changes(const struct etw_kernel_own *own,
			  const struct etw_kernel_own_images *found, struct etw_kernel_out *out)
{
	for (uint32_t i = 0; i < own->images.count; i++)
		if (!etw_kernel_own_images_has(found, &own->images.at[i]))
			write_image(out, ETW_KERNEL_OPCODE_END, &own->images.at[i]);
	for (uint32_t i = 0; i < found->count; i++)
		if (!etw_kernel_own_images_has(&own->images, &found->at[i]))
			write_image(out, ETW_KERNEL_OPCODE_LOAD, &found->at[i]);
}

/* The symbol of a number, up to the next one or to the image's end. */
static void add_symbol(struct table *table, const struct etw_kernel_functions *symbols,
		       uint32_t number, const struct etw_kernel_image *image)
{
	uint64_t start = symbols->at[number].address, end = image->end;
	const char *name = etw_kernel_functions_name(symbols, number);
	struct etw_image_symbol symbol = {
		.offset = start - image->base,
		.name = name,
		.name_bytes = (uint32_t)strlen(name),
	};

	if (number + 1 < symbols->count)
		end = MIN(end, symbols->at[number + 1].address);
	symbol.byte_count = (uint32_t)MIN(end - start, UINT32_MAX);
	if (etw_image_symbol_is_sound(image->base, &symbol))
		table->at[table->count++] = symbol;
}

static void take_all(struct table *table, const struct etw_kernel_functions *symbols,
		     const struct etw_kernel_image *image)
{
	uint32_t number = image->base ? etw_kernel_functions_find(symbols, image->base - 1) + 1 : 0;

	for (; number < symbols->count && symbols->at[number].address < image->end; number++)
		add_symbol(table, symbols, number, image);
}

/* @addresses: in rising order; those before the image were taken. Returns how many were looked at. */
static uint32_t take_seen(struct table *table, const struct etw_kernel_functions *symbols,
			  const struct etw_kernel_image *image, const uint64_t *addresses,
			  uint32_t count)
{
	uint32_t last = UINT32_MAX, used = 0;

	for (; used < count && addresses[used] < image->end; used++) {
		/* A return address may lie behind a function that ends in the call. */
		const uint64_t tried[2] = {addresses[used] - 1, addresses[used]};

		for (size_t i = 0; i < ARRAY_SIZE(tried); i++) {
			uint32_t number = etw_kernel_functions_find(symbols, tried[i]);

			if (tried[i] < image->base || number == UINT32_MAX ||
			    (last != UINT32_MAX && number <= last) ||
			    symbols->at[number].address < image->base)
				continue;
			add_symbol(table, symbols, number, image);
			last = number;
		}
	}
	return used;
}

static int write_symbols(struct etw_kernel_own *own, struct etw_kernel_out *out,
			 const struct etw_kernel_functions *symbols,
			 const struct etw_kernel_own_images *images)
{
	CLEANUP(freep) struct etw_image_symbol *room = NULL;
	CLEANUP(freep) uint64_t *addresses = NULL;
	uint32_t count, used = 0;

	if (!own->seen.is_used || !symbols->count)
		return 0;
	room = calloc(symbols->count, sizeof(*room));
	if (!room)
		return -ENOMEM;
	TRY(etw_kernel_seen_sort(&own->seen, &addresses, &count));
	for (uint32_t i = 0; i < images->count; i++) {
		const struct etw_kernel_image *image = &images->at[i];
		struct table table = {.at = room};

		if (own->seen.is_all)
			take_all(&table, symbols, image);
		else
			used += take_seen(&table, symbols, image, addresses + used, count - used);
		if (table.count)
			etw_kernel_write_symbols(out, KERNEL_PID, image->base, table.at,
						 table.count);
	}
	return 0;
}

static int describe_found(struct etw_kernel_own *own, struct etw_kernel_out *out,
			  enum etw_kernel_own_kind kind, const struct etw_kernel_functions *symbols,
			  const struct etw_kernel_own_images *found)
{
	enum etw_kernel_opcode opcode = kind == ETW_KERNEL_OWN_START ? ETW_KERNEL_OPCODE_DC_START
								     : ETW_KERNEL_OPCODE_DC_END;

	if (kind == ETW_KERNEL_OWN_LEARN)
		return 0;
	if (kind == ETW_KERNEL_OWN_END && own->is_told)
		write_changes(own, found, out);
	for (uint32_t i = 0; i < found->count; i++)
		write_image(out, opcode, &found->at[i]);
	return kind == ETW_KERNEL_OWN_START ? 0 : write_symbols(own, out, symbols, found);
}

/* Both are to be done in any case. Returns 0, or negative errno. */
static int read_now(const struct etw_kernel_own *own, const char *path,
		    struct etw_kernel_functions *symbols, struct etw_kernel_own_images *images)
{
	int r = etw_kernel_functions_read(path, symbols);

	if (!r || r == -ENOENT || r == -EACCES)
		r = etw_kernel_own_images_gather(own->root, symbols, images);
	return r;
}

void etw_kernel_own_prepare(struct etw_kernel_own *own)
{
	struct etw_kernel_own_images found = {0};
	struct etw_kernel_functions symbols;
	char path[PATH_MAX];

	if (!list_path(own, path))
		return;
	if (read_now(own, path, &symbols, &found)) {
		etw_kernel_own_images_done(&found);
	} else {
		etw_kernel_own_images_done(&own->images);
		own->images = found;
		own->is_prepared = true;
	}
	etw_kernel_functions_done(&symbols);
}

int etw_kernel_own_describe(struct etw_kernel_own *own, struct etw_kernel_out *out,
			    enum etw_kernel_own_kind kind)
{
	struct etw_kernel_own_images found = {0}, gone;
	struct etw_kernel_functions symbols;
	char path[PATH_MAX];
	int r;

	if (!list_path(own, path))
		return 0;
	if (own->is_prepared && (kind == ETW_KERNEL_OWN_START || kind == ETW_KERNEL_OWN_LEARN)) {
		own->is_prepared = false;
		own->is_told = true;
		/* Code was made since, some of it in the pages of what was there. */
		if (etw_kernel_own_images_part(&own->images))
			out->no_memory++;
		return describe_found(own, out, kind, NULL, &own->images);
	}
	r = read_now(own, path, &symbols, &found);
	if (!r)
		r = describe_found(own, out, kind, &symbols, &found);
	etw_kernel_functions_done(&symbols);
	gone = kind == ETW_KERNEL_OWN_COPY || r ? found : own->images;
	if (kind != ETW_KERNEL_OWN_COPY && !r) {
		own->images = found;
		own->is_told = true;
	}
	etw_kernel_own_images_done(&gone);
	return r == -ENOMEM ? r : 0;
}
