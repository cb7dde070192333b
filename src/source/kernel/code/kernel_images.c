/* SPDX-License-Identifier: MIT */
/* The kernel's own images. See kernel_images.h. */
#include "source/kernel/code/kernel_images.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/macros.h"
#include "source/kernel/procfs/build_id.h"

#define PAGE_BYTES  UINT64_C(4096)
#define GAP_BYTES   UINT64_C(65536) /* between functions of one piece of code made at run time */
#define NOTES_BYTES 4096
#define NAME_BYTES  64 /* of a module, with the NUL */

/* Where files are told to be, and where the release's own folder is. */
struct places {
	const char *root;
	char modules[PATH_MAX]; /* "/usr/lib/modules/6.1.0"; empty: there is none */
	char release[sizeof(((struct utsname *)0)->release)];
};

/* Names of the modules. */
struct modules {
	char (*names)[NAME_BYTES]; /* owned */
	uint32_t count;
};

void etw_kernel_own_images_done(struct etw_kernel_own_images *images)
{
	for (uint32_t i = 0; i < images->count; i++) {
		etw_kernel_text_unref(images->at[i].path);
		etw_kernel_text_unref(images->at[i].wide);
	}
	free(images->at);
	*images = (struct etw_kernel_own_images){0};
}

static bool is_there(const struct places *places, const char *path)
{
	char whole[PATH_MAX];

	return snprintf(whole, sizeof(whole), "%s%s", places->root, path) < PATH_MAX &&
	       access(whole, F_OK) == 0;
}

static void find_places(const char *root, struct places *ret)
{
	static const char *const folders[] = {"/usr/lib/modules", "/lib/modules"};
	struct utsname names;

	*ret = (struct places){.root = root};
	if (uname(&names))
		return;
	memcpy(ret->release, names.release, sizeof(ret->release));
	for (size_t i = 0; i < ARRAY_SIZE(folders); i++) {
		(void)snprintf(ret->modules, sizeof(ret->modules), "%s/%s", folders[i],
			       ret->release);
		if (is_there(ret, ret->modules))
			return;
	}
	ret->modules[0] = '\0';
}

/* The file that the kernel was made as, uncompressed, where it is; else its name. */
static void find_kernel(const struct places *places, char ret[PATH_MAX])
{
	static const struct {
		const char *before, *behind;
	} forms[] = {
		{"/usr/lib/debug/boot/vmlinux-", ""}, {"/usr/lib/debug/lib/modules/", "/vmlinux"},
		{"/usr/lib/modules/", "/vmlinux"},    {"/lib/modules/", "/vmlinux"},
		{"/lib/modules/", "/build/vmlinux"},  {"/boot/vmlinux-", ""},
	};

	for (size_t i = 0; i < ARRAY_SIZE(forms) && places->release[0]; i++) {
		(void)snprintf(ret, PATH_MAX, "%s%s%s", forms[i].before, places->release,
			       forms[i].behind);
		if (is_there(places, ret))
			return;
	}
	(void)snprintf(ret, PATH_MAX, "vmlinux");
}

static void read_build_id(const struct places *places, const char *notes_path,
			  struct etw_kernel_image *image)
{
	uint8_t notes[NOTES_BYTES];
	char path[PATH_MAX];
	FILE *file;
	size_t bytes;
	int r;

	if (snprintf(path, sizeof(path), "%s%s", places->root, notes_path) >= PATH_MAX)
		return;
	file = fopen(path, "re");
	if (!file)
		return;
	bytes = fread(notes, 1, sizeof(notes), file);
	(void)fclose(file);
	r = etw_kernel_build_id_of_notes(notes, bytes, image->build_id);
	image->build_id_bytes = r > 0 ? (uint8_t)r : 0;
}

/* Returns 0; -ENOMEM; -E2BIG when there are too many. */
static int add_image(struct etw_kernel_own_images *images, uint64_t base, uint64_t end,
		     const char *path)
{
	struct etw_kernel_image *image;

	if (images->count >= ETW_KERNEL_OWN_IMAGES_MAX)
		return -E2BIG;
	if (images->count == images->room) {
		uint32_t room = images->room ? images->room * 2 : 64;
		void *more = reallocarray(images->at, room, sizeof(images->at[0]));

		if (!more)
			return -ENOMEM;
		images->at = more;
		images->room = room;
	}
	image = &images->at[images->count];
	*image = (struct etw_kernel_image){
		.base = base,
		.end = end,
		.code_start = base,
		.code_end = end,
		.path = etw_kernel_text_new(path, strlen(path)),
		.wide = etw_kernel_text_new_wide(path),
	};
	images->count++;
	return image->path && image->wide ? 0 : -ENOMEM;
}

static int add_kernel(const struct places *places, const struct etw_kernel_functions *symbols,
		      struct etw_kernel_own_images *images)
{
	char path[PATH_MAX];

	if (!symbols->text_start || symbols->text_end <= symbols->text_start)
		return 0;
	find_kernel(places, path);
	TRY(add_image(images, symbols->text_start, symbols->text_end, path));
	read_build_id(places, "/sys/kernel/notes", &images->at[images->count - 1]);
	return 0;
}

/* A module's file has a dash where its name has an underscore, or has not; and a suffix, or two. */
static bool is_file_of(const char *path, size_t path_bytes, const char *name)
{
	const char *slash = memrchr(path, '/', path_bytes);
	const char *at = slash ? slash + 1 : path;
	size_t left = path_bytes - (size_t)(at - path), bytes = strlen(name);

	if (left < bytes + 3 || memcmp(at + bytes, ".ko", 3) != 0)
		return false;
	for (size_t i = 0; i < bytes; i++)
		if (at[i] != name[i] && !(at[i] == '-' && name[i] == '_'))
			return false;
	return true;
}

/* "kernel/fs/ext4/ext4.ko.xz: kernel/lib/crc16.ko.xz": the path as far as the colon, below the release's folder. */
static bool find_file(const struct places *places, FILE *depends, const char *name,
		      char ret[PATH_MAX])
{
	CLEANUP(freep) char *line = NULL;
	size_t room = 0;

	rewind(depends);
	while (getline(&line, &room, depends) > 0) {
		size_t bytes = strcspn(line, ":\n");

		if (!is_file_of(line, bytes, name))
			continue;
		if (line[0] == '/')
			return snprintf(ret, PATH_MAX, "%.*s", (int)MIN(bytes, PATH_MAX), line) <
			       PATH_MAX;
		return snprintf(ret, PATH_MAX, "%s/%.*s", places->modules,
				(int)MIN(bytes, PATH_MAX), line) < PATH_MAX;
	}
	return false;
}

static int add_name(struct modules *modules, const char *name)
{
	void *more = reallocarray(modules->names, modules->count + 1, sizeof(modules->names[0]));

	if (!more)
		return -ENOMEM;
	modules->names = more;
	(void)snprintf(modules->names[modules->count++], NAME_BYTES, "%s", name);
	return 0;
}

static int add_module(const struct places *places, FILE *depends, const char *line,
		      struct modules *modules, struct etw_kernel_own_images *images)
{
	char name[NAME_BYTES], path[PATH_MAX], notes[PATH_MAX];
	uint64_t bytes, base;

	if (sscanf(line, "%63s %" SCNu64 " %*s %*s %*s %" SCNx64, name, &bytes, &base) != 3 ||
	    !base || !bytes || base + bytes < base)
		return 0;
	if (!depends || !find_file(places, depends, name, path))
		(void)snprintf(path, sizeof(path), "%s.ko", name);
	TRY(add_image(images, base, base + bytes, path));
	TRY(add_name(modules, name));
	(void)snprintf(notes, sizeof(notes), "/sys/module/%s/notes/.note.gnu.build-id", name);
	read_build_id(places, notes, &images->at[images->count - 1]);
	return 0;
}

static FILE *open_below(const char *folder, const char *file)
{
	char path[PATH_MAX];

	return snprintf(path, sizeof(path), "%s%s", folder, file) < PATH_MAX ? fopen(path, "re")
									     : NULL;
}

/* What says where files of modules are; NULL: nothing. */
static FILE *open_depends(const struct places *places)
{
	char folder[PATH_MAX];

	if (!places->modules[0] ||
	    snprintf(folder, sizeof(folder), "%s%s", places->root, places->modules) >= PATH_MAX)
		return NULL;
	return open_below(folder, "/modules.dep");
}

static int add_modules(const struct places *places, struct modules *modules,
		       struct etw_kernel_own_images *images)
{
	FILE *listed = open_below(places->root, "/proc/modules"), *depends;
	CLEANUP(freep) char *line = NULL;
	size_t room = 0;
	int r = 0;

	if (!listed)
		return 0;
	depends = open_depends(places);
	while (!r && getline(&line, &room, listed) > 0)
		r = add_module(places, depends, line, modules, images);
	if (depends)
		(void)fclose(depends);
	(void)fclose(listed);
	return r;
}

static bool is_module(const struct modules *modules, const char *name)
{
	for (uint32_t i = 0; i < modules->count; i++)
		if (strcmp(modules->names[i], name) == 0)
			return true;
	return false;
}

/*
 * What is neither the kernel nor a module: functions of one owner that lie near each other, with none of another's
 * between them. The last one's end is not known.
 */
static int add_made(const struct etw_kernel_functions *symbols, const struct modules *modules,
		    struct etw_kernel_own_images *images)
{
	for (uint32_t i = 0, next; i < symbols->count; i = next) {
		const struct etw_kernel_function *first = &symbols->at[i];
		char name[ETW_KALLSYMS_OWNER_BYTES + 2];
		uint64_t end;

		next = i + 1;
		while (next < symbols->count && symbols->at[next].owner == first->owner &&
		       symbols->at[next].address - symbols->at[next - 1].address < GAP_BYTES)
			next++;
		if (!first->owner || is_module(modules, symbols->owners[first->owner]))
			continue;
		end = ALIGN_UP(symbols->at[next - 1].address + 1, PAGE_BYTES);
		if (next < symbols->count)
			end = MIN(MAX(end, symbols->at[next - 1].address + GAP_BYTES),
				  symbols->at[next].address);
		(void)snprintf(name, sizeof(name), "[%s]", symbols->owners[first->owner]);
		TRY(add_image(images, first->address, end, name));
	}
	return 0;
}

static int compare(const void *left, const void *right)
{
	const struct etw_kernel_image *a = left, *b = right;

	return (a->base > b->base) - (a->base < b->base);
}

/* A module's size counts data that lie elsewhere. */
static void cut_overlaps(struct etw_kernel_own_images *images)
{
	for (uint32_t i = 0; i + 1 < images->count; i++) {
		struct etw_kernel_image *image = &images->at[i];

		if (image->end > images->at[i + 1].base)
			image->end = image->code_end = images->at[i + 1].base;
	}
}

int etw_kernel_own_images_gather(const char *root, const struct etw_kernel_functions *symbols,
				 struct etw_kernel_own_images *ret)
{
	struct modules modules = {0};
	struct places places;
	int r;

	*ret = (struct etw_kernel_own_images){0};
	find_places(root, &places);
	r = add_kernel(&places, symbols, ret);
	if (!r)
		r = add_modules(&places, &modules, ret);
	if (!r)
		r = add_made(symbols, &modules, ret);
	free(modules.names);
	if (ret->count)
		qsort(ret->at, ret->count, sizeof(ret->at[0]), compare);
	cut_overlaps(ret);
	return r == -E2BIG ? 0 : r;
}

/* The last one that was added goes to its place. Returns it. */
static const struct etw_kernel_image *settle_last(struct etw_kernel_own_images *images)
{
	struct etw_kernel_image last = images->at[images->count - 1];
	uint32_t place = images->count - 1;

	for (; place && images->at[place - 1].base > last.base; place--)
		images->at[place] = images->at[place - 1];
	images->at[place] = last;
	return &images->at[place];
}

/* Without memory for its name it is not one. */
static void drop_last(struct etw_kernel_own_images *images)
{
	etw_kernel_own_images_remove(images, &images->at[images->count - 1]);
}

const struct etw_kernel_image *etw_kernel_own_images_add(struct etw_kernel_own_images *images,
							 uint64_t base, uint64_t byte_count,
							 const char *name)
{
	uint32_t count = images->count;

	if (!base || !byte_count || base + byte_count < base)
		return NULL;
	if (add_image(images, base, base + byte_count, name)) {
		if (images->count > count)
			drop_last(images);
		return NULL;
	}
	return settle_last(images);
}

const struct etw_kernel_image *etw_kernel_own_images_of_module(struct etw_kernel_own_images *images,
							       const char *root, const char *name,
							       uint64_t base, uint64_t byte_count)
{
	struct modules modules = {0};
	uint32_t count = images->count, place;
	const struct etw_kernel_image *image;
	struct places places;
	char line[256];
	FILE *depends;
	int r;

	find_places(root, &places);
	depends = open_depends(&places);
	/* As the kernel lists it. */
	(void)snprintf(line, sizeof(line), "%s %" PRIu64 " 0 - Live 0x%" PRIx64, name, byte_count,
		       base);
	r = add_module(&places, depends, line, &modules, images);
	free(modules.names);
	if (depends)
		(void)fclose(depends);
	if (r && images->count > count)
		drop_last(images);
	if (images->count == count)
		return NULL;
	image = settle_last(images);
	/* Its size counts data that lie elsewhere. */
	place = (uint32_t)(image - images->at);
	if (place + 1 < images->count && images->at[place + 1].base > base)
		images->at[place].end = images->at[place].code_end =
			MIN(image->end, images->at[place + 1].base);
	return image;
}

const struct etw_kernel_image *etw_kernel_own_images_at(const struct etw_kernel_own_images *images,
							uint64_t base, uint64_t byte_count)
{
	for (uint32_t i = images->count; i-- > 0;)
		if (images->at[i].base == base &&
		    (!byte_count || images->at[i].end - base == byte_count))
			return &images->at[i];
	return NULL;
}

void etw_kernel_own_images_remove(struct etw_kernel_own_images *images,
				  const struct etw_kernel_image *image)
{
	uint32_t place = (uint32_t)(image - images->at);

	etw_kernel_text_unref(image->path);
	etw_kernel_text_unref(image->wide);
	images->count--;
	memmove(&images->at[place], &images->at[place + 1],
		(images->count - place) * sizeof(images->at[0]));
}

static bool is_same(const struct etw_kernel_image *one, const struct etw_kernel_image *other)
{
	const char *name = etw_kernel_text_string(one->path);

	if (strcmp(name, etw_kernel_text_string(other->path)) != 0)
		return false;
	if (name[0] == '[')
		return one->base < other->end && other->base < one->end;
	return one->base == other->base;
}

/* What of the image at @place lies in the next one becomes that one's; a piece behind it is an image of its own. */
static int part_image(struct etw_kernel_own_images *images, uint32_t place)
{
	struct etw_kernel_image *image = &images->at[place];
	const uint64_t next_base = images->at[place + 1].base, next_end = images->at[place + 1].end;
	const uint64_t end = image->end;
	uint32_t count = images->count;
	int r;

	image->end = image->code_end = next_base;
	if (end <= next_end)
		return 0;
	r = add_image(images, next_end, end, etw_kernel_text_string(image->path));
	if (!r)
		(void)settle_last(images);
	else if (images->count > count)
		drop_last(images);
	return r;
}

int etw_kernel_own_images_part(struct etw_kernel_own_images *images)
{
	uint32_t i = 0;

	while (i + 1 < images->count) {
		if (images->at[i].end > images->at[i + 1].base)
			TRY(part_image(images, i));
		if (images->at[i].end > images->at[i].base)
			i++;
		else
			etw_kernel_own_images_remove(images, &images->at[i]);
	}
	return 0;
}

bool etw_kernel_own_images_has(const struct etw_kernel_own_images *images,
			       const struct etw_kernel_image *image)
{
	for (uint32_t i = 0; i < images->count; i++)
		if (is_same(&images->at[i], image))
			return true;
	return false;
}
