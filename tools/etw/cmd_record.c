/* SPDX-License-Identifier: MIT */
/* `etw record`: this machine, or a command, into a file; then what is in it. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/macros.h"
#include "tools/common/program.h"
#include "tools/etw/cmd.h"
#include "tools/etw/host_wait.h"
#include "tools/etw/page.h"
#include "tools/etw/record_keywords.h"
#include "tools/etw/record_names.h"
#include "tools/etw/record_options.h"
#include "tools/etw/record_report.h"
#include "tools/etw/record_run.h"
#include "tools/etw/recorder.h"
#include "wire/kernel_names.h"

/* Of silence, after a signal; below, a machine that is busy would be taken for one that stands still. */
#define SIGNALLED_MS 5000
#define SILENT_MS    1000 /* where the user was told already that the host does not answer */

struct command {
	struct record_options options;
	struct recorder recorder;
	struct record_run run;
	struct etw_control_waiting waiting;
	struct page page;
};

static void command_done(struct command *command)
{
	record_options_done(&command->options);
	recorder_done(&command->recorder);
	page_done(&command->page);
}

/* Reads the file that was just written. */
static int report(struct command *command)
{
	char *files[] = {command->recorder.file.path};
	struct page *page = &command->page;

	if (page_open(page, files, 1, &command->options.shared))
		return -1;
	if (page_gather(page))
		return -1;
	return record_report_print(&(const struct record_report){
		       .options = &command->options,
		       .recorder = &command->recorder,
		       .page = page,
		       .child = (uint32_t)command->run.child,
	       })
		       ? -1
		       : 0;
}

/* What the host counted, without a look into the file. */
static int tell_numbers(const struct recorder *recorder)
{
	const struct wire_session_info *info = &recorder->info;
	bool is_bad = printf("lost: %" PRIu32 " events, %" PRIu32 " buffers\n%s\n",
			     info->events_lost, info->log_buffers_lost, recorder->file.path) < 0;

	if (!is_bad && !fflush(stdout))
		return 0;
	etw_program_message("cannot write what was lost: %s", strerror(errno));
	return -1;
}

/* A full disk, for one: what comes after the file ended is in no file. Returns whether it was so. */
static bool tell_early_end(const struct recorder *recorder)
{
	if (!recorder->info.file_status)
		return false;
	if (recorder->info.file_status == -ENOENT)
		etw_program_message(
			"the recording is incomplete: %s was deleted while it was written",
			recorder->file.path);
	else
		etw_program_message("the recording is incomplete: writing %s ended early: %s",
				    recorder->file.path, strerror(-recorder->info.file_status));
	return true;
}

/* Somebody else stopped it, or its host died. Returns whether it was so. */
static bool tell_other_end(const struct command *command)
{
	const struct page *page = &command->page;
	const struct etw_etl_header *header = page->inputs.count
						      ? etw_trace_header(page->inputs.traces[0])
						      : NULL;

	recorder_tell_end(&command->recorder, page->report.last_ft, header ? header->end_ft : 0);
	return command->recorder.end != RECORDER_GOES_ON;
}

/* What the file says of what is not in it; --quiet reads nothing of it, but where there was a complaint. */
static int read_notes(struct command *command)
{
	const struct recorder *recorder = &command->recorder;

	if (!command->options.kernel.has_kinds || !recorder->info.complaint[0])
		return 0;
	return notes_read(&command->page.report.notes, recorder->file.path);
}

/*
 * Kernel events that --kernel asked for, and that the machine did not give: the complaint said why. Where nobody
 * named them, or they are of a kind that there is none of on Linux, beside others, the recording is as good as it can be
 * without them. Returns whether it was so.
 */
static bool lacks_kernel(const struct command *command)
{
	const struct record_kernel *kernel = &command->options.kernel;
	uint32_t asked[WIRE_GROUP_MASKS_WORDS], missing[WIRE_GROUP_MASKS_WORDS];
	uint32_t lost = 0, served = 0;

	if (!kernel->has_kinds || !etw_kernel_masks_events(kernel->request.group_masks, asked))
		return false;
	for (unsigned i = 0; i < WIRE_GROUP_MASKS_WORDS; i++)
		served |= asked[i] & kernel->built[i];
	/* Of these the trace's notes say what was not to be had. */
	if (!served || !notes_kernel_missing(&command->page.report.notes, missing))
		return !served;
	for (unsigned i = 0; i < WIRE_GROUP_MASKS_WORDS; i++)
		lost |= asked[i] & kernel->built[i] & missing[i];
	return lost;
}

/*
 * A first signal has ended the recording. Should the host be found not to answer then, it is not waited for as
 * long as it could take to come back.
 */
static int stop(struct command *command)
{
	record_run_stop(&command->run);
	if (command->run.signal)
		command->waiting.patience_ms = command->run.is_host_silent ? SILENT_MS
									   : SIGNALLED_MS;
	return recorder_stop(&command->recorder);
}

/* Nobody wants a file of nothing. */
static int give_up(struct command *command)
{
	if (command->recorder.is_running)
		(void)stop(command);
	(void)unlink(command->recorder.file.path);
	return ETW_EXIT_FAILED;
}

static int tell_exec_error(const struct command *command)
{
	etw_program_message("cannot run %s: %s", command->options.command[0],
			    strerror(command->run.exec_error));
	return record_run_exit_status(&command->run);
}

/* A manifest that cannot be read is told of now, not when all is over; and it may name providers. */
static int load_manifests(struct command *command)
{
	const struct record_providers *providers = &command->options.providers;

	if (page_load(&command->page, &command->options.shared))
		return -1;
	if (record_names_resolve(command->options.providers.all, command->options.providers.count,
				 command->page.store)) {
		etw_program_message("out of memory");
		return -1;
	}
	for (size_t i = 0; i < providers->count; i++) {
		if (record_keywords_resolve(&providers->all[i], command->page.store))
			return -1;
	}
	return 0;
}

static void tell_wait(void *context, const char *directory)
{
	struct record_run *run = context;

	run->is_host_silent = true;
	host_wait_tell(NULL, directory);
}

/* Its process is there before the session, which is to record nobody else. */
static int prepare_command(struct command *command)
{
	int result;

	if (!command->options.kernel.only_command)
		return 0;
	result = record_run_prepare(&command->run, command->options.command);
	if (result) {
		etw_program_message("cannot run %s: %s", command->options.command[0],
				    strerror(-result));
		return -1;
	}
	command->recorder.only_pid = (uint32_t)command->run.child;
	return 0;
}

static int record(struct command *command, char **argv)
{
	struct recorder *recorder = &command->recorder;
	int result = record_run_init(&command->run);

	command->waiting = (struct etw_control_waiting){.is_over = record_run_is_over,
							.wake_fd = command->run.signals,
							.tell = tell_wait,
							.context = &command->run};
	recorder->waiting = &command->waiting;
	if (!result && command->options.command)
		command->run.exec_error = -record_command_check(command->options.command[0]);
	if (command->run.exec_error)
		return tell_exec_error(command);
	if (load_manifests(command))
		return ETW_EXIT_FAILED;
	if (result) {
		etw_program_message("cannot wait for signals: %s", strerror(-result));
		return ETW_EXIT_FAILED;
	}
	host_timeout_check();
	if (prepare_command(command))
		return ETW_EXIT_FAILED;
	if (recorder_start(recorder, &command->options, argv)) {
		record_run_cancel(&command->run);
		return recorder->is_running ? give_up(command) : ETW_EXIT_FAILED;
	}
	if (!command->options.command && isatty(STDERR_FILENO))
		(void)fprintf(stderr, "Recording into %s; Ctrl-C ends it.\n", recorder->file.path);
	result = record_run(&command->run, recorder, &command->options);
	if (command->run.exec_error) {
		(void)give_up(command);
		return tell_exec_error(command);
	}
	if (result && result != -ENOENT)
		etw_program_message("stopped: %s", strerror(-result));
	if (recorder->is_running && stop(command))
		return ETW_EXIT_FAILED;
	record_run_release(&command->run);
	/* Somebody may have put another file into the place of one that was deleted. */
	if (recorder->info.file_status == -ENOENT)
		result = -1;
	else if (command->options.is_quiet)
		result = tell_numbers(recorder) || read_notes(command) ? -1 : 0;
	else
		result = report(command);
	recorder_tell_complaint(recorder);
	if (tell_early_end(recorder) || tell_other_end(command) || lacks_kernel(command))
		result = -1;
	record_run_finish(&command->run);
	return result ? ETW_EXIT_FAILED : record_run_exit_status(&command->run);
}

static int run(int argc, char **argv)
{
	/* Large: the session's names have room for 1024 characters each. */
	static struct command room;
	struct command *command = &room;
	int status;

	if (!record_options_parse(&command->options, argc, argv)) {
		status = ETW_EXIT_USAGE;
	} else if (command->options.shared.help) {
		etw_verb_help_print(&etw_verb_record);
		status = ETW_EXIT_OK;
	} else {
		status = record(command, argv);
	}
	command_done(command);
	return status;
}

const struct etw_verb etw_verb_record = {
	.name = "record",
	.arguments = "[-- COMMAND...]",
	.one_line = "this machine, or what a command does, into a file",
	.help = "  -o, --output FILE   the file (etw-DATE-TIME.etl)\n"
		"  --force             overwrite a file that is no trace\n"
		"  --kernel WHAT       kinds of events, with commas: process, thread, loader,\n"
		"                      cswitch, profile, syscall, interrupt, dpc, diskio, fileio,\n"
		"                      network, memory, ...;\n"
		"                      xperf's groups: Latency, SysProf, DiagEasy, Base, ...\n"
		"  --stacks WHAT       events with stacks: Profile, CSwitch, ReadyThread, ...; "
		"none\n"
		"  --profile-hz N      CPU samples a second, of each processor (1000)\n"
		"  --profile-source S  samples by page faults, cache misses, ...: NAME:INTERVAL, "
		"with\n"
		"                      commas; etw doctor lists what this machine has\n"
		"  --unwind HOW        user stacks by frame-pointers (the default) or dwarf "
		"tables\n"
		"  --only-command      the command's own processes alone\n"
		"  --provider NAME     or its GUID; NAME:LEVEL:ANY:ALL for level and keywords, "
		"these\n"
		"                      by number or name, with commas; NAME::ANY for every level;\n"
		"                      may be repeated\n"
		"  --duration SECONDS  ends the recording\n"
		"  --buffer-size KB    of one buffer\n"
		"  --buffers N         of each processor, at least\n"
		"  --persist           the session survives this program's death\n"
		"  --quiet             no report at the end: what was lost, and the "
		"file\n" ETW_MANIFEST_HELP
		"  --color WHEN        auto (the default), always, never\n"
		"  --help              this text\n"
		"\nWithout --kernel and --provider: processes, threads, images, CPU samples and "
		"context\n"
		"switches, the last two with stacks, if that is allowed.\n"
		"With a command: begins before it and ends with it, and has its exit status.\n"
		"Else Ctrl-C ends the recording.\n"
		"A file that ends early (a full disk) ends the recording too; the command goes "
		"on.\n"
		"Exit status 1: it failed, or is incomplete since the file ended early, somebody "
		"else\n"
		"stopped the session, or its host died.\n"
		"\nExamples:\n"
		"  sudo etw record -- make -j8\n"
		"  etw record --provider MyCompany-MyProduct:info -o app.etl -- ./app\n",
	.run = run,
	.options = record_options_table,
};
