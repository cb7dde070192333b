/* SPDX-License-Identifier: MIT */
#include "process/io.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/guid.h"
#include "base/macros.h"
#include "base/table.h"
#include "process/subject.h"
#include "wire/class_guids.h"

#define END           ETW_PROCESS_IO_KINDS /* no bytes: a request of a file ends */
#define STATUS_FAILED 0x80000000u          /* NTSTATUS from here on */

/* An event that tells of bytes. Classic ones are known by their opcode, others by their id. */
struct told {
	uint16_t number; /* 0: no more */
	uint8_t kind;    /* enum etw_process_io_kind, or END */
};

static const struct told of_disks[] = {
	{10, ETW_PROCESS_DISK_READ}, {11, ETW_PROCESS_DISK_WRITTEN}, {0, END}};
static const struct told of_classic_files[] = {
	{67, ETW_PROCESS_FILE_READ}, {68, ETW_PROCESS_FILE_WRITTEN}, {76, END}, {0, END}};
static const struct told of_files[] = {
	{15, ETW_PROCESS_FILE_READ}, {16, ETW_PROCESS_FILE_WRITTEN}, {24, END}, {0, END}};
/* TcpIp and UdpIp; Kernel-Network's TCP events, and behind them its UDP events. */
static const struct told of_network[] = {
	{10, ETW_PROCESS_SENT},     {11, ETW_PROCESS_RECEIVED}, {26, ETW_PROCESS_SENT},
	{27, ETW_PROCESS_RECEIVED}, {42, ETW_PROCESS_SENT},     {43, ETW_PROCESS_RECEIVED},
	{58, ETW_PROCESS_SENT},     {59, ETW_PROCESS_RECEIVED}, {0, END}};

static const struct rule {
	GUID provider;
	enum etw_process_io_form form;
	enum etw_process_io_area area;
	const struct told *events;
	const char *size, *irp;
} rules[] = {
	{WIRE_CLASS_DISK_IO, ETW_PROCESS_IO_CLASSIC, ETW_PROCESS_DISKS, of_disks, "TransferSize",
	 NULL},
	{WIRE_CLASS_FILE_IO, ETW_PROCESS_IO_CLASSIC, ETW_PROCESS_FILES, of_classic_files, "IoSize",
	 "IrpPtr"},
	{WIRE_CLASS_TCP_IP, ETW_PROCESS_IO_CLASSIC, ETW_PROCESS_NETWORK, of_network, "size", NULL},
	{WIRE_CLASS_UDP_IP, ETW_PROCESS_IO_CLASSIC, ETW_PROCESS_NETWORK, of_network, "size", NULL},
	{WIRE_PROVIDER_KERNEL_DISK, ETW_PROCESS_IO_MANIFEST, ETW_PROCESS_DISKS, of_disks,
	 "TransferSize", NULL},
	{WIRE_PROVIDER_KERNEL_FILE, ETW_PROCESS_IO_MANIFEST, ETW_PROCESS_FILES, of_files, "IOSize",
	 "Irp"},
	{WIRE_PROVIDER_KERNEL_NETWORK, ETW_PROCESS_IO_MANIFEST, ETW_PROCESS_NETWORK, of_network,
	 "size", NULL},
};

void etw_process_io_done(struct etw_process_io_state *state)
{
	free(state->requests);
	*state = (struct etw_process_io_state){0};
}

static const struct rule *find_rule(const EVENT_HEADER *header, uint8_t *ret_kind)
{
	for (size_t i = 0; i < ARRAY_SIZE(rules); i++) {
		const struct rule *rule = &rules[i];
		uint16_t number = rule->form == ETW_PROCESS_IO_CLASSIC
					  ? header->EventDescriptor.Opcode
					  : header->EventDescriptor.Id;

		if (LIKELY(rule->provider.Data1 != header->ProviderId.Data1) ||
		    !etw_guid_equal(&rule->provider, &header->ProviderId))
			continue;
		for (const struct told *told = rule->events; told->number; told++) {
			if (told->number != number)
				continue;
			*ret_kind = told->kind;
			return rule;
		}
	}
	return NULL;
}

bool etw_process_io_is(const EVENT_RECORD *record)
{
	uint8_t unused;

	return find_rule(&record->EventHeader, &unused) != NULL;
}

/* Where the request @irp is kept, or would be. */
static struct etw_process_io_request *place_of(const struct etw_process_io_state *state,
					       uint64_t irp)
{
	uint64_t hash = etw_hash_mix(etw_hash_mix(0, irp), irp >> 32);

	return &state->requests[hash % ETW_PROCESS_IO_OPEN];
}

static int begin_request(struct etw_process_io_state *state,
			 const struct etw_process_io_request *request)
{
	if (!state->requests) {
		state->requests = calloc(ETW_PROCESS_IO_OPEN, sizeof(*state->requests));
		if (!state->requests)
			return -ENOMEM;
	}
	*place_of(state, request->irp) = *request;
	return 0;
}

/* What was asked for becomes what it was. */
static void end_request(const struct etw_process_io_state *state,
			const struct etw_decoding *decoding, const struct rule *rule, uint64_t irp)
{
	const char *names[ETW_PROCESS_IO_FORMS][2] = {{"ExtraInfo", "NtStatus"},
						      {"ExtraInformation", "Status"}};
	struct etw_process_io_request *request;
	uint64_t moved, status;

	if (!state->requests)
		return;
	request = place_of(state, irp);
	if (!request->io || request->irp != irp || request->form != rule->form ||
	    !etw_process_number(decoding, names[rule->form][0], &moved) ||
	    !etw_process_number(decoding, names[rule->form][1], &status))
		return;
	if (status >= STATUS_FAILED)
		moved = 0;
	/* More than asked for is no count of bytes. */
	if (moved < request->asked)
		request->io->bytes[request->form][request->kind] -= request->asked - moved;
	request->io = NULL;
}

int etw_process_io_add(struct etw_process_io_state *state, struct etw_process_io *io,
		       const struct etw_decoding *decoding)
{
	struct etw_process_io_request request = {.io = io};
	const struct rule *rule = find_rule(&decoding->record->EventHeader, &request.kind);

	if (LIKELY(!rule) || !decoding->schema)
		return 0;
	state->has_area[rule->form][rule->area] = true;
	if (request.kind == END) {
		if (etw_process_number(decoding, rule->irp, &request.irp))
			end_request(state, decoding, rule, request.irp);
		return 0;
	}
	if (!etw_process_number(decoding, rule->size, &request.asked))
		return 0;
	request.form = (uint8_t)rule->form;
	io->bytes[rule->form][request.kind] += request.asked;
	if (rule->irp && etw_process_number(decoding, rule->irp, &request.irp))
		return begin_request(state, &request);
	return 0;
}

static enum etw_process_io_form form_of(const struct etw_process_io_state *state,
					enum etw_process_io_area area)
{
	return state->has_area[ETW_PROCESS_IO_CLASSIC][area] ? ETW_PROCESS_IO_CLASSIC
							     : ETW_PROCESS_IO_MANIFEST;
}

bool etw_process_io_has(const struct etw_process_io_state *state, enum etw_process_io_area area)
{
	return state->has_area[form_of(state, area)][area];
}

uint64_t etw_process_io_bytes(const struct etw_process_io_state *state,
			      const struct etw_process_io *io, enum etw_process_io_kind kind)
{
	return io->bytes[form_of(state, etw_process_io_area(kind))][kind];
}
