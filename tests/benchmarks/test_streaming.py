"""An answer streams, and turns share what is costly to make."""

from __future__ import annotations

from benchmarks.chat import Chat
from cashcode_jupyter.testing import ScriptedModel


async def test_the_first_delta_is_there_before_the_model_writes_its_last_piece(chat: Chat, model: ScriptedModel):
    await chat.send(type="message", chat_id=chat.chat_id, content="[[mock:text,chunks=20,delay_ms=50]] go")
    await chat.until("delta")
    written = model.requests[-1].events
    await chat.until("done")
    assert 1 <= written < 20


async def test_twenty_turns_use_one_connection_to_the_model(chat: Chat, model: ScriptedModel):
    for _turn in range(20):
        await chat.ask("[[mock:text,chunks=3]] hello")
    assert len(model.requests) == 20
    assert len({record.connection for record in model.requests}) == 1


async def test_a_flood_of_pieces_reaches_the_socket_in_few_messages(chat: Chat):
    seen = await chat.ask("[[mock:text,chunks=2000]] go")
    assert seen.text == "".join(f"{number:05d} " for number in range(2000))
    assert seen.deltas <= 2 + seen.seconds / 0.03


async def test_a_stopped_turn_aborts_the_models_request(chat: Chat, model: ScriptedModel):
    await chat.send(type="message", chat_id=chat.chat_id, content="[[mock:text,chunks=1000,delay_ms=50]] go")
    await chat.until("delta")
    await chat.send(type="cancel", chat_id=chat.chat_id)
    done = await chat.until("done", "error")
    assert done["stop_reason"] == "cancelled"
    assert await model.until(lambda model: model.aborted == 1)
