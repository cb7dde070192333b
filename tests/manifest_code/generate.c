/* SPDX-License-Identifier: MIT */
#include "manifest_code/generate.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "manifest_code/values.h"

#define NULL_BYTES                UINT64_MAX
#define CHANNEL_PROVIDER_METADATA 12

static const char *const suffixes[] = {"", "_AssumeEnabled", "_ForContext",
				       "_ForContextAssumeEnabled"};

/* The names that the header gave: only symbols that several events have are not theirs. */
struct names {
	const char *header;
	struct etw_arena arena;
};

static char *format(struct names *names, const char *pattern, const char *word)
{
	char text[1024];
	char *ret;

	(void)snprintf(text, sizeof(text), pattern, word);
	ret = etw_arena_strdup(&names->arena, text);
	if (!ret)
		abort();
	return ret;
}

static void save(const char *folder, const char *name, const struct etw_text *text)
{
	char path[PATH_MAX];
	FILE *file;

	(void)snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "wb");
	if (!file || fwrite(text->at, 1, text->bytes, file) != text->bytes || fclose(file)) {
		perror(path);
		exit(1);
	}
}

struct writing *list_writings(const struct mc_manifest *manifest, uint64_t seed, size_t *ret_count)
{
	size_t room = 1, count = 0;
	unsigned writer = 0;
	struct writing *list;

	for (const struct mc_provider *at = manifest->providers; at; at = at->next)
		room += at->event_count * ROUNDS;
	list = calloc(room, sizeof(*list));
	if (!list)
		abort();
	for (const struct mc_provider *at = manifest->providers; at; at = at->next) {
		for (const struct mc_event *event = at->events; event; event = event->next) {
			for (unsigned i = 0; !event->is_not_logged && i < ROUNDS; i++) {
				list[count] = (struct writing){at, event,  seed + count,
							       i,  writer, 0};
				if (i == ROUNDS - 1)
					list[count].form = 1 + writer % 3;
				count++;
			}
			writer += !event->is_not_logged;
		}
	}
	*ret_count = count;
	return list;
}

static void put_u64(struct etw_text *out, uint64_t value)
{
	etw_text_append(out, (const char *)&value, sizeof(value));
}

static void put_argument_values(struct etw_text *out, const struct values_argument *argument)
{
	const struct etw_text *bytes = &argument->bytes;

	if (argument->has_length)
		put_u64(out, argument->length);
	put_u64(out, argument->is_null ? NULL_BYTES : bytes->bytes);
	if (bytes->bytes)
		etw_text_append(out, bytes->at, bytes->bytes);
	etw_text_append(out, "\0\0\0\0\0\0\0", (8 - bytes->bytes % 8) % 8);
}

static void put_values(struct etw_text *out, const struct writing *writing)
{
	struct values values;

	put_u64(out, writing->writer);
	put_u64(out, writing->form);
	values_make(&values, writing->event->template_of, writing->seed, writing->round);
	for (size_t i = 0; i < values.argument_count; i++)
		put_argument_values(out, &values.arguments[i]);
	values_done(&values);
}

/* A variable for each argument: C does not say in which order arguments are evaluated. */
static void put_variables(struct etw_text *out, const struct mc_field *fields)
{
	for (const struct mc_field *at = fields; at; at = at->next) {
		const char *type = values_type(at);
		unsigned i = at->index;

		if (values_takes_length(at))
			etw_text_printf(out, "\tULONG length%u = driver_length();\n", i);
		if (values_is_by_value(at))
			etw_text_printf(out,
					"\t%s a%u;\n\tmemcpy(&a%u, driver_take(), sizeof(a%u));\n",
					type, i, i, i);
		else
			etw_text_printf(out, "\tconst %s *a%u = (const %s *)driver_take();\n", type,
					i, type);
	}
}

static void put_call(struct etw_text *out, const struct writing *writing, const char *symbol,
		     const char *provider, bool is_kernel)
{
	const struct mc_template *template_of = writing->event->template_of;
	unsigned form = writing->form;
	const char *comma = "";

	etw_text_printf(out, "\tdriver_written(EventWrite%s%s(", symbol, suffixes[form]);
	if (form >= 2) {
		etw_text_printf(out, "&context_%s", provider);
		comma = ", ";
	}
	if (is_kernel && form % 2 == 0) {
		etw_text_printf(out, "%s&driver_activity", comma);
		comma = ", ";
	}
	for (const struct mc_field *at = template_of ? template_of->fields : NULL; at;
	     at = at->next) {
		if (values_takes_length(at)) {
			etw_text_printf(out, "%slength%u", comma, at->index);
			comma = ", ";
		}
		etw_text_printf(out, "%sa%u", comma, at->index);
		comma = ", ";
	}
	etw_text_puts(out, "));\n");
}

/* The symbol as the header has it: one that something else has first makes room for the numbers. */
static const char *symbol_in(struct names *names, const struct writing *writing)
{
	const struct mc_event *event = writing->event;
	unsigned level = event->level ? (unsigned)event->level->value : 0;
	unsigned opcode = event->opcode ? (unsigned)event->opcode->value : 0;
	unsigned task = event->task ? (unsigned)event->task->value : 0;
	unsigned long long mask = event->mask;
	unsigned channel = event->channel ? event->channel->value : 0;
	char line[512];

	if (!event->channel && writing->provider->has_control_guid)
		channel = CHANNEL_PROVIDER_METADATA;
	(void)snprintf(line, sizeof(line),
		       "const EVENT_DESCRIPTOR %s = {0x%x, 0x%x, 0x%x, 0x%x, 0x%x, 0x%x, 0x%llx};",
		       event->symbol, event->value, event->version, channel, level, opcode, task,
		       mask);
	if (strstr(names->header, line))
		return event->symbol;
	(void)snprintf(line, sizeof(line), "%s_EVENT_0x%x_%x_%x_%x_%x_%x_%llx",
		       writing->provider->symbol, event->value, event->version, channel, level,
		       opcode, task, mask);
	return format(names, "%s", line);
}

static void put_writer(struct etw_text *out, struct names *names, const struct writing *writing,
		       bool is_kernel)
{
	const struct mc_template *template_of = writing->event->template_of;
	const char *symbol = symbol_in(names, writing);
	const char *provider = writing->provider->symbol;
	struct writing other = *writing;

	other.form = 1 + writing->writer % 3;
	etw_text_printf(out, "static void write_%u(unsigned form)\n{\n", writing->writer);
	put_variables(out, template_of ? template_of->fields : NULL);
	etw_text_puts(out, "\tif (form == DRIVER_PLAIN)\n\t");
	put_call(out, writing, symbol, provider, is_kernel);
	etw_text_puts(out, "\telse\n\t");
	put_call(out, &other, symbol, provider, is_kernel);
	etw_text_puts(out, "}\n\n");
}

/* What EventRegister and the like end with. */
static const char *label_of(struct names *names, const struct mc_provider *provider, bool is_type)
{
	char *name;

	if (provider->has_control_guid && !is_type)
		return format(names, "_%s", provider->symbol);
	name = format(names, "%s", provider->name);
	for (char *at = name; *at; at++) {
		if (!((*at >= '0' && *at <= '9') || (*at >= 'a' && *at <= 'z') ||
		      (*at >= 'A' && *at <= 'Z')))
			*at = '_';
	}
	for (char *at = name; *at >= '0' && *at <= '9'; at++)
		*at = '_';
	return name;
}

static void put_main(struct etw_text *out, struct names *names, const struct mc_manifest *manifest)
{
	const struct mc_provider *at;

	etw_text_puts(out, "int main(int argc, char **argv)\n{\n"
			   "\tif (argc != 2)\n\t\treturn 2;\n\tdriver_open(argv[1]);\n");
	for (at = manifest->providers; at; at = at->next) {
		const char *label = label_of(names, at, false);

		if (!at->event_count)
			continue;
		etw_text_printf(out, "\tdriver_registered(EventRegister%s());\n", label);
		etw_text_printf(out,
				"\tdriver_registered(EventRegister%s_ForContext(&context_%s));\n",
				label, at->symbol);
	}
	for (at = manifest->providers; at; at = at->next) {
		if (at->event_count)
			etw_text_printf(out,
					"\tdriver_await(&%s_Context.IsEnabled);\n"
					"\tdriver_await(&context_%s.Context.IsEnabled);\n",
					at->symbol, at->symbol);
	}
	etw_text_puts(out, "\tdriver_run(writers, DRIVER_HAS_ACTIVITY);\n");
	for (at = manifest->providers; at; at = at->next) {
		const char *label = label_of(names, at, false);

		if (at->event_count)
			etw_text_printf(
				out,
				"\tdriver_registered(EventUnregister%s());\n\tdriver_registered("
				"EventUnregister%s_ForContext(&context_%s));\n",
				label, label, at->symbol);
	}
	etw_text_puts(out, "\tdriver_count(DRIVER_HAS_CALLOUT);\n\treturn 0;\n}\n");
}

static void put_driver(struct etw_text *out, const struct etw_text *header,
		       const struct mc_manifest *manifest, const struct writing *list, size_t count,
		       const struct etw_compile_header_options *options)
{
	struct names names = {.header = etw_text_string(header)};
	unsigned writers = 0;

	etw_text_printf(out,
			"#include \"driver.h\"\n"
			"#define MCGEN_ENABLE_FORCONTEXT_CODE_GENERATION\n"
			"#define MCGEN_CALLOUT driver_callout\n"
			"#include \"header.h\"\n\n#define DRIVER_HAS_ACTIVITY %d\n"
			"#define DRIVER_HAS_CALLOUT %d\n\n",
			options->is_kernel, options->has_callout);
	for (const struct mc_provider *at = manifest->providers; at; at = at->next) {
		if (at->event_count)
			etw_text_printf(out, "static McGenContext_%s context_%s;\n",
					label_of(&names, at, true), at->symbol);
	}
	for (size_t i = 0; i < count; i++) {
		if (list[i].round == 0) {
			put_writer(out, &names, &list[i], options->is_kernel);
			writers++;
		}
	}
	etw_text_puts(out, "static void (*const writers[])(unsigned form) = {");
	for (unsigned i = 0; i < writers; i++)
		etw_text_printf(out, "write_%u, ", i);
	etw_text_puts(out, writers ? "};\n\n" : "NULL};\n\n");
	put_main(out, &names, manifest);
	etw_arena_done(&names.arena);
}

void generate_files(const struct mc_manifest *manifest, const char *folder, uint64_t seed,
		    const struct etw_compile_header_options *options)
{
	CLEANUP(etw_text_done) struct etw_text header = {0};
	CLEANUP(etw_text_done) struct etw_text driver = {0};
	CLEANUP(etw_text_done) struct etw_text values = {0};
	struct writing *list;
	size_t count;

	if (etw_compile_header(manifest, options, &header, NULL) < 0)
		abort();
	save(folder, "header.h", &header);
	list = list_writings(manifest, seed, &count);
	put_driver(&driver, &header, manifest, list, count, options);
	save(folder, "driver.c", &driver);
	for (size_t i = 0; i < count; i++)
		put_values(&values, &list[i]);
	save(folder, "values.bin", &values);
	free(list);
}
