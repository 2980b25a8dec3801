"""Recall: what was said in any chat, found by its words.

Before it answers, the index is brought in step with the histories. That waits a second at most: a first build over
many chats goes on in the background, newest chats first, and until it is done `Found.complete` is false.
"""

from __future__ import annotations

import asyncio
import threading
from dataclasses import dataclass

from cashcode_jupyter.i18n import _
from cashcode_jupyter.memory import metadata
from cashcode_jupyter.memory.recall_hits import Hit, Place, Redact, show
from cashcode_jupyter.memory.recall_index import FORGOTTEN
from cashcode_jupyter.memory.recall_sources import MAX_ENTRIES, Sources
from cashcode_jupyter.memory.tokens import query_tokens
from cashcode_jupyter.paths import Paths
from cashcode_jupyter.storage.atomic import storage_errors

MAX_LIMIT = 20
LIMIT = 5
MAX_QUERY = 1000
MAX_TERMS = 32
WAIT = 1.0


@dataclass(frozen=True)
class Found:
    """The hits, best first. `turns` are those that were searched; `complete` is false while more are being read.

    `dropped` counts the oldest turns that are searched no more because the index is full.
    """

    hits: tuple[Hit, ...]
    turns: int
    complete: bool
    dropped: int = 0

    def as_dict(self) -> dict[str, object]:
        """The JSON of `GET sessions/search`."""
        return {
            "hits": [hit.as_dict() for hit in self.hits],
            "turns": self.turns,
            "complete": self.complete,
            "dropped": self.dropped,
        }


class Recall:
    """The past of one data directory. One object a process and event loop; making it reads nothing."""

    def __init__(self, paths: Paths, redact: Redact, *, wait: float = WAIT, max_entries: int = MAX_ENTRIES) -> None:
        self._memory = paths.memory
        self._sources = Sources(paths.memory, paths.data / "cache" / "recall.index", max_entries=max_entries)
        self._redact = redact
        self._wait = wait
        self._stop = threading.Event()
        self._catching: asyncio.Task[None] | None = None

    async def search(self, query: str, *, limit: int = LIMIT, exclude: str | None = None) -> Found:
        """The best `limit` (1 to 20) turns; copies of one turn in branches count once.

        Turns of the chat `exclude`, and copies of them, are left out. Raises `StorageError`, `ReadOnly`.
        """
        tokens = query_tokens(query[:MAX_QUERY])[:MAX_TERMS]
        complete = await self._caught_up()
        return await asyncio.to_thread(self._search, tokens, min(max(limit, 1), MAX_LIMIT), exclude, complete)

    async def aclose(self) -> None:
        """End what runs in the background and keep the index for the next start."""
        self._stop.set()
        if self._catching is not None:
            await asyncio.wait([self._catching])
        await asyncio.to_thread(self._sources.close)

    async def _caught_up(self) -> bool:
        """Whether all that was on the disk when this was called is in the index."""
        try:
            async with asyncio.timeout(self._wait):
                # One that began earlier may have passed the chat that was written since.
                if self._catching is not None and not self._catching.done():
                    await asyncio.wait([self._catching])
                if self._catching is None or self._catching.done():
                    self._catching = asyncio.create_task(asyncio.to_thread(self._catch_up), name="cashcode: recall")
                await asyncio.shield(self._catching)
        except TimeoutError:
            return False
        return True

    def _catch_up(self) -> None:
        with storage_errors(_("the chats")):
            self._sources.catch_up(self._stop.is_set)

    def _search(self, tokens: list[str], limit: int, exclude: str | None, complete: bool) -> Found:
        stored = self._sources.stored
        index, sources = stored.index, stored.sources
        left_out = {
            index.mark[number]
            for chat, source in enumerate(sources if exclude else ())
            if source and source.chat_id == exclude
            for number in index.of_chat(chat)
        }
        weights = {token: weight for token in tokens if (weight := index.idf(token))}
        hits: list[Hit] = []
        for score, number in index.search(tokens, most=limit * 8 + 64):
            turn = index.turn(number)
            source = sources[turn.chat] if turn.chat != FORGOTTEN else None
            if source is None or turn.mark in left_out:
                continue
            left_out.add(turn.mark)
            before, after = (index.turn(other) if other is not None else None for other in index.beside(number))
            folder = self._memory / source.chat_id
            try:
                title = metadata.title_of(metadata.read(folder))
                place = Place(source.chat_id, folder / metadata.HISTORY, turn, before, after)
                hit = show(place, title, score, weights, self._redact)
            except OSError:
                continue  # deleted this moment; the next catching up sees it
            if hit is None:
                self._sources.doubt(turn.chat)
                continue
            hits.append(hit)
            if len(hits) == limit:
                break
        return Found(tuple(hits), index.live, complete, stored.dropped)
