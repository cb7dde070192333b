/* SPDX-License-Identifier: MIT */
/*
 * Has the host's own code load and attach every BPF program on this kernel, and says what became of each.
 *
 *     load_programs OBJECT...
 *
 * OBJECT: the ELF objects of the build. What is loaded is what the kernel says of this process's descriptors.
 * Lines: object, program, then "loaded" and how many instructions the kernel verified, "lacks" and what the kernel has not got,
 * or "failed". The last line has the sums.
 * Exit status: 0; 1 where a program failed: the kernel has what it is attached to, and it is not loaded; 77 with the reason
 * where nobody can load.
 */
#include <dirent.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "source/kernel/probe/probe.h"
#include "source/kernel/probe/probe_class.h"
#include "source/kernel/programs/bpf_objects.h"
#include "source/kernel/programs/cpu_programs.h"
#include "source/kernel/programs/cpu_programs_internal.h"

#define SKIPPED      77
#define NAME_BYTES   64
#define LOADED_MAX   256
#define RING_BYTES   (1U << 20)
#define FDINFO_BYTES 1024

static struct {
	char name[NAME_BYTES];
	uint32_t verified; /* instructions */
} loaded[LOADED_MAX];
static size_t loaded_count;

static struct {
	unsigned loaded, lacking, failed;
} sums;

/* The host: keeps nothing. */
static const struct etw_source_host host = {0};

static void tell_fault(const char *what, int result, const struct etw_fault *fault)
{
	if (result)
		printf("%s: %d: %s\n", what, result, fault->sentence ? fault->sentence : "");
}

/* Results are told alone: what matters is whether a program is there afterwards. */
static void load_all(struct etw_kernel_bpf *bpf, struct etw_kernel_cpu_bpf *cpu_bpf)
{
	uint32_t kinds = UINT32_MAX; /* one process tree alone too */
	struct etw_fault fault = {0};

	tell_fault("tasks", etw_kernel_bpf_open(bpf, &host, RING_BYTES, &fault), &fault);
	tell_fault("unmaps", etw_kernel_bpf_attach_unmaps(bpf, &host, &fault), &fault);
	tell_fault("maps", etw_kernel_bpf_attach_maps(bpf, &host, &fault), &fault);
	tell_fault("modules", etw_kernel_bpf_attach_modules(bpf, &host, &fault), &fault);
	etw_kernel_cpu_bpf_reset(cpu_bpf);
	tell_fault("frequent events",
		   etw_kernel_cpu_bpf_open(cpu_bpf, bpf, &host, RING_BYTES, &kinds, &fault),
		   &fault);
}

/* The program of a descriptor that is one, or a link of one; 0: neither. */
static uint32_t program_id_of(const char *fd)
{
	char path[sizeof("/proc/self/fdinfo/") + NAME_MAX], text[FDINFO_BYTES];
	const char *at;
	size_t bytes;
	FILE *file;

	(void)snprintf(path, sizeof(path), "/proc/self/fdinfo/%s", fd);
	file = fopen(path, "re");
	if (!file)
		return 0;
	bytes = fread(text, 1, sizeof(text) - 1, file);
	(void)fclose(file);
	text[bytes] = '\0';
	at = strstr(text, "prog_id:");
	return at ? (uint32_t)strtoul(at + strlen("prog_id:"), NULL, 10) : 0;
}

/* In full: what the program's information has is cut off. */
static void read_name(const struct bpf_prog_info *info, const struct bpf_func_info *function,
		      char name[NAME_BYTES])
{
	struct btf *btf = btf__load_from_kernel_by_id(info->btf_id);
	const struct btf_type *type;

	if (libbpf_get_error(btf))
		return;
	type = btf__type_by_id(btf, function->type_id);
	if (type)
		(void)snprintf(name, NAME_BYTES, "%s", btf__name_by_offset(btf, type->name_off));
	btf__free(btf);
}

static void add_loaded(uint32_t id)
{
	struct bpf_func_info function = {0};
	struct bpf_prog_info info = {.nr_func_info = 1,
				     .func_info_rec_size = sizeof(function),
				     .func_info = (uint64_t)(uintptr_t)&function};
	uint32_t bytes = sizeof(info);
	int fd = bpf_prog_get_fd_by_id(id);

	if (fd < 0 || loaded_count == LOADED_MAX)
		return;
	if (!bpf_obj_get_info_by_fd(fd, &info, &bytes)) {
		read_name(&info, &function, loaded[loaded_count].name);
		loaded[loaded_count++].verified = info.verified_insns;
	}
	close(fd);
}

/* A program may be there twice, by its link and by itself. */
static void list_loaded(void)
{
	uint32_t ids[LOADED_MAX], count = 0;
	DIR *folder = opendir("/proc/self/fd");
	struct dirent *entry;

	while (folder && (entry = readdir(folder))) {
		uint32_t id = program_id_of(entry->d_name), i = 0;

		while (i < count && ids[i] != id)
			i++;
		if (id && i == count && count < LOADED_MAX)
			ids[count++] = id;
	}
	if (folder)
		closedir(folder);
	for (uint32_t i = 0; i < count; i++)
		add_loaded(ids[i]);
}

/* Whether the kernel's types have what a program is attached to. @section: of the program */
static bool has_place(const struct btf *kernel, const char *section)
{
	const char *place = strchr(section, '/');
	char name[2 * NAME_BYTES];

	if (!place)
		return true; /* perf's events */
	if (strncmp(section, "iter/", 5) == 0) {
		(void)snprintf(name, sizeof(name), "bpf_iter_%s", place + 1);
		return btf__find_by_name_kind(kernel, name, BTF_KIND_FUNC) > 0;
	}
	(void)snprintf(name, sizeof(name), "btf_trace_%s", place + 1);
	return btf__find_by_name_kind(kernel, name, BTF_KIND_TYPEDEF) > 0;
}

/* What a class that goes on without the program says; NULL: the kernel has what the program needs. */
static const char *sentence_of(const char *program)
{
	const char *sentence = NULL;

	for (size_t i = 0; i < ETW_KERNEL_CPU_PROGRAMS; i++) {
		const struct etw_kernel_program *row = &etw_kernel_programs[i];

		if (strcmp(row->program, program) != 0 || !row->helps ||
		    etw_kernel_probe_features()->has[row->feature])
			continue;
		for (uint32_t j = 0; j < ETW_KERNEL_CLASSES && !sentence; j++)
			sentence = etw_kernel_class_loss((enum etw_kernel_class)j,
							 (enum etw_kernel_feature)row->feature);
		if (!sentence)
			sentence = "another program does it, or none needs it";
	}
	return sentence;
}

static void tell_program(const struct btf *kernel, const char *object,
			 const struct bpf_program *program)
{
	const char *name = bpf_program__name(program);
	const char *section = bpf_program__section_name(program);
	const char *sentence = sentence_of(name);

	printf("%s\t%s\t", object, name);
	for (size_t i = 0; i < loaded_count; i++) {
		if (strcmp(loaded[i].name, name) != 0)
			continue;
		printf("loaded\t%" PRIu32 "\n", loaded[i].verified);
		sums.loaded++;
		return;
	}
	if (sentence || !has_place(kernel, section)) {
		printf("lacks\t%s: %s\n", section, sentence ? sentence : "it is not there");
		sums.lacking++;
		return;
	}
	printf("failed\t%s\n", section);
	sums.failed++;
}

static int tell_object(const struct btf *kernel, const char *path)
{
	const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	struct bpf_object *object = bpf_object__open_file(path, NULL);
	struct bpf_program *program;

	if (libbpf_get_error(object)) {
		fprintf(stderr, "%s: no object with BPF programs\n", path);
		return 1;
	}
	bpf_object__for_each_program(program, object) tell_program(kernel, name, program);
	bpf_object__close(object);
	return 0;
}

int main(int count, char **arguments)
{
	struct etw_kernel_cpu_bpf cpu_bpf;
	struct etw_fault fault = {0};
	struct etw_kernel_bpf bpf;
	struct btf *kernel;
	int result = 0;

	if (etw_kernel_probe_check(&fault)) {
		printf("SKIP: %s\n", fault.sentence);
		return SKIPPED;
	}
	load_all(&bpf, &cpu_bpf);
	list_loaded();
	kernel = btf__load_vmlinux_btf();
	if (libbpf_get_error(kernel))
		return 1;
	for (int i = 1; i < count; i++)
		result |= tell_object(kernel, arguments[i]);
	btf__free(kernel);
	etw_kernel_cpu_bpf_close(&cpu_bpf);
	etw_kernel_bpf_close(&bpf);
	printf("%d objects: %u programs loaded, %u lack what they need, %u failed\n", count - 1,
	       sums.loaded, sums.lacking, sums.failed);
	return result || sums.failed || !sums.loaded;
}
