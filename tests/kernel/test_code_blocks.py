from __future__ import annotations

from cashcode_jupyter.kernel.question_cell import code_blocks


def test_python_and_unnamed_fences_are_taken_and_others_left():
    text = "```python\na\n```\n```\nb\n```\n```bash\nc\n```\n~~~py\nd\n~~~\n"
    assert code_blocks(text) == ["a", "b", "d"]


def test_a_longer_fence_holds_a_shorter_one():
    assert code_blocks('````python\nx = """\n```\n"""\n````') == ['x = """\n```\n"""']


def test_indentation_and_inner_blank_lines_stay():
    assert code_blocks("```py title=x\nif a:\n\n    b\n\n```") == ["if a:\n\n    b"]


def test_an_unclosed_or_empty_fence_is_no_block():
    assert code_blocks("```python\na") == []
    assert code_blocks("```python\n\n```") == []
