/* SPDX-License-Identifier: MIT */
/* The verbs of `etw`, one file each. */
#ifndef ETW_TOOLS_ETW_VERB_H
#define ETW_TOOLS_ETW_VERB_H

struct etw_verb {
	const char *name;
	const char *arguments; /* "FILE..." */
	const char *one_line;  /* what it does */
	const char *help;      /* the rest of the help text: options, examples */
	/* argv[0] is the verb; returns an exit status. */
	int (*run)(int argc, char **argv);
};

extern const struct etw_verb etw_verb_summary;
extern const struct etw_verb etw_verb_dump;
extern const struct etw_verb etw_verb_info;
extern const struct etw_verb etw_verb_record;
extern const struct etw_verb etw_verb_sessions;
extern const struct etw_verb etw_verb_help;

/* etw_verb_find() - the verb of this name, or NULL. */
const struct etw_verb *etw_verb_find(const char *name);

/* etw_verb_nearest() - the name of the verb that was perhaps meant, or NULL. */
const char *etw_verb_nearest(const char *typed);

/* etw_verb_help_print() - a verb's help text; all verbs' when @verb is NULL. */
void etw_verb_help_print(const struct etw_verb *verb);

#endif
