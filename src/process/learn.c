/* SPDX-License-Identifier: MIT */
/*
 * What events tell of processes and threads: starts, ends and rundowns decide which process an id stands for, and from
 * when on. Two sources (the classic events and Microsoft-Windows-Kernel-Process) may report the same start or end, at
 * nearly the same time.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/guid.h"
#include "base/macros.h"
#include "base/text.h"
#include "decode/format.h"
#include "process/kernel_class.h"
#include "process/processes_internal.h"

#define OPCODE_SET_NAME 72 /* Thread */

/* Ids of Microsoft-Windows-Kernel-Process. */
enum {
	ID_PROCESS_START = 1,
	ID_PROCESS_STOP = 2,
	ID_THREAD_START = 3,
	ID_THREAD_STOP = 4,
	ID_PROCESS_RUNDOWN = 15,
};

enum lifecycle_kind {
	LIFECYCLE_NONE,
	LIFECYCLE_START,
	LIFECYCLE_END,
	LIFECYCLE_PRESENT,        /* in the rundown when the session began */
	LIFECYCLE_PRESENT_AT_END, /* when it ended */
	LIFECYCLE_NAME,           /* a thread has another name */
};

/* Where the event is from; a bit each. */
enum lifecycle_source {
	SOURCE_CLASSIC = 1,
	SOURCE_MANIFEST = 2,
};

struct lifecycle_event {
	const struct etw_decoding *decoding;
	enum lifecycle_kind kind;
	enum lifecycle_source source;
	bool is_thread;
	bool is_defunct; /* in the rundown, and over */
	int64_t time_ft;
	uint32_t pid, tid;
	uint64_t key; /* of the process; 0: unknown */
};

static enum lifecycle_kind kind_of_classic(uint8_t opcode, bool is_thread)
{
	switch (opcode) {
	case ETW_OPCODE_START:
		return LIFECYCLE_START;
	case ETW_OPCODE_END:
		return LIFECYCLE_END;
	case ETW_OPCODE_DC_START:
		return LIFECYCLE_PRESENT;
	case ETW_OPCODE_DC_END:
		return LIFECYCLE_PRESENT_AT_END;
	case ETW_OPCODE_DEFUNCT:
		return is_thread ? LIFECYCLE_NONE : LIFECYCLE_PRESENT;
	case OPCODE_SET_NAME:
		return is_thread ? LIFECYCLE_NAME : LIFECYCLE_NONE;
	default:
		return LIFECYCLE_NONE;
	}
}

static enum lifecycle_kind kind_of_id(uint16_t id, bool *ret_is_thread)
{
	*ret_is_thread = id == ID_THREAD_START || id == ID_THREAD_STOP;
	switch (id) {
	case ID_PROCESS_START:
	case ID_THREAD_START:
		return LIFECYCLE_START;
	case ID_PROCESS_STOP:
	case ID_THREAD_STOP:
		return LIFECYCLE_END;
	case ID_PROCESS_RUNDOWN:
		return LIFECYCLE_PRESENT;
	default:
		return LIFECYCLE_NONE;
	}
}

/* The part that needs no schema; false for events that tell nothing. */
static bool classify(const EVENT_HEADER *header, struct lifecycle_event *ret)
{
	const EVENT_DESCRIPTOR *descriptor = &header->EventDescriptor;

	if (etw_guid_equal(&header->ProviderId, &etw_class_process) ||
	    etw_guid_equal(&header->ProviderId, &etw_class_thread)) {
		ret->source = SOURCE_CLASSIC;
		ret->is_thread = header->ProviderId.Data1 == etw_class_thread.Data1;
		ret->kind = kind_of_classic(descriptor->Opcode, ret->is_thread);
		ret->is_defunct = descriptor->Opcode == ETW_OPCODE_DEFUNCT;
	} else if (etw_guid_equal(&header->ProviderId, &etw_provider_kernel_process)) {
		ret->source = SOURCE_MANIFEST;
		ret->kind = kind_of_id(descriptor->Id, &ret->is_thread);
	}
	return ret->kind != LIFECYCLE_NONE;
}

bool etw_processes_is_lifecycle(const EVENT_RECORD *record)
{
	const ULONG word = record->EventHeader.ProviderId.Data1;
	struct lifecycle_event event = {0};

	if (LIKELY(word != etw_class_process.Data1 && word != etw_class_thread.Data1 &&
		   word != etw_provider_kernel_process.Data1))
		return false;
	return classify(&record->EventHeader, &event);
}

static bool read_id(const struct etw_decoding *decoding, const char *name, const char *other,
		    uint32_t *ret)
{
	uint64_t value;

	if ((!etw_process_number(decoding, name, &value) &&
	     !etw_process_number(decoding, other, &value)) ||
	    value >= ETW_PROCESS_NONE)
		return false;
	*ret = (uint32_t)value;
	return true;
}

/*
 * The text of a field, in the arena; NULL in @ret where there is none or it is empty. Not taken beyond the limit of
 * text, and counted.
 */
static int read_text(struct etw_processes *processes, const struct etw_decoding *decoding,
		     const char *name, const char **ret)
{
	const struct etw_item *item = etw_decoding_find(decoding, name);
	struct etw_text text = {0};
	int result;

	*ret = NULL;
	if (!item || !item->bytes)
		return 0;
	etw_format_item(decoding, item, &text);
	result = etw_text_error(&text);
	if (!result && text.bytes) {
		if (etw_arena_bytes(&processes->arena) + text.bytes > ETW_PROCESS_TEXT_BYTES_MAX) {
			processes->dropped++;
		} else {
			*ret = etw_arena_strndup(&processes->arena, text.at, text.bytes);
			result = *ret ? 0 : -ENOMEM;
		}
	}
	etw_text_done(&text);
	return result;
}

/* The part of a path behind the last separator. Names of Linux' threads have slashes, and begin with none: "kworker/0:1". */
static const char *file_name_of(const char *path)
{
	const char *name = path;

	if (path[0] != '/' && !strchr(path, '\\'))
		return path;

	for (; *path; path++) {
		if ((*path == '\\' || *path == '/') && path[1])
			name = path + 1;
	}
	return name;
}

/* The keys that Linux recordings have begin with the pid; those of Windows are addresses of the kernel. */
static bool is_linux_key(uint32_t pid, uint64_t key)
{
	return pid && key >> 32 == pid;
}

/* Whether the event is of the process that had the id last. */
static bool is_same(const struct etw_process *process, const struct lifecycle_event *event)
{
	const bool same_key = event->key && process->key == event->key;

	if (event->key && process->key && !same_key)
		return false;
	switch (event->kind) {
	case LIFECYCLE_START:
		/* An exec; or a process that the rundown, which takes a while, had listed already. */
		if (same_key && (is_linux_key(event->pid, event->key) ||
				 (!process->has_end && !(process->starts & event->source))))
			return true;
		return !process->has_end && process->has_start &&
		       !(process->starts & event->source);
	case LIFECYCLE_END:
		return !process->has_end || same_key || !(process->ends & event->source);
	default:
		return !process->has_end || same_key;
	}
}

/* From when on the id stands for the process or thread of an event, which may be known from its rundown or end only. */
static int64_t begin_of(const struct lifecycle_event *event, bool is_first, bool has_end,
			int64_t end_ft)
{
	if (event->kind == LIFECYCLE_START || event->kind == LIFECYCLE_NAME)
		return event->time_ft;
	if (is_first)
		return INT64_MIN;
	return has_end ? end_ft : event->time_ft;
}

static int add_program(struct etw_processes *processes, struct etw_process *process,
		       int64_t from_ft)
{
	struct etw_process_program *program = etw_arena_alloc(&processes->arena, sizeof(*program));

	if (!program)
		return -ENOMEM;
	program->process = process;
	program->from_ft = from_ft;
	program->before = process->program;
	TRY(etw_timelines_add(&processes->pids, &processes->arena, process->pid, from_ft, program));
	process->program = program;
	return 0;
}

static int make_process(struct etw_processes *processes, const struct lifecycle_event *event,
			int64_t from_ft, struct etw_process **ret)
{
	struct etw_process *process = etw_arena_alloc(&processes->arena, sizeof(*process));

	if (!process)
		return -ENOMEM;
	if (processes->count == processes->room) {
		size_t room = processes->room ? processes->room * 2 : 64;
		struct etw_process **all = realloc(processes->all,
						   room * sizeof(struct etw_process *));

		if (!all)
			return -ENOMEM;
		processes->all = all;
		processes->room = room;
	}
	*process = (struct etw_process){
		.pid = event->pid,
		.parent_pid = ETW_PROCESS_NONE,
		.session_id = ETW_PROCESS_NONE,
		.number = (uint32_t)processes->count,
		.from_ft = from_ft,
	};
	TRY(add_program(processes, process, from_ft));
	processes->all[processes->count++] = process;
	*ret = process;
	return 0;
}

/* Whether the name is what a field of 15 bytes left of a longer one. */
static bool is_cut(const char *name, const char *longer)
{
	const size_t bytes = strlen(name);

	return bytes >= 14 && strlen(longer) > bytes && !strncmp(name, longer, bytes);
}

/* Name, path and command line, as far as they are not known yet. */
static int fill_program(struct etw_processes *processes, struct etw_process_program *program,
			const struct lifecycle_event *event)
{
	const struct etw_decoding *decoding = event->decoding;
	const char *path = NULL, *name;

	if (event->source == SOURCE_MANIFEST && !program->path)
		TRY(read_text(processes, decoding, "ImageName", &path));
	else if (!program->name)
		TRY(read_text(processes, decoding, "ImageFileName", &path));
	if (path) {
		name = file_name_of(path);
		if (!program->name || is_cut(program->name, name))
			program->name = name;
		if (name != path)
			program->path = path;
	}
	if (!program->command_line)
		TRY(read_text(processes, decoding, "CommandLine", &program->command_line));
	return 0;
}

static int fill_process(struct etw_processes *processes, struct etw_process *process,
			const struct lifecycle_event *event)
{
	const struct etw_decoding *decoding = event->decoding;
	uint64_t value;

	if (!process->key && event->key) {
		process->key = event->key;
		process->is_linux = is_linux_key(process->pid, event->key);
		processes->is_linux |= process->is_linux;
	}
	if (process->parent_pid == ETW_PROCESS_NONE)
		(void)read_id(decoding, "ParentId", "ParentProcessID", &process->parent_pid);
	if (process->session_id == ETW_PROCESS_NONE)
		(void)read_id(decoding, "SessionId", "SessionID", &process->session_id);
	if (!process->created_ft && etw_process_number(decoding, "CreateTime", &value) &&
	    value <= INT64_MAX)
		process->created_ft = (int64_t)value;
	if (!process->user_sid)
		TRY(read_text(processes, decoding, "UserSID", &process->user_sid));
	return fill_program(processes, process->program, event);
}

/* @time_ft: 0 when only the trace's rundown says that it had ended, at a time of its own or none */
static void end_process(struct etw_process *process, const struct lifecycle_event *event,
			int64_t time_ft)
{
	uint64_t status, exit_time;

	process->ends |= (uint8_t)event->source;
	if (!time_ft && etw_process_number(event->decoding, "ExitTime", &exit_time) &&
	    exit_time <= INT64_MAX)
		time_ft = (int64_t)exit_time;
	if (!process->has_end) {
		process->has_end = true;
		process->end_ft = time_ft;
	}
	if (!process->has_exit_status &&
	    (etw_process_number(event->decoding, "ExitStatus", &status) ||
	     etw_process_number(event->decoding, "ExitCode", &status))) {
		process->has_exit_status = true;
		process->exit_status = (uint32_t)status;
	}
}

/* The process goes on with another program, which its end had announced. */
static int go_on(struct etw_processes *processes, struct etw_process *process,
		 const struct lifecycle_event *event)
{
	process->has_end = process->has_exit_status = false;
	process->ends = 0;
	return add_program(processes, process, event->time_ft);
}

static int take_process(struct etw_processes *processes, struct lifecycle_event *event)
{
	const struct etw_process_program *last;
	struct etw_process *process;
	int64_t from_ft;

	if (event->source == SOURCE_CLASSIC)
		(void)etw_process_number(event->decoding, "UniqueProcessKey", &event->key);
	last = etw_timeline_last(etw_timelines_find(&processes->pids, event->pid));
	process = last ? last->process : NULL;
	if (!process || !is_same(process, event)) {
		if (processes->pids.moments >= ETW_PROCESSES_MAX) {
			processes->dropped++;
			return 0;
		}
		from_ft = begin_of(event, !process, process && process->has_end,
				   process ? process->end_ft : 0);
		TRY(make_process(processes, event, from_ft, &process));
	} else if (event->kind == LIFECYCLE_START && process->has_end) {
		if (processes->pids.moments >= ETW_PROCESSES_MAX) {
			processes->dropped++;
			return 0;
		}
		TRY(go_on(processes, process, event));
	}
	if (event->kind == LIFECYCLE_START) {
		process->starts |= (uint8_t)event->source;
		/* An exec of a process that was there before is none. */
		if (!process->has_start &&
		    (process->from_ft == event->time_ft || !process->is_linux)) {
			process->has_start = true;
			process->start_ft = event->time_ft;
		}
	}
	if (event->kind == LIFECYCLE_PRESENT_AT_END && !process->has_end)
		process->is_seen_at_end = true;
	if (event->kind == LIFECYCLE_END)
		end_process(process, event, event->time_ft);
	else if (event->is_defunct)
		end_process(process, event, 0);
	return fill_process(processes, process, event);
}

static int take_thread(struct etw_processes *processes, const struct lifecycle_event *event)
{
	struct known_thread *last =
		etw_timeline_last(etw_timelines_find(&processes->tids, event->tid));
	const bool is_open = last && last->pid == event->pid && !last->has_end;
	struct known_thread *thread = is_open ? last : NULL;
	const char *name = NULL;
	int64_t from_ft;

	/* A second source tells of the same end. */
	if (event->kind == LIFECYCLE_END && last && last->pid == event->pid && last->has_end)
		return 0;
	if (event->kind != LIFECYCLE_END && (!thread || !thread->name))
		TRY(read_text(processes, event->decoding, "ThreadName", &name));
	if (!thread || (event->kind == LIFECYCLE_NAME && thread->name)) {
		if (processes->tids.moments >= ETW_PROCESS_THREADS_MAX) {
			processes->dropped++;
			return 0;
		}
		if (thread)
			TRY(read_text(processes, event->decoding, "ThreadName", &name));
		thread = etw_arena_alloc(&processes->arena, sizeof(*thread));
		if (!thread)
			return -ENOMEM;
		*thread = (struct known_thread){.tid = event->tid, .pid = event->pid};
		from_ft = begin_of(event, !last, last && last->has_end, last ? last->end_ft : 0);
		TRY(etw_timelines_add(&processes->tids, &processes->arena, event->tid, from_ft,
				      thread));
	}
	if (name)
		thread->name = name;
	if (event->kind == LIFECYCLE_END) {
		thread->has_end = true;
		thread->end_ft = event->time_ft;
	}
	return 0;
}

int etw_processes_add(struct etw_processes *processes, const struct etw_decoding *decoding,
		      int64_t time_ft)
{
	struct lifecycle_event event = {.decoding = decoding};

	if (!decoding->schema || !classify(&decoding->record->EventHeader, &event))
		return 0;
	if (time_ft < processes->last_ft)
		time_ft = processes->last_ft;
	processes->last_ft = time_ft;
	event.time_ft = time_ft;
	if (!read_id(decoding, "ProcessId", "ProcessID", &event.pid))
		return 0;
	if (!event.is_thread)
		return take_process(processes, &event);
	if ((!read_id(decoding, "TThreadId", "ThreadId", &event.tid) &&
	     !read_id(decoding, "ThreadID", "ThreadID", &event.tid)) ||
	    !event.tid)
		return 0;
	return take_thread(processes, &event);
}
