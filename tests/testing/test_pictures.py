from __future__ import annotations

import pytest

from cashcode_jupyter.testing import ScriptedModel
from cashcode_jupyter.testing.pictures import what_is_seen
from cashcode_jupyter.testing.strict import Refused, check

PNG = "data:image/png;base64,iVBORw0KGgo="


def body(*parts: object, role: str = "user") -> dict:
    return {"model": "m", "messages": [{"role": role, "content": list(parts)}]}


def picture(url: object = PNG, **more: object) -> dict:
    return {"type": "image_url", "image_url": {"url": url, **more}}


def test_a_strict_server_takes_pictures_of_a_user():
    check(body({"type": "text", "text": "look"}, picture(), picture("https://example.org/a.png", detail="low")))


@pytest.mark.parametrize(
    "part",
    [
        picture("picture:abc.png"),
        picture("data:image/svg+xml;base64,AAAA"),
        picture("data:image/png;base64,@@"),
        picture("data:image/png;base64"),
        picture(3),
        picture(PNG, size=3),
        {"type": "image_url", "image_url": PNG},
        {**picture(), "label": "x"},
        {"type": "picture", "file": "a.png"},
    ],
)
def test_what_is_no_picture_is_refused(part: dict):
    with pytest.raises(Refused, match=r"content\[0\]"):
        check(body(part))


def test_only_a_user_shows_pictures():
    with pytest.raises(Refused, match="may hold only text"):
        check(body(picture(), role="system"))


def test_it_says_what_it_sees():
    assert what_is_seen(body(picture(), picture())) == "I see 2 pictures: image/png, image/png."
    assert what_is_seen({"messages": [{"role": "user", "content": "none"}, None]}) == "I see 0 pictures."


def test_ollama_names_the_models_that_see():
    from tests.testing.client import send

    with ScriptedModel(vision=("eye",), models=("eye", "ear")) as model:
        abilities = {
            name: send(model, "POST", "/api/show", f'{{"model": "{name}"}}'.encode()).json["capabilities"]
            for name in ("eye", "ear")
        }
    assert "vision" in abilities["eye"] and "vision" not in abilities["ear"]
