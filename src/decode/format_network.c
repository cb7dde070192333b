/* SPDX-License-Identifier: MIT */
/*
 * Network addresses in the spelling of RtlIpv6AddressToString: RFC 5952, with dotted tails for
 * addresses that carry an IPv4 address (mapped, compatible, translated, ISATAP).
 */
#include <string.h>

#include "base/bytes.h"
#include "decode/format_internal.h"

#define FAMILY_IPV4 2
#define FAMILY_IPV6 23
#define FAMILY_LINK 33

#define LINK_BYTES_MAX 8
#define ETHERNET_BYTES 6

void etw_form_ipv4(const uint8_t *at, struct etw_text *text)
{
	for (unsigned i = 0; i < 4; i++) {
		if (i)
			etw_text_putc(text, '.');
		etw_text_unsigned(text, at[i]);
	}
}

static uint16_t load_big16(const uint8_t *at)
{
	return (uint16_t)(at[0] << 8 | at[1]);
}

/* Whether the last four bytes are shown dotted. */
static bool has_dotted_tail(const uint16_t groups[8])
{
	bool is_zero = !groups[0] && !groups[1] && !groups[2] && !groups[3];

	if (is_zero && groups[6]) {
		if (!groups[4] && (!groups[5] || groups[5] == 0xFFFF))
			return true;
		if (groups[4] == 0xFFFF && !groups[5])
			return true;
	}
	return (groups[4] & 0xFDFF) == 0 && groups[5] == 0x5EFE;
}

/* The longest run of zero groups, at least two; the first of equals. */
static void find_zeros(const uint16_t *groups, unsigned count, unsigned *start, unsigned *length)
{
	*start = count;
	*length = 0;
	for (unsigned i = 0; i < count; i++) {
		unsigned run = 0;

		while (i + run < count && groups[i + run] == 0)
			run++;
		if (run > *length && run >= 2) {
			*start = i;
			*length = run;
		}
		i += run;
	}
}

static void write_group(uint16_t group, struct etw_text *text)
{
	bool is_leading = true;

	for (int shift = 12; shift >= 0; shift -= 4) {
		unsigned digit = (unsigned)(group >> shift) & 15;

		if (digit || !is_leading || shift == 0) {
			etw_text_putc(text, "0123456789abcdef"[digit]);
			is_leading = false;
		}
	}
}

void etw_form_ipv6(const uint8_t *at, struct etw_text *text)
{
	uint16_t groups[8];
	unsigned start;
	unsigned length;

	for (unsigned i = 0; i < 8; i++)
		groups[i] = load_big16(at + 2 * (size_t)i);
	bool is_dotted = has_dotted_tail(groups);
	unsigned count = is_dotted ? 6 : 8;

	find_zeros(groups, count, &start, &length);
	for (unsigned i = 0; i < count;) {
		if (i == start) {
			etw_text_append(text, "::", 2);
			i += length;
			continue;
		}
		if (i && i != start + length)
			etw_text_putc(text, ':');
		write_group(groups[i], text);
		i++;
	}
	if (is_dotted) {
		if (length == 0 || start + length != count)
			etw_text_putc(text, ':');
		etw_form_ipv4(at + 12, text);
	}
}

/* SOCKADDR_IN6: family, port, flow, address, scope. Brackets only where a port follows. */
static void write_socket_ipv6(const uint8_t *at, size_t bytes, struct etw_text *text)
{
	uint16_t port = load_big16(at + 2);
	uint32_t scope = bytes >= 28 ? etw_load32(at + 24) : 0;

	if (port)
		etw_text_putc(text, '[');
	etw_form_ipv6(at + 8, text);
	if (scope) {
		etw_text_putc(text, '%');
		etw_text_unsigned(text, scope);
	}
	if (port) {
		etw_text_append(text, "]:", 2);
		etw_text_unsigned(text, port);
	}
}

static void write_socket_ipv4(const uint8_t *at, struct etw_text *text)
{
	uint16_t port = load_big16(at + 2);

	etw_form_ipv4(at + 4, text);
	if (port) {
		etw_text_putc(text, ':');
		etw_text_unsigned(text, port);
	}
}

/*
 * SOCKADDR_DL: family, eight bytes of address filled from the front, four that are zero. It does not say how long
 * the address is: six bytes, unless those behind them hold something.
 */
static void write_socket_link(const uint8_t *at, size_t bytes, struct etw_text *text)
{
	size_t length = ETHERNET_BYTES;

	if (bytes >= 2 + LINK_BYTES_MAX && load_big16(at + 2 + ETHERNET_BYTES))
		length = LINK_BYTES_MAX;
	for (size_t i = 2; i < 2 + length; i++) {
		if (i > 2)
			etw_text_putc(text, '-');
		etw_text_putc(text, "0123456789ABCDEF"[at[i] >> 4]);
		etw_text_putc(text, "0123456789ABCDEF"[at[i] & 15]);
	}
}

void etw_form_socket_address(const uint8_t *at, size_t bytes, struct etw_text *text)
{
	uint16_t family = bytes >= 8 ? etw_load16(at) : 0;

	if (family == FAMILY_IPV4)
		write_socket_ipv4(at, text);
	else if (family == FAMILY_IPV6 && bytes >= 24)
		write_socket_ipv6(at, bytes, text);
	else if (family == FAMILY_LINK)
		write_socket_link(at, bytes, text);
	else
		etw_form_bytes(at, bytes, text);
}
