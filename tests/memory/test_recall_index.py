from __future__ import annotations

import math
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cashcode_jupyter.memory import recall_file
from cashcode_jupyter.memory.recall_file import Source, Stored
from cashcode_jupyter.memory.recall_index import Turn, TurnIndex

WORDS = st.sampled_from(["fox", "dog", "cat", "owl", "bee", "猫"])
TEXTS = st.lists(st.lists(WORDS, min_size=1, max_size=12), min_size=1, max_size=25)


def index_of(texts: list[list[str]]) -> TurnIndex:
    index = TurnIndex()
    for number, text in enumerate(texts):
        index.add(Turn(0, number * 100, 100, number + 1, number), Counter(text))
    return index


def stored(texts: list[list[str]]) -> Stored:
    return Stored(index_of(texts), [Source("chat", (1, 2, 3, 4), 100, 1, 5)])


@given(TEXTS, st.lists(WORDS, min_size=1, max_size=4, unique=True))
@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
def test_scores_are_those_of_rank_bm25_with_an_idf_that_is_never_negative(texts, query):
    from rank_bm25 import BM25Okapi

    class Okapi(BM25Okapi):
        def _calc_idf(self, nd):
            self.idf = {w: math.log(1 + (self.corpus_size - n + 0.5) / (n + 0.5)) for w, n in nd.items()}

    expected = {n: score for n, score in enumerate(Okapi(texts).get_scores(query)) if score > 0}
    found = {number: score for score, number in index_of(texts).search(query, most=100)}
    assert found == pytest.approx(expected)


def test_one_turn_alone_is_found():
    assert [number for _score, number in index_of([["fox"]]).search(["fox"], most=5)] == [0]


def test_a_forgotten_turn_is_not_found():
    index = index_of([["fox"], ["fox", "dog"]])
    index.forget([0])
    assert [number for _score, number in index.search(["fox"], most=5)] == [1]


@given(TEXTS, st.data())
@settings(deadline=None)
def test_freeing_what_is_forgotten_changes_no_answer(texts, data):
    index = index_of(texts)
    index.forget(data.draw(st.sets(st.integers(0, len(texts) - 1))))
    fresh, moved = index.without_forgotten(lambda: None)
    for word in ("fox", "猫"):
        before = {moved[number] for _score, number in index.search([word], most=100)}
        assert {number for _score, number in fresh.search([word], most=100)} == before
    assert len(fresh) == fresh.live == index.live


def test_a_word_in_very_many_turns_costs_a_bounded_look():
    index = index_of([["the", "fox" if number % 5000 == 7 else "dog"] for number in range(20_000)])
    found = [number for _score, number in index.search(["the", "fox"], most=4)]
    assert sorted(found) == [7, 5007, 10007, 15007]


@given(TEXTS)
@settings(deadline=None)
def test_the_file_brings_back_the_same_index(tmp_path_factory, texts):
    path = tmp_path_factory.mktemp("index") / "recall.index"
    wanted = stored(texts)
    recall_file.write(path, wanted)
    found = recall_file.read(path)
    assert found is not None
    assert found.sources == wanted.sources
    assert found.index.search(["fox", "猫"], most=50) == wanted.index.search(["fox", "猫"], most=50)


def test_a_file_that_is_torn_anywhere_is_no_index(tmp_path: Path):
    path = tmp_path / "recall.index"
    recall_file.write(path, stored([["fox", "dog"], ["cat"]]))
    whole = path.read_bytes()
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        assert recall_file.read(path) is None
    for position in range(0, len(whole), 3):
        path.write_bytes(whole[:position] + bytes([whole[position] ^ 1]) + whole[position + 1 :])
        assert recall_file.read(path) is None


def test_what_killed_writers_left_is_removed_when_it_is_old(tmp_path: Path):
    import os

    old = tmp_path / ".recall.index.0123456789abcdef.tmp"
    fresh = tmp_path / ".recall.index.fedcba9876543210.tmp"
    for path in (old, fresh):
        path.write_bytes(b"x")
    os.utime(old, (0, 0))
    recall_file.write(tmp_path / "recall.index", stored([["fox"]]))
    assert not old.exists()
    assert fresh.exists()
