/* SPDX-License-Identifier: MIT */
#include "provider/classes.h"

#include <errno.h>
#include <string.h>

#include "base/atomic.h"

#define INDEX_BITS \
	16 /* of a handle; above it the generation, which is odd while the class is open */

struct class {
	uint64_t generation; /* atomic */
	uint64_t guid[2];    /* atomic */
	uint64_t provider;   /* lock */
	uint32_t instances;  /* atomic: given out so far */
};

static struct class classes[ETW_CLASSES_MAX]; /* index 0 is nobody's */
static uint32_t classes_end = 1;              /* lock; one behind the last that was ever used */

static struct class *find(uint64_t handle)
{
	struct class *class = &classes[handle & (ETW_CLASSES_MAX - 1)];
	const uint64_t generation = handle >> INDEX_BITS;

	if ((handle & ((1u << INDEX_BITS) - 1)) >= ETW_CLASSES_MAX || !(generation & 1) ||
	    load_acquire(&class->generation) != generation)
		return NULL;
	return class;
}

static struct class *find_free(void)
{
	for (uint32_t i = 1; i < classes_end; i++) {
		if (!(load_relaxed(&classes[i].generation) & 1))
			return &classes[i];
	}
	return classes_end < ETW_CLASSES_MAX ? &classes[classes_end++] : NULL;
}

int etw_class_open(const GUID *guid, uint64_t provider, uint64_t *ret)
{
	struct class *class = find_free();
	uint64_t words[2], generation;

	if (!class)
		return -ENOMEM;
	generation = load_relaxed(&class->generation) + 1;
	memcpy(words, guid, sizeof(words));
	store_release(&class->guid[0], words[0]);
	store_release(&class->guid[1], words[1]);
	store_release(&class->instances, 0u);
	class->provider = provider;
	store_release(&class->generation, generation); /* pairs with find() */
	*ret = generation << INDEX_BITS | (uint64_t)(class - classes);
	return 0;
}

void etw_class_close_all(uint64_t provider)
{
	for (uint32_t i = 1; i < classes_end; i++) {
		const uint64_t generation = load_relaxed(&classes[i].generation);

		if (generation & 1 && classes[i].provider == provider)
			store_release(&classes[i].generation, generation + 1);
	}
}

int etw_class_guid(uint64_t handle, GUID *ret)
{
	struct class *class = find(handle);
	uint64_t words[2];

	if (!class)
		return -EBADF;
	words[0] = load_acquire(&class->guid[0]);
	words[1] = load_acquire(&class->guid[1]);
	/* A GUID that came later comes with a later generation. */
	if (find(handle) != class)
		return -EBADF;
	memcpy(ret, words, sizeof(words));
	return 0;
}

int etw_class_next_instance(uint64_t handle, uint32_t *ret)
{
	struct class *class = find(handle);

	if (!class)
		return -EBADF;
	do
		*ret = add_relaxed(&class->instances, 1u) + 1;
	while (*ret == 0);
	return 0;
}
