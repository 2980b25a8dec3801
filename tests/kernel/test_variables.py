from __future__ import annotations

import sys
import threading
import time
from typing import Any

import numpy as np
import pytest

from cashcode_jupyter.kernel.variables import MAX_SUMMARY, describe, summary
from cashcode_jupyter.protocol.errors import NotFound


def test_an_array_is_told_by_shape_dtype_and_first_values():
    text = describe(np.arange(12.0).reshape(3, 4))
    assert "(3, 4)" in text
    assert "float64" in text
    assert "3.0" in text


def test_a_huge_array_costs_nothing():
    started = time.monotonic()
    text = describe(np.zeros((20_000, 20_000), dtype=np.int8).T)
    assert len(text) < 500
    assert time.monotonic() - started < 0.5


def test_a_data_frame_is_told_by_shape_dtypes_and_head():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"city": ["Bern", "Basel"] * 500, "people": range(1000)})
    text = describe(frame)
    assert "(1000, 2)" in text
    assert "'people': int64" in text
    assert "Basel" in text
    assert len(text.splitlines()) < 20


def test_a_wide_data_frame_stays_small():
    pandas = pytest.importorskip("pandas")
    text = describe(pandas.DataFrame([range(2000)]))
    assert "1960 more columns" in text
    assert len(text) <= MAX_SUMMARY


def test_a_series_and_an_index_have_a_dtype():
    pandas = pytest.importorskip("pandas")
    assert "dtype: int64" in describe(pandas.Series([1, 2, 3]))
    assert describe(pandas.Index(["a"]))


def test_a_mapping_is_told_by_its_keys_and_their_types():
    text = describe({"rows": [1, 2], "name": "x"})
    assert "length: 2" in text
    assert "'rows': list = [1, 2]" in text


def test_long_values_are_bounded():
    for value in ("x" * 10**7, list(range(10**6)), dict.fromkeys(range(5000), "v" * 1000), b"\0" * 10**6):
        assert len(describe(value)) <= MAX_SUMMARY


def test_a_function_is_told_by_its_signature_and_first_line_of_doc():
    def weigh(item: str, *, unit: str = "kg") -> float:
        """Weigh it.

        More words.
        """
        return 0.0

    text = describe(weigh)
    assert "unit: 'str' = 'kg'" in text
    assert "Weigh it." in text
    assert "More words" not in text


def test_an_object_without_a_repr_of_its_own_shows_attributes_and_no_address():
    class Account:
        def __init__(self) -> None:
            self.owner = "Ann"
            self._secret = "s"

    text = describe(Account())
    assert "owner: 'Ann'" in text
    assert "0x" not in text
    assert "_secret" not in text


def test_a_failing_repr_is_reported():
    class Broken:
        def __repr__(self) -> str:
            raise RuntimeError("no")

    assert "RuntimeError" in describe(Broken()) or "Broken" in describe(Broken())


def test_an_endless_repr_is_given_up_and_its_thread_ends():
    class Endless:
        def __repr__(self) -> str:
            while True:
                time.sleep(0.001)

    started = time.monotonic()
    text = describe(Endless())
    assert "more than 1 second" in text
    assert time.monotonic() - started < 2
    for thread in threading.enumerate():
        if thread.name == "cashcode-repr":
            thread.join(2)
            assert not thread.is_alive()


def test_an_unknown_name_is_an_error_that_names_close_ones():
    with pytest.raises(NotFound, match="frame") as caught:
        summary({"frame": 1, "other": 2}, "fram")
    assert caught.value.code == "not_found"


def test_a_summary_imports_nothing():
    class Frame:
        shape, dtype = (2,), "x"

    before = set(sys.modules)
    values: list[Any] = [Frame(), 1, None, object, sys, 1.5, {1}, (1,)]
    for value in values:
        describe(value)
    assert not {name for name in set(sys.modules) - before if name.split(".")[0] in ("pandas", "numpy", "polars")}
