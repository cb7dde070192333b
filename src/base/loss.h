/* SPDX-License-Identifier: MIT */
/*
 * Why events are lost, and what they would have been: one list of causes and one of classes for all who count them, carry
 * them and show them. The numbers are in traces (wire/session_note.h): none is ever given another meaning.
 * Source: docs/design/recording.md "Loss by cause".
 */
#ifndef ETW_BASE_LOSS_H
#define ETW_BASE_LOSS_H

#include <stdbool.h>
#include <stdint.h>

enum etw_loss_cause {
	/* A source's: events that are lost. */
	ETW_LOSS_RING_FULL = 0,   /* the ring between kernel and host */
	ETW_LOSS_INTERRUPTED = 1, /* the BPF program was running there already */
	ETW_LOSS_THROTTLED = 2,   /* perf held samples back */
	ETW_LOSS_UNREADABLE = 3,  /* records that made no sense */
	ETW_LOSS_NO_MEMORY = 4,   /* the host had none, or the user has used up what he may have */
	/* A source's: events that are there, and lack something. */
	ETW_LOSS_NO_FIELDS = 5,    /* fields that were not known */
	ETW_LOSS_NOT_FOLLOWED = 6, /* threads that nothing could be kept of */
	ETW_LOSS_NO_STACK = 7,     /* that was asked for: wire/kernel_account.h has the reasons */
	/* A session's. */
	ETW_LOSS_NO_BUFFER = 8,
	ETW_LOSS_TOO_LARGE = 9,
	ETW_LOSS_GAP = 10,
	ETW_LOSS_REFUSED = 11,
	ETW_LOSS_FILE = 12,
	ETW_LOSS_REPLACED = 13,
	ETW_LOSS_CLAIMED = 14,
	/* A source's again: numbers that were given stay. */
	ETW_LOSS_TOO_MANY = 15,  /* lost: more at once than are told of one process, or one call */
	ETW_LOSS_FORGOTTEN = 16, /* not lost: names that left no room for newer ones */
	ETW_LOSS_CAUSES = 17,
};

enum etw_loss_class {
	ETW_LOSS_OF_ANY = 0, /* not told apart */
	ETW_LOSS_OF_TASKS =
		1, /* processes and threads, and unmapped images: in records of what they did */
	ETW_LOSS_OF_IMAGES = 2,
	ETW_LOSS_OF_SWITCHES = 3,
	ETW_LOSS_OF_READY = 4,
	ETW_LOSS_OF_SAMPLES = 5,
	ETW_LOSS_OF_CALLS = 6,   /* system calls that begin */
	ETW_LOSS_OF_RETURNS = 7, /* and that end */
	ETW_LOSS_OF_INTERRUPTS = 8,
	ETW_LOSS_OF_DPCS = 9,
	ETW_LOSS_OF_POWER = 10,
	ETW_LOSS_OF_DISKS = 11,
	ETW_LOSS_OF_FILES = 12,
	ETW_LOSS_OF_NAMES = 13, /* of files */
	ETW_LOSS_OF_FAULTS = 14,
	ETW_LOSS_OF_MEMORY = 15,
	ETW_LOSS_OF_NETWORK = 16,
	ETW_LOSS_OF_TRACEPOINTS = 17,
	ETW_LOSS_CLASSES = 18,
};

#define ETW_LOSS_ANY_PROCESSOR UINT32_MAX

/* etw_loss_is_event() - whether the cause takes the event, and not a part of it alone. */
static inline bool etw_loss_is_event(uint32_t cause)
{
	return (cause < ETW_LOSS_NO_FIELDS || cause > ETW_LOSS_NO_STACK) &&
	       cause != ETW_LOSS_FORGOTTEN;
}

/* etw_loss_cause_name() - "ring_full" ...; "unknown" for what this version does not know. Static. */
const char *etw_loss_cause_name(uint32_t cause);

/* etw_loss_cause_text() - "the kernel's ring was full" ..., behind "lost, " or "incomplete, ". Static. */
const char *etw_loss_cause_text(uint32_t cause);

/* etw_loss_class_name() - "switches" ...; as above. */
const char *etw_loss_class_name(uint32_t class_number);

/* etw_loss_class_text() - "context switches" ... */
const char *etw_loss_class_text(uint32_t class_number);

#endif
