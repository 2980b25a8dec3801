"""Chats with a past, written by the same code that writes them in life."""

from __future__ import annotations

from typing import Any

from cashcode_jupyter.memory.sessions import Sessions
from cashcode_jupyter.paths import Paths

WORDS = "The quick brown fox jumps over the lazy dog and counts what it has seen on its way. "


def exchange(number: int) -> tuple[str, str]:
    """A question and its answer, about 200 characters each."""
    return f"Question {number}: {WORDS * 2}", f"Answer {number}: {WORDS * 2}"


def messages(count: int) -> list[dict[str, Any]]:
    """`count` messages as a bare client would send them."""
    pairs = (exchange(number) for number in range(count // 2))
    return [
        {"role": role, "content": text}
        for pair in pairs
        for role, text in zip(("user", "assistant"), pair, strict=True)
    ]


async def write(paths: Paths, chat_id: str, *, turns: int, closed: bool = True) -> None:
    """A chat of `turns` turns: two messages each, and a closing record; without `closed` only the last has one."""
    sessions = Sessions(paths)
    chat = await sessions.open(chat_id)
    try:
        for number in range(turns):
            question, answer = exchange(number)
            turn_id = f"{number:012x}"
            chat.append_user(question, turn_id=turn_id, message_id=f"m{number}")
            chat.append_assistant(answer, turn_id=turn_id)
            if closed or number == turns - 1:
                chat.end_turn(
                    turn_id,
                    stop_reason="answered",
                    usage={"prompt_tokens": 100, "completion_tokens": 50, "estimated": False},
                    duration_sec=0.01,
                    last_seq=(number + 1) * 5,
                    tool_calls=0,
                )
        chat.set_title("A chat with a past")
    finally:
        await sessions.release(chat)
        await sessions.aclose()
