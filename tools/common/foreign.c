/* SPDX-License-Identifier: MIT */
#include "tools/common/foreign.h"

#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "base/pattern.h"
#include "base/text.h"
#include "tools/common/program.h"
#include "tools/common/shell_word.h"

#define LOOK_BYTES 4096

/* In an advice, @ stands for the file as a word of a command line. */
#define AS_SCHEMAS       "it says what events mean: use --manifest @ with a trace"
#define AS_PIPE(command) "try " command " @ | etw -"

struct kind {
	const char *mark;
	size_t bytes;
	size_t offset;
	const char *name;
	const char *advice;
};

#define MARK(mark) (mark), sizeof(mark) - 1, 0

static const struct kind binaries[] = {
	{MARK("\x1F\x8B"), "gzip-compressed", AS_PIPE("zcat")},
	{MARK("\xFD"
	      "7zXZ"),
	 "xz-compressed", AS_PIPE("xzcat")},
	{MARK("\x28\xB5\x2F\xFD"), "zstd-compressed", AS_PIPE("zstdcat")},
	{MARK("BZh"), "bzip2-compressed", AS_PIPE("bzcat")},
	{MARK("PK\x03\x04"), "a zip archive",
	 "the .etl files in it are what etw reads: unzip @ takes them out"},
	{MARK("MSCF"), "a cabinet archive (.cab)",
	 "the .etl files in it are what etw reads: cabextract @ takes them out"},
	{MARK("7z\xBC\xAF\x27\x1C"), "a 7-Zip archive",
	 "the .etl files in it are what etw reads: 7z x @ takes them out"},
	{MARK("ElfFile\0"), "an event log (.evtx)",
	 "this is no trace: Event Viewer on Windows shows it, and here evtxexport @ (package "
	 "libevtx-utils)"},
	{"LfLe", 4, 4, "an event log (.evt)",
	 "this is no trace: Event Viewer on Windows shows it, and here evtexport @ (package "
	 "libevt-utils)"},
	{MARK("Microsoft C/C++ MSF 7.00"), "a PDB", AS_SCHEMAS},
	{MARK("CRIM"), "a resource of compiled event schemas (WEVT_TEMPLATE)", AS_SCHEMAS},
	{MARK("MZ"), "a program or library of Windows",
	 "if it holds event schemas, use --manifest @ with a trace"},
	{MARK("MDMP"), "a memory dump of Windows",
	 "WinDbg reads it, and takes a session's events out of it: !wmitrace.logsave"},
	{MARK("PAGEDU"), "a memory dump of Windows",
	 "WinDbg reads it, and takes a session's events out of it: !wmitrace.logsave"},
	{MARK("\x0A\x0D\x0D\x0A"), "a network capture (.pcapng)",
	 "etw reads the .etl file that it was made of"},
	{MARK("\xD4\xC3\xB2\xA1"), "a network capture (.pcap)",
	 "etw reads the .etl file that it was made of"},
	{MARK("Nettrace"), "a trace of .NET's EventPipe (.nettrace)",
	 "PerfView and dotnet-trace read it"},
	{"!FastSerialization", 18, 4, "a file that PerfView made of a trace (.etlx)",
	 "etw reads the .etl file that it was made of"},
	{MARK("PERFILE2"), "a recording of Linux perf", "perf script -i @ shows it"},
	{MARK("\xC1\x1F\xFC\xC1"), "a trace of LTTng", "babeltrace2 shows it"},
	{MARK("\x7F"
	      "ELF"),
	 "a program or library of Linux", "etw record -- @ records what it does"},
};

/* By a word of the text; the first that fits. */
static const struct kind texts[] = {
	{MARK("<instrumentationManifest"), "a manifest", AS_SCHEMAS},
	{MARK("<WindowsPerformanceRecorder"), "a profile of Windows Performance Recorder",
	 "it says what to record; etw reads the .etl file that comes of it"},
	{MARK("<WpaProfileContainer"), "a profile of Windows Performance Analyzer",
	 "it says how to show a trace; etw reads the .etl file"},
	{MARK("<Event xmlns"), "a list of events as XML",
	 "etw reads the .etl file that it was made of"},
	{MARK("#typev"), "a TMF file", AS_SCHEMAS},
	{MARK("#pragma autorecover"), "a MOF file", AS_SCHEMAS},
	{MARK("#pragma namespace"), "a MOF file", AS_SCHEMAS},
};

static const struct kind xml = {
	.name = "XML",
	.advice = "this is no trace: etw reads .etl files, and with --manifest schemas"};
static const struct kind plain = {
	.name = "text",
	.advice = "this is no trace: etw reads .etl files, and with --manifest schemas"};
static const struct kind mof = {.name = "a MOF file", .advice = AS_SCHEMAS};
static const struct kind empty = {.name = "empty",
				  .advice = "nothing was ever written to it, or it was not copied"};
static const struct kind zeros = {
	.name = "nothing but zeros at its beginning",
	.advice = "its session never wrote to it, or it was not copied whole"};

struct start {
	char bytes[LOOK_BYTES];
	size_t count;
	char text[LOOK_BYTES + 1]; /* what UTF-16 has between its letters is left out */
};

static bool read_start(const char *path, struct start *ret)
{
	FILE *file = fopen(path, "rbe");
	size_t count = 0;

	if (!file)
		return false;
	ret->count = fread(ret->bytes, 1, LOOK_BYTES, file);
	for (size_t i = 0; i < ret->count; i++) {
		if (ret->bytes[i])
			ret->text[count++] = ret->bytes[i];
	}
	ret->text[count] = '\0';
	(void)fclose(file);
	return true;
}

static bool is_text(const char *at)
{
	for (; *at; at++) {
		if ((unsigned char)*at < ' ' && !strchr("\t\r\n\f\x1A", *at))
			return false;
	}
	return true;
}

static const struct kind *find_text(const struct start *start, const char *path)
{
	/* Behind a mark of the encoding and blanks. */
	const char *text = start->text + strspn(start->text, "\xEF\xBB\xBF\xFF\xFE \t\r\n");

	if (!is_text(text))
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		if ((*text == '<' || *texts[i].mark == '#') && strstr(text, texts[i].mark))
			return &texts[i];
	}
	if (etw_pattern_matches("*.mof", path, strlen(path)))
		return &mof;
	return *text == '<' ? &xml : &plain;
}

static const struct kind *find_kind(const char *path)
{
	struct start start;

	if (!read_start(path, &start))
		return NULL;
	if (!start.count)
		return &empty;
	for (size_t i = 0; i < ARRAY_SIZE(binaries); i++) {
		const struct kind *kind = &binaries[i];

		if (start.count >= kind->offset + kind->bytes &&
		    !memcmp(start.bytes + kind->offset, kind->mark, kind->bytes))
			return kind;
	}
	return *start.text ? find_text(&start, path) : &zeros;
}

const char *etw_foreign_name(const char *path)
{
	const struct kind *kind = find_kind(path);

	return kind ? kind->name : NULL;
}

bool etw_foreign_tell(const char *path, const char *shown)
{
	const struct kind *kind = find_kind(path);
	CLEANUP(etw_text_done) struct etw_text advice = {0};

	if (!kind)
		return false;
	for (const char *at = kind->advice; *at; at++) {
		if (*at == '@')
			etw_shell_word(&advice, shown == path ? path : "FILE");
		else
			etw_text_putc(&advice, *at);
	}
	etw_program_message("%s is %s; %s", shown, kind->name, etw_text_string(&advice));
	return true;
}

static int is_trace_name(const struct dirent *entry)
{
	return etw_pattern_matches("*.etl", entry->d_name, strlen(entry->d_name));
}

void etw_foreign_tell_folder(const char *path)
{
	struct dirent **entries = NULL;
	int count = scandir(path, &entries, is_trace_name, alphasort);
	CLEANUP(etw_text_done) struct etw_text word = {0};

	for (int i = 0; i < count; i++)
		free(entries[i]);
	free(entries);
	etw_shell_word(&word, path);
	if (count > 0)
		etw_program_message("%s is a folder; give the traces in it: %s/*.etl", path,
				    etw_text_string(&word));
	else
		etw_program_message("%s is a folder, without .etl files in it", path);
}
