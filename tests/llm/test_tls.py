"""Certificates that cannot be trusted, in a real handshake."""

from __future__ import annotations

import asyncio
import shutil
import ssl
import subprocess
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
import pytest_asyncio

from cashcode_jupyter.protocol.errors import LlmTls
from tests.llm.conftest import Asker

pytestmark = pytest.mark.skipif(shutil.which("openssl") is None, reason="needs the openssl command")
BODY = b'{"choices":[{"message":{"content":"over TLS"},"finish_reason":"stop"}]}'


def make_certificate(folder: Path) -> tuple[Path, Path]:
    certificate, key = folder / "cert.pem", folder / "key.pem"
    command = (
        "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost "
        f"-addext subjectAltName=DNS:localhost -keyout {key} -out {certificate}"
    )
    subprocess.run(command.split(), check=True, capture_output=True)
    return certificate, key


@pytest_asyncio.fixture
async def tls(tmp_path: Path) -> AsyncIterator[tuple[int, Path]]:
    """A server with a self-signed certificate for `localhost`: its port and the certificate."""
    certificate, key = make_certificate(tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        head = f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {len(BODY)}\r\n"
        writer.write(head.encode() + b"connection: close\r\n\r\n" + BODY)
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0, ssl=context) as server:
        yield server.sockets[0].getsockname()[1], certificate


async def test_a_certificate_that_nobody_vouches_for_says_what_to_do_and_is_not_retried(
    tls: tuple[int, Path], make_asker: Callable[..., Asker], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    asker = make_asker(max_retries=3)
    asker.store.update({"openai_compatible": {"base_url": f"https://localhost:{tls[0]}/v1"}})
    with pytest.raises(LlmTls) as caught:
        await asker.ask()
    assert "SSL_CERT_FILE" in caught.value.detail
    assert asker.heard.retries == []


async def test_ssl_cert_file_is_honoured_also_on_loopback(
    tls: tuple[int, Path], make_asker: Callable[..., Asker], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(tls[1]))
    asker = make_asker()
    asker.store.update({"openai_compatible": {"base_url": f"https://localhost:{tls[0]}/v1"}})
    assert (await asker.ask()).text == "over TLS"


async def test_a_certificate_for_another_name_is_said(
    tls: tuple[int, Path], make_asker: Callable[..., Asker], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(tls[1]))
    asker = make_asker()
    asker.store.update({"openai_compatible": {"base_url": f"https://127.0.0.1:{tls[0]}/v1"}})
    with pytest.raises(LlmTls) as caught:
        await asker.ask()
    assert "another name" in caught.value.detail
