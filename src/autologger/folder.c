/* SPDX-License-Identifier: MIT */
/* The folders of AutoLoggers, and their files; see autologger/folder.h. */
#include "autologger/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include <evntrace.h>

#include "base/file.h"
#include "base/macros.h"
#include "base/path.h"

#define SYSTEM_CONFIG "/etc/etw/autologger.d"
#define SYSTEM_STATE  "/var/lib/etw/autologger"
#define ENDING        ".conf"
#define NAMES_MAX     1024
#define SYSTEM_ROOT   "%SystemRoot%"

static const char *environment(const char *name)
{
	const char *value = secure_getenv(name);

	return value && *value ? value : NULL;
}

/* @named, else @base or ~@home_part with @rest behind it. */
static int choose(const char *named, const char *base, const char *home_part, const char *rest,
		  char **ret)
{
	const char *home = environment("HOME");
	int chars;

	if (named)
		chars = asprintf(ret, "%s", named);
	else if (base && *base == '/')
		chars = asprintf(ret, "%s%s", base, rest);
	else if (home && *home == '/')
		chars = asprintf(ret, "%s%s%s", home, home_part, rest);
	else
		return -ENOENT;
	return chars < 0 ? -ENOMEM : 0;
}

int etw_autologger_folders(bool is_system, char **ret_config, char **ret_state)
{
	const char *config = environment("ETW_AUTOLOGGER_DIR");
	const char *state = environment("ETW_AUTOLOGGER_STATE");
	CLEANUP(freep) char *folder = NULL;

	/* The machine's configuration is for the machine's instance. */
	if (environment("ETW_RUNTIME_DIR") && (!config || !state))
		return -ENOENT;
	if (is_system && !config)
		config = SYSTEM_CONFIG;
	if (is_system && !state)
		state = SYSTEM_STATE;
	TRY(choose(config, environment("XDG_CONFIG_HOME"), "/.config", "/etw/autologger.d",
		   &folder));
	TRY(choose(state, environment("XDG_STATE_HOME"), "/.local/state", "/etw/autologger",
		   ret_state));
	*ret_config = TAKE(folder);
	return 0;
}

/* Whether an entry is the file of a session; its name then begins it. */
static size_t name_bytes(const char *entry)
{
	size_t bytes = strlen(entry);

	if (*entry == '.' || bytes <= strlen(ENDING) ||
	    strcmp(entry + bytes - strlen(ENDING), ENDING) != 0)
		return 0;
	return bytes - strlen(ENDING);
}

static int add_name(const char *entry, size_t bytes, char ***names, size_t *count)
{
	char **grown;

	if (*count == NAMES_MAX)
		return -E2BIG;
	grown = reallocarray(*names, *count + 1, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	*names = grown;
	grown[*count] = strndup(entry, bytes);
	if (!grown[*count])
		return -ENOMEM;
	(*count)++;
	return 0;
}

static int compare(const void *left, const void *right)
{
	return strcmp(*(char *const *)left, *(char *const *)right);
}

static int list(DIR *folder, char ***names, size_t *count)
{
	const struct dirent *entry;

	errno = 0;
	while ((entry = readdir(folder)) != NULL) {
		size_t bytes = name_bytes(entry->d_name);

		if (bytes != 0)
			TRY(add_name(entry->d_name, bytes, names, count));
		errno = 0;
	}
	return -errno;
}

const char *etw_autologger_names_sentence(int result)
{
	switch (result) {
	case -EPERM:
		return "other users may write to the folder";
	case -E2BIG:
		return "there are more files than a host starts sessions of";
	default:
		return strerror(-result);
	}
}

int etw_autologger_names(const char *folder, char ***ret, size_t *ret_count)
{
	DIR *directory = opendir(folder);
	char **names = NULL;
	size_t count = 0;
	int result = 0;

	if (!directory && errno != ENOENT)
		return -errno;
	/* Whoever may write there may put another user's file into it, or take one away. */
	if (directory && !etw_file_is_private(dirfd(directory)))
		result = -EPERM;
	if (directory && result == 0)
		result = list(directory, &names, &count);
	if (directory)
		closedir(directory);
	if (result < 0) {
		etw_autologger_names_free(names, count);
		return result;
	}
	if (count != 0)
		qsort(names, count, sizeof(*names), compare);
	*ret = names;
	*ret_count = count;
	return 0;
}

void etw_autologger_names_free(char **names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(names[i]);
	free(names);
}

static int check_owner(int fd, struct etw_fault *reterr)
{
	return etw_file_is_private(fd) ? 0
				       : etw_fault_set(reterr, -EPERM, 0, "autologger", NULL,
						       "other users may write to the file");
}

int etw_autologger_read(const char *folder, const char *name, struct etw_autologger *ret,
			struct etw_fault *reterr)
{
	CLEANUP(freep) char *path = NULL;
	CLEANUP(freep) char *text = NULL;
	CLEANUP(etw_file_closep) int fd = -1;
	size_t bytes;

	if (asprintf(&path, "%s/%s" ENDING, folder, name) < 0) {
		path = NULL;
		return -ENOMEM;
	}
	TRY(etw_file_open_regular(path, ETW_AUTOLOGGER_BYTES_MAX, &fd, &bytes));
	TRY(check_owner(fd, reterr));
	text = malloc(bytes + 1);
	if (!text)
		return -ENOMEM;
	TRY(etw_file_read_all(fd, text, bytes, &bytes));
	return etw_autologger_parse(name, text, bytes, ret, reterr);
}

static int join(char *room, const char *first, const char *second)
{
	int chars = snprintf(room, WIRE_MESSAGE_NAME_MAX + 1, "%s%s", first, second);

	return chars < 0 || chars > WIRE_MESSAGE_NAME_MAX ? -ENAMETOOLONG : 0;
}

/* The path as the file has it, with Windows' own folder in the place of the variable. */
static int expand(const char *path, char *room)
{
	size_t bytes = strlen(SYSTEM_ROOT);

	if (strncasecmp(path, SYSTEM_ROOT, bytes) != 0)
		return join(room, path, "");
	return join(room, "C:\\Windows", path + bytes);
}

static int resolve(struct wire_session_config *config, uint32_t number, struct etw_fault *reterr)
{
	char expanded[WIRE_MESSAGE_NAME_MAX + 1];
	CLEANUP(freep) char *path = NULL;
	char suffix[16] = "";

	TRY(expand(config->log_file, expanded));
	if (number != 0)
		(void)snprintf(suffix, sizeof(suffix), ".%04u", (unsigned)number);
	TRY(join(config->log_file_shown, expanded, suffix));
	TRY(etw_path_resolve(config->log_file_shown, &path));
	if (*path != '/')
		return etw_fault_set(reterr, -EINVAL, 0, "autologger", "FileName",
				     "the file's path is not absolute");
	return join(config->log_file, path, "");
}

int etw_autologger_place(const char *state, uint32_t counter, struct etw_autologger *autologger,
			 struct etw_fault *reterr)
{
	struct wire_session_config *config = &autologger->config;
	uint32_t number = autologger->file_max ? counter % autologger->file_max + 1 : 0;

	if (!config->log_file[0]) {
		if (config->log_file_mode &
		    (EVENT_TRACE_REAL_TIME_MODE | EVENT_TRACE_BUFFERING_MODE)) {
			config->maximum_file_size = 0;
			return 0;
		}
		TRY(join(config->log_file, state, "/"));
		if (strlen(config->log_file) + strlen(config->name) + strlen(".etl") >
		    WIRE_MESSAGE_NAME_MAX)
			return -ENAMETOOLONG;
		strcat(config->log_file, config->name);
		strcat(config->log_file, ".etl");
	}
	return resolve(config, number, reterr);
}
