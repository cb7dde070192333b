/* SPDX-License-Identifier: MIT */
/* Names of a header, each of which stands for one thing only. */
#include <errno.h>
#include <search.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "compile/header_internal.h"

static bool is_word(char c)
{
	return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
	       (c >= 'A' && c <= 'Z');
}

char *etw_mc_identifier(struct header_writer *writer, const char *text)
{
	char *ret = etw_arena_strdup(&writer->arena, text);

	for (char *at = ret; at && *at; at++) {
		if (!is_word(*at))
			*at = '_';
	}
	return ret;
}

char *etw_mc_format(struct header_writer *writer, const char *format, ...)
{
	va_list arguments;
	char *ret;
	int bytes;

	va_start(arguments, format);
	bytes = vsnprintf(NULL, 0, format, arguments);
	va_end(arguments);
	ret = bytes < 0 ? NULL : etw_arena_alloc(&writer->arena, (size_t)bytes + 1);
	if (!ret)
		return NULL;
	va_start(arguments, format);
	(void)vsnprintf(ret, (size_t)bytes + 1, format, arguments);
	va_end(arguments);
	return ret;
}

static int compare_names(const void *left, const void *right)
{
	return strcmp(left, right);
}

/* Returns 1 when the name was free and is taken now, 0 when it was taken, -1 without memory. */
static int take(struct header_writer *writer, const char *kind, const char *wanted)
{
	char *name = etw_mc_format(writer, "%s %s", kind, wanted);
	const char **node = name ? tsearch(name, &writer->taken, compare_names) : NULL;

	if (!node)
		return -1;
	return *node == name;
}

const char *etw_mc_take(struct header_writer *writer, const char *kind, const char *wanted,
			const char *other)
{
	const char *name = wanted;
	int r = take(writer, kind, name);

	if (r == 0 && other) {
		name = other;
		r = take(writer, kind, name);
	}
	for (unsigned i = 2; r == 0; i++) {
		name = etw_mc_format(writer, "%s_%u", other ? other : wanted, i);
		r = name ? take(writer, kind, name) : -1;
	}
	return r < 0 ? NULL : name;
}

/* Words of C and of C++, and names that the code behind the constants uses: no symbol may be one of them. */
static const char *const reserved[] = {
	/* clang-format off */
	"alignas", "alignof", "and", "and_eq", "asm", "auto", "bitand", "bitor", "bool", "break",
	"case", "catch", "char", "char16_t", "char32_t", "class", "compl", "const", "const_cast",
	"constexpr", "continue", "decltype", "default", "delete", "do", "double", "dynamic_cast",
	"else", "enum", "explicit", "export", "extern", "false", "float", "for", "friend", "goto",
	"if", "inline", "int", "long", "mutable", "namespace", "new", "noexcept", "not", "not_eq",
	"nullptr", "operator", "or", "or_eq", "private", "protected", "public", "register",
	"reinterpret_cast", "restrict", "return", "short", "signed", "sizeof", "static",
	"static_assert", "static_cast", "struct", "switch", "template", "this", "thread_local",
	"throw", "true", "try", "typedef", "typeid", "typename", "union", "unsigned", "using",
	"virtual", "void", "volatile", "wchar_t", "while", "xor", "xor_eq",
	"Activity", "Context", "Descriptor", "EnableBitMask", "EnableBits", "EnableBitsCount",
	"EnableKeyWords", "EnableLevel", "EVENT_DATA_DESCRIPTOR", "EVENT_DESCRIPTOR", "EventData",
	"FILETIME", "GUID", "Logger", "LONGLONG", "LPCGUID", "MCGEN_TRACE_CONTEXT", "NULL",
	"pContext", "PCEVENT_DESCRIPTOR", "PCSTR", "PCWSTR", "PMCGEN_TRACE_CONTEXT",
	"RegistrationHandle", "Result", "SID", "SYSTEMTIME", "ULONG", "ULONGLONG", "USHORT",
	"WCHAR",
	/* clang-format on */
};

/* What the header calls things of a provider, after its symbol. */
static const char *const suffixes[] = {"",         "_ControlGuid", "_Traits",
				       "_Context", "_Handle",      "_EventWriteActivity"};

int etw_mc_reserve(struct header_writer *writer)
{
	for (size_t i = 0; i < ARRAY_SIZE(reserved); i++) {
		if (take(writer, "C", reserved[i]) < 0)
			return -ENOMEM;
	}
	for (const struct mc_provider *at = writer->manifest->providers; at; at = at->next) {
		for (size_t i = 0; i < ARRAY_SIZE(suffixes); i++) {
			const char *name = etw_mc_format(writer, "%s%s", at->symbol, suffixes[i]);

			if (!name || take(writer, "C", name) < 0)
				return -ENOMEM;
		}
	}
	return 0;
}

static void keep_name(void *name)
{
	(void)name; /* it is in the arena */
}

void etw_mc_names_done(struct header_writer *writer)
{
	tdestroy(writer->taken, keep_name);
	writer->taken = NULL;
	etw_arena_done(&writer->arena);
}

void etw_mc_put_text(struct etw_text *out, const char *text)
{
	for (; *text; text++)
		etw_text_putc(out, *text == '*' || *text == '\\' || *text == '\n' ? '_' : *text);
}
