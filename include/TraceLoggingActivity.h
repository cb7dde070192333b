/* SPDX-License-Identifier: MIT */
/*
 * Activities of TraceLogging providers, for C++11 and later: an event when something begins, one when it ends, and in between
 * events that say what they belong to. As on Windows there is none of it for C, where TraceLoggingWriteActivity() with
 * TraceLoggingOpcode(WINEVENT_OPCODE_START) and _STOP does the same.
 *
 *   TraceLoggingActivity<provider> activity;
 *
 *   TraceLoggingWriteStart(activity, "Download", TraceLoggingString(url, "Url"));
 *   TraceLoggingWriteTagged(activity, "Redirected");
 *   TraceLoggingWriteStop(activity, "Download", TraceLoggingUInt64(bytes, "Bytes"));
 *
 * An activity that is destroyed while it runs writes the event "ActivityStoppedAutomatically". An activity has an id
 * only where its provider was enabled when it began; the methods that begin with z are the macros'.
 */
#ifndef ETW_TRACELOGGINGACTIVITY_H
#define ETW_TRACELOGGINGACTIVITY_H

#include <TraceLoggingProvider.h>

#ifdef __cplusplus

#include <type_traits>

/*
 * The name of a function as a constant. __func__ is an array, not a literal, and an array is no initialiser of another: the
 * compiler copies character by character. C++11 has neither std::index_sequence nor loops in constexpr functions.
 */
template <size_t... At> struct etw_tl_indices {};
template <size_t Count, size_t... At>
struct etw_tl_indices_to : etw_tl_indices_to<Count - 1, Count - 1, At...> {};
template <size_t... At> struct etw_tl_indices_to<0, At...> {
	typedef etw_tl_indices<At...> type;
};

template <size_t Bytes> struct etw_tl_name {
	char text[Bytes];
};

template <size_t Bytes, size_t... At>
constexpr etw_tl_name<Bytes> etw_tl_name_at(const char (&name)[Bytes], etw_tl_indices<At...>)
{
	return {{name[At]...}};
}

template <size_t Bytes>
constexpr etw_tl_name<Bytes> etw_tl_name_of(const char (&name)[Bytes])
{
	return etw_tl_name_at(name, typename etw_tl_indices_to<Bytes>::type());
}

/* The activity of the thread is another one until the end of the scope. */
class TraceLoggingThreadActivityIdSetter {
public:
	explicit TraceLoggingThreadActivityIdSetter(const GUID &id) : before_(id)
	{
		(void)EventActivityIdControl(EVENT_ACTIVITY_CTRL_GET_SET_ID, &before_);
	}

	template <typename Activity, typename = decltype(std::declval<const Activity &>().Id())>
	explicit TraceLoggingThreadActivityIdSetter(const Activity &activity)
		: TraceLoggingThreadActivityIdSetter(*activity.Id())
	{
	}

	TraceLoggingThreadActivityIdSetter(const TraceLoggingThreadActivityIdSetter &) = delete;
	void operator=(const TraceLoggingThreadActivityIdSetter &) = delete;

	~TraceLoggingThreadActivityIdSetter()
	{
		(void)EventActivityIdControl(EVENT_ACTIVITY_CTRL_SET_ID, &before_);
	}

private:
	GUID before_;
};

/* What both kinds of activities are. Derived: zBegin(), when the id is there, and zEnd(). */
template <typename Derived, TraceLoggingHProvider const &provider, UINT64 keyword, UINT8 level>
class etw_tl_activity {
public:
	static constexpr UINT64 Keyword = keyword;
	static constexpr UINT8 Level = level;

	etw_tl_activity() = default;

	etw_tl_activity(etw_tl_activity &&other) noexcept
		: id_(other.id_), related_(other.related_), has_id_(other.has_id_),
		  has_related_(other.has_related_), is_started_(other.is_started_)
	{
		other.has_id_ = other.has_related_ = other.is_started_ = false;
	}

	etw_tl_activity(const etw_tl_activity &) = delete;
	void operator=(const etw_tl_activity &) = delete;
	void operator=(etw_tl_activity &&) = delete;

	TraceLoggingHProvider Provider() const { return provider; }
	bool IsStarted() const { return is_started_; }

	/* All zeros without an id. */
	const GUID *Id() const { return &id_; }

	/* NULL for events that then belong to the thread's activity. */
	const GUID *zId() const { return has_id_ ? &id_ : nullptr; }
	const GUID *zRelated() const { return has_related_ ? &related_ : nullptr; }

	void zStart()
	{
		is_started_ = true;
		if (!etw_tl_is_wanted(provider, level, keyword))
			return;
		has_id_ = EventActivityIdControl(EVENT_ACTIVITY_CTRL_CREATE_ID, &id_) == ERROR_SUCCESS;
		if (has_id_)
			static_cast<Derived *>(this)->zBegin();
	}

	void zStop()
	{
		is_started_ = false;
		if (has_id_)
			static_cast<Derived *>(this)->zEnd();
		has_id_ = has_related_ = false;
		id_ = GUID();
	}

protected:
	~etw_tl_activity() = default;

	void zFinish()
	{
		if (!is_started_)
			return;
		if (has_id_)
			ETW_TL_EMIT(provider, level, keyword, WINEVENT_OPCODE_STOP, &id_, nullptr,
				    "ActivityStoppedAutomatically", ETW_TL_IGNORED);
		zStop();
	}

	void zRelate(const GUID &related)
	{
		related_ = related;
		has_related_ = true;
	}

private:
	GUID id_ = {0, 0, 0, {0, 0, 0, 0, 0, 0, 0, 0}};
	GUID related_ = {0, 0, 0, {0, 0, 0, 0, 0, 0, 0, 0}};
	bool has_id_ = false;
	bool has_related_ = false;
	bool is_started_ = false;
};

/* Events belong to it that are written with TraceLoggingWriteTagged(), on whatever thread. It can be moved. */
template <TraceLoggingHProvider const &provider, UINT64 keyword = 0, UINT8 level = WINEVENT_LEVEL_VERBOSE>
class TraceLoggingActivity final
	: public etw_tl_activity<TraceLoggingActivity<provider, keyword, level>, provider, keyword, level> {
public:
	TraceLoggingActivity() = default;
	TraceLoggingActivity(TraceLoggingActivity &&) = default;
	~TraceLoggingActivity() { this->zFinish(); }

	/* Before it begins: which activity is the reason for this one. */
	void SetRelatedActivityId(const GUID &id) { this->zRelate(id); }
	void SetRelatedActivityId(const GUID *id) { this->zRelate(*id); }

	template <typename Activity>
	void SetRelatedActivity(const Activity &activity)
	{
		if (activity.zId())
			this->zRelate(*activity.zId());
	}

	void zBegin() {}
	void zEnd() {}
};

/*
 * The activity of its thread while it runs, so that all events of the thread belong to it, and the one before is its
 * related activity. It begins and ends on the same thread, and within what encloses it.
 */
template <TraceLoggingHProvider const &provider, UINT64 keyword = 0, UINT8 level = WINEVENT_LEVEL_VERBOSE>
class TraceLoggingThreadActivity final
	: public etw_tl_activity<TraceLoggingThreadActivity<provider, keyword, level>, provider, keyword,
				 level> {
public:
	TraceLoggingThreadActivity() = default;
	TraceLoggingThreadActivity(TraceLoggingThreadActivity &&) = default;
	~TraceLoggingThreadActivity() { this->zFinish(); }

	void zBegin()
	{
		static const GUID none = {0, 0, 0, {0, 0, 0, 0, 0, 0, 0, 0}};

		before_ = *this->Id();
		(void)EventActivityIdControl(EVENT_ACTIVITY_CTRL_GET_SET_ID, &before_);
		if (!IsEqualGUID(before_, none))
			this->zRelate(before_);
	}

	void zEnd() { (void)EventActivityIdControl(EVENT_ACTIVITY_CTRL_SET_ID, &before_); }

private:
	GUID before_ = {0, 0, 0, {0, 0, 0, 0, 0, 0, 0, 0}};
};

/* (activity, "Name", options and fields...). The level is the activity's, unless one is given; keywords add up. */
#define TraceLoggingWriteStart(activity, ...)                                                    \
	do {                                                                                     \
		(activity).zStart();                                                             \
		ETW_TL_WRITE_IN(activity, WINEVENT_OPCODE_START, (activity).zRelated(),          \
				__VA_ARGS__);                                                    \
	} while (0)
#define TraceLoggingWriteStop(activity, ...)                                                     \
	do {                                                                                     \
		ETW_TL_WRITE_IN(activity, WINEVENT_OPCODE_STOP, nullptr, __VA_ARGS__);           \
		(activity).zStop();                                                              \
	} while (0)
#define TraceLoggingWriteTagged(activity, ...)                                                   \
	ETW_TL_WRITE_IN(activity, WINEVENT_OPCODE_INFO, nullptr, __VA_ARGS__)

/*
 * (provider, options and fields...), at the beginning of a function: a thread activity that ends with the scope. Its start
 * event is called as the function is, by the plain name without class and namespace, as __func__ says it.
 * (clang has no __func__ within a structure, so that the type of the name is made before it.)
 */
#define TraceLoggingFunction(...) ETW_TL_FUNCTION(__VA_ARGS__, ETW_TL_IGNORED)
#define ETW_TL_FUNCTION(provider, ...)                                                           \
	TraceLoggingThreadActivity<provider, (0 ETW_EACH(ETW_TL_KEYWORD, __VA_ARGS__)),          \
				   ETW_TL_OR(0 ETW_EACH(ETW_TL_LEVEL, __VA_ARGS__),              \
					     WINEVENT_LEVEL_VERBOSE)>                            \
		etw_tl_function;                                                                 \
	typedef etw_tl_name<sizeof(__func__)> etw_tl_function_name;                              \
	etw_tl_function.zStart();                                                                \
	ETW_TL_EMIT_AS(etw_tl_function.Provider(), etw_tl_function.Level,                        \
		       etw_tl_function.Keyword, WINEVENT_OPCODE_START, EventWriteTransfer,       \
		       (etw_tl_function.zId(), etw_tl_function.zRelated()),                      \
		       etw_tl_function_name name, etw_tl_name_of(__func__), __VA_ARGS__)

#define ETW_TL_ACTIVITY_OF(activity) std::remove_reference<decltype(activity)>::type
#define ETW_TL_WRITE_IN(activity, opcode, related, ...)                                          \
	ETW_TL_WRITE_IN_(activity, opcode, related, __VA_ARGS__, ETW_TL_IGNORED)
#define ETW_TL_WRITE_IN_(activity, opcode, related, ...)                                         \
	ETW_TL_EMIT((activity).Provider(), ETW_TL_ACTIVITY_OF(activity)::Level,                  \
		    ETW_TL_ACTIVITY_OF(activity)::Keyword, opcode, (activity).zId(), related,    \
		    __VA_ARGS__)

#endif /* __cplusplus */

#endif /* ETW_TRACELOGGINGACTIVITY_H */
