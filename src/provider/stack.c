/* SPDX-License-Identifier: MIT */
#include "provider/stack.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/macros.h"
#include "provider/own_object.h"

#define PAGE_BYTES   4096u
#define RULES_KEPT   4096u /* a power of two */
#define STACKS_KNOWN 2
#define SIGNALS_MAX  8 /* handlers that interrupted each other in one walk */
#define MAPS_AT_ONCE 1024
#define COPIES_MAX   8
#define OWN_FRAMES   32 /* of the library, at most */

/* Of other copies: each has a place of its own, and its end is 0 until it is there. */
static struct etw_stack_entries others[COPIES_MAX];
static uint32_t other_count; /* atomic; may be more than there is room for */

/* The mappings of the stacks that the thread was on last. A handler may find one half written: its high end is 0 then. */
struct bounds {
	uintptr_t low, high;
};

static _Thread_local struct bounds known[STACKS_KNOWN] __attribute__((tls_model("initial-exec")));
static _Thread_local unsigned next_known __attribute__((tls_model("initial-exec")));

/* A line of /proc/self/maps: "low-high rights ...". */
struct line {
	uintptr_t numbers[2];
	unsigned field; /* of the line that is read: low, high, rights, the rest */
	bool is_readable;
};

/* Returns whether the line that has been read holds @at. */
static bool read_char(struct line *line, char c, uintptr_t at)
{
	if (c == '\n') {
		const bool is_found = line->is_readable && at >= line->numbers[0] &&
				      at < line->numbers[1];

		if (!is_found)
			*line = (struct line){0};
		return is_found;
	}
	if (line->field < 2 && (c == '-' || c == ' '))
		line->field++;
	else if (line->field < 2)
		line->numbers[line->field] = line->numbers[line->field] << 4 |
					     (uintptr_t)(c <= '9' ? c - '0' : c - 'a' + 10);
	else if (line->field == 2) {
		line->is_readable = c == 'r';
		line->field++;
	}
	return false;
}

/* Not by the functions of the C library, which may be cancelled in. */
bool etw_stack_find_bounds(uintptr_t at, uintptr_t ret[2])
{
	const int saved_errno = errno;
	const int fd = (int)syscall(SYS_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC);
	struct line line = {0};
	bool is_found = false;
	char text[MAPS_AT_ONCE];
	long bytes = fd < 0 ? 0 : 1;

	ret[0] = at & ~(uintptr_t)(PAGE_BYTES - 1);
	ret[1] = ret[0] + PAGE_BYTES;
	while (!is_found && bytes > 0) {
		bytes = syscall(SYS_read, fd, text, sizeof(text));
		for (long i = 0; i < bytes && !is_found; i++)
			is_found = read_char(&line, text[i], at);
	}
	if (is_found) {
		ret[0] = line.numbers[0];
		ret[1] = line.numbers[1];
	}
	if (fd >= 0)
		(void)syscall(SYS_close, fd);
	errno = saved_errno;
	return is_found;
}

/*
 * Behind a thread's own stack other mappings may lie as if they were one with it, and go away: the stack ends where the
 * C library has put what belongs to the thread.
 */
static uintptr_t limit_to_thread(uintptr_t at, uintptr_t high)
{
	const uintptr_t self = (uintptr_t)__builtin_thread_pointer();

	return self > at && self < high ? self : high;
}

static const struct bounds *find_known(uintptr_t at)
{
	for (unsigned i = 0; i < STACKS_KNOWN; i++) {
		if (LIKELY(at < load_relaxed(&known[i].high) && at >= load_relaxed(&known[i].low)))
			return &known[i];
	}
	return NULL;
}

static void remember(const uintptr_t found[2])
{
	struct bounds *bounds = &known[next_known++ % STACKS_KNOWN];

	store_relaxed(&bounds->high, (uintptr_t)0);
	fence_signal();
	store_relaxed(&bounds->low, found[0]);
	fence_signal();
	store_relaxed(&bounds->high, found[1]);
}

/* How far up the stack that the thread is on, at @at, may be read. */
static uintptr_t find_high(uintptr_t at)
{
	const struct bounds *bounds = find_known(at);
	uintptr_t found[2];

	if (LIKELY(bounds)) {
		const uintptr_t high = load_relaxed(&bounds->high);

		/* A handler may have needed the place for another stack meanwhile. */
		if (LIKELY(at < high))
			return limit_to_thread(at, high);
	}
	(void)etw_stack_find_bounds(at, found);
	remember(found);
	return limit_to_thread(at, found[1]);
}

/*
 * Stacks that are there as long as the thread is: the one below what the C library has for it, and that with which the
 * program began, where the kernel has put some random bytes.
 */
static bool is_lasting(uintptr_t at, uintptr_t high)
{
	const uintptr_t self = (uintptr_t)__builtin_thread_pointer();
	const uintptr_t first = (uintptr_t)getauxval(AT_RANDOM);

	return (self > at && self < high) || (first > at && first < high);
}

/*
 * The same of a stack on which a signal interrupted the thread. What was interrupted may have run out of its stack, or on one
 * that is gone, which is just why the handler writes an event: a stack that can go away is looked for anew.
 *
 * Returns 0: nothing of it may be read.
 */
static uintptr_t find_interrupted_high(uintptr_t at)
{
	const struct bounds *bounds = find_known(at);
	const uintptr_t high = bounds ? load_relaxed(&bounds->high) : 0;
	uintptr_t found[2];

	if (at < high && is_lasting(at, high))
		return limit_to_thread(at, high);
	if (!etw_stack_find_bounds(at, found))
		return 0;
	if (!bounds)
		remember(found);
	return limit_to_thread(at, found[1]);
}

/*
 * Of any thread, without a lock: a key that was written by another than the value is none of any address. Values are never
 * 0. A rule that has become another's, of an object that took the place of an unloaded one, makes a wrong stack and no
 * more, and needs the same table at the same place.
 */
static struct kept {
	uint64_t key; /* of address and object, exclusive or the value; atomic */
	uint64_t value;
} kept[RULES_KEPT];

#define VALUE_IS_RULE (UINT64_C(1) << 63)
#define VALUE_IS_NONE (UINT64_C(1) << 62) /* the tables have no rule for it */

static bool fits(const struct etw_unwind_place *place, int32_t limit)
{
	const int32_t word = (int32_t)sizeof(uintptr_t);

	return place->offset % word == 0 && place->offset / word < limit &&
	       place->offset / word >= -limit;
}

static uint64_t pack_place(const struct etw_unwind_place *place, unsigned bits)
{
	const uint64_t mask = (UINT64_C(1) << bits) - 1;
	const int64_t words = place->offset / (int32_t)sizeof(uintptr_t);

	return ((uint64_t)words & mask) << 4 | (uint64_t)place->kind << 2 | place->base;
}

static struct etw_unwind_place unpack_place(uint64_t value, unsigned bits)
{
	const int64_t words = (int64_t)(value << (60 - bits)) >> (64 - bits);

	return (struct etw_unwind_place){
		.kind = value >> 2 & 3,
		.base = value & 3,
		.offset = (int32_t)words * (int32_t)sizeof(uintptr_t),
	};
}

#define CFA_BITS   20
#define FRAME_BITS 15
#define PLACE_BITS 14

/* 0: it cannot be kept. */
static uint64_t pack(const struct etw_unwind_rule *rule)
{
	if (!fits(&rule->cfa, 1 << (CFA_BITS - 1)) || !fits(&rule->frame, 1 << (FRAME_BITS - 1)) ||
	    !fits(&rule->address, 1 << (PLACE_BITS - 1)))
		return 0;
	return VALUE_IS_RULE | (uint64_t)rule->is_signal << 61 | pack_place(&rule->cfa, CFA_BITS) |
	       pack_place(&rule->frame, FRAME_BITS) << (4 + CFA_BITS) |
	       pack_place(&rule->address, PLACE_BITS) << (8 + CFA_BITS + FRAME_BITS);
}

static struct etw_unwind_rule unpack(uint64_t value)
{
	return (struct etw_unwind_rule){
		.cfa = unpack_place(value & ((UINT64_C(1) << (4 + CFA_BITS)) - 1), CFA_BITS),
		.frame = unpack_place(value >> (4 + CFA_BITS) &
					      ((UINT64_C(1) << (4 + FRAME_BITS)) - 1),
				      FRAME_BITS),
		.address = unpack_place(value >> (8 + CFA_BITS + FRAME_BITS) &
						((UINT64_C(1) << (4 + PLACE_BITS)) - 1),
					PLACE_BITS),
		.is_signal = value >> 61 & 1,
	};
}

static_assert(12 + CFA_BITS + FRAME_BITS + PLACE_BITS <= 61, "a value has place for all");

/* @object: the last one that was looked up, and the next one's */
static bool find_rule(struct etw_unwind_object *object, uintptr_t pc, struct etw_unwind_rule *ret)
{
	uint64_t tag, value;
	struct kept *entry;
	bool is_found;

	if (!etw_own_object_find(pc, object))
		return false;
	tag = pc ^ (uint64_t)(uintptr_t)object->table << 20;
	entry = &kept[tag * UINT64_C(0x9e3779b97f4a7c15) >> 40 & (RULES_KEPT - 1)];
	value = load_relaxed(&entry->value);
	if (LIKELY(value != 0 && (load_relaxed(&entry->key) ^ value) == tag)) {
		*ret = unpack(value);
		return value & VALUE_IS_RULE;
	}
	is_found = etw_unwind_find_rule(object, pc, ret);
	value = is_found ? pack(ret) : VALUE_IS_NONE;
	if (value) {
		store_relaxed(&entry->value, value);
		store_relaxed(&entry->key, tag ^ value);
	}
	return is_found;
}

struct registers {
	uintptr_t pc, stack, frame, link;
};

struct walk {
	struct registers at;
	uintptr_t high; /* of the stack that is walked on */
	struct etw_unwind_object object;
	unsigned signals; /* frames of them that were met */
	bool is_interrupted; /* at.pc is no return address, but where the kernel interrupted the code */
};

/* A word of memory of which no sanitizer knows that it may be read: between variables, and of any alignment. */
struct word {
	uintptr_t value;
} __attribute__((packed));

__attribute__((noinline, no_sanitize("address"), no_sanitize("undefined"),
	       no_sanitize("thread"))) static uintptr_t
load_word(uintptr_t at)
{
	return ((const volatile struct word *)at)->value; /* NOLINT(performance-no-int-to-ptr) */
}

static bool read_word(const struct walk *walk, uintptr_t at, uintptr_t *ret)
{
	if (at < walk->at.stack || at > walk->high - sizeof(*ret) || walk->high < sizeof(*ret))
		return false;
	*ret = load_word(at);
	return true;
}

static uintptr_t base_of(const struct walk *walk, uint8_t base, uintptr_t cfa)
{
	if (base == ETW_UNWIND_STACK)
		return walk->at.stack;
	return base == ETW_UNWIND_FRAME ? walk->at.frame : cfa;
}

/* Returns whether the value could be had. */
static bool take_place(const struct walk *walk, const struct etw_unwind_place *place, uintptr_t cfa,
		       uintptr_t *value)
{
	if (place->kind == ETW_UNWIND_SAME)
		return true;
	return place->kind == ETW_UNWIND_SAVED &&
	       read_word(walk, base_of(walk, place->base, cfa) + (uintptr_t)(intptr_t)place->offset,
			 value);
}

/* An address that is signed (pointer authentication of arm64), without its signature. */
static uintptr_t strip(uintptr_t address)
{
#if defined(__aarch64__)
	return address & (((uintptr_t)1 << 48) - 1);
#else
	return address;
#endif
}

/* The caller's stack lies above; what a signal interrupted may be on any other one. */
static bool move_to(struct walk *walk, const struct registers *next, bool is_signal)
{
	const bool is_above = next->stack > walk->at.stack && next->stack <= walk->high;

	if (is_signal && ++walk->signals > SIGNALS_MAX)
		return false;
	if (!is_above) {
		if (!is_signal || next->stack == 0)
			return false;
		walk->high = find_interrupted_high(next->stack);
	}
	walk->at = *next;
	walk->is_interrupted = is_signal;
	return next->pc != 0;
}

static bool step_by_rule(struct walk *walk, const struct etw_unwind_rule *rule)
{
	struct registers next = walk->at;
	uintptr_t cfa = base_of(walk, rule->cfa.base, 0) + (uintptr_t)(intptr_t)rule->cfa.offset;

	if (rule->cfa.kind == ETW_UNWIND_SAVED && !read_word(walk, cfa, &cfa))
		return false;
	/* Only a leaf has its caller in a register. */
	next.pc = walk->at.link;
	if (!take_place(walk, &rule->address, cfa, &next.pc))
		return false;
	if (!take_place(walk, &rule->frame, cfa, &next.frame))
		next.frame = 0;
	next.pc = strip(next.pc);
	next.stack = cfa;
	next.link = 0;
	return move_to(walk, &next, rule->is_signal);
}

/* A frame of two words: the caller's frame pointer, and where it goes on. */
static bool step_by_frame(struct walk *walk)
{
	struct registers next = {.stack = walk->at.frame + 2 * sizeof(uintptr_t)};

	if (walk->at.frame % sizeof(uintptr_t) != 0 ||
	    !read_word(walk, walk->at.frame, &next.frame) ||
	    !read_word(walk, walk->at.frame + sizeof(uintptr_t), &next.pc))
		return false;
	next.pc = strip(next.pc);
	return move_to(walk, &next, /* is_signal= */ false);
}

static bool step(struct walk *walk)
{
	struct etw_unwind_rule rule;
	/* A call may be the last instruction of its function: what it returns to is another one's. */
	const uintptr_t pc = walk->at.pc - (walk->is_interrupted ? 0 : 1);

	return find_rule(&walk->object, pc, &rule) ? step_by_rule(walk, &rule)
						   : step_by_frame(walk);
}

static ALWAYS_INLINE void read_registers(struct registers *ret)
{
#if defined(__x86_64__)
	__asm__ volatile("leaq 0(%%rip), %0\n\tmovq %%rsp, %1\n\tmovq %%rbp, %2"
			 : "=&r"(ret->pc), "=&r"(ret->stack), "=&r"(ret->frame));
	ret->link = 0;
#elif defined(__aarch64__)
	__asm__ volatile("adr %0, .\n\tmov %1, sp\n\tmov %2, x29\n\tmov %3, x30"
			 : "=&r"(ret->pc), "=&r"(ret->stack), "=&r"(ret->frame), "=&r"(ret->link));
#else
	/* By frame pointers from here. */
	*ret = (struct registers){.stack = (uintptr_t)__builtin_frame_address(0),
				  .frame = (uintptr_t)__builtin_frame_address(0)};
#endif
}

struct etw_stack_entries etw_stack_own_entries(void)
{
	return (struct etw_stack_entries){(uintptr_t)etw_stack_entries_start,
					  (uintptr_t)etw_stack_entries_end};
}

void etw_stack_add_entries(struct etw_stack_entries entries)
{
	const uint32_t place = add_relaxed(&other_count, 1u);

	if (place >= COPIES_MAX)
		return;
	store_relaxed(&others[place].start, entries.start);
	store_release(&others[place].end, entries.end); /* pairs with is_entry() */
}

/* Whether the frame that goes on at @pc is of a function that is marked. */
static bool is_entry(uintptr_t pc)
{
	const struct etw_stack_entries own = etw_stack_own_entries();
	const uint32_t count = load_relaxed(&other_count);
	bool is_found = pc > own.start && pc <= own.end;

	for (uint32_t i = 0; i < count && i < COPIES_MAX; i++) {
		const uintptr_t end = load_acquire(&others[i].end); /* etw_stack_add_entries() */

		is_found |= pc <= end && pc > load_relaxed(&others[i].start);
	}
	return is_found;
}

__attribute__((noinline)) void etw_stack_walk(struct etw_stack *ret)
{
	struct walk walk = {.is_interrupted = true};
	bool is_inside = true; /* of the library, as far as is known */
	unsigned own_frames = 0;

	read_registers(&walk.at);
	walk.high = find_high(walk.at.stack);
	ret->count = 0;
	while (ret->count < ETW_STACK_FRAMES_MAX && own_frames < OWN_FRAMES && step(&walk)) {
		/* Once the program is reached, what lies further out may be a write that a signal interrupted. */
		if (is_inside && is_entry(walk.at.pc)) {
			own_frames += ret->count + 1;
			ret->count = 0;
			continue;
		}
		is_inside = is_inside && own_frames == 0;
		ret->frames[ret->count++] = walk.at.pc;
	}
}
