"""The fence: only whoever claimed a task last writes what becomes of it."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from keryx.clock import VirtualClock
from keryx.store.db import Database
from keryx.tasks.claims import Fenced, TurnEnd
from keryx.tasks.limits import local_day
from keryx.tasks.models import NewsKind, TaskStatus
from keryx.tasks.rows import MessageState
from keryx.tasks.store import NewTask, TaskStore

DONE = TurnEnd(ok=True, final_text="All done.", summary="Done.")


@pytest.fixture
async def store(tmp_path: Path, clock: VirtualClock) -> AsyncIterator[TaskStore]:
    database = await Database.open(tmp_path / "keryx.db")
    yield TaskStore(database, clock)
    await database.close()


async def add(store: TaskStore, clock: VirtualClock, **known: str) -> int:
    new = NewTask(known.pop("description", "Fix it"), "fake", **known)
    task, _ = await store.add(new, local_day(clock.now(), "UTC"), lambda today: None)
    return task.id


async def test_each_claim_raises_the_epoch_and_the_longest_waiting_is_taken_first(
    store: TaskStore, clock: VirtualClock
) -> None:
    first = await add(store, clock)
    second = await add(store, clock)
    taken = [await store.claims.claim(()) for _ in range(3)]
    assert [(task.id, task.epoch, task.status) if task else None for task in taken] == [
        (first, 1, TaskStatus.RUNNING),
        (second, 1, TaskStatus.RUNNING),
        None,
    ]
    await store.claims.recover()
    again = await store.claims.claim(())
    assert again is not None
    assert again.epoch == 2
    assert again == await store.get(first)


async def test_a_task_taken_up_again_goes_to_the_end_of_the_line(store: TaskStore, clock: VirtualClock) -> None:
    first = await add(store, clock)
    await store.cancel(first)
    second = await add(store, clock)
    await clock.advance(1)
    await store.post(first, "after all", None)
    taken = [await store.claims.claim(()) for _ in range(2)]
    assert [task and task.id for task in taken] == [second, first]


async def test_a_task_whose_last_run_is_still_ending_is_left_and_so_is_its_project(
    store: TaskStore, clock: VirtualClock
) -> None:
    first = await add(store, clock, project="billing")
    await add(store, clock, project="billing")
    elsewhere = await add(store, clock, project="website")
    task = await store.claims.claim((first,))
    assert task is not None
    assert task.id == elsewhere
    assert await store.claims.claim((first,)) is None


@pytest.mark.parametrize("fence", ["another claim", "cancelled", "ended"])
async def test_an_old_claim_writes_nothing(store: TaskStore, clock: VirtualClock, fence: str) -> None:
    task_id = await add(store, clock)
    await store.claims.claim(())
    await store.claims.begin_turn(task_id, 1, None)
    match fence:
        case "another claim":
            await store.claims.recover()
            await store.claims.claim(())
        case "cancelled":
            await store.cancel(task_id)
        case "ended":
            await store.claims.end_turn(task_id, 1, DONE)
    before = await store.get(task_id), await store.untold(), await store.turns(task_id)
    for write in (
        store.claims.begin_turn(task_id, 1, "mine"),
        store.claims.save_session(task_id, 1, "mine"),
        store.claims.add_progress(task_id, 1, "mine"),
        store.claims.end_turn(task_id, 1, DONE),
    ):
        with pytest.raises(Fenced):
            await write
    assert (await store.get(task_id), await store.untold(), await store.turns(task_id)) == before


async def test_a_result_and_its_news_are_stored_together(store: TaskStore, clock: VirtualClock) -> None:
    task_id = await add(store, clock, project="billing")
    await store.claims.claim(())
    await store.claims.begin_turn(task_id, 1, "session-1")
    ended = await store.claims.end_turn(task_id, 1, DONE)
    assert (ended.task.status, ended.more, ended.task.session_id) == (TaskStatus.DONE, False, "session-1")
    assert await store.untold() == [ended.news]
    assert (ended.news.kind, ended.news.project) == (NewsKind.DONE, "billing")


async def test_a_text_that_waits_when_a_turn_ends_keeps_the_task_running(store: TaskStore, clock: VirtualClock) -> None:
    task_id = await add(store, clock)
    await store.claims.claim(())
    await store.claims.begin_turn(task_id, 1, None)
    await store.post(task_id, "more", None)
    ended = await store.claims.end_turn(task_id, 1, DONE)
    given = await store.claims.begin_turn(task_id, 1, None)
    assert (ended.more, ended.task.status, ended.task.finished_at) == (True, TaskStatus.RUNNING, None)
    assert [message.text for message in given.fresh] == ["more"]
    assert [message.text for message in given.earlier] == ["Fix it"]


async def test_only_one_of_a_turn_and_a_send_gets_a_text(store: TaskStore, clock: VirtualClock) -> None:
    task_id = await add(store, clock)
    await store.claims.claim(())
    posted = await store.post(task_id, "more", None)
    assert await store.claims.begin_sending(posted.message.id)
    assert not await store.claims.begin_sending(posted.message.id)
    given = await store.claims.begin_turn(task_id, 1, None)
    assert [message.text for message in given.fresh] == ["Fix it"]


async def test_what_was_on_its_way_in_a_crash_is_uncertain_and_never_in_a_prompt(
    store: TaskStore, clock: VirtualClock
) -> None:
    task_id = await add(store, clock)
    await store.claims.claim(())
    await store.claims.begin_turn(task_id, 1, None)
    posted = await store.post(task_id, "more", None)
    await store.claims.begin_sending(posted.message.id)
    await store.claims.recover()
    await store.claims.claim(())
    given = await store.claims.begin_turn(task_id, 2, None)
    ended = await store.claims.end_turn(task_id, 2, DONE)
    assert [message.text for message in (*given.fresh, *given.interrupted)] == ["Fix it"]
    assert (await store.messages(task_id))[1].state is MessageState.UNCERTAIN
    assert ended.news.text == "I'm not sure your addition reached it. Done."
    await store.post(task_id, "and more", None)
    await store.claims.claim(())
    await store.claims.begin_turn(task_id, 3, None)
    later = await store.claims.end_turn(task_id, 3, DONE)
    assert later.news.text == "Done."


async def test_progress_offsets_count_up_over_turns(store: TaskStore, clock: VirtualClock) -> None:
    task_id = await add(store, clock)
    await store.claims.claim(())
    await store.claims.begin_turn(task_id, 1, None)
    for text in ("one", "two"):
        await store.claims.add_progress(task_id, 1, text)
    await store.claims.end_turn(task_id, 1, DONE)
    await store.post(task_id, "more", None)
    await store.claims.claim(())
    line = await store.claims.add_progress(task_id, 2, "three")
    assert (line.offset, line.at) == (3, clock.now())
    assert [kept.text for kept in await store.progress(task_id, 1)] == ["two", "three"]
