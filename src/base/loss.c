/* SPDX-License-Identifier: MIT */
#include "base/loss.h"

static const struct {
	const char *name, *text;
} causes[ETW_LOSS_CAUSES] = {
	[ETW_LOSS_RING_FULL] = {"ring_full", "the kernel's ring was full"},
	[ETW_LOSS_INTERRUPTED] = {"interrupted",
				  "the BPF program was running on the processor already"},
	[ETW_LOSS_THROTTLED] = {"throttled", "perf held samples back"},
	[ETW_LOSS_UNREADABLE] = {"unreadable", "the record made no sense"},
	[ETW_LOSS_NO_MEMORY] = {"no_memory", "the host had no memory left for it"},
	[ETW_LOSS_NO_FIELDS] = {"no_fields", "fields were not known"},
	[ETW_LOSS_NO_STACK] = {"no_stack", "without the stack that was asked for"},
	[ETW_LOSS_NOT_FOLLOWED] = {"not_followed", "nothing could be kept of the thread"},
	[ETW_LOSS_NO_BUFFER] = {"no_buffer", "no buffer was free"},
	[ETW_LOSS_TOO_LARGE] = {"too_large", "larger than a buffer"},
	[ETW_LOSS_GAP] = {"gaps", "not finished in time"},
	[ETW_LOSS_REFUSED] = {"rejected", "refused"},
	[ETW_LOSS_FILE] = {"file", "not written to the file"},
	[ETW_LOSS_REPLACED] = {"replaced", "for rings that had been replaced"},
	[ETW_LOSS_TOO_MANY] = {"too_many", "more at once than are told"},
	[ETW_LOSS_FORGOTTEN] = {"forgotten", "older ones were forgotten for newer ones"},
	[ETW_LOSS_CLAIMED] = {"claimed", "as other users' processes say"},
};

static const struct {
	const char *name, *text;
} classes[ETW_LOSS_CLASSES] = {
	[ETW_LOSS_OF_ANY] = {"any", "events"},
	[ETW_LOSS_OF_TASKS] = {"tasks", "records of processes and threads"},
	[ETW_LOSS_OF_IMAGES] = {"images", "mapped images"},
	[ETW_LOSS_OF_SWITCHES] = {"switches", "context switches"},
	[ETW_LOSS_OF_READY] = {"ready", "ready threads"},
	[ETW_LOSS_OF_SAMPLES] = {"samples", "samples"},
	[ETW_LOSS_OF_CALLS] = {"calls", "system calls' beginnings"},
	[ETW_LOSS_OF_RETURNS] = {"returns", "system calls' ends"},
	[ETW_LOSS_OF_INTERRUPTS] = {"interrupts", "interrupts"},
	[ETW_LOSS_OF_DPCS] = {"dpcs", "deferred calls"},
	[ETW_LOSS_OF_POWER] = {"power", "power events"},
	[ETW_LOSS_OF_DISKS] = {"disks", "disk events"},
	[ETW_LOSS_OF_FILES] = {"files", "file events"},
	[ETW_LOSS_OF_NAMES] = {"names", "names of files"},
	[ETW_LOSS_OF_FAULTS] = {"faults", "page faults"},
	[ETW_LOSS_OF_MEMORY] = {"memory", "memory events"},
	[ETW_LOSS_OF_NETWORK] = {"network", "network events"},
	[ETW_LOSS_OF_TRACEPOINTS] = {"tracepoints", "events of tracepoints"},
};

const char *etw_loss_cause_name(uint32_t cause)
{
	return cause < ETW_LOSS_CAUSES ? causes[cause].name : "unknown";
}

const char *etw_loss_cause_text(uint32_t cause)
{
	return cause < ETW_LOSS_CAUSES ? causes[cause].text : "for an unknown reason";
}

const char *etw_loss_class_name(uint32_t class_number)
{
	return class_number < ETW_LOSS_CLASSES ? classes[class_number].name : "unknown";
}

const char *etw_loss_class_text(uint32_t class_number)
{
	return class_number < ETW_LOSS_CLASSES ? classes[class_number].text : "events";
}
