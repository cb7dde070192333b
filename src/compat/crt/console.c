/* SPDX-License-Identifier: MIT */
/* <conio.h>: single keys of the terminal, or bytes of whatever else standard input is. */
#include <conio.h>
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>
#include <wchar.h>

#include "compat/crt/stream.h"

#define EXTENDED      0xE0 /* comes before the code of an arrow */
#define ESCAPE        0x1B
#define SEQUENCE_MS   30 /* within which the rest of a key's sequence arrives */
#define MOST_SEQUENCE 8
#define NOTHING_KEPT  (-1)

/* What a terminal sends for a key, behind ESC, and what Windows gives. */
struct key {
	const char *sequence;
	int lead; /* 0 for function keys */
	int code;
};

static const struct key keys[] = {
	{"[A", EXTENDED, 72},    {"[B", EXTENDED, 80},  {"[C", EXTENDED, 77},
	{"[D", EXTENDED, 75},    {"OA", EXTENDED, 72},  {"OB", EXTENDED, 80},
	{"OC", EXTENDED, 77},    {"OD", EXTENDED, 75},  {"[H", EXTENDED, 71},
	{"[F", EXTENDED, 79},    {"[1~", EXTENDED, 71}, {"[4~", EXTENDED, 79},
	{"[2~", EXTENDED, 82},   {"[3~", EXTENDED, 83}, {"[5~", EXTENDED, 73},
	{"[6~", EXTENDED, 81},   {"OP", 0, 59},         {"OQ", 0, 60},
	{"OR", 0, 61},           {"OS", 0, 62},         {"[15~", 0, 63},
	{"[17~", 0, 64},         {"[18~", 0, 65},       {"[19~", 0, 66},
	{"[20~", 0, 67},         {"[21~", 0, 68},       {"[23~", EXTENDED, 133},
	{"[24~", EXTENDED, 134},
};

static int kept = NOTHING_KEPT; /* the second half of a key, or what _ungetch() gave back */
static wint_t wide_kept = WEOF;
static struct termios old_mode;
static volatile bool is_raw;

static void leave_raw(void)
{
	if (is_raw)
		(void)tcsetattr(STDIN_FILENO, TCSANOW, &old_mode);
	is_raw = false;
}

/* A program that ends while a thread waits for a key gives the terminal back as it was. */
static __attribute__((destructor)) void restore(void)
{
	leave_raw();
}

static bool enter_raw(void)
{
	struct termios mode;

	if (tcgetattr(STDIN_FILENO, &old_mode))
		return false;
	mode = old_mode;
	mode.c_lflag &= (tcflag_t) ~(ICANON | ECHO | ISIG | IEXTEN);
	mode.c_iflag &= (tcflag_t) ~(ICRNL | INLCR | IXON);
	mode.c_cc[VMIN] = 1;
	mode.c_cc[VTIME] = 0;
	if (tcsetattr(STDIN_FILENO, TCSANOW, &mode))
		return false;
	is_raw = true;
	return true;
}

static bool has_input(int ms)
{
	struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};

	return poll(&input, 1, ms) > 0;
}

static int read_byte(void)
{
	unsigned char byte;
	ssize_t count;

	do
		count = read(STDIN_FILENO, &byte, 1);
	while (count < 0 && errno == EINTR);
	return count == 1 ? byte : EOF;
}

/* ESC alone, or a key whose sequence follows at once. */
static int read_sequence(void)
{
	char sequence[MOST_SEQUENCE + 1] = "";
	size_t length = 0;

	while (length < MOST_SEQUENCE && has_input(SEQUENCE_MS)) {
		int byte = read_byte();

		if (byte == EOF)
			break;
		sequence[length++] = (char)byte;
		for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
			if (!strcmp(keys[i].sequence, sequence)) {
				kept = keys[i].code;
				return keys[i].lead;
			}
	}
	return ESCAPE;
}

static int read_key(void)
{
	int key = kept;

	if (key != NOTHING_KEPT) {
		kept = NOTHING_KEPT;
		return key;
	}
	(void)fflush(stdout);
	if (!isatty(STDIN_FILENO))
		return getc(stdin);
	if (!enter_raw())
		return EOF;
	key = read_byte();
	if (key == ESCAPE)
		key = read_sequence();
	else if (key == 0x7F)
		key = '\b';
	leave_raw();
	return key;
}

int _getch(void)
{
	return read_key();
}

int _getche(void)
{
	int key = read_key();

	if (key != EOF)
		(void)_putch(key);
	return key;
}

/* A terminal sends the bytes of a character together. */
static wint_t read_wide_key(int first)
{
	char bytes[4] = {(char)first};
	size_t count = 1, wanted = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
	wchar_t unit;
	int length;

	while (count < wanted && has_input(SEQUENCE_MS)) {
		int byte = read_key();

		if (byte == EOF)
			break;
		bytes[count++] = (char)byte;
	}
	length = mbtowc(&unit, bytes, count);
	if (length < 0)
		return 0xFFFD;
	if (length == 4) {
		unsigned point = (unsigned)(bytes[0] & 7) << 18 | (unsigned)(bytes[1] & 63) << 12 |
				 (unsigned)(bytes[2] & 63) << 6 | (unsigned)(bytes[3] & 63);

		wide_kept = 0xDC00 | (point & 0x3FF);
	}
	return (wint_t)unit;
}

wint_t _getwch(void)
{
	wint_t key = wide_kept;
	bool is_second = kept != NOTHING_KEPT;
	int first;

	if (key != WEOF) {
		wide_kept = WEOF;
		return key;
	}
	if (!isatty(STDIN_FILENO)) {
		(void)fflush(stdout);
		return etw_stream_get(stdin);
	}
	first = read_key();
	if (first == EOF)
		return WEOF;
	/* The lead of an extended key and its code are no UTF-8. */
	if (first < 0xC2 || is_second || kept != NOTHING_KEPT)
		return (wint_t)first;
	return read_wide_key(first);
}

wint_t _getwche(void)
{
	wint_t key = _getwch();

	if (key != WEOF)
		(void)_putwch((wchar_t)key);
	return key;
}

int _kbhit(void)
{
	bool is_there;

	if (kept != NOTHING_KEPT || wide_kept != WEOF)
		return 1;
	if (!isatty(STDIN_FILENO))
		return has_input(0);
	if (!enter_raw())
		return 0;
	is_there = has_input(0);
	leave_raw();
	return is_there;
}

int _ungetch(int key)
{
	if (key == EOF || kept != NOTHING_KEPT)
		return EOF;
	kept = key;
	return key;
}

wint_t _ungetwch(wint_t key)
{
	if (key == WEOF || wide_kept != WEOF)
		return WEOF;
	wide_kept = key;
	return key;
}

int _putch(int key)
{
	int result = putchar(key);

	(void)fflush(stdout);
	return result;
}

wint_t _putwch(wchar_t key)
{
	wint_t result = putwchar(key);

	(void)fflush(stdout);
	return result;
}

int _cputs(const char *text)
{
	return fputs(text, stdout) < 0 || fflush(stdout) ? -1 : 0;
}

int _cputws(const wchar_t *text)
{
	return fputws(text, stdout) < 0 || fflush(stdout) ? -1 : 0;
}
