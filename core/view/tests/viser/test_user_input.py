"""User input: clicks on other threads are processed on the thread of the simulation, in their order."""

import asyncio
from types import SimpleNamespace

from pippin_view.viser.user_input import UserInput


def click(user_input, call, value, client_id=0):
    event = SimpleNamespace(client_id=client_id, target=SimpleNamespace(value=value))
    asyncio.run(user_input.queued(call)(event))


def test_a_click_is_processed_later_with_its_value():
    user_input, done = UserInput(), []
    click(user_input, done.append, 1.0)
    click(user_input, done.append, 2.0)
    before = (list(done), user_input.is_pending)
    user_input.process()

    assert before == ([], True)
    assert done == [1.0, 2.0]
    assert not user_input.is_pending


def test_a_value_that_the_program_sets_is_not_queued():
    user_input, done = UserInput(), []
    click(user_input, done.append, 1.0, client_id=None)
    user_input.process()

    assert done == []


def test_notes_count_the_changes():
    user_input = UserInput()
    untouched = user_input.notes()
    for what in ("reset", "target", "target", "target"):
        user_input.changes[what] += 1

    assert untouched == []
    assert user_input.notes() == ["changed from the page: 1 reset, 3 targets"]
