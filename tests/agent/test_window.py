from __future__ import annotations

from cashcode_jupyter.agent.window import FULL, KEPT, PICTURE_TOKENS, estimate_tokens, first_shown


def turns(count: int, size: int = 320) -> list[dict]:
    messages = []
    for number in range(count):
        messages += [
            {"role": "user", "content": f"{number}" * size},
            {"role": "assistant", "content": "x" * size},
        ]
    return messages


def test_everything_is_shown_while_it_fits_or_the_window_is_unknown():
    assert first_shown(turns(50), None, 0, 0) == 0
    assert first_shown(turns(2), 100_000, 0, 0) == 0


def test_a_full_window_is_cut_before_a_user_message_and_far_enough_to_last():
    messages = turns(50)
    start = first_shown(messages, 4000, 0, 100)
    assert start > 0 and messages[start]["role"] == "user"
    assert estimate_tokens(messages[start:]) + 100 <= 4000 * KEPT


def test_the_cut_stays_where_it_is_until_the_window_is_full_again():
    messages = turns(50)
    start = first_shown(messages, 4000, 0, 100)
    grown = [*messages, *turns(2)]
    assert estimate_tokens(grown[start:]) + 100 < 4000 * FULL
    assert first_shown(grown, 4000, start, 100) == start


def test_the_last_turn_is_never_cut():
    messages = turns(3, size=100_000)
    assert first_shown(messages, 4000, 0, 0) == 4


def test_a_picture_counts_the_same_whatever_its_size_and_only_for_a_model_that_sees():
    message = {"role": "user", "content": "look", "pictures": [{"file": "a.png", "label": "x" * 9999}]}
    without = {"role": "user", "content": "look"}
    assert estimate_tokens([message]) == estimate_tokens([without]) + PICTURE_TOKENS
    assert estimate_tokens([message], sees=False) == estimate_tokens([without])
    assert estimate_tokens([message] * 20) == estimate_tokens([without] * 20) + 8 * PICTURE_TOKENS


def test_pictures_fill_a_window():
    messages = [message | {"pictures": [{"file": "a.png", "label": ""}]} for message in turns(3)[::2]]
    assert first_shown(messages, 4000, 0, 0) > 0
    assert first_shown(messages, 4000, 0, 0, sees=False) == 0
