/* SPDX-License-Identifier: MIT */
#include "source/kernel/programs/needed_types.h"

#include <errno.h>

#ifdef ETW_KERNEL_BPF

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "base/macros.h"
#include "base/table.h"
#include "source/kernel/programs/all_objects.h"

/* What a program is attached to is a type of this name in the kernel. */
static const struct target {
	const char *
		section; /* what the program's begins with; NULL: @type alone, which programs may call */
	const char *type; /* with the rest of it behind */
	uint32_t kind;
} targets[] = {
	{NULL, ETW_KERNEL_READABLE_FUNCTION, BTF_KIND_FUNC},
	{"tp_btf/", "btf_trace_", BTF_KIND_TYPEDEF},
	{"iter/", "bpf_iter_", BTF_KIND_FUNC},
};

/* A name that an object has, or the rest of its program's section; borrowed from the object. */
struct name {
	const char *text;
	size_t bytes;
	const struct target *target; /* NULL: a type */
};

/* Types that were chosen, in the order of their numbers from 1 on. */
struct choice {
	const struct btf *all;
	struct btf *some;
	struct etw_table names; /* owns its items */
	uint32_t *places;       /* numbers in `some` by those in `all`; 0: not chosen */
	uint32_t *kernel_ids;   /* the other way around */
	uint32_t chosen;
};

static bool is_same_name(const void *item, const void *key)
{
	const struct name *one = item, *other = key;

	return one->bytes == other->bytes && one->target == other->target &&
	       memcmp(one->text, other->text, one->bytes) == 0;
}

static uint64_t hash_of(const struct name *name)
{
	return etw_hash_bytes((uint64_t)(uintptr_t)name->target, name->text, name->bytes);
}

static int want(struct etw_table *names, const char *text, size_t bytes,
		const struct target *target)
{
	const struct name key = {text, bytes, target};
	struct name *name;
	int r;

	if (!bytes || etw_table_find(names, hash_of(&key), is_same_name, &key))
		return 0;
	name = malloc(sizeof(*name));
	if (!name)
		return -ENOMEM;
	*name = key;
	r = etw_table_insert(names, hash_of(&key), name);
	if (r)
		free(name);
	return r;
}

/* Behind "___" is which of several types of one name an object means. */
static size_t bytes_of_name(const char *name)
{
	const char *flavour = strstr(name, "___");

	return flavour ? (size_t)(flavour - name) : strlen(name);
}

static int want_names_of(struct etw_table *names, struct bpf_object *object)
{
	const struct btf *btf = bpf_object__btf(object);
	struct bpf_program *program;

	for (uint32_t i = 1; btf && i < btf__type_cnt(btf); i++) {
		const struct btf_type *type = btf__type_by_id(btf, i);
		const char *name = btf__name_by_offset(btf, type->name_off);

		if (name)
			TRY(want(names, name, bytes_of_name(name), NULL));
	}
	bpf_object__for_each_program(program, object)
	{
		const char *section = bpf_program__section_name(program);

		for (size_t i = 0; i < ARRAY_SIZE(targets); i++) {
			size_t bytes = targets[i].section ? strlen(targets[i].section) : 0;

			if (bytes && strncmp(section, targets[i].section, bytes) == 0)
				TRY(want(names, section + bytes, strlen(section + bytes),
					 &targets[i]));
		}
	}
	return 0;
}

static bool has_name(const struct etw_table *names, const char *text, const struct target *target)
{
	const struct name key = {text, strlen(text), target};

	return etw_table_find(names, hash_of(&key), is_same_name, &key) != NULL;
}

/* The number that a type of the kernel has among those that are chosen, which it becomes one of. */
static uint32_t choose(struct choice *choice, uint32_t id)
{
	if (id && !choice->places[id]) {
		choice->places[id] = ++choice->chosen;
		choice->kernel_ids[choice->chosen] = id;
	}
	return choice->places[id];
}

static bool is_target(const struct choice *choice, uint32_t kind, const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(targets); i++) {
		size_t bytes = strlen(targets[i].type);

		if (kind != targets[i].kind || strncmp(name, targets[i].type, bytes) != 0)
			continue;
		if (!targets[i].section && !name[bytes])
			return true;
		if (has_name(&choice->names, name + bytes, &targets[i]))
			return true;
	}
	return false;
}

static void choose_named(struct choice *choice)
{
	for (uint32_t i = 1; i < btf__type_cnt(choice->all); i++) {
		const struct btf_type *type = btf__type_by_id(choice->all, i);
		const char *name = btf__name_by_offset(choice->all, type->name_off);

		if (!name || !*name)
			continue;
		if (is_target(choice, btf_kind(type), name) ||
		    ((btf_is_composite(type) || btf_is_any_enum(type) || btf_is_typedef(type)) &&
		     has_name(&choice->names, name, NULL)))
			(void)choose(choice, i);
	}
}

/* Chooses what lies in a type, and names it by its new number. Only what has a size is followed. */
static void renumber(struct choice *choice, struct btf_type *type)
{
	if (btf_is_ptr(type)) {
		type->type = 0;
	} else if (btf_is_mod(type) || btf_is_typedef(type)) {
		type->type = choose(choice, type->type);
	} else if (btf_is_array(type)) {
		btf_array(type)->type = choose(choice, btf_array(type)->type);
		btf_array(type)->index_type = choose(choice, btf_array(type)->index_type);
	} else if (btf_is_composite(type)) {
		for (uint16_t i = 0; i < btf_vlen(type); i++) {
			struct btf_member *member = &btf_members(type)[i];

			member->type = choose(choice, member->type);
		}
	}
}

/* Returns the type's new number, or negative errno. */
static int copy(struct choice *choice, uint32_t id)
{
	const struct btf_type *type = btf__type_by_id(choice->all, id);
	const char *name = btf__name_by_offset(choice->all, type->name_off);
	int copied;

	/* Functions are targets; nobody asks for their arguments. */
	if (btf_is_func(type) || btf_is_func_proto(type))
		return btf__add_typedef(choice->some, name && *name ? name : "function", 0);
	copied = btf__add_type(choice->some, choice->all, type);
	/* It is this BTF's own, which is in our hands. */
	if (copied > 0)
		renumber(choice,
			 (struct btf_type *)btf__type_by_id(choice->some, (uint32_t)copied));
	return copied;
}

static int fill(struct choice *choice, struct bpf_object *const *objects, size_t count)
{
	for (size_t i = 0; i < count; i++)
		TRY(want_names_of(&choice->names, objects[i]));
	choose_named(choice);
	/* More are chosen meanwhile. */
	for (uint32_t i = 1; i <= choice->chosen; i++) {
		int copied = copy(choice, choice->kernel_ids[i]);

		if (copied < 0)
			return copied;
		if ((uint32_t)copied != i)
			return -EPROTO;
	}
	return 0;
}

static void free_names(struct etw_table *names)
{
	for (size_t i = 0; i < names->room; i++)
		free(names->slots[i].item);
	etw_table_done(names);
}

static int choose_types(const struct btf *all, struct bpf_object *const *objects, size_t count,
			struct etw_kernel_types *ret)
{
	struct choice choice = {.all = all, .some = btf__new_empty()};
	size_t room = btf__type_cnt(all) + 1;
	uint32_t *shorter;
	int r = -ENOMEM;

	etw_table_init(&choice.names);
	choice.places = calloc(room, sizeof(*choice.places));
	choice.kernel_ids = calloc(room, sizeof(*choice.kernel_ids));
	if (!libbpf_get_error(choice.some) && choice.places && choice.kernel_ids)
		r = fill(&choice, objects, count);
	free_names(&choice.names);
	free(choice.places);
	*ret = (struct etw_kernel_types){choice.some, choice.kernel_ids, choice.chosen + 1U};
	if (r) {
		etw_kernel_types_close(ret);
		return r;
	}
	shorter = realloc(ret->kernel_ids, ret->count * sizeof(*ret->kernel_ids));
	if (shorter)
		ret->kernel_ids = shorter;
	return 0;
}

void etw_kernel_types_close(struct etw_kernel_types *types)
{
	if (!libbpf_get_error(types->some))
		btf__free(types->some);
	free(types->kernel_ids);
	*types = (struct etw_kernel_types){0};
}

/* @objects: room for all of the build's */
static int choose_for_all(const struct btf *all, struct bpf_object **objects,
			  struct etw_kernel_types *ret)
{
	size_t opened = 0;
	int r = 0;

	while (!r && opened < etw_kernel_object_count) {
		const struct etw_kernel_object *object = &etw_kernel_objects[opened];

		objects[opened] = bpf_object__open_mem(object->bytes, *object->byte_count, NULL);
		r = (int)libbpf_get_error(objects[opened]);
		if (!r)
			opened++;
	}
	if (!r)
		r = choose_types(all, objects, opened, ret);
	while (opened)
		bpf_object__close(objects[--opened]);
	return r;
}

int etw_kernel_types_read(const char *btf_path, struct etw_kernel_types *ret)
{
	CLEANUP(freep)
	struct bpf_object **objects = calloc(etw_kernel_object_count, sizeof(struct bpf_object *));
	struct btf *all;
	int r;

	*ret = (struct etw_kernel_types){0};
	if (!objects)
		return -ENOMEM;
	all = btf__parse(btf_path, NULL);
	r = (int)libbpf_get_error(all);
	if (r)
		return r;
	r = choose_for_all(all, objects, ret);
	btf__free(all);
	return r;
}

const void *etw_kernel_types_bytes(const struct etw_kernel_types *types, uint32_t *ret_count)
{
	return btf__raw_data(types->some, ret_count);
}

uint32_t etw_kernel_types_of_kernel(const struct etw_kernel_types *types, uint32_t id)
{
	return id < types->count ? types->kernel_ids[id] : 0;
}

/* Targets are here as types without content. */
static uint32_t find(const struct etw_kernel_types *types, const char *name)
{
	int id = btf__find_by_name_kind(types->some, name, BTF_KIND_TYPEDEF);

	return id > 0 ? etw_kernel_types_of_kernel(types, (uint32_t)id) : 0;
}

uint32_t etw_kernel_types_readable(const struct etw_kernel_types *types)
{
	return find(types, ETW_KERNEL_READABLE_FUNCTION);
}

uint32_t etw_kernel_types_target(const struct etw_kernel_types *types, const char *section)
{
	char name[64];

	for (size_t i = 0; i < ARRAY_SIZE(targets); i++) {
		size_t bytes = targets[i].section ? strlen(targets[i].section) : 0;

		if (!bytes || strncmp(section, targets[i].section, bytes) != 0)
			continue;
		(void)snprintf(name, sizeof(name), "%s%s", targets[i].type, section + bytes);
		return find(types, name);
	}
	return 0;
}

#else

int etw_kernel_types_read(const char *btf_path, struct etw_kernel_types *ret)
{
	(void)btf_path;
	*ret = (struct etw_kernel_types){0};
	return -ENOSYS;
}

const void *etw_kernel_types_bytes(const struct etw_kernel_types *types, uint32_t *ret_count)
{
	(void)types;
	*ret_count = 0;
	return NULL;
}

void etw_kernel_types_close(struct etw_kernel_types *types)
{
	(void)types;
}

uint32_t etw_kernel_types_of_kernel(const struct etw_kernel_types *types, uint32_t id)
{
	(void)types;
	(void)id;
	return 0;
}

uint32_t etw_kernel_types_target(const struct etw_kernel_types *types, const char *section)
{
	(void)types;
	(void)section;
	return 0;
}

uint32_t etw_kernel_types_readable(const struct etw_kernel_types *types)
{
	(void)types;
	return 0;
}

#endif
