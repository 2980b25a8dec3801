from __future__ import annotations

import json
from typing import Any

import pytest

from cashcode_jupyter.llm.error_facts import facts_of
from cashcode_jupyter.llm.profiles import Profile, first_guess, learn
from cashcode_jupyter.llm.vision import SENT, vision_of
from cashcode_jupyter.protocol.errors import LlmBadRequest, LlmError
from tests.llm.conftest import Asker

PICTURE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}
BLIND = [
    "no_vision",
    "no_vision_vllm",
    "no_vision_zero",
    "no_vision_serde",
    "no_vision_text",
    "no_vision_llamacpp",
    "no_vision_ollama",
    "no_vision_router",
    "bad_picture",
]


def messages(quirk: str):
    def render(profile: Profile) -> bytes:
        words = {"type": "text", "text": f"[[mock:text,see=1,quirk={quirk}]]"}
        return json.dumps(
            [{"role": "user", "content": [words] + [PICTURE] * (profile.vision is not False)}]
        ).encode()

    return render


@pytest.mark.parametrize("quirk", BLIND)
async def test_a_refusal_of_pictures_is_learned_in_every_servers_words(asker: Asker, quirk: str):
    answer = await asker.ask(messages=messages(quirk), pictures=True)
    assert answer.text == "I see 0 pictures."
    [(error, attempt, delay)] = asker.heard.retries
    assert isinstance(error, LlmBadRequest) and "mock" in error.detail and (attempt, delay) == (1, 0.0)
    await asker.ask(messages=messages(quirk), pictures=True)
    assert asker.heard.retries == []
    assert [record.status for record in asker.server.requests][1:] == [200, 200]


async def test_a_refusal_of_something_else_does_not_cost_the_pictures(asker: Asker):
    answer = await asker.ask(messages=messages("no_stream_options"), pictures=True)
    assert answer.text == "I see 1 pictures: image/png." and asker.heard.retries == []
    with pytest.raises(LlmError):
        await asker.ask(messages=messages("400"), pictures=True)


@pytest.mark.parametrize(
    ("status", "text"),
    [
        (400, "messages.1.content: expected a string, got null"),
        (400, "The image was flagged by our safety system"),
        (429, "rate limit reached for images"),
        (400, "maximum context length is 10 tokens"),
    ],
)
def test_these_refusals_say_nothing_of_the_models_eyes(status: int, text: str):
    learned = learn(
        Profile("openai_compatible"), {"messages", SENT}, status, facts_of({"error": {"message": text}})
    )
    assert learned is None or learned.vision is None


def test_a_request_without_pictures_teaches_nothing_about_them():
    facts = facts_of({"error": {"message": "image_url is only supported by certain models"}})
    assert learn(Profile("openai_compatible"), {"messages"}, 400, facts) is None


@pytest.mark.parametrize(
    ("row", "sees"),
    [
        ({"capabilities": ["completion", "vision"]}, True),
        ({"capabilities": ["completion", "multimodal"]}, True),
        ({"capabilities": ["completion", "tools"]}, False),
        ({"capabilities": {"vision": True, "completion_chat": True}}, True),
        ({"capabilities": {"vision": False}}, False),
        ({"architecture": {"input_modalities": ["text", "image"]}}, True),
        ({"architecture": {"input_modalities": ["text"]}}, False),
        ({"id": "gpt"}, None),
        ({"capabilities": [], "architecture": None, "input_modalities": "image"}, None),
        ({"capabilities": [{}, ["vision"], None]}, None),
        ({"capabilities": "vision"}, None),
        ("model", None),
        (None, None),
    ],
)
def test_who_sees_is_read_from_the_rows_that_say_so(row: Any, sees: bool | None):
    assert vision_of(row) is sees


def test_the_starter_sees_nothing_and_of_others_it_is_not_known():
    assert first_guess("starter", "", "tiny").vision is False
    assert first_guess("ollama", "", "m").vision is None
    assert first_guess("openai_compatible", "https://example.org", "m").vision is None
