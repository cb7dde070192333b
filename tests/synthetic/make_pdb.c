/* SPDX-License-Identifier: MIT */
/*
 * make_pdb TMF PDB - a PDB with the messages of a TMF file: what a compiler leaves in one. Attributes of a
 * message but its function stay in its annotation; the function becomes a procedure around it. Tables of
 * enumerators become types. A line "#control GUID name flag..." gives a control GUID with its flags.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/guid.h"
#include "synthetic/pdb_maker.h"

#define LINES_MAX 32

struct source {
	struct pdb_maker maker;
	char section[512];
	char lines[LINES_MAX][512]; /* of the message or table that is read */
	unsigned line_count;
};

static _Noreturn void give_up(const char *what)
{
	(void)fprintf(stderr, "make_pdb: %s\n", what);
	exit(1);
}

/* Cuts " FUNC=name" off and returns the name, or NULL. */
static const char *cut_function(char *line)
{
	char *at = strstr(line, " FUNC=");

	if (!at)
		return NULL;
	*at = '\0';
	return at + strlen(" FUNC=");
}

static void put_message(struct source *source)
{
	const char *strings[LINES_MAX + 3] = {"TMF:", source->section};
	const char *function = cut_function(source->lines[0]);

	for (unsigned i = 0; i < source->line_count; i++)
		strings[i + 2] = source->lines[i];
	if (function)
		pdb_add_procedure(&source->maker, 0x1110, function);
	pdb_add_annotation(&source->maker, strings);
	if (function)
		pdb_end_procedure(&source->maker);
}

static void put_control(struct source *source, char *line)
{
	const char *strings[LINES_MAX + 2] = {"TMC:"};
	char *rest;
	unsigned count = 1;

	for (char *word = strtok_r(line, " ", &rest); word && count <= LINES_MAX;
	     word = strtok_r(NULL, " ", &rest))
		strings[count++] = word;
	pdb_add_annotation(&source->maker, strings);
}

static void put_enumeration(struct source *source)
{
	uint8_t list[4096];
	size_t bytes = 0;

	for (unsigned i = 2; i + 1 < source->line_count; i++) {
		char *comma = strchr(source->lines[i], ',');

		if (!comma || bytes + sizeof(source->lines[i]) > sizeof(list))
			give_up("a table of names is malformed or too long");
		*comma = '\0';
		bytes = pdb_enumerator(list, bytes, source->lines[i],
				       (uint16_t)strtoul(comma + 1, NULL, 0));
	}
	(void)pdb_enum(&source->maker, source->lines[0] + strlen("#enumv "),
		       pdb_type(&source->maker, 0x1203, list, bytes), 0);
}

static void take_line(struct source *source, char *line)
{
	line[strcspn(line, "\r\n")] = '\0';
	if (strncmp(line, "#control ", strlen("#control ")) == 0) {
		put_control(source, line + strlen("#control "));
		return;
	}
	if (!source->line_count && line[0] != '#') {
		if (line[0] != '/')
			(void)snprintf(source->section, sizeof(source->section), "%s", line);
		return;
	}
	if (source->line_count == LINES_MAX)
		give_up("a message or table has too many lines");
	(void)snprintf(source->lines[source->line_count++], sizeof(source->lines[0]), "%s", line);
	if (strcmp(line, "}") != 0)
		return;
	if (strncmp(source->lines[0], "#enumv ", strlen("#enumv ")) == 0)
		put_enumeration(source);
	else
		put_message(source);
	source->line_count = 0;
}

int main(int argc, char **argv)
{
	static const GUID guid = {0x11223344, 0x5566, 0x7788, {1, 2, 3, 4, 5, 6, 7, 8}};
	static struct source source;
	char line[512];
	FILE *file = argc == 3 ? fopen(argv[1], "r") : NULL;
	uint8_t *made;
	size_t bytes;

	if (!file)
		give_up(argc == 3 ? "the TMF file cannot be read" : "make_pdb TMF PDB");
	pdb_begin(&source.maker, &guid, 1);
	pdb_add_module(&source.maker);
	while (fgets(line, sizeof(line), file))
		take_line(&source, line);
	(void)fclose(file);
	pdb_end_modules(&source.maker);
	if (source.maker.type_count)
		pdb_end_types(&source.maker);
	made = pdb_finish(&source.maker, &bytes);
	file = fopen(argv[2], "wb");
	if (!file || fwrite(made, 1, bytes, file) != bytes || fclose(file))
		give_up("the PDB cannot be written");
	free(made);
	return 0;
}
