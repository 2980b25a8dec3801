"""What one chat said, another finds: the tool, the search and the export of a running core."""

from __future__ import annotations

import json

from cashcode_jupyter.app import CashCode

from .conftest import Door

SECRET = "sk-abcdefgh0123456789abcdefgh"


async def test_another_chats_words_come_back_as_a_tool_result(door: Door):
    await door.ask("my bicycle is called Rosinante", chat_id="first")
    events = await door.ask("[[mock:tools,tool=recall,arg.query=bicycle Rosinante]]", chat_id="second")
    (result,) = [event for event in events if event["event"] == "tool_result"]
    assert result["ok"]
    assert "chat first" in result["result"]
    assert "my bicycle is called Rosinante" in result["result"]


async def test_search_and_export_know_the_configured_keys_before_any_turn(core: CashCode, door: Door):
    await door.ask(f"the key of the bicycle shed is {SECRET}", chat_id="first")
    core.llm_store.update(
        {
            "openai_compatible": {
                "base_url": core.llm_store.view(None)["openai_compatible"]["base_url"],
                "api_key": SECRET,
            }
        }
    )
    found = await core.search("bicycle shed", limit=5)
    exported = await (await core.export("first", "jsonl")).read()
    assert [hit.chat_id for hit in found.hits] == ["first"]
    assert SECRET not in json.dumps(found.as_dict())
    assert SECRET.encode() not in exported
