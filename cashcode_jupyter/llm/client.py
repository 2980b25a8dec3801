"""`Models`: the face of the model layer. One a process: it lends clients, learns the servers' rules, retries.

One rule: what a chat asked for is what answers. No model takes another's place by itself.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from cashcode_jupyter import logs
from cashcode_jupyter.config import Settings
from cashcode_jupyter.i18n import _
from cashcode_jupyter.llm.accumulate import Accumulator
from cashcode_jupyter.llm.catalogue import Catalogue, Starter
from cashcode_jupyter.llm.completion import Completion, ToolCallDraft
from cashcode_jupyter.llm.discovery import ollama_facts
from cashcode_jupyter.llm.endpoints import Endpoints
from cashcode_jupyter.llm.errors import ContextOverflow, no_such_model
from cashcode_jupyter.llm.failures import endpoint_errors, refusal_of
from cashcode_jupyter.llm.knowledge import Knowledge, Place
from cashcode_jupyter.llm.profiles import Profile, learn
from cashcode_jupyter.llm.request_body import ModelRequest, encode
from cashcode_jupyter.llm.retry import wait_before, worth_retrying
from cashcode_jupyter.llm.settings import Endpoint, LlmStore
from cashcode_jupyter.llm.stream import Patience, stream_once
from cashcode_jupyter.llm.vision import cannot_see
from cashcode_jupyter.protocol.errors import LlmError, LlmModelNotFound, LlmNotConfigured
from cashcode_jupyter.protocol.events import ModelChoice

if TYPE_CHECKING:
    from cashcode_jupyter.llm.endpoints import ModelClient

__all__ = ["Completion", "ModelRequest", "Models", "Starter", "ToolCallDraft"]

MOST_LESSONS = 8
FACTS_TIMEOUT = 5.0
LOG = logs.log("llm")

OnRetry = Callable[[LlmError, int, float], None]


class Models:
    """Streams answers, finds and tests models. `aclose` ends the connections that no turn uses any more."""

    def __init__(self, store: LlmStore, settings: Settings, starter: Starter) -> None:
        self._store = store
        self._settings = settings
        self._starter = starter
        self._patience = Patience(settings.first_token_timeout, settings.idle_timeout)
        self._endpoints = Endpoints(connect_timeout=settings.connect_timeout)
        self._known = Knowledge()
        self._catalogue = Catalogue(store, starter, self._endpoints, self._known)
        self._running: set[Place] = set()  # models that answered, so Ollama has them loaded
        self._asked: dict[Place, bool] = {}  # whether the model was running when Ollama was asked about it

    def choose(self, wanted: ModelChoice | None, last: ModelChoice | None) -> ModelChoice:
        """What is wanted, else what answered last, else the default, else the local model.

        `LlmNotConfigured` names the ways when there is none, or when the chosen provider has no address.
        """
        choice = wanted or last or self._store.default
        if choice and choice.provider != "starter":
            self._store.endpoint(choice.provider)
            return choice
        local = self._starter.registered()
        if local:
            return choice or ModelChoice(provider="starter", model=local.model)
        if choice:
            raise LlmNotConfigured(_("There is no local model. Get one with: cashcode starter"))
        raise _not_configured(has_address=bool(self._store.ready()))

    def profile(self, choice: ModelChoice) -> Profile:
        """What the model's server is known to accept by now."""
        return self._known.profile(self._place(choice))

    async def context_window(self, choice: ModelChoice) -> int | None:
        """Tokens that the model takes, None when nobody says. Asks Ollama; for others what is known by now."""
        if choice.provider == "starter":
            return self._starter.n_ctx
        place = self._place(choice)
        known = self._known.profile(place).context_window
        running = place in self._running
        if choice.provider != "ollama" or (place in self._asked and self._asked[place] >= running):
            return known
        try:
            async with self._client(choice) as client, asyncio.timeout(FACTS_TIMEOUT):
                facts = await ollama_facts(client, choice.model)
        except (LlmError, TimeoutError):
            return known
        # Before the model runs Ollama tells only what it could take; what it does take is asked once it runs.
        self._asked[place] = running or facts.loaded
        profile = replace(self._known.profile(place), context_window=facts.context_window or known)
        if facts.tools is False:
            profile = replace(profile, tools=False)
        if facts.vision is not None and profile.vision is None:
            profile = replace(profile, vision=facts.vision)
        self._known.learn(place, profile)
        return profile.context_window

    async def stream(
        self,
        request: ModelRequest,
        *,
        on_text: Callable[[str], None],
        on_reasoning: Callable[[str], None],
        on_retry: OnRetry,
    ) -> Completion:
        """One answer. The callbacks are called while it comes, and must not block.

        A failure before anything was shown is tried again up to `max_retries` times, `on_retry(error, attempt,
        delay)` before each wait, also when pictures were refused and it is tried without them at once; then,
        or after something was shown, the `LlmError` is raised. Cancelling closes the connection.
        """
        place = self._place(request.choice)
        attempt = lessons = 0
        began = time.monotonic()
        while True:
            profile = self._known.profile(place)
            answer = Accumulator(
                on_text,
                on_reasoning,
                tool_names=request.tool_names() if profile.textual_tool_calls and profile.tools else (),
                assume_thinking=profile.opens_thinking,
            )
            body, sent = encode(request, profile)
            try:
                async with self._client(request.choice, answered=lambda answer=answer: answer.started) as client:
                    completion = await stream_once(client, body, answer, self._patience)
            except LlmError as failure:
                if lessons < MOST_LESSONS and self._learned(place, profile, sent, failure):
                    lessons += 1
                    if self._known.profile(place).vision is False and profile.vision is not False:
                        on_retry(cannot_see(place.model), attempt + 1, 0.0)
                    continue
                error = await self._explained(place, failure)
            except asyncio.CancelledError:
                _show_held(answer)
                raise
            else:
                self._answered(place, answer)
                logs.event(LOG, logging.INFO, "llm.answered", **_facts(completion, place, began, attempt))
                return completion
            if answer.visible or attempt >= self._settings.max_retries or not worth_retrying(error):
                _show_held(answer)
                logs.event(LOG, logging.WARNING, "llm.failed", code=error.code, retries=attempt)
                raise error
            attempt += 1
            delay = wait_before(attempt, error)
            logs.event(LOG, logging.INFO, "llm.retry", code=error.code, attempt=attempt, delay_sec=round(delay, 3))
            on_retry(error, attempt, delay)
            await asyncio.sleep(delay)

    async def discover(self) -> dict[str, Any]:
        """The body of `GET settings/llm/models`; a provider that fails has its sentence in `error`."""
        return await self._catalogue.discover()

    async def test(self, body: Any) -> dict[str, Any]:
        """The body of `POST settings/llm/test`. Stores nothing; a failure is an `LlmError` with status 400."""
        return await self._catalogue.test(body, connect_timeout=self._settings.connect_timeout)

    async def aclose(self) -> None:
        """Close the connections; those of running turns close when they end."""
        await self._endpoints.aclose()

    def _place(self, choice: ModelChoice) -> Place:
        url = "" if choice.provider == "starter" else self._store.endpoint(choice.provider).base_url
        return Place(choice.provider, url, choice.model)

    @asynccontextmanager
    async def _client(
        self, choice: ModelChoice, answered: Callable[[], bool] = lambda: False
    ) -> AsyncIterator[ModelClient]:
        if choice.provider == "starter":
            endpoint = Endpoint(await self._starter.endpoint(), self._starter.api_key)
        else:
            endpoint = self._store.endpoint(choice.provider)
        async with self._endpoints.lease(choice.provider, endpoint) as client:
            with endpoint_errors(endpoint, answered=answered):
                yield client

    def _learned(self, place: Place, profile: Profile, sent: frozenset[str], failure: LlmError) -> bool:
        """Whether the refusal taught a rule, so that the request is worth sending again under it."""
        if isinstance(failure, ContextOverflow):
            if failure.window:
                self._known.learn(place, replace(self._known.profile(place), context_window=failure.window))
            return False
        refusal = refusal_of(failure)
        lesson = learn(profile, sent, *refusal) if refusal else None
        if lesson:
            self._known.learn(place, lesson)
            logs.event(LOG, logging.INFO, "llm.rule_learned", provider=place.provider, code=failure.code)
        return lesson is not None

    async def _explained(self, place: Place, error: LlmError) -> LlmError:
        """A missing model is explained with the names that the server has."""
        if isinstance(error, LlmModelNotFound):
            return no_such_model(place.model, await self._catalogue.names(place))
        return error

    def _answered(self, place: Place, answer: Accumulator) -> None:
        if answer.think.lone_close != answer.think.never_closed:
            opens = answer.think.lone_close
            self._known.learn(place, replace(self._known.profile(place), opens_thinking=opens))
        self._running.add(place)


def _show_held(answer: Accumulator) -> None:
    if answer.visible:
        answer.release()


def _facts(completion: Completion, place: Place, began: float, retries: int) -> dict[str, Any]:
    return {
        "provider": place.provider,
        "finish_reason": completion.finish_reason,
        "duration_sec": round(time.monotonic() - began, 3),
        "prompt_tokens": completion.prompt_tokens,
        "completion_tokens": completion.completion_tokens,
        "tool_calls": len(completion.tool_calls),
        "retries": retries,
    }


def _not_configured(*, has_address: bool) -> LlmNotConfigured:
    if has_address:
        return LlmNotConfigured(_("No model is chosen. Choose one in the settings or name one, PROVIDER:MODEL."))
    return LlmNotConfigured(
        _(
            "No model is configured. In a terminal, `cashcode connect ollama` or `cashcode connect URL` connects "
            "one, and `cashcode starter` gets a tiny local one."
        )
    )
