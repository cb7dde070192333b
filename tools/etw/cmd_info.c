/* SPDX-License-Identifier: MIT */
/* `etw info`: everything about a file that can be counted. Each file by itself. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/macros.h"
#include "tools/common/options.h"
#include "tools/common/output.h"
#include "tools/common/program.h"
#include "tools/etw/cmd.h"
#include "tools/etw/info.h"

enum {
	OPTION_JSON = ETW_OPTION_OWN,
	OPTION_BUFFERS,
};

static const struct option options[] = {
	ETW_SHARED_OPTIONS,
	{"json", no_argument, NULL, OPTION_JSON},
	{"buffers", no_argument, NULL, OPTION_BUFFERS},
	{NULL, 0, NULL, 0},
};

struct command {
	struct etw_shared_options shared;
	bool is_json;
	bool has_buffers;
	struct info_look look;
	struct etw_inputs inputs;
	struct etw_output output;
	struct etw_schema_store *store;
	struct etw_decoder *decoder;
	struct etw_manifests manifests;
	struct etw_progress progress;
	struct info info; /* of the file at hand */
	bool is_damaged;
};

static void info_done(struct info *info)
{
	tally_done(&info->tally);
	free(info->processors);
	free(info->buffers);
	*info = (struct info){0};
}

static void command_done(struct command *command)
{
	etw_words_done(&command->shared.manifests);
	info_done(&command->info);
	etw_inputs_done(&command->inputs);
	etw_output_done(&command->output);
	etw_manifests_done(&command->manifests);
	etw_decoder_free(command->decoder);
	etw_schema_store_free(command->store);
}

static bool take_option(void *context, int code)
{
	struct command *command = context;

	if (code == OPTION_JSON)
		command->is_json = true;
	else
		command->has_buffers = true;
	return true;
}

static int keep_buffer(struct info *info, const struct etw_etl_buffer *buffer, uint32_t events)
{
	if (info->buffer_count == info->buffer_room) {
		size_t room = info->buffer_room ? 2 * info->buffer_room : 256;
		void *grown = realloc(info->buffers, room * sizeof(*info->buffers));

		if (!grown)
			return -ENOMEM;
		info->buffers = grown;
		info->buffer_room = room;
	}
	info->buffers[info->buffer_count++] = (struct info_buffer){*buffer, events};
	return 0;
}

static int take_buffer(void *context, const struct etw_etl_buffer *buffer, uint32_t event_count)
{
	struct command *command = context;

	/* As in order of time, where an event of the buffer has the mark before it. */
	if (event_count)
		command->info.loss_marks += (unsigned)__builtin_popcount(buffer->flags &
									 ETW_BUFFER_LOSS_FLAGS);
	if (buffer->sequence > 0 && (uint64_t)buffer->sequence > command->info.last_sequence)
		command->info.last_sequence = (uint64_t)buffer->sequence;
	etw_progress_add(&command->progress, 1);
	return command->has_buffers ? keep_buffer(&command->info, buffer, event_count) : 0;
}

static int take_event(void *context, const struct etw_etl_buffer *buffer, uint8_t header_type,
		      const EVENT_RECORD *record, struct etw_event_address address)
{
	struct command *command = context;
	struct info *info = &command->info;
	struct etw_decoding decoding;

	(void)address;
	info->header_types[header_type]++;
	info->processors[buffer->processor % INFO_PROCESSORS_MAX]++;
	notes_take(&info->notes, record);
	TRY(etw_decoder_run(command->decoder, record, &decoding));
	etw_manifests_note(&command->manifests, decoding.schema);
	return tally_add(&info->tally, &decoding);
}

/* Counts one file and appends what was counted. */
static int tell_file(struct command *command, size_t index)
{
	const struct etw_trace_visitor visitor = {command, take_buffer, take_event};
	struct info *info = &command->info;
	struct etw_inputs one = command->inputs;

	info->trace = command->inputs.traces[index];
	info->path = command->inputs.paths[index];
	info->processors = calloc(INFO_PROCESSORS_MAX, sizeof(*info->processors));
	if (!info->processors)
		return -ENOMEM;
	etw_decoder_set_file(command->decoder, (uint32_t)index);
	etw_inputs_set_build(&command->inputs, index, command->store);
	TRY(etw_trace_each_buffer(info->trace, &visitor));
	TRY(tally_sort(&info->tally, command->store));
	one.traces += index;
	one.count = 1;
	info->loss = etw_loss_of(&one, info->loss_marks);
	command->is_damaged |= etw_loss_is_damaged(&info->loss);
	if (command->is_json) {
		info_write_json(&command->output.text, info, command->has_buffers);
	} else {
		if (index)
			etw_text_putc(&command->output.text, '\n');
		info_write_text(&command->output.text, info, &command->look);
	}
	info_done(info);
	return etw_output_continue(&command->output);
}

static int tell_all(struct command *command)
{
	int result = 0;

	etw_progress_start(&command->progress, "Reading events", command->inputs.buffers);
	for (size_t i = 0; i < command->inputs.count && !result; i++)
		result = tell_file(command, i);
	etw_progress_end(&command->progress);
	return result ? result : etw_output_flush(&command->output);
}

static int work(struct command *command)
{
	bool has_colour = etw_colour_wanted(STDOUT_FILENO, command->shared.colour);
	int result;

	if (etw_shared_decoder_create(&command->shared, &command->manifests, &command->store,
				      &command->decoder) ||
	    etw_inputs_learn(&command->inputs, command->store, command->decoder,
			     /* wants_names= */ false))
		return ETW_EXIT_FAILED;
	command->look = (struct info_look){
		/* A file or a program gets every name whole. */
		.width = isatty(STDOUT_FILENO) ? etw_terminal_width(STDOUT_FILENO) : 0,
		.bold = has_colour ? "\033[1m" : "",
		.warn = has_colour ? "\033[1;31m" : "",
		.plain = has_colour ? "\033[0m" : "",
		.has_buffers = command->has_buffers,
	};
	if (!command->shared.no_pager)
		(void)etw_pager_start();
	result = etw_output_open(NULL, &command->output);
	if (!result)
		result = tell_all(command);
	etw_pager_wait();
	if (result)
		return etw_output_tell(&command->output, result);
	etw_manifests_tell(&command->manifests);
	return command->is_damaged ? ETW_EXIT_DAMAGED : ETW_EXIT_OK;
}

static int run(int argc, char **argv)
{
	CLEANUP(command_done) struct command command = {0};
	int status = etw_verb_parse(&etw_verb_info, argc, argv, &command.shared, &command);

	if (status != ETW_VERB_GOES_ON)
		return status;
	if (etw_inputs_open(argv + optind, (size_t)(argc - optind), &command.inputs))
		return ETW_EXIT_FAILED;
	return work(&command);
}

const struct etw_verb etw_verb_info = {
	.name = "info",
	.arguments = "FILE...",
	.one_line = "header fields, counts by kind of event, buffers, findings",
	.help = "  --json              one JSON object per file\n"
		"  --buffers           every buffer of the file\n" ETW_SHARED_HELP "\nExamples:\n"
		"  etw info trace.etl\n"
		"  etw info --json trace.etl | jq .header\n",
	.run = run,
	.options = options,
	.take = take_option,
	.wants_file = true,
};
