/* SPDX-License-Identifier: MIT */
/* printf's conversions, which all messages share, and the forms of WPP's items. Private to src/decode. */
#ifndef ETW_DECODE_FORMAT_WPP_INTERNAL_H
#define ETW_DECODE_FORMAT_WPP_INTERNAL_H

#include "decode/format_internal.h"
#include "decode/format_wpp.h"
#include "schema/wpp/wpp.h"

#define ETW_WPP_WIDTH_MAX 1024 /* of "%10!1024s!"; more is a damaged message */

/* What stands between the exclamation marks of an insert. */
struct wpp_conversion {
	bool is_left;
	bool is_zero_filled;
	bool has_prefix;
	bool has_plus;
	bool has_blank;
	uint16_t width;
	int32_t precision; /* -1: none */
	uint8_t bytes;     /* that the length prefix asks for; 0: as many as there are */
	char type;
};

enum wpp_piece_kind {
	WPP_TEXT,
	WPP_ARGUMENT, /* by its place in the payload */
	WPP_VARIABLE, /* "%1" to "%9" */
	WPP_LINE,     /* of the statement in its source file */
	WPP_PREFIX,
};

struct wpp_piece {
	enum wpp_piece_kind kind;
	uint32_t number; /* WPP_ARGUMENT, WPP_VARIABLE: as the text calls it */
	uint32_t index;  /* WPP_ARGUMENT */
	char integer; /* WPP_ARGUMENT: the conversion that shows its number, 0: another form does */
	struct wpp_conversion conversion;
	const char *at; /* WPP_TEXT: in the message, or static */
	size_t bytes;
};

struct etw_wpp_form {
	size_t count;
	struct wpp_piece pieces[];
};

/* etw_wpp_piece() - the piece that a text that is not empty begins with; returns where the next one is. */
const char *etw_wpp_piece(const struct etw_wpp_message *message, const char *at,
			  struct wpp_piece *ret);

/* etw_wpp_conversion() - reads "!format!" at *@at, which moves behind it; false, @at unmoved: none. */
bool etw_wpp_conversion(const char **at, struct wpp_conversion *ret);

/*
 * etw_wpp_integer() - which of the conversions of etw_wpp_number() shows an argument.
 *
 * That of its insert if it is for integers, else the one of items without a form of their own; 0 is for neither.
 */
char etw_wpp_integer(const struct etw_wpp_argument *argument,
		     const struct wpp_conversion *conversion);

/* etw_wpp_is_integer() - whether etw_wpp_number() takes the type of a conversion. */
bool etw_wpp_is_integer(char type);

/*
 * etw_wpp_number() - an integer of @bytes bytes.
 *
 * @type: for integers; instead of the conversion's own
 */
void etw_wpp_number(const struct wpp_conversion *conversion, char type, uint64_t value,
		    size_t bytes, unsigned pointer_bytes, struct etw_text *text);

/* etw_wpp_float() - a float by its conversion; false when it is for no float. */
bool etw_wpp_float(const struct wpp_conversion *conversion, double value, struct etw_text *text);

/* etw_wpp_pad() - cuts what was appended from @start on to the precision, and fills up to the width. */
void etw_wpp_pad(const struct wpp_conversion *conversion, size_t start, struct etw_text *text);

/* etw_wpp_pad_text() - the same for what is no number: only "%s" cuts it, and zeros do not fill it up. */
void etw_wpp_pad_text(const struct wpp_conversion *conversion, size_t start, struct etw_text *text);

/*
 * etw_wpp_item() - an argument as its item alone says, which is what "%s" shows.
 *
 * @at, @bytes: the value proper
 */
void etw_wpp_item(const struct etw_wpp_argument *argument, const uint8_t *at, size_t bytes,
		  const struct etw_wpp_options *options, struct etw_text *text);

/* etw_wpp_time() - "07/17/2003-11:22:33.456" in the options' zone; what is no date as its number. */
void etw_wpp_time(int64_t filetime, const struct etw_wpp_options *options, struct etw_text *text);

#endif
