/* SPDX-License-Identifier: MIT */
#include "api/tdh/trace_files.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "api/tdh/lock.h"
#include "base/atomic.h"
#include "base/file.h"
#include "base/macros.h"
#include "consumer/trace.h"

struct noted_file {
	char *path; /* owned; absolute */
	dev_t device;
	ino_t inode;
	off_t bytes;
	struct timespec changed;
	bool is_known; /* nothing is left to learn */
};

static struct {
	pthread_mutex_t lock;    /* protects the list */
	pthread_mutex_t reading; /* held while files are searched; taken before the other */
	struct noted_file files[ETW_TDH_FILES_MAX];
	size_t count;
	size_t oldest;     /* which one gives way when there are too many */
	unsigned pending;  /* files that are not known; written under the lock, read without */
	unsigned searches; /* files searched so far; likewise */
} noted = {.lock = PTHREAD_MUTEX_INITIALIZER, .reading = PTHREAD_MUTEX_INITIALIZER};

static bool is_same(const struct noted_file *file, const struct stat *now)
{
	return file->device == now->st_dev && file->inode == now->st_ino &&
	       file->bytes == now->st_size && file->changed.tv_sec == now->st_mtim.tv_sec &&
	       file->changed.tv_nsec == now->st_mtim.tv_nsec;
}

/* Under the lock. */
static struct noted_file *find_file(const char *path)
{
	for (size_t i = 0; i < noted.count; i++) {
		if (strcmp(noted.files[i].path, path) == 0)
			return &noted.files[i];
	}
	return NULL;
}

/* Under the lock. */
static void set_known(struct noted_file *file, bool is_known)
{
	if (file->is_known == is_known)
		return;
	file->is_known = is_known;
	/* Relaxed: who opened the file is ordered before who decodes its events anyway. */
	add_relaxed(&noted.pending, is_known ? UINT_MAX : 1);
}

/* Under the lock. A slot for a new file, known so far. */
static struct noted_file *take_slot(void)
{
	struct noted_file *file;

	if (noted.count < ETW_TDH_FILES_MAX) {
		file = &noted.files[noted.count++];
	} else {
		file = &noted.files[noted.oldest];
		noted.oldest = (noted.oldest + 1) % ETW_TDH_FILES_MAX;
		set_known(file, true);
		free(file->path);
	}
	*file = (struct noted_file){.is_known = true};
	return file;
}

void etw_tdh_files_note(const char *path)
{
	char *absolute = realpath(path, NULL);
	struct noted_file *file;
	struct stat now;

	if (!absolute || stat(absolute, &now) < 0) {
		free(absolute);
		return;
	}
	(void)pthread_mutex_lock(&noted.lock);
	file = find_file(absolute);
	if (!file) {
		file = take_slot();
		file->path = TAKE(absolute);
	}
	if (!is_same(file, &now)) {
		file->device = now.st_dev;
		file->inode = now.st_ino;
		file->bytes = now.st_size;
		file->changed = now.st_mtim;
		set_known(file, false);
	}
	(void)pthread_mutex_unlock(&noted.lock);
	free(absolute);
}

void etw_tdh_files_seen(const char *path)
{
	char *absolute = realpath(path, NULL);
	struct noted_file *file;

	if (!absolute)
		return;
	(void)pthread_mutex_lock(&noted.lock);
	file = find_file(absolute);
	if (file)
		set_known(file, true);
	(void)pthread_mutex_unlock(&noted.lock);
	free(absolute);
}

static int learn_event(void *context, const struct etw_etl_buffer *buffer, uint8_t header_type,
		       const EVENT_RECORD *record, struct etw_event_address address)
{
	(void)context;
	(void)buffer;
	(void)header_type;
	(void)address;
	if (LIKELY(!etw_schema_store_is_metadata(record)))
		return 0;
	return etw_tdh_learn(record);
}

/* A file that is gone or damaged has taught what it could. */
static int learn_file(const char *path)
{
	const struct etw_trace_visitor visitor = {.event = learn_event};
	CLEANUP(etw_trace_closep) struct etw_trace *trace = NULL;
	int result = etw_trace_open(path, &trace, NULL);

	if (!result)
		result = etw_trace_each_buffer(trace, &visitor);
	return etw_is_shortage(result) ? result : 0;
}

/* The next file that is not known yet, with a path of the caller's. Returns 1; 0: there is none; -ENOMEM. */
static int find_pending(struct noted_file *ret)
{
	int result = 0;

	(void)pthread_mutex_lock(&noted.lock);
	for (size_t i = 0; i < noted.count && !result; i++) {
		if (noted.files[i].is_known)
			continue;
		*ret = noted.files[i];
		ret->path = strdup(noted.files[i].path);
		result = ret->path ? 1 : -ENOMEM;
	}
	(void)pthread_mutex_unlock(&noted.lock);
	return result;
}

/* A file that was noted anew while it was searched stays pending. */
static void finish_pending(const struct noted_file *searched)
{
	struct noted_file *file;

	(void)pthread_mutex_lock(&noted.lock);
	file = find_file(searched->path);
	if (file && file->bytes == searched->bytes && file->inode == searched->inode &&
	    file->changed.tv_sec == searched->changed.tv_sec &&
	    file->changed.tv_nsec == searched->changed.tv_nsec)
		set_known(file, true);
	/* Behind what was learnt, which etw_tdh_lock() publishes. */
	add_relaxed(&noted.searches, 1);
	(void)pthread_mutex_unlock(&noted.lock);
}

/* Holding `reading`. Ends at a file that could not be searched now, which stays pending. */
static int learn_pending(void)
{
	struct noted_file file;
	int result;

	while ((result = find_pending(&file)) > 0) {
		result = learn_file(file.path);
		if (!result)
			finish_pending(&file);
		free(file.path);
		TRY(result);
	}
	return result;
}

unsigned etw_tdh_files_searches(void)
{
	return load_relaxed(&noted.searches);
}

bool etw_tdh_files_are_pending(void)
{
	return load_relaxed(&noted.pending) != 0;
}

int etw_tdh_files_learn(unsigned *searches)
{
	int result = 0;
	unsigned now;

	if (UNLIKELY(load_relaxed(&noted.pending) != 0)) {
		(void)pthread_mutex_lock(&noted.reading);
		result = learn_pending();
		(void)pthread_mutex_unlock(&noted.reading);
	}
	now = load_relaxed(&noted.searches);
	if (now == *searches)
		return result;
	*searches = now;
	return 1;
}

__attribute__((destructor)) static void forget_files(void)
{
	(void)pthread_mutex_lock(&noted.lock);
	for (size_t i = 0; i < noted.count; i++)
		free(noted.files[i].path);
	noted.count = 0;
	noted.oldest = 0;
	store_relaxed(&noted.pending, 0);
	(void)pthread_mutex_unlock(&noted.lock);
}
