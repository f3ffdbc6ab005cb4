"""Which processes there are, and which of them belong to an agent."""

import os
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keryx.agents import process_table
from keryx.agents.process_table import Seen, began, belonging, table

linux = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")

processes = st.dictionaries(
    st.integers(2, 40), st.builds(Seen, st.just("then"), st.integers(1, 40), st.integers(1, 40)), max_size=30
)
some = st.frozensets(st.integers(1, 40), max_size=6)


@given(processes, some, some, some)
def test_what_belongs_is_all_that_can_be_reached_from_what_is_marked_and_nothing_spared(
    all_of: dict[int, Seen], marked: frozenset[int], groups: frozenset[int], spared: frozenset[int]
) -> None:
    may = all_of.keys() - spared
    reached = {pid for pid in may if pid in marked or all_of[pid].group in groups}
    while more := {pid for pid in may - reached if {all_of[pid].parent, all_of[pid].group} & reached}:
        reached |= more
    assert belonging(all_of, marked, groups, spared) == reached


def test_what_a_spared_process_started_is_not_hit_for_its_parents_sake() -> None:
    # 10 is an old agent, 11 the daemon that it started, 12 the daemon's own; 13 is the old agent's other work.
    all_of = {10: Seen("", 1, 10), 11: Seen("", 10, 10), 12: Seen("", 11, 12), 13: Seen("", 10, 13)}
    assert belonging(all_of, {10, 11, 13}, (), {1, 10, 11}) == {13}


def test_a_group_that_the_marked_process_does_not_lead_is_not_its_own() -> None:
    all_of = {5: Seen("", 1, 5), 6: Seen("", 5, 5), 7: Seen("", 5, 5)}
    assert belonging(all_of, {6}, (), ()) == {6}


@linux
def test_both_ways_of_looking_see_the_same() -> None:
    with subprocess.Popen(["sleep", "999"], start_new_session=True) as child:
        by_ps, by_proc = process_table._by_ps("-ax"), table()
        one_by_ps = process_table._by_ps("-p", str(child.pid))
        child.kill()
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        # It has ended and waits to be asked for: it no longer runs.
        assert child.pid not in process_table._by_ps("-ax")
        assert began(child.pid) is None
    for pid in (os.getpid(), child.pid):
        assert (by_ps[pid].parent, by_ps[pid].group) == (by_proc[pid].parent, by_proc[pid].group)
    assert (by_proc[child.pid].parent, by_proc[child.pid].group) == (os.getpid(), child.pid)
    assert one_by_ps == {child.pid: by_ps[child.pid]}
    assert began(child.pid) is None


@linux
def test_a_name_with_brackets_and_spaces_does_not_shift_the_fields() -> None:
    name = ") R 1 1 ("
    script = f"open('/proc/self/comm', 'w').write({name!r}); print(1, flush=True); import time; time.sleep(999)"
    child = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE)
    assert child.stdout
    try:
        assert child.stdout.readline()
        assert table()[child.pid].parent == os.getpid()
    finally:
        child.kill()
        child.communicate()


def test_the_start_tells_a_number_that_is_used_again_apart() -> None:
    mine = began(os.getpid())
    with subprocess.Popen(["sleep", "999"]) as child:
        its = began(child.pid)
        child.kill()
    assert mine == began(os.getpid())
    assert its not in (None, mine)
