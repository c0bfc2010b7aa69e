"""Hand: clicks on other threads act on the thread of the simulation, in their order."""

import asyncio
from types import SimpleNamespace

from pippin.viewing.viser.hand import Hand


def click(hand, act, value, client_id=0):
    event = SimpleNamespace(client_id=client_id, target=SimpleNamespace(value=value))
    asyncio.run(hand.later(act)(event))


def test_a_click_acts_later_with_its_value():
    hand, done = Hand(), []
    click(hand, done.append, 1.0)
    click(hand, done.append, 2.0)
    before = (list(done), hand.is_waiting)
    hand.act()

    assert before == ([], True)
    assert done == [1.0, 2.0]
    assert not hand.is_waiting


def test_what_the_program_itself_sets_is_no_click():
    hand, done = Hand(), []
    click(hand, done.append, 1.0, client_id=None)
    hand.act()

    assert done == []


def test_notes_count_what_a_hand_did():
    hand = Hand()
    untouched = hand.notes()
    hand.reset_count, hand.target_count = 1, 3

    assert untouched == []
    assert hand.notes() == ["a hand acted on the page: 1 reset, 3 targets"]
