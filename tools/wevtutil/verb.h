/* SPDX-License-Identifier: MIT */
/* The verbs of `wevtutil`, one file each, and its command line in Microsoft's manner. */
#ifndef ETW_TOOLS_WEVTUTIL_VERB_H
#define ETW_TOOLS_WEVTUTIL_VERB_H

#include <stdbool.h>
#include <stddef.h>

#define WEVTUTIL_OPTIONS_MAX 4

/* An option, with its value after ":" or "=", or as the next word behind "--option". */
struct wevtutil_option {
	const char *brief; /* "rf" */
	const char *full;  /* "resourceFilePath" */
	bool is_switch;    /* true or false; true without value */
};

/* The command line behind the verb. */
struct wevtutil_words {
	const char **at; /* owned list; operands */
	size_t count;
	const char *values[WEVTUTIL_OPTIONS_MAX]; /* by option; NULL: not given */
};

struct wevtutil_verb {
	const char *brief; /* "im" */
	const char *full;  /* "install-manifest" */
	const char *help;
	struct wevtutil_option options[WEVTUTIL_OPTIONS_MAX];
	size_t operands_min;
	size_t operands_max;
	/* Returns an exit status. */
	int (*run)(const struct wevtutil_words *words);
};

extern const struct wevtutil_verb wevtutil_im;
extern const struct wevtutil_verb wevtutil_um;
extern const struct wevtutil_verb wevtutil_gp;
extern const struct wevtutil_verb wevtutil_ep;

/*
 * wevtutil_words_read() - takes a command line apart; tells on standard error what is wrong.
 *
 * Returns whether it is good; wevtutil_words_done() in both cases.
 */
bool wevtutil_words_read(const struct wevtutil_verb *verb, int argc, char **argv,
			 struct wevtutil_words *ret);
void wevtutil_words_done(struct wevtutil_words *words);

/* wevtutil_is_on() - the value of a switch. */
bool wevtutil_is_on(const char *value);

#endif
