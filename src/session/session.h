/* SPDX-License-Identifier: MIT */
/*
 * One session: its rings, its output buffers, its file, its consumers, its account, and the thread that
 * moves events from the first to the others. What must survive a host lies in the session's state memory
 * (session/common/state.h), which the keeper holds.
 * Source: docs/design/recording.md "The session engine".
 */
#ifndef ETW_SESSION_SESSION_H
#define ETW_SESSION_SESSION_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/announced.h"
#include "base/fault.h"
#include "ring/ring_set.h"
#include "session/common/host.h"
#include "session/consumers.h"
#include "wire/message.h"
#include "wire/session_note.h"

struct etw_session;

/*
 * etw_session_start() - starts a session: makes state memory, file and thread.
 *
 * @config: numbers that are 0 or out of range are replaced as Windows does; see etw_session_info()
 * @uid:    whose session it is; the file is made with this uid's rights
 *
 * Returns 0; -EINVAL for modes that contradict each other, -EOPNOTSUPP for those that are not built
 * (@reterr says which); -EMSGSIZE when the names do not fit a buffer; -EFBIG when MaximumFileSize has no room
 * for two buffers; errno of making the file; -ENOMEM. It waits for the kernel's source to be open, so that
 * what that complains of is in the info.
 */
int etw_session_start(const struct etw_session_host *host, uint32_t session_id, uid_t uid,
		      const struct wire_session_config *config, struct etw_session **ret,
		      struct etw_fault *reterr);

/*
 * etw_session_check() - whether etw_session_start() would refuse the configuration for what it says. Nothing is made.
 *
 * Returns 0; -EINVAL, -EOPNOTSUPP, -ENOMEM as etw_session_start().
 */
int etw_session_check(const struct etw_session_host *host, const struct wire_session_config *config,
		      struct etw_fault *reterr);

/*
 * etw_session_adopt() - goes on with the session of a host that died.
 *
 * @state_fd: taken in every case
 *
 * Returns 0; -EPROTO when it is no state of this version; -ENOMEM. Ring sets or a file that the keeper has
 * not got are a complaint and a status in the info. Ring sets that were retired are closed after a second.
 */
int etw_session_adopt(const struct etw_session_host *host, int state_fd, struct etw_session **ret);

/*
 * etw_session_stop() - takes what is committed, ends file and consumers, joins the thread. The info says
 * the final account. The session is still to be freed.
 */
void etw_session_stop(struct etw_session *session, struct wire_session_info *ret);

/* etw_session_free() - takes NULL; of a stopped session. */
void etw_session_free(struct etw_session *session);

/*
 * etw_session_info() - the session as it is now: a round of its thread also takes what stands in open
 * buffers, which is waited for 5 ms at most. Any thread.
 */
void etw_session_info(struct etw_session *session, struct wire_session_info *ret);

/*
 * etw_session_statistics() - the numbers by cause and by processor, as of now as etw_session_info() has it. Any thread.
 *
 * @first_cpu: the first processor that is told of; each call tells of WIRE_STATISTICS_CPUS at most
 */
void etw_session_statistics(struct etw_session *session, uint32_t first_cpu,
			    struct wire_statistics *ret);

/*
 * etw_session_flush() - every event committed before the call is in the file and delivered when it returns.
 *
 * It waits as long as that takes, but for a source whose clock stands still one second only: what is later
 * than that clock comes later.
 *
 * Returns 0; -ESHUTDOWN when the session is stopped. Not from a function that the session calls.
 */
int etw_session_flush(struct etw_session *session);

/*
 * etw_session_flush_to() - the same; and what a buffering session keeps is in a whole file when it returns.
 *
 * @target: its log_file is the file, absolute, and its file_mode the permissions; of other sessions nothing is looked at
 * @uid:    with whose rights the file is made and written: of who asks
 *
 * Returns what etw_session_flush() does; of a buffering session -EINVAL without a file; -EMSGSIZE when the names do
 * not fit a buffer; -EBUSY while another flush writes a file; -ENOMEM, also when the session overwrites more meanwhile than
 * may be kept for flushes; the errno of making and writing the file, of which nothing is left then.
 */
int etw_session_flush_to(struct etw_session *session, const struct wire_session_config *target,
			 uid_t uid);

/*
 * etw_session_update() - changes a session that runs, as EVENT_TRACE_CONTROL_UPDATE does.
 *
 * @wanted: the bit EVENT_TRACE_REAL_TIME_MODE of its mode is what the session's is to be; its flush timer and
 *          MaximumBuffers are the new ones, where they are not 0; its file is the one to go on in, when it is named, as by
 *          etw_session_change_file(), or etw_session_flush_to() of a buffering session; its EnableFlags are the new
 *          ones of a system logger. Nothing else of it is looked at
 * @uid:    with whose rights that file is made and written, and those that follow it in its series: of who asks
 *
 * Nothing is changed when anything is refused; of a buffering session the file is made first, the rest changed then. What
 * the kernel's source cannot collect on this machine of the new EnableFlags is no refusal but a complaint, as at the
 * start. Consumers of a session that is no real-time one from now on get what was committed before the call, then they
 * hear of the end.
 *
 * Returns 0; -EINVAL for modes that contradict each other or leave the session without file and consumers, and
 * for EnableFlags of one that is no system logger; -EOPNOTSUPP for what is not built (@reterr says which); -ENOMEM;
 * what etw_session_change_file() returns, of a buffering session etw_session_flush_to(); -ESHUTDOWN when the session is
 * stopped. Not from a function that the session calls.
 */
int etw_session_update(struct etw_session *session, const struct wire_session_config *wanted,
		       uid_t uid, struct etw_fault *reterr);

/* What of the kernel's events is to change. */
struct etw_session_kernel_change {
	struct wire_kernel_request wanted;        /* those of its members that count */
	uint32_t without[WIRE_GROUP_MASKS_WORDS]; /* with masks and keeps_masks: go out first */
	bool keeps_masks;                         /* masks are added to those that there are */
	uint64_t unknown; /* keywords that stand for no kind of events: the session complains */
};

/*
 * etw_session_change_kernel() - changes what of the kernel's events a system logger wants. What is asked for and cannot be
 * had is a complaint, as at the start. With nothing that counts, the host's own settings are looked at anew.
 *
 * Returns 0; -EINVAL for a session that is no system logger, and as etw_kernel_request_check(); -ENOMEM; -ESHUTDOWN when
 * the session is stopped. Not from a function that the session calls.
 */
int etw_session_change_kernel(struct etw_session *session,
			      const struct etw_session_kernel_change *change,
			      struct etw_fault *reterr);

/* What is to become of a provider that a source owns. */
struct etw_session_provider_change {
	uint32_t code; /* EVENT_CONTROL_CODE_* */
	struct etw_source_provider wanted;
};

/* etw_session_has_provider() - whether a source of the host owns a provider. Any thread. */
bool etw_session_has_provider(const struct etw_session_host *host, const GUID *provider);

/*
 * etw_session_check_provider() - whether what is asked of it can be served; the session complains of what cannot. Any
 * thread.
 *
 * Returns 0; -ENOENT: no source owns it; what the source says, with @reterr.
 */
int etw_session_check_provider(struct etw_session *session,
			       const struct etw_source_provider *wanted, struct etw_fault *reterr);

/*
 * etw_session_change_provider() - enables a provider that a source owns, with what is wanted of it now; disables it; or
 * has it tell of what is there. What this machine does not allow of it is a complaint, as for the kernel's events.
 *
 * @change: that etw_session_check_provider() takes
 *
 * Returns 0; -ENOENT: no source owns it; -ENOSPC: too many are enabled; -EMFILE: the keeper has no room for
 * what a source keeps; -ENOMEM; of a capture what the source says; -ESHUTDOWN when the session is stopped. Not
 * from a function that the session calls.
 */
int etw_session_change_provider(struct etw_session *session,
				const struct etw_session_provider_change *change);

/* etw_session_wants_sources() - whether it wants a source now, or had one open before: times of the kernel are needed. Any thread. */
bool etw_session_wants_sources(struct etw_session *session);

/*
 * etw_session_change_file() - ends the session's file properly and goes on in another one. Every event committed before
 * the call is in the file that ends, as by etw_session_flush().
 *
 * @path:  absolute; with "%d" of a session in new-file mode, whose new series begins with 1. NULL: the next of its series
 * @shown: the same as the controller gave it, for the header; empty: as it is; NULL when @path is
 *
 * Returns 0; -EINVAL when the session has no file, no series, or @path is not absolute or no such name; -EEXIST when it
 * is the name that the file has; -ENAMETOOLONG; -ENOMEM; -ESHUTDOWN when the session is stopped; the errno of making the
 * file, as etw_session_start(). Then the present file goes on.
 */
int etw_session_change_file(struct etw_session *session, const char *path, const char *shown);

/*
 * etw_session_convert() - ends the session's file properly, with every event committed before the call, and goes on as a
 * real-time session without one, as EVENT_TRACE_CONTROL_CONVERT_TO_REALTIME says. One that has no file is left as it is.
 *
 * Returns 0; -EINVAL of a buffering session, or one whose mode excludes the real-time one (@reterr says which); -ENOMEM;
 * -ESHUTDOWN when the session is stopped.
 */
int etw_session_convert(struct etw_session *session, struct etw_fault *reterr);

/*
 * etw_session_tell() - puts a note into the trace.
 *
 * Dropped, with a complaint, when too many wait already; lost when the session's thread has ended. Any thread.
 */
void etw_session_tell(struct etw_session *session, const struct wire_session_note *note);

/* etw_session_wake() - has the session's thread look around: the host has news of suspends. Any thread. */
void etw_session_wake(struct etw_session *session);

/*
 * etw_session_announce() - a process tells of code of its own: a session with the kernel's images shows it among them.
 *
 * Returns 0, also of a session that has no use for it; -ENOMEM. Any thread.
 */
int etw_session_announce(struct etw_session *session, struct etw_announced_image *image,
			 enum etw_announced_act act);

/*
 * etw_session_ring_set() - the ring set that processes of a uid write to; made when there is none.
 *
 * @ret: owned descriptors for a process of the uid; NULL: none are needed
 *
 * A uid other than root's, the host's and the owner's is held to budgets (session/rings/budget.h). When one is met, or
 * when there are too many sets, the uid gets a set that takes nothing and counts what is refused as lost, until
 * there is room again; then its processes are told by ring_set_replaced(). *@ret_refusal says why, else it is 0:
 * -ENOSPC when the session has 64 sets (48 of others than those), or the uid 8 that it left; -EDQUOT, -EUSERS,
 * -EAGAIN as etw_budget_take().
 *
 * Returns 0; what *@ret_refusal would be, when no memory for counting is left either; -ESHUTDOWN when the session
 * is being stopped; -ENOMEM or the errno of making memory.
 */
int etw_session_ring_set(struct etw_session *session, uid_t uid, uint32_t *ret_ring_set,
			 struct etw_ring_set_fds *ret, int *ret_refusal);

/*
 * etw_session_ring_set_unkept() - the keeper has no room for this set: its uid gets another one, or one that refuses as
 * long as there is no room, so that the host's death loses nothing that is not counted. Nothing for one that is gone.
 */
void etw_session_ring_set_unkept(struct etw_session *session, uint32_t ring_set);

/* etw_session_ring_set_gone() - no process writes to this replaced set any more. */
void etw_session_ring_set_gone(struct etw_session *session, uint32_t ring_set);

/*
 * etw_session_ring_set_left() - a process that had this set has ended, or seems to have.
 *
 * @is_last: no connected process has it. When none has it at all, a forked child included, the session closes it
 *           after some seconds; who comes later gets another
 *
 * If it died inside a write, the buffer that it left a gap in comes back with the next set: the session makes
 * one when it finds such a gap within a second.
 */
void etw_session_ring_set_left(struct etw_session *session, uint32_t ring_set, bool is_last);

/*
 * etw_session_subscribe() - adds a real-time consumer, or gives one of the last host's its memory back.
 *
 * @request: notify() is called by the session's thread for each batch, and with is_end for the last; may be
 *           called before this returns, and never again after etw_session_unsubscribe() has; must not call
 *           into the session
 *
 * Returns 0; -EINVAL when the session is not a real-time one; -ESHUTDOWN when it is over; -ENOMEM; -EBUSY: too
 * many consumers, or this one is there already.
 */
int etw_session_subscribe(struct etw_session *session, const struct etw_session_subscribe *request,
			  struct etw_session_subscribed *ret);
void etw_session_unsubscribe(struct etw_session *session, struct etw_subscriber *subscriber);

#endif
