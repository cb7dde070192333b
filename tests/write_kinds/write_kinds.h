/* SPDX-License-Identifier: MIT */
/*
 * Every way in which a program writes events, each by name: what bench/write measures, and what the test of quiet
 * writing holds to account. Through the public headers alone, as programs write.
 */
#ifndef ETW_TESTS_WRITE_KINDS_WRITE_KINDS_H
#define ETW_TESTS_WRITE_KINDS_WRITE_KINDS_H

#include <stdint.h>

#include <guiddef.h>

/* Which provider a kind writes with. */
enum write_provider {
	WRITE_MANIFEST,
	WRITE_TRACELOGGING,
	WRITE_CLASSIC,
	WRITE_PROVIDERS
};

struct write_kind {
	const char *name;
	enum write_provider provider;
	uint64_t (*write)(uint64_t count); /* returns how many were refused */
};

/* The last one's name is NULL. */
extern const struct write_kind write_kinds[];

/* write_kind_find() - the kind of that name; NULL: none. */
const struct write_kind *write_kind_find(const char *name);

/* write_kinds_id() - what the provider is enabled by. */
const GUID *write_kinds_id(enum write_provider provider);

/*
 * write_kinds_register() - registers all providers; write_kinds_unregister() takes that back.
 *
 * Returns 0 or a Win32 error. Before the classic kinds write, a session has to be enabled for WRITE_CLASSIC, and
 * write_kinds_has_logger() says that its callback has heard of it.
 */
uint32_t write_kinds_register(void);
void write_kinds_unregister(void);
int write_kinds_has_logger(void);

/* write_kind_run() - @kind->write() under a name of its own, for tools that count what one function takes. */
uint64_t write_kind_run(const struct write_kind *kind, uint64_t count);

/* write_kinds_manifest_handle() - the REGHANDLE of the manifest provider. */
uint64_t write_kinds_manifest_handle(void);

#endif
