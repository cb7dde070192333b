#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every interleaving of two writers and a host on one small ring.

    ring_model.py [CASE...]

The steps are those of src/ring, each shared access one step: what lies between two steps is
nobody else's business. A search visits every state that can be reached, with a host that may die
and be followed by another, a writer that may die, and gaps that the host passes. In each state:

  * a writer that gets its place has read the clock after all who got theirs before, and after
    every bump
  * a slot that the word has left has exactly its last offset in ends[]
  * no buffer is cleared or queued while a place in it is still being written
  * no buffer is in two slots, nor in a slot and in quarantine

and where nothing more can happen: each committed event was taken exactly once, or was in a gap
that the host passed; each writer's events are in its order; the account is exact where nobody
died, and no buffer is missing unless a writer died.

Where the model and src/ring differ, the model is wrong: change it with the code.
Exit status: 0 all hold; 1 a violation, with the steps that lead to it.
"""

import sys
from typing import NamedTuple

SLOTS = 4  # as slot_count: a power of two, more than the buffers


class Case(NamedTuple):
    """What a search goes through."""

    buffers: int
    units: int  # of a buffer
    events: tuple  # by writer: the sizes of its events
    looks: int = 2  # of the host, before all writers are done
    host_deaths: int = 0
    writer_deaths: int = 0
    passes: int = 0  # gaps that the host may find old enough


class Writer(NamedTuple):
    """A writer's program counter and registers."""

    step: str = "load"
    event: int = 0  # index of the event that it writes
    word: tuple = ()
    buffer: int = 0
    end: tuple = ()
    is_fresh: bool = False  # nobody got a place since it read the clock


class Host(NamedTuple):
    """What dies with the host."""

    step: str = "look"
    slot: int = 0
    at: int = 0
    seen: int = 0
    has_gaps: bool = False
    open_slot: int = 0
    open_limit: int = 0
    ends: tuple = ()  # (slot, end, seen, has_gaps) of slots from `released`
    word: tuple = ()
    end: tuple = ()
    staged: tuple = ()
    buffer: int = 0  # being recycled
    bytes: int = 0  # of it to clear; -1: it is quarantined
    lost: int = 0


class State(NamedTuple):
    """All of it. Events are (writer, index); a place is (buffer, unit)."""

    word: tuple = (0, 0, 0)  # generation, slot, offset
    ends: tuple = ((0, 0),) * SLOTS
    queue: tuple = (0,) * SLOTS
    marks: tuple = ()  # by buffer, by unit
    content: tuple = ()  # the event whose header lies there
    owner: tuple = ()  # ghost: the event that was promised the unit and has not committed
    writers: tuple = ()
    host: Host = Host()
    queued: int = 0
    released: int = 0
    buffer_of_slot: tuple = (0,) * SLOTS
    quarantined: tuple = ()  # by buffer: () or (end, seen)
    position: tuple = (0, 0)  # committed
    out: tuple = ()  # committed
    committed: frozenset = frozenset()
    lost_no_buffer: int = 0
    passed: frozenset = frozenset()  # ghost: events that were in a gap when it was passed
    final_ends: tuple = ()  # ghost: (slot index, generation, offset) of slots that were left
    looks: int = 0
    final_looks: int = 0
    host_deaths: int = 0
    writer_deaths: int = 0
    passes: int = 0


class Violation(Exception):
    """An invariant does not hold."""


def require(condition, text):
    if not condition:
        raise Violation(text)


def put(values, index, value):
    return values[:index] + (value,) + values[index + 1:]


def put2(rows, row, index, value):
    return put(rows, row, put(rows[row], index, value))


def stale(writers):
    """Somebody got a place, or the host bumped: clocks that were read before are too old."""
    return tuple(w._replace(is_fresh=False) if w.is_fresh else w for w in writers)


class Model:
    """The steps of one case."""

    def __init__(self, case):
        self.case = case

    def start(self):
        case = self.case
        state = State(
            marks=((0,) * case.units,) * case.buffers,
            content=(((),) * case.units,) * case.buffers,
            owner=(((),) * case.units,) * case.buffers,
            writers=(Writer(),) * len(case.events),
            quarantined=((),) * case.buffers)
        for buffer in range(case.buffers):
            state = self.queue_note(state, buffer)
            state = self.queue_publish(state)
        return state

    # Writers.

    def writer_steps(self, state, index):
        """Yield (label, next state)."""
        writer = state.writers[index]
        if writer.step in ("done", "dead"):
            return
        sizes = self.case.events[index]
        name = f"writer {index} {writer.step}"
        following = getattr(self, "writer_" + writer.step)(state, index, writer, sizes)
        yield name, following
        if state.writer_deaths < self.case.writer_deaths:
            yield f"writer {index} dies at {writer.step}", state._replace(
                writers=put(state.writers, index, Writer(step="dead", event=writer.event)),
                writer_deaths=state.writer_deaths + 1)

    def set_writer(self, state, index, **changes):
        return state._replace(
            writers=put(state.writers, index, state.writers[index]._replace(**changes)))

    def next_event(self, state, index):
        event = state.writers[index].event + 1
        step = "load" if event < len(self.case.events[index]) else "done"
        return state._replace(writers=put(state.writers, index, Writer(step=step, event=event)))

    def writer_load(self, state, index, _writer, _sizes):
        return self.set_writer(state, index, step="check", word=state.word)

    def writer_check(self, state, index, writer, sizes):
        buffer = state.queue[writer.word[1]]
        if not buffer or writer.word[2] + sizes[writer.event] > self.case.units:
            return self.set_writer(state, index, step="room_load", word=())
        return self.set_writer(state, index, step="clock", buffer=buffer - 1)

    def writer_clock(self, state, index, _writer, _sizes):
        return self.set_writer(state, index, step="reserve", is_fresh=True)

    def writer_reserve(self, state, index, writer, sizes):
        if state.word != writer.word:
            return self.set_writer(state, index, step="load", word=(), is_fresh=False)
        require(writer.is_fresh, "a place with a time from before its predecessor's")
        generation, slot, offset = writer.word
        owner = state.owner
        for unit in range(offset, offset + sizes[writer.event]):
            require(not owner[writer.buffer][unit], "a place that is somebody else's")
            require(not state.marks[writer.buffer][unit], "a place whose map is not clear")
            owner = put2(owner, writer.buffer, unit, (index, writer.event))
        state = state._replace(word=(generation, slot, offset + sizes[writer.event]), owner=owner,
                               writers=stale(state.writers))
        return self.set_writer(state, index, step="commit", is_fresh=False)

    def writer_commit(self, state, index, writer, sizes):
        event, buffer, offset = (index, writer.event), writer.buffer, writer.word[2]
        owner = state.owner
        for unit in range(offset, offset + sizes[writer.event]):
            require(owner[buffer][unit] == event, "a write into a place that was taken away")
            owner = put2(owner, buffer, unit, ())
        state = state._replace(
            owner=owner, marks=put2(state.marks, buffer, offset, 1),
            content=put2(state.content, buffer, offset, event + (sizes[writer.event],)),
            committed=state.committed | {event})
        return self.next_event(state, index)

    def writer_room_load(self, state, index, _writer, _sizes):
        return self.set_writer(state, index, step="room_queue", word=state.word)

    def writer_room_queue(self, state, index, writer, _sizes):
        slot = writer.word[1]
        if state.queue[slot] and state.queue[(slot + 1) % SLOTS]:
            return self.set_writer(state, index, step="end_load")
        return self.set_writer(state, index, step="refuse")

    def writer_refuse(self, state, index, writer, _sizes):
        if state.word != writer.word:
            return self.set_writer(state, index, step="load", word=())
        state = state._replace(lost_no_buffer=state.lost_no_buffer + 1)
        return self.next_event(state, index)

    def writer_end_load(self, state, index, writer, _sizes):
        end = state.ends[writer.word[1]]
        if end >= (writer.word[0], writer.word[2]):
            return self.set_writer(state, index, step="switch")
        return self.set_writer(state, index, step="end_raise", end=end)

    def writer_end_raise(self, state, index, writer, _sizes):
        slot, value = writer.word[1], (writer.word[0], writer.word[2])
        if state.ends[slot] != writer.end:
            return self.set_writer(state, index, step="end_load", end=())
        state = state._replace(ends=put(state.ends, slot, value))
        return self.set_writer(state, index, step="switch", end=())

    def writer_switch(self, state, index, writer, _sizes):
        if state.word == writer.word:
            state = self.switch(state, writer.word)
        return self.set_writer(state, index, step="load", word=(), end=())

    def switch(self, state, word):
        generation, slot, offset = word
        require(state.ends[slot] == (generation, offset) or
                state.ends[slot][1] == offset == 0, "an end that is not the last offset")
        return state._replace(word=(generation + 1, (slot + 1) % SLOTS, 0),
                              writers=stale(state.writers),
                              final_ends=state.final_ends + ((slot, offset),))

    # The host.

    def host_steps(self, state):
        host = state.host
        if host.step == "ended":
            return
        for label, following in getattr(self, "host_" + host.step)(state, host):
            yield "host " + label, following
        if state.host_deaths < self.case.host_deaths:
            yield f"host dies at {host.step}", self.adopt(state)._replace(
                host_deaths=state.host_deaths + 1)

    def set_host(self, state, **changes):
        return state._replace(host=state.host._replace(**changes))

    def are_writers_done(self, state):
        return all(writer.step in ("done", "dead") for writer in state.writers)

    def host_look(self, state, _host):
        if self.are_writers_done(state):
            if state.final_looks == 3:
                yield "ends", self.set_host(state, step="ended")
                return
            state = state._replace(final_looks=state.final_looks + 1)
        elif state.looks == self.case.looks:
            return
        else:
            state = state._replace(looks=state.looks + 1)
            yield "looks", self.set_host(self.note(state, state.word, False), step="read")
            yield "bumps", self.bump(state)
        yield "begins to close", self.begin_to_close(state)

    def note(self, state, word, is_readable):
        host = state.host
        open_slot = host.open_slot + (word[1] - host.open_slot) % SLOTS
        require(open_slot < state.queued, "an open slot without a buffer")
        ends, limit = host.ends, host.open_limit
        for slot in range(host.open_slot, open_slot):
            end = state.ends[slot % SLOTS][1]
            require((slot % SLOTS, end) == state.final_ends[slot], "an end that changed")
            ends += ((slot, end, 0, False),)
        if open_slot != host.open_slot:
            limit = 0
        return self.set_host(state, open_slot=open_slot, ends=ends,
                             open_limit=word[2] if is_readable else limit)

    def bump(self, state):
        word = state.word
        state = state._replace(word=(word[0] + 1,) + word[1:], writers=stale(state.writers))
        return self.set_host(self.note(state, word, True), step="read", word=(), end=())

    def begin_to_close(self, state):
        word = state.word
        state = self.note(state, word, False)
        if not word[2] or state.host.open_slot + 1 >= state.queued:
            return self.set_host(state, step="bump")
        end = state.ends[word[1]]
        if end >= (word[0], word[2]):
            return self.set_host(state, step="close", word=word)
        return self.set_host(state, step="raise", word=word, end=end)

    def host_bump(self, state, _host):
        yield "bumps", self.bump(state)

    def host_raise(self, state, host):
        if state.ends[host.word[1]] != host.end:
            yield "begins again to close", self.begin_to_close(state)
            return
        state = state._replace(ends=put(state.ends, host.word[1], (host.word[0], host.word[2])))
        yield "raises the end", self.set_host(state, step="close", end=())

    def host_close(self, state, host):
        if state.word == host.word:
            state = self.switch(state, host.word)
        yield "closes", self.set_host(state, step="bump", word=())

    def host_read(self, state, host):
        is_closed = host.slot < host.open_slot
        limit = host.ends[host.slot - host.ends[0][0]][1] if is_closed else host.open_limit
        if host.at >= limit:
            if not is_closed:
                yield "commits", self.commit(state)
                return
            index = host.slot - host.ends[0][0]
            ends = put(host.ends, index, host.ends[index][:2] + (host.seen, host.has_gaps))
            yield "finishes a slot", self.set_host(state, slot=host.slot + 1, at=0, seen=0,
                                                   has_gaps=False, ends=ends)
            return
        buffer = state.buffer_of_slot[host.slot % SLOTS]
        if state.marks[buffer][host.at]:
            event = state.content[buffer][host.at]
            yield "takes", self.set_host(state, at=host.at + event[2], seen=host.seen + 1,
                                         staged=host.staged + (event[:2],))
            return
        is_last = self.are_writers_done(state)  # then there is time until every gap is old
        if not is_closed or not is_last:
            yield "stands at a gap", self.commit(state)
        if is_closed and (state.passes < self.case.passes or is_last):
            at = host.at + 1
            while at < limit and not state.marks[buffer][at]:
                at += 1
            passed = {event for event in state.owner[buffer][host.at:at] if event}
            state = state._replace(passes=state.passes + (not is_last),
                                   passed=state.passed | passed)
            yield "passes a gap", self.set_host(state, at=at, seen=host.seen + 1, has_gaps=True,
                                                lost=host.lost + 1)

    def commit(self, state):
        host = state.host
        state = state._replace(position=(host.slot, host.at), out=state.out + host.staged)
        return self.set_host(state, staged=(), step="release")

    def study(self, state, buffer, end):
        """Events and gaps up to the end, and whether there are gaps."""
        at, seen, has_gaps = 0, 0, False
        while at < end:
            seen += 1
            if state.marks[buffer][at]:
                at += state.content[buffer][at][2]
                continue
            has_gaps = True
            while at < end and not state.marks[buffer][at]:
                at += 1
        return seen, has_gaps

    # A slot's buffer comes back. What only the next host reads is stored with the step before.

    def host_release(self, state, host):
        if state.released < host.slot:
            yield "studies a slot", self.study_slot(state)
            return
        for buffer, (end, _seen) in ((i, q) for i, q in enumerate(state.quarantined) if q):
            if not self.study(state, buffer, end)[1]:
                yield "cures", self.set_host(self.cure(state, buffer), step="clear", buffer=buffer,
                                             bytes=end)
                return
        yield "is through", self.set_host(state, step="look")

    def study_slot(self, state):
        host = state.host
        slot, end, seen, slot_has_gaps = host.ends[0]
        require(slot == state.released, "slots that are released out of order")
        buffer = state.buffer_of_slot[slot % SLOTS]
        state = self.set_host(state, step="unqueue", buffer=buffer, bytes=end)
        if not slot_has_gaps and not state.quarantined[buffer]:
            return state
        found, has_gaps = self.study(state, buffer, end)
        if not has_gaps:
            if state.quarantined[buffer]:  # by a host that died before it released the slot
                return self.cure(state, buffer)
            return self.set_host(state, lost=host.lost + found - seen)
        state = self.set_host(state, bytes=-1)
        if state.quarantined[buffer]:
            return state
        return self.set_host(state._replace(
            quarantined=put(state.quarantined, buffer, (end, seen))), step="settle")

    def host_settle(self, state, _host):
        yield "settles", self.settle(state)

    def settle(self, state):
        host = state.host
        end, seen = state.quarantined[host.buffer]
        found, _ = self.study(state, host.buffer, end)
        state = state._replace(quarantined=put(state.quarantined, host.buffer, (end, found)))
        return self.set_host(state, step="unqueue", lost=host.lost + found - seen)

    def cure(self, state, buffer):
        end, seen = state.quarantined[buffer]
        found, has_gaps = self.study(state, buffer, end)
        require(not has_gaps, "a cure of what has gaps")
        state = state._replace(quarantined=put(state.quarantined, buffer, ()))
        return self.set_host(state, lost=state.host.lost + found - seen)

    def host_unqueue(self, state, _host):
        yield "empties the queue's entry", self.unqueue(state)

    def unqueue(self, state):
        return self.set_host(state._replace(queue=put(state.queue, state.released % SLOTS, 0)),
                             step="count")

    def host_count(self, state, _host):
        yield "releases a slot", self.count(state)

    def count(self, state):
        host = state.host
        state = state._replace(released=state.released + 1)
        if host.bytes < 0:
            return self.set_host(state, step="release", ends=host.ends[1:], buffer=0, bytes=0)
        return self.set_host(state, step="clear", ends=host.ends[1:])

    def clear(self, state, buffer, end):
        require(not any(state.owner[buffer][:end]), "a buffer cleared under its writer")
        zeros = (0,) * end + state.marks[buffer][end:]
        nothing = ((),) * end + state.content[buffer][end:]
        return state._replace(marks=put(state.marks, buffer, zeros),
                              content=put(state.content, buffer, nothing))

    def host_clear(self, state, host):
        state = self.clear(state, host.buffer, host.bytes)
        yield "clears", self.set_host(state, step="queue_note", bytes=0)

    def queue_note(self, state, buffer):
        index = state.queued % SLOTS
        return state._replace(ends=put(state.ends, index, (state.word[0], 0)),
                              buffer_of_slot=put(state.buffer_of_slot, index, buffer),
                              queued=state.queued + 1)

    def queue_publish(self, state):
        index = (state.queued - 1) % SLOTS
        return state._replace(
            queue=put(state.queue, index, state.buffer_of_slot[index] + 1))

    def host_queue_note(self, state, host):
        yield "assigns", self.set_host(self.queue_note(state, host.buffer), step="queue_publish")

    def host_queue_publish(self, state, _host):
        yield "queues", self.set_host(self.queue_publish(state), step="release", buffer=0)

    def adopt(self, state):
        """A new host, as etw_ring_reader_open() makes it. One step: it may die at any later one."""
        slot, at = state.position
        slots = range(state.released, state.queued)
        used = {state.buffer_of_slot[s % SLOTS] for s in slots}
        used |= {i for i, q in enumerate(state.quarantined) if q}
        ends = ()
        for finished in range(state.released, slot):
            end = state.ends[finished % SLOTS][1]
            require((finished % SLOTS, end) == state.final_ends[finished], "an end that is gone")
            ends += ((finished, end) +
                     self.study(state, state.buffer_of_slot[finished % SLOTS], end),)
        seen, has_gaps = 0, False
        if at:
            seen, has_gaps = self.study(state, state.buffer_of_slot[slot % SLOTS], at)
        state = state._replace(host=Host(slot=slot, at=at, open_slot=slot, open_limit=at, seen=seen,
                                         has_gaps=has_gaps, ends=ends))
        for waiting in range(slot, state.queued):
            state = state._replace(queue=put(state.queue, waiting % SLOTS,
                                             state.buffer_of_slot[waiting % SLOTS] + 1))
        while state.released < slot:
            state = self.study_slot(state)
            if state.host.step == "settle":
                state = self.settle(state)
            state = self.count(self.unqueue(state))
            if state.host.step == "clear":
                state = self.recycle(state, state.host.buffer, state.host.bytes)
        for buffer, (end, _seen) in ((i, q) for i, q in enumerate(state.quarantined) if q):
            if not self.study(state, buffer, end)[1]:
                state = self.recycle(self.cure(state, buffer), buffer, end)
        for buffer in sorted(set(range(self.case.buffers)) - used):
            state = self.recycle(state, buffer, self.case.units)
        return self.set_host(state, step="look", buffer=0, bytes=0)

    def recycle(self, state, buffer, end):
        return self.queue_publish(self.queue_note(self.clear(state, buffer, end), buffer))

    # What must hold.

    def check_out(self, state):
        require(len(set(state.out)) == len(state.out), "an event taken twice")
        require(set(state.out) <= state.committed, "an event taken that nobody committed")
        for writer in range(len(self.case.events)):
            order = [event for event in state.out if event[0] == writer]
            require(order == sorted(order), "a writer's events out of order")

    def check_buffers(self, state):
        slots = range(state.released, state.queued)
        buffers = [state.buffer_of_slot[slot % SLOTS] for slot in slots]
        require(len(set(buffers)) == len(buffers), "a buffer in two slots")
        for slot, buffer in zip(slots, buffers):
            # A slot that is about to be released may have its buffer in quarantine already.
            require(slot < state.host.slot or not state.quarantined[buffer],
                    "a buffer both in a slot and in quarantine")

    def check_end(self, state):
        missing = state.committed - set(state.out)
        require(missing <= state.passed, "a committed event that nobody took")
        if not state.host_deaths and not state.writer_deaths:
            require(len(missing) == state.host.lost, "an account that is not exact")
        if not state.writer_deaths:
            require(not any(state.quarantined), "a buffer that did not come back")
            require(state.queued - state.released == self.case.buffers,
                    "a buffer that is nowhere")
        written = sum(len(sizes) for sizes in self.case.events)
        if not state.writer_deaths:
            require(len(state.committed) + state.lost_no_buffer == written,
                    "an event without a fate")

    def steps(self, state):
        for index in range(len(state.writers)):
            yield from self.writer_steps(state, index)
        yield from self.host_steps(state)


def explain(parents, state, label, text):
    path = [label]
    while parents[state]:
        state, label = parents[state]
        path.append(label)
    return "\n".join([text] + ["    " + label for label in reversed(path)])


def search(case):
    """Visit every state. Returns (states, ends, what is wrong or None)."""
    model = Model(case)
    start = model.start()
    parents, todo, ends = {start: None}, [start], 0
    while todo:
        state = todo.pop()
        steps, label, is_end = model.steps(state), "the end", True
        try:
            for label, following in steps:
                is_end = False
                if following not in parents:
                    parents[following] = (state, label)
                    model.check_out(following)
                    model.check_buffers(following)
                    todo.append(following)
            if is_end:
                ends += 1
                require(state.host.step == "ended", "everybody waits")
                model.check_end(state)
        except Violation as violation:
            return len(parents), ends, explain(parents, state, label, str(violation))
    return len(parents), ends, None


CASES = {
    "switches": Case(buffers=2, units=2, events=((1, 2), (1, 1)), looks=1),
    "recycling": Case(buffers=2, units=1, events=((1, 1), (1,)), looks=2),
    "gaps": Case(buffers=3, units=2, events=((1, 1), (1,)), looks=2, passes=1),
    "dead_writer": Case(buffers=2, units=2, events=((1, 1), (1,)), looks=1, writer_deaths=1),
    "dead_host": Case(buffers=2, units=1, events=((1, 1), (1,)), looks=2, host_deaths=1),
    "dead_both": Case(buffers=3, units=1, events=((1,), (1,)), looks=2, host_deaths=1,
                      writer_deaths=1, passes=1),
}


def main():
    failed = 0
    for name in sys.argv[1:] or CASES:
        states, ends, wrong = search(CASES[name])
        print(f"{name}: {states} states, {ends} ends, {'VIOLATED' if wrong else 'all hold'}",
              flush=True)
        if wrong:
            failed = 1
            print(wrong)
    return failed


if __name__ == "__main__":
    sys.exit(main())
