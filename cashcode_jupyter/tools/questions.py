"""The open questions of this process and the answers that come in from the doors.

Rule: a question is answered once. What comes late, twice or for another chat changes nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from cashcode_jupyter.tools.approval import ApprovalAnswer, ApprovalAsk, Scope, Verdict


class Questions:
    """An `Approver` that puts a question to everyone who watches the chat and waits for the first answer.

    `asked` and `resolved` are called on the event loop and are quick (they publish an event).
    """

    def __init__(
        self, asked: Callable[[ApprovalAsk], None], resolved: Callable[[ApprovalAsk, ApprovalAnswer], None]
    ) -> None:
        self._asked = asked
        self._resolved = resolved
        self._open: dict[tuple[str, str], tuple[ApprovalAsk, asyncio.Future[ApprovalAnswer]]] = {}

    async def ask(self, request: ApprovalAsk) -> ApprovalAnswer:
        key = (request.chat_id, request.call_id)
        if key in self._open:
            # An answer names only the call, so two open questions with one id could not be told apart.
            return ApprovalAnswer("deny", reason="cancelled")
        future: asyncio.Future[ApprovalAnswer] = asyncio.get_running_loop().create_future()
        self._open[key] = (request, future)
        answer = ApprovalAnswer("deny", reason="cancelled")
        try:
            self._asked(request)
            async with asyncio.timeout(request.timeout):
                answer = await future
        except TimeoutError:
            answer = ApprovalAnswer("deny", reason="timeout")
        finally:
            del self._open[key]
            self._resolved(request, answer)
        return answer

    def answer(self, chat_id: str, call_id: str, decision: Verdict, scope: Scope = "once") -> bool:
        """Give the answer to an open question; False when nothing (any more) waits for it."""
        _, future = self._open.get((chat_id, call_id), (None, None))
        if future is None or future.done():
            return False
        future.set_result(ApprovalAnswer(decision, scope))
        return True

    def open(self, chat_id: str) -> list[ApprovalAsk]:
        """The questions a chat waits on, for a door that attaches later."""
        return [
            request for request, future in self._open.values() if request.chat_id == chat_id and not future.done()
        ]
