from __future__ import annotations

from cashcode_jupyter.testing import ScriptedModel
from tests.testing.client import Got, send


def show(model: ScriptedModel, body: bytes) -> Got:
    return send(model, "POST", "/api/show", body)


def test_the_window_stands_where_ollama_puts_it() -> None:
    with ScriptedModel(context_window=8192) as model:
        info = show(model, b'{"model": "mock"}').json["model_info"]
    assert info[f"{info['general.architecture']}.context_length"] == 8192


def test_an_unknown_model_is_ollamas_404(scripted_model: ScriptedModel) -> None:
    got = show(scripted_model, b'{"model": "qwen"}')
    assert (got.status, got.json) == (404, {"error": "model 'qwen' not found"})
    assert show(scripted_model, b"{").status == 400


def test_the_lists_name_the_models() -> None:
    with ScriptedModel(models=["tiny", "big:7b"], context_window=8192, loaded_window=4096) as model:
        tags = send(model, "GET", "/api/tags").json["models"]
        listed = send(model, "GET", "/v1/models").json["data"]
        loaded = send(model, "GET", "/api/ps").json["models"]
        assert send(model, "GET", "/api/version").json["version"]
    assert [entry["name"] for entry in tags] == ["tiny:latest", "big:7b"]
    assert [entry["id"] for entry in listed] == ["tiny", "big:7b"]
    assert loaded[0]["context_length"] == 4096
