/* SPDX-License-Identifier: MIT */
/* What procfs shows. See procfs.h. */
#include "source/kernel/procfs/procfs.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/file.h"
#include "base/macros.h"
#include "source/kernel/processes/images.h"

#define STAT_BYTES     1024
#define STATUS_BYTES   2048
#define VECTOR_WORDS   64 /* more than any kernel gives */
#define PF_EXITING     0x00000004
#define PF_KTHREAD     0x00200000
#define FIELDS_OF_STAT 39 /* from the state (field 3) to the policy (field 41) */
#define FIELDS_NEEDED  20 /* up to the start time (field 22) */
#define FIELD_PARENT   1
#define FIELD_FLAGS    6
#define FIELD_NICE     16
#define FIELD_START    19
#define FIELD_STACK    25
#define FIELD_REALTIME 37
#define FIELD_POLICY   38

static void closedirp(DIR **directory)
{
	if (*directory)
		closedir(*directory);
}

static void fclosep(FILE **file)
{
	if (*file)
		fclose(*file);
}

/* A number that is the whole of a name; 0 otherwise, which is nobody's id. */
static uint32_t parse_id(const char *name)
{
	uint64_t value = 0;

	for (; *name; name++) {
		if (*name < '0' || *name > '9' || value > UINT32_MAX)
			return 0;
		value = value * 10 + (uint64_t)(*name - '0');
	}
	return value <= UINT32_MAX ? (uint32_t)value : 0;
}

int etw_kernel_proc_list(int at, const char *path, etw_kernel_proc_id told, void *context)
{
	int fd = openat(at, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CLEANUP(closedirp) DIR *directory = fd >= 0 ? fdopendir(fd) : NULL;
	struct dirent *entry;

	if (fd < 0)
		return -errno;
	if (!directory) {
		close(fd);
		return -ENOMEM;
	}
	while ((entry = readdir(directory))) {
		uint32_t id = parse_id(entry->d_name);

		if (id)
			TRY(told(context, id));
	}
	return 0;
}

int etw_kernel_proc_open(int at, uint32_t id)
{
	char name[16];
	int fd;

	snprintf(name, sizeof(name), "%" PRIu32, id);
	fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* At most @room - 1 bytes of a file and a NUL. Returns how many, or negative errno. */
static ssize_t read_file(int at, const char *path, char *to, size_t room)
{
	CLEANUP(etw_file_closep) int fd = openat(at, path, O_RDONLY | O_CLOEXEC);
	size_t have = 0;

	if (fd < 0)
		return -errno;
	TRY(etw_file_read_all(fd, to, room - 1, &have));
	to[have] = '\0';
	return (ssize_t)have;
}

/* The numbers behind the name: a state letter, then decimal fields. */
static int parse_fields(const char *at, struct etw_kernel_proc_task *ret)
{
	uint64_t fields[FIELDS_OF_STAT] = {0};
	size_t count = 1;
	char *end;

	if (at[0] != ' ' || !at[1])
		return -EBADMSG;
	ret->is_dead = at[1] == 'Z' || at[1] == 'X';
	for (at += 2; count < FIELDS_OF_STAT; count++) {
		/* Signed ones come out right: they wrap around as they are taken back. */
		fields[count] = strtoull(at, &end, 10);
		if (end == at && count < FIELDS_NEEDED)
			return -EBADMSG;
		if (end == at)
			break;
		at = end;
	}
	ret->parent_pid = (uint32_t)fields[FIELD_PARENT];
	ret->is_kernel = fields[FIELD_FLAGS] & PF_KTHREAD;
	ret->is_exiting = fields[FIELD_FLAGS] & PF_EXITING;
	ret->start_ticks = fields[FIELD_START];
	ret->nice = (int32_t)fields[FIELD_NICE];
	ret->user_stack = fields[FIELD_STACK];
	ret->realtime_priority = (uint32_t)fields[FIELD_REALTIME];
	ret->policy = (uint32_t)fields[FIELD_POLICY];
	return 0;
}

int etw_kernel_proc_read_task(int task_fd, struct etw_kernel_proc_task *ret)
{
	struct etw_kernel_proc_task task = {0};
	char text[STAT_BYTES];
	const char *name, *name_end;
	size_t bytes;

	if (read_file(task_fd, "stat", text, sizeof(text)) <= 0)
		return -ESRCH;
	name = strchr(text, '(');
	name_end = strrchr(text, ')'); /* a name may hold parentheses */
	task.tid = (uint32_t)strtoul(text, NULL, 10);
	if (!task.tid || !name || !name_end || name_end < name)
		return -EBADMSG;
	name++;
	bytes = (size_t)(name_end - name);
	memcpy(task.name, name, bytes < sizeof(task.name) ? bytes : sizeof(task.name) - 1);
	TRY(parse_fields(name_end + 1, &task));
	*ret = task;
	return 0;
}

/* The effective uid: the second number of the line "Uid:". */
int etw_kernel_proc_read_uid(int process_fd, uint32_t *ret)
{
	char text[STATUS_BYTES];
	const char *line;
	char *end;

	if (read_file(process_fd, "status", text, sizeof(text)) <= 0)
		return -ESRCH;
	line = strstr(text, "\nUid:");
	if (!line)
		return -EBADMSG;
	(void)strtoul(line + strlen("\nUid:"), &end, 10);
	*ret = (uint32_t)strtoul(end, NULL, 10);
	return 0;
}

/*
 * The vector that the kernel gave the program: pairs of type and value. A 32-bit program's are half as long, so that its
 * first value stands where a type of 64 bits would have its upper half, which is always 0.
 */
static void read_vector(int process_fd, struct etw_kernel_proc_process *ret)
{
	uint64_t words[VECTOR_WORDS] = {0};
	ssize_t bytes = read_file(process_fd, "auxv", (char *)words, sizeof(words));

	ret->entry = 0;
	ret->is_32_bit = bytes > 0 && words[0] >> 32;
	if (bytes <= 0 || ret->is_32_bit)
		return;
	for (size_t i = 0; i + 1 < (size_t)bytes / sizeof(words[0]); i += 2)
		if (words[i] == AT_ENTRY)
			ret->entry = words[i + 1];
}

int etw_kernel_proc_read(int process_fd, struct etw_kernel_proc_process *ret)
{
	char number[16];
	ssize_t bytes;

	TRY(etw_kernel_proc_read_task(process_fd, &ret->task));
	TRY(etw_kernel_proc_read_uid(process_fd, &ret->uid));
	ret->session_id = UINT32_MAX;
	if (read_file(process_fd, "sessionid", number, sizeof(number)) > 0)
		ret->session_id = (uint32_t)strtoul(number, NULL, 10);
	read_vector(process_fd, ret);
	bytes = read_file(process_fd, "cmdline", ret->arguments, sizeof(ret->arguments));
	ret->argument_bytes = bytes > 0 ? (size_t)bytes : 0;
	bytes = readlinkat(process_fd, "exe", ret->file, sizeof(ret->file) - 1);
	ret->file[bytes > 0 ? bytes : 0] = '\0';
	return 0;
}

/* "start-end rwxp offset major:minor inode   path"; an area without a file has no inode; of those the vDSO counts. */
static bool parse_mapping(char *line, struct etw_kernel_proc_mapping *ret)
{
	unsigned major_number, minor_number;
	int path_at = 0;
	char access[5];

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64 " %n",
		   &ret->start, &ret->end, access, &ret->file_offset, &major_number, &minor_number,
		   &ret->inode, &path_at) != 7)
		return false;
	if (!path_at || ret->end <= ret->start)
		return false;
	line[(size_t)path_at + strcspn(line + path_at, "\n")] = '\0';
	ret->path = line + path_at;
	if (!etw_kernel_is_vdso(ret->path) && (!ret->inode || ret->path[0] != '/'))
		return false;
	ret->device = makedev(major_number, minor_number);
	ret->is_executable = access[2] == 'x';
	return true;
}

int etw_kernel_proc_read_maps(int process_fd, etw_kernel_proc_map told, void *context)
{
	uint32_t left = UINT32_MAX;

	return etw_kernel_proc_read_some_maps(process_fd, &left, told, context);
}

int etw_kernel_proc_read_some_maps(int process_fd, uint32_t *left, etw_kernel_proc_map told,
				   void *context)
{
	int fd = openat(process_fd, "maps", O_RDONLY | O_CLOEXEC);
	CLEANUP(fclosep) FILE *file = fd >= 0 ? fdopen(fd, "r") : NULL;
	CLEANUP(freep) char *line = NULL;
	size_t room = 0;

	if (fd < 0)
		return -errno;
	if (!file) {
		close(fd);
		return -ENOMEM;
	}
	while (*left && getline(&line, &room, file) > 0) {
		struct etw_kernel_proc_mapping mapping;

		(*left)--;
		if (parse_mapping(line, &mapping))
			TRY(told(context, &mapping));
	}
	return 0;
}
