/* SPDX-License-Identifier: MIT */
/*
 * known_index TABLE INDEX - makes the index of known providers of the table: one *.txt file a provider, as
 * docs/format/known-providers.md says. Runs during the build, on the building machine. The same table
 * gives the same bytes.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "table.h"

static struct index the_index; /* for the comparisons of qsort() */

static const char *string_at(le32 offset)
{
	return (const char *)the_index.parts[WIRE_KNOWN_STRINGS].at + le32_get(offset);
}

static int compare_numbers(uint32_t left, uint32_t right)
{
	return (left > right) - (left < right);
}

static int compare_providers(const void *left, const void *right)
{
	const struct wire_known_provider *a = index_item(&the_index, WIRE_KNOWN_PROVIDERS,
							 *(const uint32_t *)left);
	const struct wire_known_provider *b = index_item(&the_index, WIRE_KNOWN_PROVIDERS,
							 *(const uint32_t *)right);
	int r = le16_get(b->flags) - le16_get(a->flags);

	if (!r)
		r = memcmp(a->guid, b->guid, sizeof(a->guid));
	if (!r && le16_get(a->flags))
		fail("known_index: %s and %s have the same GUID", string_at(a->name),
		     string_at(b->name));
	return r ? r : wire_known_compare_names(string_at(a->name), string_at(b->name));
}

static int compare_name_items(const void *left, const void *right)
{
	const struct wire_known_name *a = left, *b = right;
	int r = wire_known_compare_names(string_at(a->name), string_at(b->name));

	return r ? r : compare_numbers(le32_get(a->provider), le32_get(b->provider));
}

static int compare_classes(const void *left, const void *right)
{
	const struct wire_known_class *a = index_item(&the_index, WIRE_KNOWN_CLASSES,
						      etw_load32(left));
	const struct wire_known_class *b = index_item(&the_index, WIRE_KNOWN_CLASSES,
						      etw_load32(right));
	int r = memcmp(a->guid, b->guid, sizeof(a->guid));

	if (!r)
		r = compare_numbers(le16_get(a->type), le16_get(b->type));
	if (!r)
		r = compare_numbers(le16_get(a->version), le16_get(b->version));
	return r ? r : compare_numbers(etw_load32(left), etw_load32(right));
}

/* Providers by GUID; classes refer to them. */
static void sort_providers(void)
{
	struct part *part = &the_index.parts[WIRE_KNOWN_PROVIDERS];
	uint32_t *order = memory_for(NULL, part->count + 1, sizeof(*order));
	uint32_t *places = memory_for(NULL, part->count + 1, sizeof(*places));
	uint8_t *sorted = memory_for(NULL, part->count + 1, part->item_bytes);

	for (uint32_t i = 0; i < part->count; i++)
		order[i] = i;
	qsort(order, part->count, sizeof(*order), compare_providers);
	for (uint32_t i = 0; i < part->count; i++) {
		places[order[i]] = i;
		memcpy(sorted + i * part->item_bytes, part->at + order[i] * part->item_bytes,
		       part->item_bytes);
	}
	for (uint32_t i = 0; i < the_index.parts[WIRE_KNOWN_CLASSES].count; i++) {
		struct wire_known_class *class = index_item(&the_index, WIRE_KNOWN_CLASSES, i);

		class->provider = le32_of(places[le32_get(class->provider)]);
	}
	free(part->at);
	part->at = sorted;
	part->room = part->count + 1;
	free(order);
	free(places);
}

static void add_names(void)
{
	struct part *names = &the_index.parts[WIRE_KNOWN_NAMES];

	for (uint32_t i = 0; i < the_index.parts[WIRE_KNOWN_PROVIDERS].count; i++) {
		const struct wire_known_provider *provider = index_item(&the_index,
									WIRE_KNOWN_PROVIDERS, i);
		struct wire_known_name item = {provider->name, le32_of(i)};

		(void)index_add(&the_index, WIRE_KNOWN_NAMES, &item);
		item.name = provider->formerly;
		if (le32_get(item.name) &&
		    wire_known_compare_names(string_at(provider->name),
					     string_at(provider->formerly)) != 0)
			(void)index_add(&the_index, WIRE_KNOWN_NAMES, &item);
	}
	qsort(names->at, names->count, names->item_bytes, compare_name_items);
}

static void order_classes(void)
{
	struct part *order = &the_index.parts[WIRE_KNOWN_CLASS_ORDER];

	for (uint32_t i = 0; i < the_index.parts[WIRE_KNOWN_CLASSES].count; i++) {
		le32 number = le32_of(i);

		(void)index_add(&the_index, WIRE_KNOWN_CLASS_ORDER, &number);
	}
	qsort(order->at, order->count, order->item_bytes, compare_classes);
}

static int is_table(const struct dirent *entry)
{
	const char *dot = strrchr(entry->d_name, '.');

	return dot && strcmp(dot, ".txt") == 0;
}

/* By bytes, whatever the locale: the same index everywhere. */
static int compare_entries(const struct dirent **left, const struct dirent **right)
{
	return strcmp((*left)->d_name, (*right)->d_name);
}

int main(int argc, char **argv)
{
	struct dirent **entries;
	char path[4096];
	int count, r;

	if (argc != 3)
		fail("usage: known_index TABLE INDEX");
	count = scandir(argv[1], &entries, is_table, compare_entries);
	if (count < 0)
		fail("%s: %s", argv[1], strerror(errno));
	index_init(&the_index);
	for (int i = 0; i < count; i++) {
		if (snprintf(path, sizeof(path), "%s/%s", argv[1], entries[i]->d_name) >=
		    (int)sizeof(path))
			fail("%s: the path is too long", argv[1]);
		read_provider(&the_index, path);
		free(entries[i]);
	}
	free(entries);
	sort_providers();
	add_names();
	order_classes();
	r = index_write(&the_index, argv[2]);
	if (r < 0)
		fail("%s: %s", argv[2], strerror(-r));
	return EXIT_SUCCESS;
}
