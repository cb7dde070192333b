/* SPDX-License-Identifier: MIT */
/*
 * A file of kernel types made by hand: as many as the probe asks for, and none that is to be missing.
 * Layout: Linux' Documentation/bpf/btf.rst.
 */
#ifndef ETW_TESTS_UNIT_SOURCE_FAKE_BTF_H
#define ETW_TESTS_UNIT_SOURCE_FAKE_BTF_H

#include <linux/btf.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define FAKE_BTF_BYTES 8192

struct fake_btf {
	uint8_t types[FAKE_BTF_BYTES];
	char strings[FAKE_BTF_BYTES];
	uint32_t type_bytes, string_bytes, type_count;
};

static inline void fake_btf_put(struct fake_btf *btf, uint32_t word)
{
	memcpy(btf->types + btf->type_bytes, &word, sizeof(word));
	btf->type_bytes += (uint32_t)sizeof(word);
}

/* Returns where the string begins. */
static inline uint32_t fake_btf_string(struct fake_btf *btf, const char *text)
{
	uint32_t at = btf->string_bytes;

	strcpy(btf->strings + at, text);
	btf->string_bytes += (uint32_t)strlen(text) + 1;
	return at;
}

/* What all kinds begin with. @last: bytes of the type, or the type that it refers to. Returns its id. */
static inline uint32_t fake_btf_begin(struct fake_btf *btf, const char *name, uint32_t kind,
				      uint32_t count, uint32_t last)
{
	fake_btf_put(btf, fake_btf_string(btf, name));
	fake_btf_put(btf, kind << 24 | count);
	fake_btf_put(btf, last);
	return ++btf->type_count;
}

/* Empty but for type 1, an int. */
static inline void fake_btf_init(struct fake_btf *btf)
{
	memset(btf, 0, sizeof(*btf));
	fake_btf_string(btf, "");
	fake_btf_begin(btf, "int", BTF_KIND_INT, 0, 4);
	fake_btf_put(btf, 32);
}

static inline void fake_btf_typedef(struct fake_btf *btf, const char *name)
{
	fake_btf_begin(btf, name, BTF_KIND_TYPEDEF, 0, 1);
}

/* The type of a tracepoint with arguments, @count of them. */
static inline void fake_btf_tracepoint(struct fake_btf *btf, const char *name, uint32_t count)
{
	uint32_t type = fake_btf_begin(btf, "", BTF_KIND_FUNC_PROTO, count + 1, 1);

	for (uint32_t i = 0; i < count + 1; i++) {
		fake_btf_put(btf, 0);
		fake_btf_put(btf, 1);
	}
	type = fake_btf_begin(btf, "", BTF_KIND_PTR, 0, type);
	fake_btf_begin(btf, name, BTF_KIND_TYPEDEF, 0, type);
}

/* A function without arguments. */
static inline void fake_btf_function(struct fake_btf *btf, const char *name)
{
	uint32_t type = fake_btf_begin(btf, "", BTF_KIND_FUNC_PROTO, 0, 1);

	fake_btf_begin(btf, name, BTF_KIND_FUNC, 0, type);
}

/* An enumeration of one value. */
static inline void fake_btf_value(struct fake_btf *btf, const char *list, const char *const *names,
				  uint32_t count)
{
	fake_btf_begin(btf, list, BTF_KIND_ENUM, count, 4);
	for (uint32_t i = 0; i < count; i++) {
		fake_btf_put(btf, fake_btf_string(btf, names[i]));
		fake_btf_put(btf, i);
	}
}

/* A struct of one member, of a type with its own name. */
static inline void fake_btf_struct(struct fake_btf *btf, const char *name, const char *member,
				   const char *member_type)
{
	uint32_t type = fake_btf_begin(btf, member_type, BTF_KIND_TYPEDEF, 0, 1);

	fake_btf_begin(btf, name, BTF_KIND_STRUCT, 1, 4);
	fake_btf_put(btf, fake_btf_string(btf, member));
	fake_btf_put(btf, type);
	fake_btf_put(btf, 0);
}

/* Returns 0, or -1 when it cannot be written. */
static inline int fake_btf_write(const struct fake_btf *btf, const char *path)
{
	struct btf_header header = {
		.magic = BTF_MAGIC,
		.version = BTF_VERSION,
		.hdr_len = sizeof(header),
		.type_len = btf->type_bytes,
		.str_off = btf->type_bytes,
		.str_len = btf->string_bytes,
	};
	FILE *file = fopen(path, "we");
	int r = -1;

	if (!file)
		return -1;
	if (fwrite(&header, sizeof(header), 1, file) == 1 &&
	    fwrite(btf->types, btf->type_bytes, 1, file) == 1 &&
	    fwrite(btf->strings, btf->string_bytes, 1, file) == 1)
		r = 0;
	return fclose(file) == 0 ? r : -1;
}

#endif
