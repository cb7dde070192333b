/* SPDX-License-Identifier: MIT */
/* `etw stacks`: the stacks of samples, switches or other events, summed up. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/macros.h"
#include "base/number.h"
#include "base/pattern.h"
#include "tools/common/number.h"
#include "tools/common/output.h"
#include "tools/common/program.h"
#include "tools/common/time_argument.h"
#include "tools/common/unrelated.h"
#include "tools/etw/cmd.h"
#include "tools/etw/stack_json.h"
#include "tools/etw/stack_profile.h"
#include "tools/etw/stack_text.h"

#define ROWS_SHOWN      20
#define TREE_ROWS_SHOWN 50
#define LEAST_PERMILLE  10 /* of a tree beside other tables */
#define LEAST_ALONE     1  /* of a tree that was asked for */
#define NAME_ROOM       2048

enum {
	OPTION_JSON = ETW_OPTION_OWN,
	OPTION_EVENT,
	OPTION_WEIGHT,
	OPTION_TREE,
	OPTION_BY_NAME,
	OPTION_BY_PROCESS,
	OPTION_CALLERS,
	OPTION_THREADS,
	OPTION_PROCESS,
	OPTION_PID,
	OPTION_FROM,
	OPTION_TO,
	OPTION_TOP,
	OPTION_LINES,
	OPTION_INLINES,
	OPTION_MANGLED,
	OPTION_SYMBOL_PATH,
	OPTION_ROOT,
};

static const struct option options[] = {
	ETW_SHARED_OPTIONS,
	{"json", no_argument, NULL, OPTION_JSON},
	{"event", required_argument, NULL, OPTION_EVENT},
	{"weight", required_argument, NULL, OPTION_WEIGHT},
	{"tree", no_argument, NULL, OPTION_TREE},
	{"by-name", no_argument, NULL, OPTION_BY_NAME},
	{"by-process", no_argument, NULL, OPTION_BY_PROCESS},
	{"callers", required_argument, NULL, OPTION_CALLERS},
	{"threads", no_argument, NULL, OPTION_THREADS},
	{"process", required_argument, NULL, OPTION_PROCESS},
	{"pid", required_argument, NULL, OPTION_PID},
	{"from", required_argument, NULL, OPTION_FROM},
	{"to", required_argument, NULL, OPTION_TO},
	{"top", required_argument, NULL, OPTION_TOP},
	{"lines", no_argument, NULL, OPTION_LINES},
	{"inlines", no_argument, NULL, OPTION_INLINES},
	{"mangled", no_argument, NULL, OPTION_MANGLED},
	{"symbol-path", required_argument, NULL, OPTION_SYMBOL_PATH},
	{"root", required_argument, NULL, OPTION_ROOT},
	{NULL, 0, NULL, 0},
};

enum weight {
	WEIGHT_USUAL, /* time, where there is one */
	WEIGHT_TIME,
	WEIGHT_COUNT,
};

struct command {
	struct etw_shared_options shared;
	struct stack_profile profile;
	struct filter filter;
	struct etw_time_argument from, to;
	enum weight weight;
	bool wants_samples, wants_switches; /* --event profile, --event cswitch */
	const char *callers;
	uint64_t top; /* 0: as usual */
	bool is_json, tree, by_name, by_process;

	struct etw_inputs inputs;
	struct etw_schema_store *store;
	struct etw_decoder *decoder;
	struct etw_manifests manifests;
	struct etw_output output;
};

static void command_done(struct command *command)
{
	etw_words_done(&command->shared.manifests);
	etw_words_done(&command->profile.query.names);
	etw_words_done(&command->profile.query.pids);
	filter_done(&command->filter);
	stack_profile_done(&command->profile);
	etw_output_done(&command->output);
	etw_manifests_done(&command->manifests);
	etw_inputs_done(&command->inputs);
	etw_decoder_free(command->decoder);
	etw_schema_store_free(command->store);
}

static bool take_word(struct etw_words *words)
{
	if (!etw_words_add(words, optarg))
		return true;
	etw_program_message("out of memory");
	return false;
}

static bool take_event(struct command *command)
{
	struct stack_query *query = &command->profile.query;

	if (!strcmp(optarg, "profile")) {
		query->events = STACK_SAMPLES;
		return command->wants_samples = true;
	}
	if (!strcmp(optarg, "cswitch")) {
		query->events = STACK_SWITCHES;
		return command->wants_switches = true;
	}
	query->events = STACK_OTHERS;
	return take_word(&command->filter.words[FILTER_EVENT]);
}

static bool take_weight(struct command *command)
{
	command->weight = !strcmp(optarg, "count") ? WEIGHT_COUNT : WEIGHT_TIME;
	if (command->weight == WEIGHT_COUNT || !strcmp(optarg, "time"))
		return true;
	etw_program_message("--weight wants time or count, not \"%s\"", optarg);
	return false;
}

static bool take_time(const char *name, struct etw_time_argument *ret)
{
	if (etw_time_argument_parse(optarg, ret))
		return true;
	etw_program_message("--%s wants a time such as 2011-01-23T22:06:37.5Z, 22:06:37+02:00, or "
			    "+1.5 for seconds from the start, not \"%s\"",
			    name, optarg);
	return false;
}

static bool take_pid(struct command *command)
{
	uint64_t pid;

	if (etw_number_parse(optarg, UINT32_MAX, &pid))
		return take_word(&command->profile.query.pids);
	etw_program_message("--pid wants the number of a process, not \"%s\"", optarg);
	return false;
}

static bool take_top(struct command *command)
{
	if (etw_number_parse(optarg, SIZE_MAX, &command->top) && command->top)
		return true;
	etw_program_message("--top wants a number from 1 on, not \"%s\"", optarg);
	return false;
}

static bool take_option(void *context, int code)
{
	struct command *command = context;
	struct stack_query *query = &command->profile.query;

	switch (code) {
	case OPTION_JSON:
		return command->is_json = true;
	case OPTION_EVENT:
		return take_event(command);
	case OPTION_WEIGHT:
		return take_weight(command);
	case OPTION_TREE:
		return command->tree = true;
	case OPTION_BY_NAME:
		return command->by_name = true;
	case OPTION_BY_PROCESS:
		return command->by_process = true;
	case OPTION_CALLERS:
		command->callers = optarg;
		return true;
	case OPTION_THREADS:
		return query->threads = true;
	case OPTION_PROCESS:
		return take_word(&query->names);
	case OPTION_PID:
		return take_pid(command);
	case OPTION_FROM:
		return take_time("from", &command->from);
	case OPTION_TO:
		return take_time("to", &command->to);
	case OPTION_TOP:
		return take_top(command);
	case OPTION_LINES:
		return query->lines = true;
	case OPTION_INLINES:
		return query->inlines = true;
	case OPTION_MANGLED:
		return query->mangled = true;
	case OPTION_SYMBOL_PATH:
		query->symbol_path = optarg;
		return true;
	case OPTION_ROOT:
		query->root = optarg;
		return true;
	default:
		return false;
	}
}

/* What the options say together. */
static bool settle(struct command *command)
{
	struct stack_query *query = &command->profile.query;

	if ((command->wants_samples && command->wants_switches) ||
	    ((command->wants_samples || command->wants_switches) &&
	     command->filter.words[FILTER_EVENT].count)) {
		etw_program_message(
			"--event profile and --event cswitch cannot be given with other "
			"events: ask for each in a call of its own");
		return false;
	}
	if (query->events == STACK_OTHERS && command->weight == WEIGHT_TIME) {
		etw_program_message("only --event profile and --event cswitch have a time; other "
				    "events can be counted");
		return false;
	}
	query->by_count = command->weight == WEIGHT_COUNT || query->events == STACK_OTHERS;
	if (!command->tree && !command->by_name && !command->by_process && !command->callers)
		command->tree = command->by_name = command->by_process = true;
	query->filter = &command->filter;
	return query->events != STACK_OTHERS ||
	       filter_prepare(&command->filter, /* has_names= */ true);
}

static bool resolve_window(struct command *command)
{
	struct stack_query *query = &command->profile.query;
	struct etw_time_context context = {.local = NULL};

	context.start_ft = context.end_ft = etw_inputs_start(&command->inputs);
	for (size_t i = 0; i < command->inputs.count; i++) {
		const int64_t end_ft = etw_trace_header(command->inputs.traces[i])->end_ft;

		context.end_ft = end_ft > context.end_ft ? end_ft : context.end_ft;
	}
	query->from_ft = etw_time_argument_resolve(&command->from, &context, INT64_MIN);
	query->to_ft = etw_time_argument_resolve(&command->to, &context, INT64_MAX);
	if (query->from_ft <= query->to_ft)
		return true;
	etw_program_message("--from is later than --to: no event can be in between");
	return false;
}

/* Whether a function is one of those that --callers names: by itself, or with its module. */
static bool is_asked_for(void *context, const struct etw_call *call)
{
	const struct command *command = context;
	struct etw_text text = {0};
	bool is_it;

	if (call->name.kind != STACK_FRAME)
		return false;
	if (call->name.function &&
	    etw_pattern_matches(command->callers, call->name.function, strlen(call->name.function)))
		return true;
	stack_frame_write(&text, &call->name);
	is_it = etw_pattern_matches(command->callers, etw_text_string(&text), text.bytes);
	etw_text_done(&text);
	return is_it;
}

static int put_callers(struct command *command, const struct stack_look *look)
{
	CLEANUP(etw_calls_done) struct etw_calls callers = {0};
	struct stack_profile *profile = &command->profile;
	struct etw_text *text = &command->output.text;

	TRY(etw_calls_invert(&profile->calls, is_asked_for, command, &callers));
	if (command->is_json) {
		etw_text_puts(text, ",\"callers\":");
		stack_json_tree(text, &profile->query, &callers);
		return 0;
	}
	if (!callers.root.first) {
		etw_program_message("no stack has a function %s", command->callers);
		return 0;
	}
	stack_tree_write(text, &profile->query, &callers, look, "Callers");
	return 0;
}

static int put_json(struct command *command, const struct etw_loss *loss)
{
	struct etw_text *text = &command->output.text;

	TRY(stack_json_begin(text, &command->profile));
	if (command->callers)
		TRY(put_callers(command, NULL));
	stack_json_end(text, &command->profile, loss);
	return etw_output_flush(&command->output);
}

static int put_text(struct command *command, const struct etw_loss *loss)
{
	const bool has_colour = etw_colour_wanted(STDOUT_FILENO, command->shared.colour);
	struct stack_profile *profile = &command->profile;
	struct etw_text *text = &command->output.text;
	const bool is_tree_alone = command->tree && !command->by_name;
	struct stack_look look = {
		.width = isatty(STDOUT_FILENO) ? etw_terminal_width(STDOUT_FILENO) : 0,
		.rows = command->top ? command->top : ROWS_SHOWN,
		.least_permille = is_tree_alone ? LEAST_ALONE : LEAST_PERMILLE,
		.bold = has_colour ? "\033[1m" : "",
		.plain = has_colour ? "\033[0m" : "",
	};

	if (profile->counts.events && command->by_process)
		TRY(stack_processes_write(text, profile, &look));
	if (profile->counts.events && command->by_name)
		TRY(stack_functions_write(text, profile, &look));
	look.rows = command->top ? command->top : is_tree_alone ? SIZE_MAX : TREE_ROWS_SHOWN;
	if (profile->counts.events && command->callers)
		TRY(put_callers(command, &look));
	if (profile->counts.events && command->tree)
		stack_tree_write(text, &profile->query, &profile->calls, &look,
				 "Calls, from the outermost function in");
	stack_end_write(text, profile, &look);
	notes_write(text, &profile->notes);
	etw_loss_write(text, loss);
	etw_text_putc(text, '\n');
	return etw_output_flush(&command->output);
}

/* Why there was nothing. */
static void tell_nothing(const struct command *command)
{
	static const char *const recorded[] = {
		[STACK_SAMPLES] = "profile samples (flag PROFILE)",
		[STACK_SWITCHES] = "context switches (flag CSWITCH)",
		[STACK_OTHERS] = "such events",
	};
	const struct stack_query *query = &command->profile.query;
	const bool is_part = query->names.count || query->pids.count || command->from.is_given ||
			     command->to.is_given;

	if (command->profile.counts.events)
		return;
	if (is_part)
		etw_program_message("no %s are of what --process, --pid, --from and --to select; "
				    "in a trace without Thread events (etw record --kernel "
				    "thread) they belong to no process",
				    recorded[query->events]);
	else
		etw_program_message("the trace has no %s", recorded[query->events]);
}

static int print(struct command *command)
{
	struct etw_loss loss = etw_loss_of(&command->inputs, command->profile.loss_marks);
	int result;

	if (!command->shared.no_pager && !command->is_json)
		(void)etw_pager_start();
	result = etw_output_open(NULL, &command->output);
	if (!result)
		result = command->is_json ? put_json(command, &loss) : put_text(command, &loss);
	etw_pager_wait();
	tell_nothing(command);
	result = etw_output_tell(&command->output, result);
	return result == ETW_EXIT_OK && etw_loss_is_damaged(&loss) ? ETW_EXIT_DAMAGED : result;
}

static int work(struct command *command, char **files, int count)
{
	struct stack_profile *profile = &command->profile;
	int result;

	if (etw_inputs_open(files, (size_t)count, &command->inputs))
		return ETW_EXIT_FAILED;
	if (!resolve_window(command))
		return ETW_EXIT_USAGE;
	if (etw_shared_decoder_create(&command->shared, &command->manifests, &command->store,
				      &command->decoder) ||
	    etw_inputs_learn(&command->inputs, command->store, command->decoder,
			     /* wants_names= */ true))
		return ETW_EXIT_FAILED;
	profile->inputs = &command->inputs;
	profile->store = command->store;
	profile->decoder = command->decoder;
	result = stack_profile_gather(profile);
	if (result) {
		etw_inputs_error(&command->inputs, result);
		return ETW_EXIT_FAILED;
	}
	etw_unrelated_warn(&command->inputs);
	return print(command);
}

static int run(int argc, char **argv)
{
	CLEANUP(command_done) struct command command = {0};
	int status = etw_verb_parse(&etw_verb_stacks, argc, argv, &command.shared, &command);

	if (status != ETW_VERB_GOES_ON)
		return status;
	if (!settle(&command))
		return ETW_EXIT_USAGE;
	return work(&command, argv + optind, argc - optind);
}

const struct etw_verb etw_verb_stacks = {
	.name = "stacks",
	.arguments = "FILE...",
	.one_line = "where the CPU time went, or what was waited for: stacks, summed up",
	.help = "  --json              all of it as one JSON object\n"
		"  --event WHICH       profile (the default): samples, by CPU time; cswitch: by "
		"the\n"
		"                      time that threads waited; or events with stacks as etw dump "
		"has\n"
		"                      them, by their number; may be repeated\n"
		"  --weight WHAT       time or count\n"
		"  --by-process        the processes\n"
		"  --by-name           the functions, by what they took themselves\n"
		"  --tree              the calls as a tree, from the outermost function in\n"
		"  --callers FUNCTION  who called it, as a tree; * stands for anything\n"
		"  --threads           a level for each thread in trees\n"
		"  --process NAME      only this process; * stands for anything; may be repeated\n"
		"  --pid N             only this process; may be repeated\n"
		"  --from TIME         from this time on, as in etw dump\n"
		"  --to TIME           up to this time\n"
		"  --top N             at most so many rows of each table\n"
		"  --lines             tell source lines apart\n"
		"  --inlines           show inlined functions\n"
		"  --mangled           show names as the linker has them\n"
		"  --symbol-path PATH  folders of debug files, with : between\n"
		"  --root DIR          take files from this copy of the recorded machine's "
		"root\n" ETW_SHARED_HELP
		"\nWithout --by-process, --by-name, --tree and --callers: the first three.\n"
		"\nExamples:\n"
		"  etw stacks trace.etl\n"
		"  etw stacks trace.etl --callers 'malloc*'\n"
		"  etw stacks trace.etl --event cswitch --tree\n",
	.run = run,
	.options = options,
	.take = take_option,
	.wants_file = true,
};
