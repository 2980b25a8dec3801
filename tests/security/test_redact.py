from __future__ import annotations

import base64
import itertools
import json
import re
import string
import time
from urllib.parse import quote

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cashcode_jupyter.security.redact import Redactor

KEY = 'Zq7/pw+Lx9="vT\\2é'
SECRETS = st.text(st.characters(exclude_categories=["Cs"]), min_size=8, max_size=40).filter(
    lambda text: len(text.strip()) >= 8
)
NASTY = st.sampled_from(
    [
        *("token", "=", "sk-", "Bearer ", "api_key", '"', ": ", "\\", "abc123def456ghi789", "x", " ", "password"),
        *(
            "a1" * 130,
            "eyJ",
            ".",
            "b2" * 4,
            "Basic ",
            "ghp_",
            "\n",
            "é",
            "(",
            "TOKEN",
            "secret_ke",
            "ſ",
            "\N{KELVIN SIGN}EY",
            "令牌",
        ),
    ]
)


def pieces(text: str, cuts: list[int]) -> list[str]:
    at = sorted({0, len(text), *(cut % (len(text) + 1) for cut in cuts)})
    return [text[start:stop] for start, stop in itertools.pairwise(at)]


def streamed(redactor: Redactor, parts: list[str]) -> str:
    stream = redactor.stream()
    return "".join([*(stream.feed(part) for part in parts), stream.flush()])


@given(SECRETS, st.lists(st.text(max_size=20), min_size=1, max_size=4), st.lists(st.integers(0, 1000), max_size=12))
def test_a_secret_never_leaks_however_the_text_is_split(secret: str, around: list[str], cuts: list[int]) -> None:
    redactor = Redactor([secret])
    text = secret.strip().join([*around, ""])
    whole = redactor(text)
    assert streamed(redactor, pieces(text, cuts)) == whole
    if secret.strip() not in "[redacted]" * 3:
        assert secret.strip() not in whole


@given(st.lists(NASTY, max_size=30).map("".join), st.lists(st.integers(0, 10_000), max_size=20))
@example("token=" + "a1" * 400 + " rest", [3, 300, 500])
@example("basic_token=abc123def456", [5])
def test_patterns_are_masked_the_same_whole_and_in_pieces(text: str, cuts: list[int]) -> None:
    redactor = Redactor()
    assert streamed(redactor, pieces(text, cuts)) == redactor(text)


@given(st.text(alphabet="ab", min_size=8, max_size=12), st.text(alphabet="ab", min_size=8, max_size=12), st.data())
def test_overlapping_secrets_are_masked_as_one(first: str, second: str, data: st.DataObject) -> None:
    text = data.draw(st.text(alphabet="ab", max_size=60))
    cuts = data.draw(st.lists(st.integers(0, 60), max_size=10))
    redactor = Redactor([first, second])
    whole = redactor(text)
    assert first not in whole and second not in whole
    assert streamed(redactor, pieces(text, cuts)) == whole


def test_nothing_of_two_overlapping_secrets_is_left() -> None:
    assert Redactor(["abcdefgh", "efghijkl"])("<abcdefghijkl>") == "<[redacted]>"


@pytest.mark.parametrize(
    "spelling",
    [
        KEY,
        json.dumps(KEY),
        json.dumps(json.dumps(KEY)),
        json.dumps(KEY, ensure_ascii=False),
        quote(KEY, safe=""),
        re.sub("%..", lambda escape: escape[0].lower(), quote(KEY, safe="")),
        base64.b64encode(f"user:{KEY}".encode()).decode(),
        base64.urlsafe_b64encode(f"me:{KEY}".encode()).decode(),
    ],
)
def test_a_secret_is_found_in_each_of_its_spellings(spelling: str) -> None:
    shown = Redactor([KEY])(f"before {spelling} after")
    assert "[redacted]" in shown
    assert shown.startswith("before ") and shown.endswith(" after")


def test_values_shorter_than_eight_characters_are_ignored() -> None:
    assert Redactor(["secret", "a", "       "])("a secret is a secret") == "a secret is a secret"


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("Authorization: Bearer abc123def456", "abc123def456"),
        ("Authorization: Basic dXNlcjpwYXNzd29yZA==", "dXNlcjpwYXNzd29yZA"),
        ("using sk-proj-abcdEFGH1234ijklMNOP5678 here", "abcdEFGH1234ijklMNOP5678"),
        ("sk-ant-api03-aB3dE_fGh1jKlMnOpQrS-tUvWx", "aB3dE_fGh1jKlMnOpQrS"),
        ('{"api_key": "K3kfjdkfj3"}', "K3kfjdkfj3"),
        ('"{\\"api_key\\": \\"K3kfjdkfj3\\"}"', "K3kfjdkfj3"),
        ("GET /?token=abc123def456&page=2", "abc123def456"),
        ("OPENAI_API_KEY=q8w7e6r5t4y3", "q8w7e6r5t4y3"),
        ('password = "correct-horse-battery"', "correct-horse-battery"),
        ("client_secret: 0123456789abcdef0123", "0123456789abcdef0123"),
        ("ghp_" + "a1B2" * 9, "a1B2a1B2"),
        ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3", "eyJzdWIi"),
        ("token=" + "a1" * 900 + "; next", "a1a1"),
    ],
)
def test_what_looks_like_a_secret_is_masked(text: str, secret: str) -> None:
    shown = Redactor()(text)
    assert "[redacted]" in shown
    assert secret not in shown


@pytest.mark.parametrize(
    "text",
    [
        'api_key = os.environ["OPENAI_API_KEY"]',
        "api_key=os.getenv('KEY_1')",
        "client = OpenAI(api_key=settings.api_key2, base_url=url)",
        "token = tokens[0]; next_token = vocab[1]",
        "token = tokenizer.eos_token_id2",
        "token=get_token2()",
        "def f(token: Token2Thing, password: str | None = None) -> None:",
        "max_tokens=4096, prompt_tokens: 123456789, token_count=12345678",
        '{"token": "understanding", "score": 0.25}',
        'api_key="YOUR_API_KEY"  # or "not-needed"',
        'api_key="not-needed"',
        "the bearer instruments of 2024 and a basic understanding of them",
        'curl -H "Authorization: Bearer $TOKEN1234" -H "X: Bearer {token}"',
        '<div class="sk-toggleable__content fitted" id="sk-estimator-id-12">sk-container-id-1</div>',
        "task-12345678901234567890 and risk-1234567890abcdef1234",
        "hf_hub_download_file_number2(npm_config_registry1)",
        "The secret: nobody knows it. Password: the one you chose.",
        "private_key = rsa.generate_private_key(public_exponent=65537)",
        "令牌 token：请输入",
        "密码 password: 这是2024年的说明文字没有密码在里面",
    ],
)
def test_ordinary_code_and_prose_stay_as_they_are(text: str) -> None:
    redactor = Redactor(["some-other-secret"])
    assert redactor(text) == text
    assert streamed(redactor, list(text)) == text


@given(st.text(alphabet=string.ascii_letters + " .,\n", max_size=200))
def test_redacting_twice_changes_nothing_more(text: str) -> None:
    redactor = Redactor(["abcdefgh"])
    assert redactor(redactor(text)) == redactor(text)


def test_plain_text_is_streamed_without_delay() -> None:
    stream = Redactor([KEY]).stream()
    for word in ("Hello", ", ", "world! ", "1 + 1 = 2", " 你好。", "\n"):
        assert stream.feed(word) == word


def test_only_what_may_be_the_start_of_a_secret_waits() -> None:
    stream = Redactor(["Zq7-something-long"]).stream()
    assert stream.feed("see Zq7-some") == "see "
    assert stream.feed("body in!") == "Zq7-somebody in!"


def test_a_secret_added_later_counts_from_then_on() -> None:
    redactor = Redactor()
    assert redactor("a Xy-canary-9") == "a Xy-canary-9"
    redactor.add(["Xy-canary-9"])
    assert redactor("a Xy-canary-9") == "a [redacted]"


def test_a_megabyte_of_leads_does_not_take_long() -> None:
    started = time.perf_counter()
    Redactor()("token=" * 50_000)
    assert time.perf_counter() - started < 5
