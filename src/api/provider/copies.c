/* SPDX-License-Identifier: MIT */
/* See copies.h. */
#include "api/provider/copies.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <string.h>

#define NOTE_NAME      "libetw"
#define NOTE_TYPE      1
#define NOTE_ALIGNMENT 4

/* A program that is fully static may have neither; nothing of it is ever unloaded. */
#pragma weak dlsym
#pragma weak dladdr

const struct etw_copy *etw_first_copy;

static int is_strange;

/*
 * The note: name, and how far from here the table lies (own_copy.h). The linker puts it where dl_iterate_phdr() shows it.
 */
__asm__(".pushsection .note.libetw, \"a\", %note\n"
	"	.balign 4\n"
	"	.hidden etw_copy_note\n"
	"	.globl etw_copy_note\n"
	"etw_copy_note:\n"
	"	.long 2f - 1f\n"
	"	.long 4f - 3f\n"
	"	.long 1\n"
	"1:	.asciz \"libetw\"\n"
	"2:	.balign 4\n"
	"3:	.long etw_own_copy - .\n"
	"4:	.balign 4\n"
	".popsection\n");

#define NAME_BYTES sizeof(NOTE_NAME)
#define TABLE_AT \
	(sizeof(ElfW(Nhdr)) + (NAME_BYTES + NOTE_ALIGNMENT - 1) / NOTE_ALIGNMENT * NOTE_ALIGNMENT)

/* What was found of the loaded objects. */
struct search {
	const uint8_t *first; /* note; NULL: none yet */
	unsigned objects;
	bool is_unloadable; /* the object with this copy */
};

static size_t round_up(size_t bytes, size_t to)
{
	return (bytes + to - 1) / to * to;
}

static bool is_ours(const ElfW(Nhdr) * note, const uint8_t *text)
{
	return note->n_type == NOTE_TYPE && note->n_namesz == NAME_BYTES &&
	       note->n_descsz == sizeof(int32_t) && memcmp(text, NOTE_NAME, NAME_BYTES) == 0;
}

static const struct etw_copy *copy_of(const uint8_t *note)
{
	int32_t distance;

	memcpy(&distance, note + TABLE_AT, sizeof(distance));
	return (const struct etw_copy *)(const void *)(note + TABLE_AT + distance);
}

/* The note of a copy; NULL: there is none. */
static const uint8_t *search_notes(const uint8_t *at, size_t bytes, size_t alignment)
{
	ElfW(Nhdr) note;

	while (bytes >= sizeof(note)) {
		size_t all;

		memcpy(&note, at, sizeof(note));
		all = round_up(sizeof(note) + note.n_namesz, alignment) +
		      round_up(note.n_descsz, alignment);
		if (all > bytes || all < sizeof(note))
			return NULL;
		if (is_ours(&note, at + sizeof(note)))
			return at;
		at += all;
		bytes -= all;
	}
	return NULL;
}

/* Whether the object says that it is never unloaded. */
static bool is_kept(const struct dl_phdr_info *info, const ElfW(Phdr) * dynamic)
{
	const ElfW(Dyn) *at = (const void *)(info->dlpi_addr + dynamic->p_vaddr);

	for (; at->d_tag != DT_NULL; at++) {
		if (at->d_tag == DT_FLAGS_1)
			return at->d_un.d_val & DF_1_NODELETE;
	}
	return false;
}

static int look_at(struct dl_phdr_info *info, size_t size, void *context)
{
	const uint8_t *found = NULL;
	struct search *search = context;
	bool is_unloadable = search->objects++ > 0; /* the first one is the program */

	(void)size;
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *header = &info->dlpi_phdr[i];

		if (header->p_type == PT_NOTE && !found)
			found = search_notes((const uint8_t *)(info->dlpi_addr + header->p_vaddr),
					     header->p_memsz,
					     header->p_align == 8 ? 8 : NOTE_ALIGNMENT);
		if (header->p_type == PT_DYNAMIC && is_unloadable)
			is_unloadable = !is_kept(info, header);
	}
	if (!found)
		return 0;
	if (!search->first)
		search->first = found;
	if (found != etw_copy_note)
		return 0;
	search->is_unloadable = is_unloadable;
	return 1;
}

/* Its thread, its callers in other copies and handlers of fork() need the code until the process ends. */
static void keep_loaded(void)
{
	void *(*open_library)(const char *name, int flags);
	Dl_info info;

	if (!dlsym || !dladdr || !dladdr(etw_copy_note, &info))
		return;
	/* Not by its name: linking a static program would warn of it. What is opened stays so. */
	*(void **)&open_library = dlsym(RTLD_DEFAULT, "dlopen");
	if (open_library)
		(void)open_library(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}

int etw_copy_is_strange(void)
{
	return is_strange;
}

/* Before the constructors of the program or plugin that this is part of, which may register. */
__attribute__((constructor(101))) static void find_first_copy(void)
{
	struct search search = {0};
	const struct etw_copy *first;

	(void)dl_iterate_phdr(look_at, &search);
	if (search.is_unloadable)
		keep_loaded();
	if (!search.first || search.first == etw_copy_note)
		return;
	first = copy_of(search.first);
	if (first->version != ETW_COPY_VERSION || first->bytes < sizeof(*first)) {
		is_strange = 1;
		return;
	}
	etw_first_copy = first;
	/* Stacks begin with what calls this copy, not with the call of the first one here. */
	first->add_stack_entries(etw_stack_own_entries());
}
