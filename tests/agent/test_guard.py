from __future__ import annotations

from cashcode_jupyter.agent.guard import HINT, LoopGuard, Verdict, signature


def repeat(guard: LoopGuard, call: str, result: str, *, changes: bool = False) -> tuple[Verdict, str]:
    verdict = guard.before(call)
    return verdict, guard.after(call, result, changes=changes) if verdict is Verdict.RUN else ""


def test_the_same_call_with_the_same_result_is_hinted_refused_and_stopped():
    guard = LoopGuard()
    assert repeat(guard, "c", "r") == (Verdict.RUN, "r")
    assert repeat(guard, "c", "r") == (Verdict.RUN, "r" + HINT)
    assert [repeat(guard, "c", "r")[0] for _ in range(3)] == [Verdict.REFUSE, Verdict.REFUSE, Verdict.STOP]


def test_a_new_result_is_progress():
    guard = LoopGuard()
    for number in range(10):
        assert repeat(guard, "c", f"result {number}") == (Verdict.RUN, f"result {number}")


def test_going_back_and_forth_between_two_calls_is_a_loop_too():
    guard = LoopGuard()
    verdicts = [repeat(guard, call, call)[0] for _ in range(5) for call in ("a", "b")]
    assert verdicts[-1] is Verdict.STOP


def test_a_new_change_gives_other_calls_a_fresh_start():
    guard = LoopGuard()
    for number in range(6):
        assert repeat(guard, "read", "same text") == (Verdict.RUN, "same text")
        repeat(guard, f"edit {number}", "ok", changes=True)


def test_repeating_the_same_change_gives_no_fresh_start():
    guard = LoopGuard()
    verdicts = []
    for _ in range(6):
        verdicts.append(repeat(guard, "read", "same")[0])
        repeat(guard, "edit", "ok", changes=True)
    assert Verdict.STOP in verdicts or Verdict.REFUSE in verdicts


def test_the_order_of_arguments_does_not_make_a_call_new():
    assert signature("f", {"a": 1, "b": [2]}) == signature("f", {"b": [2], "a": 1})
    assert signature("f", {"a": 1}) != signature("f", {"a": "1"})
