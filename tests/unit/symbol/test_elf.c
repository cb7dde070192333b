/* SPDX-License-Identifier: MIT */
/* Names from ELF files that are compiled here, against what nm and addr2line say of them. */
#include <limits.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "fixture.h"

static const char program[] =
	"int shared_counter;\n"
	"__attribute__((noinline)) int leaf(int x) { shared_counter += x; return x * 3; }\n"
	"static __attribute__((noinline)) int hidden(int x) { return leaf(x + 1) + 1; }\n"
	"int middle(int x) { return hidden(x) + hidden(x + 2); }\n"
	"int main(int argc, char **argv) { (void)argv; return middle(argc); }\n";

/* Compiles the program in the folder; skips the test where nothing can. */
static void compile(const char *options, const char *to)
{
	struct etw_symbols *symbols;
	struct etw_symbol_frame frame;

	write_text("program.c", program);
	if (!run("%s %s -o %s program.c 2>compiler.log", ETW_TEST_CC, options, to))
		skip();
	symbols = fixture_symbols(&(struct etw_symbols_options){0});
	tell_file(symbols, BASE, to);
	frame = frame_of(symbols, BASE);
	if (frame.module->reason == ETW_SYMBOL_LEFT_OUT) {
		etw_symbols_free(symbols);
		print_message("SKIP: this build has no libdw\n");
		skip();
	}
	etw_symbols_free(symbols);
}

static void assert_found(struct etw_symbols *symbols, const char *file, const char *name)
{
	uint64_t address = BASE + address_of(file, name) - first_address_of(file);
	struct etw_symbol_frame frame = frame_of(symbols, address + 2);

	assert_non_null(frame.function);
	assert_string_equal(frame.function, name);
	assert_int_equal(frame.offset, 2);
	assert_string_equal(frame.module->name, file);
}

static void assert_all_found(const char *file)
{
	struct etw_symbols *symbols = fixture_symbols(&(struct etw_symbols_options){0});

	tell_file(symbols, BASE, file);
	assert_found(symbols, file, "leaf");
	assert_found(symbols, file, "hidden");
	assert_found(symbols, file, "middle");
	assert_found(symbols, file, "main");
	assert_int_equal(etw_symbols_module_at(symbols, 0)->reason, ETW_SYMBOL_OK);
	assert_int_equal(etw_symbols_module_at(symbols, 0)->named, 4);
	etw_symbols_free(symbols);
}

static void test_elf__names_functions_of_a_program(UNUSED_STATE)
{
	compile("-O1 -fPIE -pie", "pie");
	assert_all_found("pie");
}

static void test_elf__names_functions_at_fixed_addresses(UNUSED_STATE)
{
	compile("-O1 -fno-pie -no-pie", "fixed");
	assert_all_found("fixed");
}

static void test_elf__names_functions_where_pieces_are_apart(UNUSED_STATE)
{
	compile("-O1 -fPIE -pie -Wl,-z,separate-code -Wl,-Ttext-segment=0x10000000", "apart");
	assert_all_found("apart");
}

static void test_elf__looks_before_an_address_to_return_to(UNUSED_STATE)
{
	struct etw_symbol_frame frame;
	struct etw_symbols *symbols;
	uint64_t address;

	compile("-O1 -fPIE -pie", "pie");
	symbols = fixture_symbols(&(struct etw_symbols_options){0});
	tell_file(symbols, BASE, "pie");
	address = BASE + address_of("pie", "middle");
	assert_int_equal(etw_symbols_resolve(symbols, PID, 20, address + 1, true, &frame, 1), 1);
	assert_string_equal(frame.function, "middle");
	assert_int_equal(frame.offset, 1);
	assert_int_equal(etw_symbols_resolve(symbols, PID, 20, address, true, &frame, 1), 1);
	assert_true(!frame.function || strcmp(frame.function, "middle") != 0);
	etw_symbols_free(symbols);
}

/* _init has no size, and the linkage table comes behind its section. */
static void test_elf__ends_symbols_with_their_section(UNUSED_STATE)
{
	struct etw_symbols *symbols;
	char line[LINE_BYTES];
	uint64_t at;

	write_text("calls.c", "#include <stdlib.h>\nint main(void) { return abs(rand()); }\n");
	compile("-O1 -fPIE -pie", "pie");
	if (!run("%s -O1 -fPIE -pie -Wl,-z,lazy -o calls calls.c", ETW_TEST_CC))
		skip();
	output_of(line,
		  "readelf -SW calls | sed -n 's/.* \\.plt  *PROGBITS  *\\([0-9a-f]*\\).*/\\1/p'");
	at = strtoull(line, NULL, 16);
	if (!at) {
		print_message("SKIP: this linker makes no linkage table\n");
		skip();
	}
	symbols = fixture_symbols(&(struct etw_symbols_options){0});
	tell_file(symbols, BASE, "calls");
	assert_null(frame_of(symbols, BASE + at - first_address_of("calls") + 4).function);
	at = address_of("calls", "_init");
	assert_string_equal(frame_of(symbols, BASE + at - first_address_of("calls") + 1).function,
			    "_init");
	etw_symbols_free(symbols);
}

static int keeps_frame(struct etw_symbols *symbols, uint64_t address)
{
	return etw_symbols_keeps_frame(symbols, PID, 20, address, /* is_return= */ false);
}

/* How many bytes of a function have its frame pointer in place. */
static uint64_t framed_bytes(const char *file, const char *name)
{
	struct etw_symbols *symbols = fixture_symbols(&(struct etw_symbols_options){0});
	const uint64_t at = BASE + address_of(file, name) - first_address_of(file);
	const uint64_t count = bytes_of(file, name);
	uint64_t framed = 0;

	tell_file(symbols, BASE, file);
	for (uint64_t i = 0; i < count; i++) {
		int kept = keeps_frame(symbols, at + i);

		assert_true(kept >= 0);
		framed += (uint64_t)kept;
	}
	/* Neither the kernel nor what no file tells of has an answer. */
	assert_int_equal(keeps_frame(symbols, UINT64_MAX - 5), -ENOENT);
	assert_int_equal(keeps_frame(symbols, 64), -ENOENT);
	etw_symbols_free(symbols);
	return framed;
}

static void test_elf__tells_where_frame_pointers_are_in_place(UNUSED_STATE)
{
	struct etw_symbols *symbols;

	compile("-O1 -fno-omit-frame-pointer -fno-optimize-sibling-calls -fPIE -pie", "framed");
	/* All but the first instructions and the last. */
	assert_true(framed_bytes("framed", "middle") * 2 > bytes_of("framed", "middle"));
	assert_true(framed_bytes("framed", "middle") < bytes_of("framed", "middle"));
#if defined(__x86_64__)
	compile("-O1 -fomit-frame-pointer -fPIE -pie", "frameless");
	assert_int_equal(framed_bytes("frameless", "middle"), 0);
#endif
	compile("-O1 -fno-asynchronous-unwind-tables -fno-unwind-tables -fPIE -pie", "bare");
	symbols = fixture_symbols(&(struct etw_symbols_options){0});
	tell_file(symbols, BASE, "bare");
	assert_int_equal(keeps_frame(symbols, BASE + address_of("bare", "middle") -
						      first_address_of("bare")),
			 -ENOENT);
	etw_symbols_free(symbols);
}

static void test_elf__says_that_a_file_is_stripped(UNUSED_STATE)
{
	struct etw_symbol_frame frame;
	struct etw_symbols *symbols;
	uint64_t leaf, hidden;

	compile("-O1 -shared -fPIC", "lib.so");
	leaf = address_of("lib.so", "leaf");
	hidden = address_of("lib.so", "hidden");
	assert_true(run("strip lib.so"));
	symbols = fixture_symbols(&(struct etw_symbols_options){.search_path = "/nowhere"});
	tell_file(symbols, BASE, "lib.so");
	assert_string_equal(frame_of(symbols, BASE + leaf).function, "leaf");
	frame = frame_of(symbols, BASE + hidden);
	assert_null(frame.function);
	assert_int_equal(frame.offset, hidden);
	assert_int_equal(frame.module->reason, ETW_SYMBOL_STRIPPED);
	assert_true(strstr(etw_symbol_reason_sentence(frame.module->reason), "-dbgsym") != NULL);
	etw_symbols_free(symbols);
}

/* Splits a library into itself and its debug file, which goes to @to. */
static void split(const char *file, const char *to)
{
	assert_true(run("objcopy --only-keep-debug %s '%s' && strip %s && "
			"objcopy --add-gnu-debuglink='%s' %s",
			file, to, file, to, file));
}

static void assert_hidden_found(uint64_t hidden)
{
	struct etw_symbols_options options = {.search_path = fixture_folder};
	struct etw_symbols *symbols = fixture_symbols(&options);
	struct etw_symbol_frame frame;

	tell_file(symbols, BASE, "lib.so");
	frame = frame_of(symbols, BASE + hidden);
	assert_non_null(frame.function);
	assert_string_equal(frame.function, "hidden");
	assert_int_equal(frame.module->reason, ETW_SYMBOL_OK);
	etw_symbols_free(symbols);
}

/* Every place of a function in a stripped file, and none of the next one, has the function's beginning. */
static void test_elf__tells_where_functions_without_names_begin(UNUSED_STATE)
{
	static const struct etw_symbols_options plain = {0},
						full = {.want_lines = true, .want_inlines = true};
	uint64_t first, begin, end;

	compile("-O1 -fPIE -pie -fasynchronous-unwind-tables", "bare");
	first = first_address_of("bare");
	begin = address_of("bare", "middle") - first;
	end = begin + bytes_of("bare", "middle");
	assert_true(run("strip bare"));
	for (unsigned i = 0; i < 2; i++) {
		struct etw_symbols *symbols = fixture_symbols(i ? &full : &plain);
		struct etw_symbol_frame frame;

		tell_file(symbols, BASE, "bare");
		for (uint64_t at = begin; at < end; at++) {
			frame = frame_of(symbols, BASE + at);
			assert_null(frame.function);
			assert_int_equal(frame.offset, at);
			assert_true(frame.has_begin);
			assert_int_equal(frame.begin, begin);
		}
		frame = frame_of(symbols, BASE + end);
		assert_true(!frame.has_begin || frame.begin >= end);
		assert_false(frame_of(symbols, BASE + 4).has_begin);
		assert_int_equal(etw_symbols_module_at(symbols, 0)->reason, ETW_SYMBOL_NO_SYMBOLS);
		assert_int_equal(etw_symbols_module_at(symbols, 0)->named, 0);
		etw_symbols_free(symbols);
	}
}

static void test_elf__finds_the_debug_file_by_its_link(UNUSED_STATE)
{
	uint64_t hidden;

	compile("-O1 -g -shared -fPIC -Wl,--build-id=none", "lib.so");
	hidden = address_of("lib.so", "hidden");
	split("lib.so", "lib.so.debug");
	assert_hidden_found(hidden);
	assert_true(run("mkdir .debug && mv lib.so.debug .debug"));
	assert_hidden_found(hidden);
	assert_true(run("mkdir -p ./%s && mv .debug/lib.so.debug ./%s", fixture_folder,
			fixture_folder));
	assert_hidden_found(hidden);
}

static void test_elf__refuses_a_debug_file_of_another_checksum(UNUSED_STATE)
{
	struct etw_symbols *symbols;
	uint64_t hidden;

	compile("-O1 -g -shared -fPIC -Wl,--build-id=none", "lib.so");
	hidden = address_of("lib.so", "hidden");
	split("lib.so", "lib.so.debug");
	assert_true(run("echo more >> lib.so.debug"));
	symbols = fixture_symbols(&(struct etw_symbols_options){.search_path = "/nowhere"});
	tell_file(symbols, BASE, "lib.so");
	assert_null(frame_of(symbols, BASE + hidden).function);
	etw_symbols_free(symbols);
}

/* Puts a debug file where its build id says. */
static void store_by_build_id(const char *file)
{
	assert_true(run("id=$(readelf -n %s | sed -n 's/.*Build ID: //p') && "
			"mkdir -p .build-id/${id%%${id#??}} && "
			"mv %s .build-id/${id%%${id#??}}/${id#??}.debug",
			file, file));
}

static void test_elf__finds_the_debug_file_by_its_build_id(UNUSED_STATE)
{
	uint64_t hidden;

	compile("-O1 -g -shared -fPIC -Wl,--build-id", "lib.so");
	hidden = address_of("lib.so", "hidden");
	assert_true(run("objcopy --only-keep-debug lib.so aside && strip lib.so"));
	store_by_build_id("aside");
	assert_hidden_found(hidden);
}

static void test_elf__takes_the_debug_file_for_an_image_that_is_gone(UNUSED_STATE)
{
	struct etw_symbols_options options = {.search_path = fixture_folder};
	struct etw_symbols *symbols;
	uint8_t build_id[16];
	uint64_t hidden;

	compile("-O1 -g -shared -fPIC -Wl,--build-id", "lib.so");
	hidden = address_of("lib.so", "hidden");
	build_id_of("lib.so", build_id);
	assert_true(run("objcopy --only-keep-debug lib.so aside && rm lib.so"));
	store_by_build_id("aside");
	symbols = fixture_symbols(&options);
	tell_file(symbols, BASE, "lib.so");
	assert_int_equal(etw_symbols_tell_build_id(symbols, PID, BASE, 10, build_id, 16), 0);
	assert_string_equal(frame_of(symbols, BASE + hidden).function, "hidden");
	etw_symbols_free(symbols);
}

static void test_elf__refuses_another_build(UNUSED_STATE)
{
	struct etw_symbol_frame frame;
	struct etw_symbols *symbols;
	uint8_t build_id[16];
	uint64_t leaf;

	compile("-O1 -shared -fPIC -Wl,--build-id", "lib.so");
	leaf = address_of("lib.so", "leaf");
	build_id_of("lib.so", build_id);
	symbols = fixture_symbols(&(struct etw_symbols_options){0});
	tell_file(symbols, BASE, "lib.so");
	assert_int_equal(etw_symbols_tell_build_id(symbols, PID, BASE, 10, build_id, 16), 0);
	assert_string_equal(frame_of(symbols, BASE + leaf).function, "leaf");
	etw_symbols_free(symbols);

	build_id[3] ^= 1;
	symbols = fixture_symbols(&(struct etw_symbols_options){0});
	tell_file(symbols, BASE, "lib.so");
	assert_int_equal(etw_symbols_tell_build_id(symbols, PID, BASE, 10, build_id, 16), 0);
	frame = frame_of(symbols, BASE + leaf);
	assert_null(frame.function);
	assert_int_equal(frame.module->reason, ETW_SYMBOL_OTHER_BUILD_ID);
	etw_symbols_free(symbols);
}

static void test_elf__says_why_there_is_no_file(UNUSED_STATE)
{
	struct etw_symbols *symbols;

	compile("-O1 -fPIE -pie", "pie");
	symbols = fixture_symbols(&(struct etw_symbols_options){0});
	tell_file(symbols, BASE, "nothing");
	assert_int_equal(frame_of(symbols, BASE).module->reason, ETW_SYMBOL_NO_FILE);
	tell_file(symbols, 2 * BASE, "program.c");
	assert_int_equal(frame_of(symbols, 2 * BASE).module->reason, ETW_SYMBOL_NOT_ELF);
	assert_true(run("head -c 100 pie > cut && mkfifo pipe"));
	tell_file(symbols, 3 * BASE / 2, "cut");
	assert_int_equal(frame_of(symbols, 3 * BASE / 2).module->reason, ETW_SYMBOL_DAMAGED);
	tell_file(symbols, 5 * BASE / 4, "pipe");
	assert_int_equal(frame_of(symbols, 5 * BASE / 4).module->reason, ETW_SYMBOL_NO_FILE);
	etw_symbols_free(symbols);
}

/* What a file says of its size is no reason to take so much memory. */
static void test_elf__says_that_a_file_is_too_large(UNUSED_STATE)
{
	struct etw_symbols *symbols;

	compile("-O1 -fPIE -pie", "pie");
	assert_true(run("cp pie holes && truncate -s 7G holes"));
	symbols = fixture_symbols(&(struct etw_symbols_options){0});
	tell_file(symbols, BASE, "holes");
	assert_int_equal(frame_of(symbols, BASE).module->reason, ETW_SYMBOL_TOO_LARGE);
	etw_symbols_free(symbols);
}

/* Others may cut it while it is open for its lines. */
static void test_elf__outlives_files_that_are_cut(UNUSED_STATE)
{
	struct etw_symbols_options options = {.want_lines = true, .want_inlines = true};
	struct etw_symbol_frame frame;
	struct etw_symbols *symbols;
	uint64_t leaf, middle;

	compile("-O1 -g -fPIE -pie", "pie");
	leaf = BASE + address_of("pie", "leaf");
	middle = BASE + address_of("pie", "middle");
	assert_true(run("chmod 666 pie"));
	symbols = fixture_symbols(&options);
	tell_file(symbols, BASE, "pie");
	assert_string_equal(frame_of(symbols, leaf).function, "leaf");
	assert_true(run(": >pie"));
	frame = frame_of(symbols, middle);
	assert_string_equal(frame.function, "middle");
	assert_non_null(frame.file);
	etw_symbols_free(symbols);
}

static void test_elf__searches_below_another_root(UNUSED_STATE)
{
	struct etw_symbols_options options = {.root = fixture_folder};
	const struct etw_symbol_image image = {PID, BASE, 1 << 20, "/usr/lib/lib.so"};
	struct etw_symbols *symbols;
	uint64_t leaf;

	compile("-O1 -shared -fPIC", "lib.so");
	leaf = address_of("lib.so", "leaf");
	/* Links lead within the root. */
	assert_true(run("mkdir -p usr/lib && mv lib.so usr/lib/real.so && "
			"ln -s /usr/lib/real.so usr/lib/lib.so"));
	symbols = fixture_symbols(&options);
	assert_int_equal(etw_symbols_tell_image(symbols, ETW_SYMBOL_LOAD, &image, 10), 0);
	assert_string_equal(frame_of(symbols, BASE + leaf).function, "leaf");
	etw_symbols_free(symbols);
}

static const char inlining[] =
	"volatile int sink;\n"
	"static inline __attribute__((always_inline)) void innermost(int x)\n"
	"{\n"
	"	sink = x;\n"
	"}\n"
	"static inline __attribute__((always_inline)) void between(int x)\n"
	"{\n"
	"	innermost(x + sink);\n"
	"}\n"
	"void outer(int x)\n"
	"{\n"
	"	between(x);\n"
	"}\n"
	"int main(void) { outer(1); return 0; }\n";

/* Every address of a function against addr2line: the names of all frames, the line of each. */
static void compare_with_addr2line(struct etw_symbols *symbols, const char *file, uint64_t from,
				   uint64_t bytes)
{
	struct etw_symbol_frame frames[ETW_SYMBOL_FRAMES_MAX];
	size_t most = 0;

	for (uint64_t address = from; address < from + bytes; address++) {
		int count = etw_symbols_resolve(symbols, PID, 20, BASE + address, false, frames,
						ETW_SYMBOL_FRAMES_MAX);
		char expected[LINE_BYTES], found[LINE_BYTES] = "";
		size_t at = 0;

		output_of(expected,
			  "addr2line -Cfise %s %#" PRIx64
			  " | sed 's/ (discrim.*//' | paste -sd ' '",
			  file, address);
		for (int i = 0; i < count; i++) {
			const char *slash = frames[i].file ? strrchr(frames[i].file, '/') : NULL;

			at += (size_t)snprintf(found + at, sizeof(found) - at, "%s%s %s:%u",
					       i ? " " : "", frames[i].function,
					       slash ? slash + 1 : frames[i].file, frames[i].line);
		}
		assert_string_equal(found, expected);
		assert_int_equal(frames[count - 1].is_inlined, false);
		if ((size_t)count > most)
			most = (size_t)count;
	}
	assert_int_equal(most, 3);
}

static void test_elf__shows_inlined_functions_with_lines(UNUSED_STATE)
{
	struct etw_symbols_options options = {.want_inlines = true, .want_lines = true};
	struct etw_symbols *symbols;

	compile("-O1", "pie");
	if (!run("command -v addr2line >/dev/null")) {
		print_message("SKIP: addr2line is not there\n");
		skip();
	}
	write_text("inlining.c", inlining);
	assert_true(run("%s -O1 -g -fPIE -pie -o inlining inlining.c", ETW_TEST_CC));
	symbols = fixture_symbols(&options);
	tell_file(symbols, BASE, "inlining");
	compare_with_addr2line(symbols, "inlining", address_of("inlining", "outer"),
			       bytes_of("inlining", "outer"));
	etw_symbols_free(symbols);
}

#define COMMON_ID "6162636465666768696a6b6c6d6e6f7071727374"

/*
 * A program whose debugging information has its names in another file, as dwz leaves them, which it calls by a name; and
 * that file as "common".
 */
static void compile_with_common(const char *name)
{
	compile("-O1", "pie");
	write_text("inlining.c", inlining);
	/* gcc writes ".uleb128 0xe # (DW_FORM_strp)", clang ".byte 14 # DW_FORM_strp". */
	if (!run("%s -O1 -gdwarf-4 -fverbose-asm -dA -fPIE -S inlining.c 2>compiler.log && "
		 "sed -e 's/0xe\\(.*DW_FORM_strp)\\)/0x1f21\\1/' "
		 "-e 's/\\.byte[\t ]*14\\(.*DW_FORM_strp\\)$/.uleb128 0x1f21\\1/' inlining.s "
		 ">split.s && "
		 "%s -pie -Wl,--build-id=0x" COMMON_ID " -o split split.s 2>compiler.log && "
		 "grep -q 0x1f21 split.s",
		 ETW_TEST_CC, ETW_TEST_CC)) {
		print_message("SKIP: this compiler's assembler has no names of forms\n");
		skip();
	}
	assert_true(run("objcopy --only-keep-debug split common && "
			"printf '%%s\\0abcdefghijklmnopqrst' '%s' >link && "
			"objcopy --add-section .gnu_debugaltlink=link split",
			name));
}

/* How many frames the place of the inlined functions has. */
static int count_inlined(const char *search_path)
{
	const struct etw_symbols_options options = {
		.want_inlines = true, .want_lines = true, .search_path = search_path};
	struct etw_symbol_frame frames[ETW_SYMBOL_FRAMES_MAX];
	struct etw_symbols *symbols = fixture_symbols(&options);
	const uint64_t begin = BASE + address_of("split", "outer") - first_address_of("split");
	const uint64_t bytes = bytes_of("split", "outer");
	int most = 0;

	tell_file(symbols, BASE, "split");
	for (uint64_t at = begin; at < begin + bytes; at++) {
		int count = etw_symbols_resolve(symbols, PID, 20, at, false, frames,
						ETW_SYMBOL_FRAMES_MAX);

		assert_string_equal(frames[count - 1].function, "outer");
		if (count == 3)
			assert_string_equal(frames[0].function, "innermost");
		if (count > most)
			most = count;
	}
	etw_symbols_free(symbols);
	return most;
}

/* What a file names is not opened, whatever it is; it is found where debug files are. */
static void test_elf__finds_what_debug_files_have_in_common(UNUSED_STATE)
{
	char path[PATH_BYTES], room[sizeof(struct inotify_event) + NAME_MAX + 1];
	int watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);

	assert_true(watch >= 0);
	(void)snprintf(path, sizeof(path), "%s/.dwz/pipe", fixture_folder);
	assert_true(run("mkdir .dwz folder && mkfifo .dwz/pipe"));
	assert_true(inotify_add_watch(watch, path, IN_OPEN) >= 0);
	compile_with_common(path);
	assert_int_equal(count_inlined("/nowhere"), 1);
	assert_int_equal(count_inlined(fixture_folder), 1);
	assert_true(read(watch, room, sizeof(room)) < 0);
	(void)close(watch);
	assert_true(run("rm .dwz/pipe && cp common .dwz/pipe"));
	assert_int_equal(count_inlined("/nowhere"), 1);
	assert_int_equal(count_inlined(fixture_folder), 3);
	assert_true(run("rm .dwz/pipe"));
	store_by_build_id("common");
	assert_int_equal(count_inlined(fixture_folder), 3);
}

/* Nor is the other half of a unit that is split. */
static void test_elf__opens_no_other_half_of_a_unit(UNUSED_STATE)
{
	struct etw_symbols_options options = {.want_inlines = true, .want_lines = true};
	struct etw_symbols *symbols;

	compile("-O1 -c -g -gsplit-dwarf", "program.o");
	assert_true(run("rm -f *.dwo && for name in program program-program pie-program; do "
			"mkfifo $name.dwo; done && %s -o half program.o",
			ETW_TEST_CC));
	symbols = fixture_symbols(&options);
	tell_file(symbols, BASE, "half");
	assert_found(symbols, "half", "middle");
	assert_found(symbols, "half", "leaf");
	etw_symbols_free(symbols);
}

static void test_elf__shows_cpp_names_as_people_write_them(UNUSED_STATE)
{
	struct etw_symbols_options options = {.keep_mangled = true};
	struct etw_symbol_frame frame;
	struct etw_symbols *symbols;
	uint64_t address;

	compile("-O1", "pie");
	write_text("shape.cc", "namespace shapes { struct Box { int area(int) const; }; }\n"
			       "int shapes::Box::area(int x) const { return x * x; }\n"
			       "int main() { return shapes::Box().area(3); }\n");
	assert_true(run("%s -O0 -fPIE -pie -o shape shape.cc", ETW_TEST_CXX));
	address = BASE + address_of("shape", "_ZNK6shapes3Box4areaEi");
	symbols = fixture_symbols(&(struct etw_symbols_options){0});
	tell_file(symbols, BASE, "shape");
	frame = frame_of(symbols, address);
	assert_string_equal(frame.function, "shapes::Box::area(int) const");
	assert_string_equal(frame.raw_function, "_ZNK6shapes3Box4areaEi");
	/* Equal strings are the same pointer. */
	assert_ptr_equal(frame_of(symbols, address + 1).function, frame.function);
	etw_symbols_free(symbols);

	symbols = fixture_symbols(&options);
	tell_file(symbols, BASE, "shape");
	frame = frame_of(symbols, address);
	assert_string_equal(frame.function, "_ZNK6shapes3Box4areaEi");
	assert_ptr_equal(frame.function, frame.raw_function);
	etw_symbols_free(symbols);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_begin, fixture_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_elf__names_functions_of_a_program),
		TEST(test_elf__names_functions_at_fixed_addresses),
		TEST(test_elf__names_functions_where_pieces_are_apart),
		TEST(test_elf__looks_before_an_address_to_return_to),
		TEST(test_elf__ends_symbols_with_their_section),
		TEST(test_elf__tells_where_frame_pointers_are_in_place),
		TEST(test_elf__says_that_a_file_is_stripped),
		TEST(test_elf__tells_where_functions_without_names_begin),
		TEST(test_elf__finds_the_debug_file_by_its_link),
		TEST(test_elf__refuses_a_debug_file_of_another_checksum),
		TEST(test_elf__finds_the_debug_file_by_its_build_id),
		TEST(test_elf__takes_the_debug_file_for_an_image_that_is_gone),
		TEST(test_elf__refuses_another_build),
		TEST(test_elf__says_why_there_is_no_file),
		TEST(test_elf__says_that_a_file_is_too_large),
		TEST(test_elf__outlives_files_that_are_cut),
		TEST(test_elf__searches_below_another_root),
		TEST(test_elf__shows_inlined_functions_with_lines),
		TEST(test_elf__finds_what_debug_files_have_in_common),
		TEST(test_elf__opens_no_other_half_of_a_unit),
		TEST(test_elf__shows_cpp_names_as_people_write_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
