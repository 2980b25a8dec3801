from __future__ import annotations

from pathlib import Path

import pytest

from cashcode_jupyter.kernel.chats import default_chat_id, new_chat_id
from cashcode_jupyter.protocol.actions import valid_chat_id


def test_new_chats_are_valid_and_differ():
    assert valid_chat_id(new_chat_id())
    assert new_chat_id() != new_chat_id()


def test_a_notebook_has_one_chat_in_every_kernel():
    environ = {"JPY_SESSION_NAME": "/home/me/work/Sales 2024.ipynb"}
    assert default_chat_id({}, environ) == default_chat_id({}, dict(environ))
    assert default_chat_id({}, environ).startswith("sales-2024-")


def test_notebooks_of_the_same_name_in_two_folders_have_two_chats():
    first, second = ({"JPY_SESSION_NAME": f"/home/{user}/a.ipynb"} for user in ("me", "you"))
    assert default_chat_id({}, first) != default_chat_id({}, second)


def test_the_random_part_of_a_vs_code_session_does_not_count():
    random = ("0f2b6a0e-1c1c-4a6e-9df5-3b1e0f6d1a11", "a3f4bb0e-2c7c-4f6e-8df5-7b1e0f6d1a22")
    first, second = ({"JPY_SESSION_NAME": f"/w/a-jvsc-{part}.ipynb"} for part in random)
    assert default_chat_id({}, first) == default_chat_id({}, second)


def test_vs_code_names_the_notebook_in_the_namespace():
    named = default_chat_id({"__vsc_ipynb_file__": "/w/deep.ipynb"}, {})
    assert named.startswith("deep-")
    assert named == default_chat_id({}, {"JPY_SESSION_NAME": "/w/deep.ipynb"})


def test_where_nothing_names_the_notebook_the_folder_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    folder = tmp_path / "reports"
    folder.mkdir()
    monkeypatch.chdir(folder)
    in_folder = default_chat_id({}, {})
    assert in_folder.startswith("reports-")
    assert in_folder == default_chat_id({}, {})
    monkeypatch.chdir(tmp_path)
    assert default_chat_id({}, {}) != in_folder
