/* SPDX-License-Identifier: MIT */
/* C++ names. See demangle.h. */
#include "symbol/demangle.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>

/* libstdc++ is where C++ programs are; libc++abi has the same function. */
static const char *const libraries[] = {"libstdc++.so.6", "libc++abi.so.1"};

typedef char *demangle_fn(const char *name, char *buffer, size_t *bytes, int *status);

static demangle_fn *demangle;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void load(void)
{
	for (size_t i = 0; i < sizeof(libraries) / sizeof(libraries[0]) && !demangle; i++) {
		void *library = dlopen(libraries[i], RTLD_LAZY | RTLD_LOCAL);
		void *found = library ? dlsym(library, "__cxa_demangle") : NULL;

		/* Kept for as long as the process runs. */
		memcpy(&demangle, &found, sizeof(demangle));
	}
}

char *etw_symbol_demangle(const char *name)
{
	int status = 0;

	if (strncmp(name, "_Z", 2) != 0 || strlen(name) > ETW_SYMBOL_MANGLED_BYTES_MAX)
		return NULL;
	(void)pthread_once(&once, load);
	return demangle ? demangle(name, NULL, NULL, &status) : NULL;
}
