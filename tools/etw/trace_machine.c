/* SPDX-License-Identifier: MIT */
#include "tools/etw/trace_machine.h"

#include <evntrace.h>
#include <string.h>

#include "base/guid.h"
#include "base/macros.h"
#include "base/utf.h"
#include "decode/format.h"
#include "export/export.h"
#include "process/kernel_class.h"
#include "tools/common/number.h"
#include "tools/common/zone.h"
#include "wire/class_guids.h"

#define BOOT_SLACK_S 10
#define UNIX_USERS   "S-1-22-1-"

enum {
	CONFIG_CPU = 10,
	CONFIG_PLATFORM = 25,
	CONFIG_PROCESSORS = 35,
	SYSCONFIG_BUILD = 32,
};

static const GUID system_config_class = WIRE_CLASS_SYSTEM_CONFIG;
static const GUID sysconfig_class = WIRE_CLASS_SYS_CONFIG;

void machine_done(struct machine *machine)
{
	etw_text_done(&machine->computer);
	etw_text_done(&machine->product);
	etw_text_done(&machine->processor);
	etw_text_done(&machine->model);
}

/* Appends a field's text; blanks at the end are padding. */
static void take_text(const struct etw_decoding *decoding, const char *name, struct etw_text *text)
{
	const struct etw_item *item = etw_decoding_find(decoding, name);
	size_t from = text->bytes;

	if (!item)
		return;
	etw_format_item(decoding, item, text);
	(void)etw_export_clean(text, from);
	while (text->bytes > from && text->at[text->bytes - 1] == ' ')
		text->at[--text->bytes] = '\0';
}

static void take_config(struct machine *machine, const struct etw_decoding *decoding)
{
	struct etw_text product = {0};
	const struct etw_item *item;

	switch (decoding->record->EventHeader.EventDescriptor.Opcode) {
	case CONFIG_CPU:
		if (!machine->computer.bytes)
			take_text(decoding, "ComputerName", &machine->computer);
		item = etw_decoding_find(decoding, "MemSize");
		if (item)
			(void)etw_decoding_u64(decoding, item, &machine->memory_mb);
		break;
	case CONFIG_PLATFORM:
		if (machine->model.bytes)
			break;
		take_text(decoding, "SystemProductName", &product);
		take_text(decoding, "SystemManufacturer", &machine->model);
		if (machine->model.bytes && product.bytes)
			etw_text_putc(&machine->model, ' ');
		etw_text_append(&machine->model, etw_text_string(&product), product.bytes);
		etw_text_done(&product);
		break;
	case CONFIG_PROCESSORS:
		if (!machine->processor.bytes)
			take_text(decoding, "ProcessorName", &machine->processor);
		break;
	default:
		break;
	}
}

/* One user decides; where there is none, the next process may have one. */
static void take_user(struct machine *machine, const struct etw_decoding *decoding)
{
	struct etw_text sid = {0};

	take_text(decoding, "UserSID", &sid);
	machine->is_linux = strstr(etw_text_string(&sid), UNIX_USERS) != NULL;
	etw_text_done(&sid);
}

void machine_add(struct machine *machine, const struct etw_decoding *decoding)
{
	const EVENT_HEADER *header = &decoding->record->EventHeader;

	if (header->ProviderId.Data1 == system_config_class.Data1 &&
	    etw_guid_equal(&header->ProviderId, &system_config_class))
		take_config(machine, decoding);
	else if (header->ProviderId.Data1 == sysconfig_class.Data1 &&
		 etw_guid_equal(&header->ProviderId, &sysconfig_class) &&
		 header->EventDescriptor.Opcode == SYSCONFIG_BUILD && !machine->product.bytes)
		take_text(decoding, "ProductName", &machine->product);
	else if (!machine->is_linux && header->ProviderId.Data1 == etw_class_process.Data1 &&
		 etw_guid_equal(&header->ProviderId, &etw_class_process))
		take_user(machine, decoding);
}

bool machine_is_linux(const struct machine *machine, const struct etw_etl_header *header)
{
	return machine->is_linux || etw_etl_header_has_unix_path(header);
}

static bool is_same(const struct machine *left, const struct etw_etl_header *left_header,
		    const struct machine *right, const struct etw_etl_header *right_header)
{
	int64_t apart = left_header->boot_ft / ETW_FILETIME_PER_SECOND -
			right_header->boot_ft / ETW_FILETIME_PER_SECOND;

	if (left_header->os_build != right_header->os_build ||
	    left_header->os_major != right_header->os_major ||
	    left_header->os_minor != right_header->os_minor ||
	    left_header->processors != right_header->processors ||
	    left_header->cpu_mhz != right_header->cpu_mhz)
		return false;
	if (left->computer.bytes && right->computer.bytes)
		return !strcmp(etw_text_string(&left->computer), etw_text_string(&right->computer));
	/* The clock may have been set a little in between. */
	return apart >= -BOOT_SLACK_S && apart <= BOOT_SLACK_S;
}

static void move_fact(struct etw_text *to, struct etw_text *from)
{
	if (to->bytes)
		return;
	etw_text_done(to);
	*to = *from;
	*from = (struct etw_text){0};
}

bool machine_unite(struct machine *machine, const struct etw_etl_header *header,
		   struct machine *other, const struct etw_etl_header *other_header)
{
	if (!is_same(machine, header, other, other_header))
		return false;
	move_fact(&machine->computer, &other->computer);
	move_fact(&machine->product, &other->product);
	move_fact(&machine->processor, &other->processor);
	move_fact(&machine->model, &other->model);
	if (!machine->memory_mb)
		machine->memory_mb = other->memory_mb;
	machine->is_linux |= other->is_linux;
	other->is_repeated = true;
	return true;
}

/* Builds from which on a name holds, newest first. Clients and servers share most of them. */
static const struct {
	uint32_t build;
	const char *name;
} os_names[] = {
	{26200, "Windows 11 25H2"},
	{26100, "Windows 11 24H2 or Server 2025"},
	{22631, "Windows 11 23H2"},
	{22621, "Windows 11 22H2"},
	{22000, "Windows 11 21H2"},
	{20348, "Windows Server 2022"},
	{19045, "Windows 10 22H2"},
	{19044, "Windows 10 21H2"},
	{19043, "Windows 10 21H1"},
	{19042, "Windows 10 20H2"},
	{19041, "Windows 10 2004"},
	{18363, "Windows 10 1909"},
	{18362, "Windows 10 1903"},
	{17763, "Windows 10 1809 or Server 2019"},
	{17134, "Windows 10 1803"},
	{16299, "Windows 10 1709"},
	{15063, "Windows 10 1703"},
	{14393, "Windows 10 1607 or Server 2016"},
	{10586, "Windows 10 1511"},
	{10240, "Windows 10 1507"},
	{9600, "Windows 8.1 or Server 2012 R2"},
	{9200, "Windows 8 or Server 2012"},
	{7601, "Windows 7 SP1 or Server 2008 R2 SP1"},
	{7600, "Windows 7 or Server 2008 R2"},
	{6002, "Windows Vista SP2 or Server 2008 SP2"},
	{6001, "Windows Vista SP1 or Server 2008"},
	{6000, "Windows Vista"},
	{3790, "Windows Server 2003"},
	{2600, "Windows XP"},
	{2195, "Windows 2000"},
};

const char *machine_os_name(const struct etw_etl_header *header)
{
	for (size_t i = 0; i < ARRAY_SIZE(os_names); i++) {
		/* Builds between two releases are previews, which have no name of their own. */
		if (header->os_build == os_names[i].build)
			return os_names[i].name;
	}
	if (header->os_major == 10)
		return header->os_build >= 22000 ? "Windows 11" : "Windows 10";
	return NULL;
}

void machine_write(struct etw_text *text, const struct machine *machine,
		   const struct etw_etl_header *header)
{
	const char *name = machine_os_name(header);

	if (machine->computer.bytes)
		etw_text_printf(text, "%s, ", etw_text_string(&machine->computer));
	if (machine->product.bytes)
		name = etw_text_string(&machine->product);
	if (machine_is_linux(machine, header))
		etw_text_printf(text, "%s, ",
				machine->product.bytes ? etw_text_string(&machine->product)
						       : "Linux");
	else
		etw_text_printf(text, "%s (%u.%u, build %u), ", name ? name : "Windows",
				header->os_major, header->os_minor, header->os_build);
	etw_number_count(text, header->processors, "processor");
	if (header->cpu_mhz) {
		etw_text_puts(text, " at ");
		etw_number_grouped(text, header->cpu_mhz);
		etw_text_puts(text, " MHz");
	}
	etw_text_puts(text, header->pointer_bytes == 4 ? ", 32-bit" : ", 64-bit");
	if (machine->memory_mb) {
		etw_text_puts(text, ", ");
		etw_number_grouped(text, machine->memory_mb);
		etw_text_puts(text, " MB memory");
	}
}

void machine_clock_write(struct etw_text *text, const struct etw_etl_header *header)
{
	switch (header->clock.type) {
	case ETW_CLOCK_QPC:
		etw_text_puts(text, "performance counter, ");
		etw_number_grouped(text, header->perf_frequency);
		etw_text_puts(text, " Hz");
		break;
	case ETW_CLOCK_SYSTEM:
		etw_text_puts(text, "system time");
		break;
	case ETW_CLOCK_CYCLE:
		etw_text_puts(text, "processor cycles, ");
		etw_number_grouped(text, header->cpu_mhz);
		etw_text_puts(text, " MHz");
		break;
	}
}

uint64_t machine_overwritten_buffers(const struct etw_etl_header *header, uint64_t buffers,
				     uint64_t last_sequence)
{
	bool is_flush = header->log_file_mode & EVENT_TRACE_BUFFERING_MODE;
	uint64_t written = header->buffers_written;

	if (!is_flush && !(header->log_file_mode & EVENT_TRACE_FILE_MODE_CIRCULAR))
		return 0;
	/* A flush counts what is in its own file, and a header that was not closed may count nothing yet. */
	if ((is_flush || !header->end_ft) && last_sequence >= written)
		written = last_sequence + 1;
	return written > buffers ? written - buffers : 0;
}

void machine_mode_write(struct etw_text *text, uint32_t mode)
{
	static const struct {
		uint32_t bit;
		const char *name;
	} names[] = {
		{EVENT_TRACE_FILE_MODE_SEQUENTIAL, "sequential file"},
		{EVENT_TRACE_FILE_MODE_CIRCULAR, "circular file"},
		{EVENT_TRACE_FILE_MODE_APPEND, "appended"},
		{EVENT_TRACE_FILE_MODE_NEWFILE, "new file when full"},
		{EVENT_TRACE_FILE_MODE_PREALLOCATE, "preallocated"},
		{EVENT_TRACE_SECURE_MODE, "secure"},
		{EVENT_TRACE_REAL_TIME_MODE, "real time"},
		{EVENT_TRACE_BUFFERING_MODE, "in memory"},
		{EVENT_TRACE_PRIVATE_LOGGER_MODE, "private"},
		{EVENT_TRACE_PRIVATE_IN_PROC, "in-process"},
		{EVENT_TRACE_RELOG_MODE, "relogged"},
		{EVENT_TRACE_USE_PAGED_MEMORY, "paged memory"},
		{EVENT_TRACE_SYSTEM_LOGGER_MODE, "system logger"},
		{EVENT_TRACE_COMPRESSED_MODE, "compressed"},
		{EVENT_TRACE_INDEPENDENT_SESSION_MODE, "independent session"},
		{EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING, "buffers not per processor"},
	};
	size_t from = text->bytes;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (!(mode & names[i].bit))
			continue;
		if (text->bytes > from)
			etw_text_puts(text, ", ");
		etw_text_puts(text, names[i].name);
	}
	if (text->bytes == from)
		etw_text_puts(text, "file");
}

bool machine_zone_write(struct etw_text *text, const struct etw_etl_header *header)
{
	bool is_daylight;
	int32_t bias = etw_zone_bias(header->time_zone, header->start_ft, &is_daylight);
	const uint8_t *name = header->time_zone +
			      (is_daylight ? ETW_ZONE_DAYLIGHT_NAME : ETW_ZONE_STANDARD_NAME);
	size_t units = etw_utf16_length(name, ETW_ZONE_NAME_UNITS);
	uint32_t minutes = (uint32_t)(bias < 0 ? -bias : bias);
	size_t from;

	if (!bias && !units)
		return false;
	if (minutes > 24 * 60)
		return false;
	etw_text_printf(text, "UTC%c%u", bias > 0 ? '-' : '+', minutes / 60);
	if (minutes % 60)
		etw_text_printf(text, ":%02u", minutes % 60);
	/* "@tzres.dll,-112" names a resource of the machine, which says nothing here. */
	if (units && name[0] != '@') {
		etw_text_puts(text, ", ");
		from = text->bytes;
		etw_text_utf16(text, name, units);
		(void)etw_export_clean(text, from);
	}
	return true;
}
