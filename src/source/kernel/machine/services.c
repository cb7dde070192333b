/* SPDX-License-Identifier: MIT */
#include "source/kernel/machine/services.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "source/kernel/machine/facts.h"

#define SUFFIX          ".service"
#define SUFFIX_BYTES    8
#define SLICE           ".slice"
#define DEPTH_MAX       8     /* of groups below groups */
#define PIDS_BYTES      65536 /* of a list of processes; the rest is not looked at */
#define UNIT_FILE_BYTES 4096  /* the title is near the beginning */
#define STAT_BYTES      512
#define SYSTEMD_PID     1
#define TASK_NAME_BYTES 64

/* In the order in which systemd prefers them. */
static const char *const unit_folders[] = {"etc/systemd/system", "run/systemd/system",
					   "usr/local/lib/systemd/system", "usr/lib/systemd/system",
					   "lib/systemd/system"};

/* Where systemd's groups are: the one hierarchy, or beside those of former times. */
static const char *const group_folders[] = {"sys/fs/cgroup", "sys/fs/cgroup/unified",
					    "sys/fs/cgroup/systemd"};

struct walk {
	const char *root;
	etw_kernel_service_told *told;
	void *context;
	const char *folder; /* that is listed, below @root */
	int depth;
	char (*names)[128]; /* owned: of services that were told */
	size_t count;
	char *pids; /* owned; PIDS_BYTES */
	/* The main process of the service that is looked at. */
	uint64_t main_start;
	uint32_t main_pid;
	bool is_child; /* of systemd */
};

static bool is_told(const struct walk *walk, const char *name)
{
	for (size_t i = 0; i < walk->count; i++)
		if (strcmp(walk->names[i], name) == 0)
			return true;
	return false;
}

/* Returns the length of a service's name without its suffix; 0: it is none, or a template without an instance. */
static size_t service_name_bytes(const char *name)
{
	size_t bytes = strlen(name);

	if (bytes <= SUFFIX_BYTES || strcmp(name + bytes - SUFFIX_BYTES, SUFFIX) != 0)
		return 0;
	bytes -= SUFFIX_BYTES;
	return name[bytes - 1] == '@' || bytes >= sizeof(((struct walk *)NULL)->names[0]) ? 0
											  : bytes;
}

/* A unit file of the instance, else of its template: "getty@.service" for getty@tty1. */
static void read_title(const char *root, const char *name, char *to, size_t room)
{
	size_t template_bytes = strcspn(name, "@");
	char text[UNIT_FILE_BYTES], *save = NULL;
	bool was_read = false;

	for (size_t i = 0; !was_read && i < ARRAY_SIZE(unit_folders); i++)
		was_read = etw_kernel_fact_text(root, text, sizeof(text), "%s/%s" SUFFIX,
						unit_folders[i], name);
	for (size_t i = 0; !was_read && name[template_bytes] && i < ARRAY_SIZE(unit_folders); i++)
		was_read = etw_kernel_fact_text(root, text, sizeof(text), "%s/%.*s@" SUFFIX,
						unit_folders[i], (int)template_bytes, name);
	to[0] = '\0';
	for (char *line = was_read ? strtok_r(text, "\n", &save) : NULL; line;
	     line = strtok_r(NULL, "\n", &save)) {
		if (strncmp(line, "Description=", 12) == 0) {
			(void)snprintf(to, room, "%s", line + 12);
			return;
		}
	}
}

/* Parent and start time: fields 4 and 22 behind the name, which may hold anything. */
static bool read_stat(const char *root, uint32_t pid, uint32_t *ret_parent, uint64_t *ret_start)
{
	char text[STAT_BYTES];
	const char *at;

	if (!etw_kernel_fact_text(root, text, sizeof(text), "proc/%u/stat", pid))
		return false;
	at = strrchr(text, ')');
	return at && sscanf(at,
			    ") %*c %u %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d "
			    "%*d %*d %lu",
			    ret_parent, ret_start) == 2;
}

static void consider(struct walk *walk, uint32_t pid)
{
	uint32_t parent;
	uint64_t start;
	bool is_child;

	if (!pid || !read_stat(walk->root, pid, &parent, &start))
		return;
	is_child = parent == SYSTEMD_PID;
	if (walk->main_pid && (walk->is_child > is_child ||
			       (walk->is_child == is_child && walk->main_start <= start)))
		return;
	walk->main_pid = pid;
	walk->main_start = start;
	walk->is_child = is_child;
}

static bool look_inside(void *context, const char *name);

/* The processes of a group and of all below it. */
static void look_at_processes(struct walk *walk, const char *folder)
{
	const char *before = walk->folder;
	char *at = walk->pids;

	(void)etw_kernel_fact_text(walk->root, walk->pids, PIDS_BYTES, "%s/cgroup.procs", folder);
	while (*at) {
		char *end;
		unsigned long pid = strtoul(at, &end, 10);

		if (end == at)
			break;
		consider(walk, (uint32_t)pid);
		at = end + strspn(end, "\n");
	}
	if (walk->depth == DEPTH_MAX)
		return;
	walk->depth++;
	walk->folder = folder;
	etw_kernel_fact_list(walk->root, folder, look_inside, walk);
	walk->folder = before;
	walk->depth--;
}

static bool look_inside(void *context, const char *name)
{
	struct walk *walk = context;
	char folder[ETW_KERNEL_FACT_PATH_BYTES];
	int bytes = snprintf(folder, sizeof(folder), "%s/%s", walk->folder, name);

	/* Most of what is in a group are files. */
	if (bytes > 0 && (size_t)bytes < sizeof(folder) &&
	    etw_kernel_fact_exists(walk->root, "%s/cgroup.procs", folder))
		look_at_processes(walk, folder);
	return true;
}

static bool tell(struct walk *walk, const char *name, size_t bytes, const char *slice)
{
	struct etw_kernel_service service = {.main_pid = walk->main_pid};

	if (walk->count == ETW_KERNEL_SERVICES_MAX)
		return false;
	memcpy(service.name, name, bytes);
	if (is_told(walk, service.name))
		return true;
	memcpy(walk->names[walk->count++], service.name, sizeof(service.name));
	read_title(walk->root, service.name, service.title, sizeof(service.title));
	if (service.main_pid) {
		(void)snprintf(service.slice, sizeof(service.slice), "%.63s", slice);
		(void)etw_kernel_fact_text(walk->root, service.program, sizeof(service.program),
					   "proc/%u/comm", service.main_pid);
	}
	walk->told(walk->context, &service);
	return true;
}

static bool look_at_group(void *context, const char *name)
{
	struct walk *walk = context;
	char folder[ETW_KERNEL_FACT_PATH_BYTES];
	size_t bytes = strlen(name), service_bytes = service_name_bytes(name);
	const char *before = walk->folder;
	int path_bytes = snprintf(folder, sizeof(folder), "%s/%s", walk->folder, name);

	if (path_bytes < 0 || (size_t)path_bytes >= sizeof(folder))
		return true;
	if (service_bytes) {
		walk->main_pid = 0;
		look_at_processes(walk, folder);
		return !walk->main_pid ||
		       tell(walk, name, service_bytes, etw_kernel_fact_base(walk->folder));
	}
	if (bytes <= strlen(SLICE) || strcmp(name + bytes - strlen(SLICE), SLICE) != 0 ||
	    walk->depth == DEPTH_MAX)
		return true;
	walk->depth++;
	walk->folder = folder;
	etw_kernel_fact_list(walk->root, folder, look_at_group, walk);
	walk->folder = before;
	walk->depth--;
	return true;
}

static bool look_at_unit(void *context, const char *name)
{
	struct walk *walk = context;
	size_t bytes = service_name_bytes(name);

	walk->main_pid = 0;
	return !bytes || tell(walk, name, bytes, "");
}

int etw_kernel_services_tell(const char *root, etw_kernel_service_told *told, void *context)
{
	struct walk walk = {.root = root, .told = told, .context = context};
	CLEANUP(freep) char *pids = NULL;
	CLEANUP(freep) void *names = NULL;

	/* As sd_booted() asks. */
	if (!etw_kernel_fact_exists(root, "run/systemd/system"))
		return 0;
	pids = malloc(PIDS_BYTES);
	names = calloc(ETW_KERNEL_SERVICES_MAX, sizeof(walk.names[0]));
	if (!pids || !names)
		return -ENOMEM;
	walk.pids = pids;
	walk.names = names;
	for (size_t i = 0; i < ARRAY_SIZE(group_folders); i++) {
		walk.folder = group_folders[i];
		etw_kernel_fact_list(root, walk.folder, look_at_group, &walk);
	}
	for (size_t i = 0; i < ARRAY_SIZE(unit_folders); i++)
		etw_kernel_fact_list(root, unit_folders[i], look_at_unit, &walk);
	return 0;
}
