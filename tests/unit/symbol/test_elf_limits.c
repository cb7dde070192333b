/* SPDX-License-Identifier: MIT */
/* Files that say more of themselves than there is: refused before libelf takes memory for it. */
#include "symbol/elf_limits.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/file.h"
#include "fixture.h"

#define TABLE_AT 4096

/* A file with this name, of so many bytes, which are holes. */
static int make_file(const char *name, off_t bytes)
{
	char path[PATH_BYTES];
	int fd;

	(void)snprintf(path, sizeof(path), "%s/%s", fixture_folder, name);
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, bytes), 0);
	return fd;
}

static void put(int fd, off_t at, const void *from, size_t bytes)
{
	assert_int_equal(pwrite(fd, from, bytes, at), bytes);
}

static Elf64_Ehdr header_of(uint16_t sections, uint16_t segments)
{
	Elf64_Ehdr header = {
		.e_type = ET_DYN,
		.e_shoff = TABLE_AT,
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = sections,
		.e_phoff = TABLE_AT,
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = segments,
	};

	memcpy(header.e_ident, ELFMAG, SELFMAG);
	header.e_ident[EI_CLASS] = ELFCLASS64;
	header.e_ident[EI_DATA] = ELFDATA2LSB;
	return header;
}

/* A file with these sections. */
static int hold_sections(const Elf64_Shdr *sections, uint16_t count)
{
	const Elf64_Ehdr header = header_of(count, 0);
	int r, fd = make_file("file", 1 << 20);

	put(fd, 0, &header, sizeof(header));
	put(fd, TABLE_AT, sections, count * sizeof(*sections));
	r = etw_symbol_elf_limits_hold(fd);
	etw_file_closep(&fd);
	return r;
}

static void test_elf_limits__counts_sections_and_segments(UNUSED_STATE)
{
	Elf64_Shdr first = {.sh_size = ETW_SYMBOL_SECTIONS_MAX, .sh_info = 1 << 17};
	Elf64_Ehdr header = header_of(0, 0);
	int fd = make_file("file", 64 << 20);

	put(fd, 0, &header, sizeof(header));
	put(fd, TABLE_AT, &first, sizeof(first));
	assert_int_equal(etw_symbol_elf_limits_hold(fd), 0);
	first.sh_size++;
	put(fd, TABLE_AT, &first, sizeof(first));
	assert_int_equal(etw_symbol_elf_limits_hold(fd), -EFBIG);
	first.sh_size = 1;
	put(fd, TABLE_AT, &first, sizeof(first));
	header = header_of(0, PN_XNUM);
	put(fd, 0, &header, sizeof(header));
	assert_int_equal(etw_symbol_elf_limits_hold(fd), -EFBIG);
	etw_file_closep(&fd);
}

/* The same of a file of the other class and the other order of bytes. */
static void test_elf_limits__reads_files_of_either_kind(UNUSED_STATE)
{
	Elf32_Ehdr header = {.e_shoff = __builtin_bswap32(TABLE_AT)};
	Elf32_Shdr first = {.sh_size = __builtin_bswap32(117000000)};
	int fd = make_file("file", 64 << 20);

	memcpy(header.e_ident, ELFMAG, SELFMAG);
	header.e_ident[EI_CLASS] = ELFCLASS32;
	header.e_ident[EI_DATA] = ELFDATA2MSB;
	put(fd, 0, &header, sizeof(header));
	assert_int_equal(etw_symbol_elf_limits_hold(fd), 0);
	put(fd, TABLE_AT, &first, sizeof(first));
	assert_int_equal(etw_symbol_elf_limits_hold(fd), -EFBIG);
	etw_file_closep(&fd);
}

static void test_elf_limits__adds_up_what_sections_take(UNUSED_STATE)
{
	Elf64_Shdr sections[] = {
		{.sh_type = SHT_NULL, .sh_size = UINT64_MAX},
		{.sh_type = SHT_NOBITS, .sh_size = UINT64_MAX},
		{.sh_type = SHT_SYMTAB, .sh_size = ETW_SYMBOL_TABLE_BYTES_MAX / 2},
		{.sh_type = SHT_STRTAB, .sh_size = ETW_SYMBOL_TABLE_BYTES_MAX / 2},
		{.sh_type = SHT_NOTE, .sh_size = ETW_SYMBOL_NOTE_BYTES_MAX},
	};

	assert_int_equal(hold_sections(sections, 5), 0);
	sections[3].sh_size++;
	assert_int_equal(hold_sections(sections, 5), -EFBIG);
	sections[3].sh_size = UINT64_MAX;
	assert_int_equal(hold_sections(sections, 5), -EFBIG);
	sections[3].sh_size = 0;
	sections[4].sh_size++;
	assert_int_equal(hold_sections(sections, 5), -EFBIG);
}

static void test_elf_limits__adds_up_notes_of_segments(UNUSED_STATE)
{
	Elf64_Ehdr header = header_of(0, 2);
	Elf64_Phdr segments[] = {
		{.p_type = PT_NOTE, .p_filesz = ETW_SYMBOL_NOTE_BYTES_MAX},
		{.p_type = PT_LOAD, .p_filesz = UINT64_MAX},
	};
	int fd = make_file("file", 1 << 20);

	header.e_shoff = 0;
	put(fd, 0, &header, sizeof(header));
	put(fd, TABLE_AT, segments, sizeof(segments));
	assert_int_equal(etw_symbol_elf_limits_hold(fd), 0);
	segments[0].p_filesz++;
	put(fd, TABLE_AT, segments, sizeof(segments));
	assert_int_equal(etw_symbol_elf_limits_hold(fd), -EFBIG);
	etw_file_closep(&fd);
}

static void test_elf_limits__looks_how_large_sections_are_unpacked(UNUSED_STATE)
{
	const Elf64_Ehdr header = header_of(2, 0);
	const Elf64_Shdr sections[] = {
		{.sh_type = SHT_PROGBITS, .sh_flags = SHF_COMPRESSED, .sh_offset = 1024},
		{.sh_type = SHT_PROGBITS, .sh_offset = 2048},
	};
	Elf64_Chdr packed = {.ch_size = ETW_SYMBOL_UNPACKED_BYTES_MAX};
	uint8_t old[12] = {'Z', 'L', 'I', 'B', 0, 0, 0, 0, 0, 0, 0, 1};
	int fd = make_file("file", 1 << 20);

	put(fd, 0, &header, sizeof(header));
	put(fd, TABLE_AT, sections, sizeof(sections));
	put(fd, 1024, &packed, sizeof(packed));
	assert_int_equal(etw_symbol_elf_limits_hold(fd), 0);
	put(fd, 2048, old, sizeof(old));
	assert_int_equal(etw_symbol_elf_limits_hold(fd), -EFBIG);
	packed.ch_size--;
	put(fd, 1024, &packed, sizeof(packed));
	assert_int_equal(etw_symbol_elf_limits_hold(fd), 0);
	old[4] = 0xff;
	put(fd, 2048, old, sizeof(old));
	assert_int_equal(etw_symbol_elf_limits_hold(fd), -EFBIG);
	etw_file_closep(&fd);
}

/* What is cut or no ELF file at all is libelf's to refuse. */
static void test_elf_limits__leaves_damage_to_libelf(UNUSED_STATE)
{
	const Elf64_Ehdr header = header_of(3, 3);
	int fd = make_file("file", 0);

	assert_int_equal(etw_symbol_elf_limits_hold(fd), 0);
	put(fd, 0, "text", 4);
	assert_int_equal(etw_symbol_elf_limits_hold(fd), 0);
	for (size_t bytes = 1; bytes <= sizeof(header); bytes++) {
		put(fd, 0, &header, bytes);
		assert_int_equal(etw_symbol_elf_limits_hold(fd), 0);
	}
	etw_file_closep(&fd);
	assert_int_equal(etw_symbol_elf_limits_hold(-1), 0);
}

static void test_elf_limits__copies_what_others_may_change(UNUSED_STATE)
{
	uint64_t copied = 0;
	char text[4] = "";
	int fd = make_file("file", 1 << 20), kept = fd;

	put(fd, 70000, "abc", 3);
	assert_int_equal(etw_symbol_elf_settle(&fd, &copied), 0);
	assert_int_equal(fd, kept);
	assert_int_equal(copied, 0);
	assert_int_equal(fchmod(fd, 0666), 0);
	assert_int_equal(etw_symbol_elf_settle(&fd, &copied), 0);
	assert_int_not_equal(fd, kept);
	assert_int_equal(copied, 65536); /* holes stay holes */
	assert_true(run("truncate -s 0 file"));
	assert_int_equal(lseek(fd, 0, SEEK_END), 1 << 20);
	assert_int_equal(pread(fd, text, 3, 70000), 3);
	assert_string_equal(text, "abc");
	etw_file_closep(&fd);
	fd = -1;
	assert_int_equal(etw_symbol_elf_settle(&fd, &copied), -EBADF);
}

static void test_elf_limits__refuses_files_of_holes(UNUSED_STATE)
{
	static uint8_t block[1 << 20];
	uint64_t copied = 0;
	int fd = make_file("file", (off_t)ETW_SYMBOL_HOLE_BYTES_MAX);

	assert_int_equal(etw_symbol_elf_settle(&fd, &copied), 0);
	assert_int_equal(ftruncate(fd, (off_t)ETW_SYMBOL_HOLE_BYTES_MAX + 1), 0);
	assert_int_equal(etw_symbol_elf_settle(&fd, &copied), -EFBIG);
	memset(block, 1, sizeof(block));
	put(fd, 0, block, sizeof(block));
	put(fd, sizeof(block), block, 4096);
	assert_int_equal(etw_symbol_elf_settle(&fd, &copied), 0);
	/* Nor is so much copied. */
	assert_int_equal(ftruncate(fd, (off_t)ETW_SYMBOL_COPY_BYTES_MAX + 1), 0);
	for (off_t at = 0; at < 40; at++)
		put(fd, at * (off_t)sizeof(block), block, sizeof(block));
	assert_int_equal(etw_symbol_elf_settle(&fd, &copied), 0);
	assert_int_equal(fchmod(fd, 0622), 0);
	assert_int_equal(etw_symbol_elf_settle(&fd, &copied), -EFBIG);
	assert_int_equal(copied, 0);
	etw_file_closep(&fd);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_begin, fixture_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_elf_limits__counts_sections_and_segments),
		TEST(test_elf_limits__reads_files_of_either_kind),
		TEST(test_elf_limits__adds_up_what_sections_take),
		TEST(test_elf_limits__adds_up_notes_of_segments),
		TEST(test_elf_limits__looks_how_large_sections_are_unpacked),
		TEST(test_elf_limits__leaves_damage_to_libelf),
		TEST(test_elf_limits__copies_what_others_may_change),
		TEST(test_elf_limits__refuses_files_of_holes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
