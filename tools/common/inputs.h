/* SPDX-License-Identifier: MIT */
/* The traces that a command was given, opened together, and what is learnt from them. */
#ifndef ETW_TOOLS_COMMON_INPUTS_H
#define ETW_TOOLS_COMMON_INPUTS_H

#include "base/text.h"
#include "consumer/trace.h"
#include "decode/decode.h"
#include "schema/store/store.h"
#include "tools/common/machine_processes.h"
#include "tools/common/terminal.h"

struct etw_inputs {
	struct etw_trace **traces; /* owned, `count` of them */
	char **paths;              /* owned; as they are on Linux, "standard input" for - */
	const char *stream;        /* the one of `paths` that stands for standard input; NULL */
	size_t count;
	uint32_t buffers;                       /* of all, once indexed */
	struct etw_machine_processes processes; /* of etw_inputs_learn() */
};

/*
 * etw_inputs_open() - opens every file and indexes it; "-" is standard input, Windows paths work.
 *
 * Tells what is wrong on standard error. Returns 0 or -1; call etw_inputs_done() in both cases.
 */
int etw_inputs_open(char *const *arguments, size_t count, struct etw_inputs *ret);
void etw_inputs_done(struct etw_inputs *inputs);

/*
 * etw_inputs_hold() - whether @path is one of the files being read, under whatever name.
 *
 * Writing there would destroy the input. False for a path that does not exist.
 */
bool etw_inputs_hold(const struct etw_inputs *inputs, const char *path);

/*
 * etw_inputs_set_build() - tells the store which Windows wrote the events that come now: those of this input.
 *
 * Costs nothing when it is that of the input before.
 */
void etw_inputs_set_build(const struct etw_inputs *inputs, size_t index,
			  struct etw_schema_store *store);

/* etw_inputs_start() - the earliest start of the traces, FILETIME. */
int64_t etw_inputs_start(const struct etw_inputs *inputs);

/*
 * etw_inputs_learn() - a pass over all events for those that carry schemas, for what they prove of their file, and
 * for those that tell of processes.
 *
 * @decoder:     of @store; the index of a trace is the number of its file
 * @wants_names: `processes` is to know the processes
 *
 * Keeps what it loads, as far as it fits in memory, for the pass that delivers (etw_trace_keep()).
 *
 * Returns 0 or what reading failed with (told on standard error).
 */
int etw_inputs_learn(struct etw_inputs *inputs, struct etw_schema_store *store,
		     struct etw_decoder *decoder, bool wants_names);

/* etw_inputs_error() - tells that reading failed with this error. */
void etw_inputs_error(const struct etw_inputs *inputs, int error);

/* Loss of all traces together, as the session counted it and as the reader met it. */
struct etw_loss {
	uint64_t events;         /* counted by the sessions */
	uint64_t buffers;        /* counted by the sessions */
	uint64_t marks;          /* flags of buffers that tell of loss before them */
	uint64_t skipped_bytes;  /* that the reader could not read */
	uint64_t skipped_places; /* how many times */
	uint64_t doubted_places; /* that it read, and that no sound file has */
	size_t files;
	size_t unclosed; /* of them: their header has no end */
	bool is_partial; /* not every event was looked at */
};

/* etw_loss_of() - @marks: RT_LostEvent records that a pass delivered. */
struct etw_loss etw_loss_of(const struct etw_inputs *inputs, uint64_t marks);

/* etw_loss_write() - "lost: 0 events, 0 buffers; nothing damaged": the last line of every command. */
void etw_loss_write(struct etw_text *text, const struct etw_loss *loss);

/* etw_loss_is_damaged() - whether the reader had to skip or to doubt something: exit status 3. */
bool etw_loss_is_damaged(const struct etw_loss *loss);

#endif
