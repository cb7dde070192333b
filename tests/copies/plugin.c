/* SPDX-License-Identifier: MIT */
/* A plugin that was linked with the archive: it brings a copy of the library along, and lends its functions. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <errhandlingapi.h>
#include <evntprov.h>
#include <evntrace.h>

#define LENT(name)                     \
	{                              \
#name, (uintptr_t)name \
	}

uintptr_t lend(const char *name);

__attribute__((visibility("default"))) uintptr_t lend(const char *name)
{
	static const struct {
		const char *name;
		uintptr_t function;
	} functions[] = {
		LENT(EventRegister),          LENT(EventUnregister),     LENT(EventWrite),
		LENT(EventActivityIdControl), LENT(RegisterTraceGuidsW), LENT(UnregisterTraceGuids),
		LENT(GetLastError),           LENT(SetLastError),
	};

	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		if (strcmp(functions[i].name, name) == 0)
			return functions[i].function;
	}
	return 0;
}
