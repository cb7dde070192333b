/* SPDX-License-Identifier: MIT */
/* Reading an AutoLogger's configuration; see autologger/config.h. */
#include "autologger/config.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <evntrace.h>

#include "base/guid.h"
#include "base/macros.h"
#include "base/number.h"
#include "base/utf.h"
#include "wire/system_providers.h"
#include "wire/well_known.h"

#define CLOCK_TYPE_MAX        3
#define MAX_FILE_SIZE_DEFAULT 100 /* MB */
#define FILTERS_SUFFIX        "\\Filters"

static const GUID global_logger_guid = WIRE_GLOBAL_LOGGER_GUID;
static const GUID kernel_logger_guid = WIRE_KERNEL_LOGGER_GUID;

/* A line "name = value" that is read, and where. */
struct reading {
	struct etw_autologger *autologger;
	struct etw_autologger_provider *section; /* NULL: in front of the first */
	bool is_in_filters;                      /* of the section's Filters */
	char *name, *value;
	uint64_t line;
	bool has_kernel_masks; /* EnableKernelFlags were masks, which are in the configuration */
	uint32_t kernel_flags; /* EnableKernelFlags */
	struct etw_fault *reterr;
};

static int refuse(const struct reading *reading, int error, const char *field, const char *sentence)
{
	return etw_fault_set(reading->reterr, error, reading->line, "autologger", field, sentence);
}

static int read_number(const struct reading *reading, const char *field, uint64_t max,
		       uint64_t *ret)
{
	if (!etw_number_parse(reading->value, max, ret))
		return refuse(reading, -EINVAL, field, "the value is no number, or too large");
	return 0;
}

/* Values that are one number each, in front of the first section. */
struct number_key {
	const char *name;
	uint32_t max;
	size_t offset; /* in struct wire_session_config */
};

#define CONFIG(member) offsetof(struct wire_session_config, member)

static const struct number_key session_numbers[] = {
	{"BufferSize", UINT32_MAX, CONFIG(buffer_kib)},
	{"MinimumBuffers", UINT32_MAX, CONFIG(minimum_buffers)},
	{"MaximumBuffers", UINT32_MAX, CONFIG(maximum_buffers)},
	{"FlushTimer", UINT32_MAX, CONFIG(flush_timer)},
	{"ClockType", CLOCK_TYPE_MAX, CONFIG(clock_type)},
	{"LogFileMode", UINT32_MAX, CONFIG(log_file_mode)},
	{"MaxFileSize", UINT32_MAX, CONFIG(maximum_file_size)},
};

/* Returns 1 when the name is none of these numbers. */
static int set_session_number(struct reading *reading)
{
	struct etw_autologger *autologger = reading->autologger;

	for (size_t i = 0; i < ARRAY_SIZE(session_numbers); i++) {
		const struct number_key *key = &session_numbers[i];
		uint64_t value;

		if (strcasecmp(reading->name, key->name) != 0)
			continue;
		TRY(read_number(reading, key->name, key->max, &value));
		*(uint32_t *)(void *)((uint8_t *)&autologger->config + key->offset) =
			(uint32_t)value;
		autologger->has_mode |= key->offset == CONFIG(log_file_mode);
		autologger->has_size |= key->offset == CONFIG(maximum_file_size);
		return 0;
	}
	return 1;
}

static int set_file_name(struct reading *reading)
{
	char *room = reading->autologger->config.log_file;

	if (strlen(reading->value) > WIRE_MESSAGE_NAME_MAX)
		return refuse(reading, -ENAMETOOLONG, "FileName", "the name is too long");
	strcpy(room, reading->value);
	return 0;
}

/* "hex:07,00,00,00,...", as Windows' registry is written down: words of group masks, the first of them EnableFlags. */
static int set_kernel_masks(struct reading *reading, const char *at)
{
	uint32_t *masks = reading->autologger->config.kernel.group_masks;
	size_t bytes = 0;

	memset(masks, 0, WIRE_GROUP_MASKS_WORDS * sizeof(masks[0]));
	for (; *at; bytes++) {
		int high = etw_hex_digit(at[0]), low = high < 0 ? -1 : etw_hex_digit(at[1]);

		if (low < 0 || bytes == WIRE_GROUP_MASKS_WORDS * sizeof(masks[0]))
			return refuse(reading, -EINVAL, "EnableKernelFlags",
				      "the value is not up to 32 bytes as hex:07,00,00,00");
		masks[bytes / 4] |= (uint32_t)(high << 4 | low) << bytes % 4 * 8;
		at += 2;
		at += *at == ',';
	}
	if (!bytes || bytes % 4)
		return refuse(reading, -EINVAL, "EnableKernelFlags",
			      "the value is not whole words of 4 bytes");
	reading->has_kernel_masks = true;
	return 0;
}

static int set_kernel_flags(struct reading *reading)
{
	uint64_t value;

	if (!strncasecmp(reading->value, "hex:", 4))
		return set_kernel_masks(reading, reading->value + 4);
	TRY(read_number(reading, "EnableKernelFlags", UINT32_MAX, &value));
	reading->kernel_flags = (uint32_t)value;
	reading->has_kernel_masks = false;
	return 0;
}

static int set_session_value(struct reading *reading)
{
	struct etw_autologger *autologger = reading->autologger;
	uint64_t value;
	int result = set_session_number(reading);

	if (result <= 0)
		return result;
	if (!strcasecmp(reading->name, "Guid")) {
		if (etw_guid_parse(reading->value, &autologger->config.guid) < 0)
			return refuse(reading, -EINVAL, "Guid", "the value is no GUID");
		autologger->has_guid = true;
		return 0;
	}
	if (!strcasecmp(reading->name, "Start")) {
		TRY(read_number(reading, "Start", 1, &value));
		autologger->starts = value == 1;
		return 0;
	}
	if (!strcasecmp(reading->name, "FileName"))
		return set_file_name(reading);
	if (!strcasecmp(reading->name, "FileMax")) {
		TRY(read_number(reading, "FileMax", ETW_AUTOLOGGER_FILES_MAX, &value));
		autologger->file_max = (uint32_t)value;
		return 0;
	}
	if (!strcasecmp(reading->name, "EnableKernelFlags"))
		return set_kernel_flags(reading);
	/* Windows' host writes these into its registry; here they stand in the file of the status. */
	if (!strcasecmp(reading->name, "Status"))
		return read_number(reading, "Status", UINT32_MAX, &value);
	if (!strcasecmp(reading->name, "FileCounter"))
		return read_number(reading, "FileCounter", UINT32_MAX, &value);
	/* Whether Windows starts the session earlier than others: here all start with the host. */
	if (!strcasecmp(reading->name, "Boot"))
		return read_number(reading, "Boot", 1, &value);
	/* Of the file in which Windows keeps what no consumer reads; here buffers are kept in memory, whatever it says. */
	if (!strcasecmp(reading->name, "DisableRealtimePersistence"))
		return read_number(reading, "DisableRealtimePersistence", 1, &value);
	return refuse(reading, -EINVAL, NULL, "there is no such value of a session");
}

/* Values of a provider's section; what Windows' Global Logger calls Level and Flags is meant too. */
static int set_provider_value(struct reading *reading)
{
	struct etw_autologger_provider *section = reading->section;
	uint64_t value;

	if (!strcasecmp(reading->name, "Enabled")) {
		TRY(read_number(reading, "Enabled", 1, &value));
		section->is_enabled = value == 1;
	} else if (!strcasecmp(reading->name, "EnableLevel") ||
		   !strcasecmp(reading->name, "Level")) {
		TRY(read_number(reading, "EnableLevel", UINT8_MAX, &value));
		section->level = (uint8_t)value;
	} else if (!strcasecmp(reading->name, "EnableProperty")) {
		TRY(read_number(reading, "EnableProperty", UINT32_MAX, &value));
		section->property = (uint32_t)value;
	} else if (!strcasecmp(reading->name, "MatchAnyKeyword")) {
		TRY(read_number(reading, "MatchAnyKeyword", UINT64_MAX, &section->match_any));
	} else if (!strcasecmp(reading->name, "MatchAllKeyword")) {
		TRY(read_number(reading, "MatchAllKeyword", UINT64_MAX, &section->match_all));
	} else if (!strcasecmp(reading->name, "EnableFlags") ||
		   !strcasecmp(reading->name, "Flags")) {
		TRY(read_number(reading, "EnableFlags", UINT32_MAX, &section->match_any));
	} else {
		return refuse(reading, -EINVAL, NULL, "there is no such value of a provider");
	}
	return 0;
}

static bool is_global(const struct etw_autologger *autologger)
{
	return !strcasecmp(autologger->config.name, GLOBAL_LOGGER_NAMEA);
}

static struct etw_autologger_provider *find_provider(const struct etw_autologger *autologger,
						     const GUID *guid)
{
	for (size_t i = 0; i < autologger->provider_count; i++) {
		if (etw_guid_equal(&autologger->providers[i].guid, guid))
			return &autologger->providers[i];
	}
	return NULL;
}

/* What is added to the name of a provider's section for its subkey. Cuts it off; returns whether it was there. */
static bool take_filters_suffix(char *name)
{
	const size_t bytes = strlen(name), suffix = strlen(FILTERS_SUFFIX);

	if (bytes < suffix || strcasecmp(name + bytes - suffix, FILTERS_SUFFIX) != 0)
		return false;
	name[bytes - suffix] = '\0';
	return true;
}

static int add_provider(struct reading *reading, const GUID *guid)
{
	struct etw_autologger *autologger = reading->autologger;
	const size_t count = autologger->provider_count;
	struct etw_autologger_provider *grown;

	if (count == ETW_AUTOLOGGER_PROVIDERS_MAX)
		return refuse(reading, -EFBIG, NULL, "there are too many providers");
	grown = reallocarray(autologger->providers, count + 1, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	autologger->providers = grown;
	reading->section = &grown[count];
	/* Enabled is 0 by default, as Microsoft's page has it; the Global Logger's providers have no such value. */
	*reading->section = (struct etw_autologger_provider){.guid = *guid,
							     .is_enabled = is_global(autologger)};
	autologger->provider_count = count + 1;
	return 0;
}

static int begin_section(struct reading *reading, char *line)
{
	struct etw_autologger_provider *known;
	const size_t bytes = strlen(line);
	GUID guid;

	if (line[bytes - 1] != ']')
		return refuse(reading, -EINVAL, NULL, "the section's name does not end in \"]\"");
	line[bytes - 1] = '\0';
	reading->is_in_filters = take_filters_suffix(line);
	if (etw_guid_parse(line + 1, &guid) < 0)
		return refuse(reading, -EINVAL, NULL,
			      "the section's name is no GUID of a provider");
	known = find_provider(reading->autologger, &guid);
	if (!reading->is_in_filters)
		return known ? refuse(reading, -EINVAL, NULL, "the provider has a section already")
			     : add_provider(reading, &guid);
	if (!known)
		return refuse(reading, -EINVAL, NULL, "the provider has no section above");
	reading->section = known;
	return 0;
}

static int add_filter(struct reading *reading)
{
	const char *sentence;
	const int result = etw_autologger_filters_add(&reading->section->filters, reading->name,
						      reading->value, &sentence);

	return result < 0 && result != -ENOMEM ? refuse(reading, result, "Filters", sentence)
					       : result;
}

static char *trim(char *text)
{
	char *end = text + strlen(text);

	while (end > text && isspace((unsigned char)end[-1]))
		end--;
	*end = '\0';
	while (isspace((unsigned char)*text))
		text++;
	return text;
}

static int read_line(struct reading *reading, char *line)
{
	char *equals;

	line = trim(line);
	if (!*line || *line == '#' || *line == ';')
		return 0;
	if (*line == '[')
		return begin_section(reading, line);
	equals = strchr(line, '=');
	if (!equals)
		return refuse(reading, -EINVAL, NULL,
			      "the line is neither \"name = value\" nor a section");
	*equals = '\0';
	reading->name = trim(line);
	reading->value = trim(equals + 1);
	if (reading->section && reading->is_in_filters)
		return add_filter(reading);
	return reading->section ? set_provider_value(reading) : set_session_value(reading);
}

static int read_lines(struct reading *reading, char *text)
{
	while (text) {
		char *next = strchr(text, '\n');

		if (next)
			*next++ = '\0';
		reading->line++;
		TRY(read_line(reading, text));
		text = next;
	}
	reading->line = 0;
	return 0;
}

/* System providers are kinds of events, too. */
static void settle_kernel(struct reading *reading)
{
	const struct etw_autologger *autologger = reading->autologger;
	struct wire_session_config *config = &reading->autologger->config;
	uint32_t masks[WIRE_GROUP_MASKS_WORDS];

	if (!reading->has_kernel_masks)
		etw_group_masks_of_flags(reading->kernel_flags, config->kernel.group_masks);
	for (size_t i = 0; i < autologger->provider_count; i++) {
		const struct etw_autologger_provider *provider = &autologger->providers[i];

		if (!provider->is_enabled || !etw_system_provider_is(&provider->guid))
			continue;
		reading->has_kernel_masks = true;
		(void)etw_system_provider_masks(&provider->guid, provider->match_any, masks);
		for (size_t k = 0; k < WIRE_GROUP_MASKS_WORDS; k++)
			config->kernel.group_masks[k] |= masks[k];
	}
	config->enable_flags = reading->kernel_flags;
	if (!reading->has_kernel_masks)
		return;
	config->kernel.parts = WIRE_KERNEL_MASKS;
	config->enable_flags = etw_group_masks_to_flags(config->kernel.group_masks);
}

/* What depends on several values. */
static int settle(struct reading *reading)
{
	struct etw_autologger *autologger = reading->autologger;
	struct wire_session_config *config = &autologger->config;

	settle_kernel(reading);
	if (!autologger->has_mode)
		config->log_file_mode = EVENT_TRACE_FILE_MODE_SEQUENTIAL;
	if (config->enable_flags || config->kernel.parts)
		config->log_file_mode |= EVENT_TRACE_SYSTEM_LOGGER_MODE;
	if (is_global(autologger) && (config->enable_flags || config->kernel.parts)) {
		strcpy(config->name, KERNEL_LOGGER_NAMEA);
		config->guid = kernel_logger_guid;
	} else if (is_global(autologger) && !autologger->has_guid) {
		config->guid = global_logger_guid;
	} else if (!autologger->has_guid) {
		return refuse(reading, -EINVAL, "Guid", "the session has no GUID");
	}
	if (!autologger->has_size)
		config->maximum_file_size = MAX_FILE_SIZE_DEFAULT;
	if (config->log_file_mode & EVENT_TRACE_FILE_MODE_NEWFILE)
		return refuse(reading, -EINVAL, "LogFileMode",
			      "new-file mode is not for these sessions: FileMax numbers files");
	return 0;
}

static int parse(struct reading *reading, const char *name, const char *text, size_t bytes)
{
	CLEANUP(freep) char *copy = NULL;

	if (strlen(name) > WIRE_MESSAGE_NAME_MAX)
		return refuse(reading, -ENAMETOOLONG, NULL, "the session's name is too long");
	strcpy(reading->autologger->config.name, name);
	if (bytes > ETW_AUTOLOGGER_BYTES_MAX)
		return refuse(reading, -EFBIG, NULL, "the file is too large");
	if (memchr(text, '\0', bytes) || !etw_utf8_is_valid((const uint8_t *)text, bytes))
		return refuse(reading, -EINVAL, NULL, "the file is no UTF-8 text");
	copy = malloc(bytes + 1);
	if (!copy)
		return -ENOMEM;
	memcpy(copy, text, bytes);
	copy[bytes] = '\0';
	TRY(read_lines(reading, copy));
	return settle(reading);
}

int etw_autologger_parse(const char *name, const char *text, size_t bytes,
			 struct etw_autologger *ret, struct etw_fault *reterr)
{
	struct reading reading = {.autologger = ret, .reterr = reterr};
	int result;

	memset(ret, 0, sizeof(*ret));
	result = parse(&reading, name, text, bytes);
	if (result < 0)
		etw_autologger_done(ret);
	return result;
}

void etw_autologger_done(struct etw_autologger *autologger)
{
	for (size_t i = 0; i < autologger->provider_count; i++)
		etw_autologger_filters_done(&autologger->providers[i].filters);
	free(autologger->providers);
	autologger->providers = NULL;
	autologger->provider_count = 0;
}
