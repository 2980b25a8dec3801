"""A socket that never reads: what it costs the others, against the same answer sent to one that does."""

from __future__ import annotations

import asyncio
import json
import socket as sockets
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

from benchmarks.bench import Bench
from benchmarks.chat import Chat, socket
from benchmarks.measure import median
from benchmarks.rows import Row, ms
from benchmarks.server import Server

PIECE = 20_000
HANDSHAKE = (
    "GET {path} HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
)


async def stalled(bench: Bench) -> list[Row]:
    seconds = bench.pick(6, 3)
    big = f"[[mock:text,chunks={seconds * 200},size={PIECE},delay_ms=5]] go"
    with bench.server() as server:
        async with socket(server) as other, socket(server) as reader:
            await other.ask("[[mock:text,chunks=5]] warm")
            reading = asyncio.create_task(reader.ask(big))
            beside_reader = await _probe(other, seconds * 0.8)
            await reading
            async with _never_reads(server, big):
                beside_stalled = await _probe(other, seconds * 0.8)
    how = f"median of {len(beside_stalled[0])} beside {PIECE / 5000:.0f} MB/s; beside a reader"
    rows = []
    for name, ours, base in zip(("ping", "turn"), beside_stalled, beside_reader, strict=True):
        took, usual = median(ours), median(base)
        longest = f"longest {ms(max(ours))}, {ms(max(base))}"
        rows.append(
            Row(f"{name} beside a stalled socket", ms(took), took / usual, 1.5, f"{how} {ms(usual)}; {longest}")
        )
    return rows


async def _probe(chat: Chat, seconds: float) -> tuple[list[float], list[float]]:
    """Times of pings and of short turns, for `seconds`."""
    pings, turns = [], []
    until = time.perf_counter() + seconds
    while time.perf_counter() < until:
        started = time.perf_counter()
        await chat.send(type="ping")
        await chat.until("pong")
        pings.append(time.perf_counter() - started)
        turns.append((await chat.ask("[[mock:text,chunks=5]] hello")).seconds)
        await asyncio.sleep(0.02)
    return pings, turns


@asynccontextmanager
async def _never_reads(server: Server, prompt: str) -> AsyncIterator[None]:
    """A bare socket that asks for an answer and does not read it."""
    url = urlsplit(server.socket_url)
    made = sockets.socket()
    made.setsockopt(sockets.SOL_SOCKET, sockets.SO_RCVBUF, 4096)
    made.setblocking(False)
    await asyncio.get_running_loop().sock_connect(made, (url.hostname, url.port))
    reader, writer = await asyncio.open_connection(sock=made, limit=4096)
    try:
        writer.write(HANDSHAKE.format(path=f"{url.path}?{url.query}", host=url.netloc).encode())
        await reader.readuntil(b"\r\n\r\n")
        head = await reader.readexactly(2)
        ready = json.loads(await reader.readexactly(head[1]))
        frame = {"type": "message", "chat_id": ready["chat_id"], "content": prompt}
        writer.write(_masked(json.dumps(frame).encode()))
        await writer.drain()
        yield
    finally:
        writer.transport.abort()


def _masked(text: bytes) -> bytes:
    """A client's text frame of 126 to 65,535 bytes; the mask is zero, which leaves them as they are."""
    text = text.ljust(126)
    return b"\x81\xfe" + len(text).to_bytes(2, "big") + bytes(4) + text
