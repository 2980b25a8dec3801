"""What was learned about models while the process runs: their rules, their context, the names a server has.

One rule: it belongs to an address and a model, so a changed address starts anew. Nothing here is stored.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from cashcode_jupyter.llm.discovery import FoundModel
from cashcode_jupyter.llm.profiles import Profile, first_guess
from cashcode_jupyter.protocol.events import Provider


@dataclass(frozen=True)
class Place:
    """One model at one address; the starter, whose port changes, has an empty one."""

    provider: Provider
    url: str
    model: str


class Knowledge:
    def __init__(self) -> None:
        self._profiles: dict[Place, Profile] = {}
        self._windows: dict[Place, int] = {}
        self._vision: dict[Place, bool] = {}
        self._names: dict[tuple[Provider, str], tuple[str, ...]] = {}

    def profile(self, place: Place) -> Profile:
        """The rules of a model, with its context window and whether it sees when that is known."""
        profile = self._profiles.get(place) or first_guess(place.provider, place.url, place.model)
        if profile.context_window is None and (window := self._windows.get(place)):
            profile = replace(profile, context_window=window)
        if profile.vision is None and (sees := self._vision.get(place)) is not None:
            profile = replace(profile, vision=sees)
        return profile

    def learn(self, place: Place, profile: Profile) -> None:
        self._profiles[place] = profile

    def found(self, provider: Provider, url: str, models: Iterable[FoundModel]) -> None:
        """Remember a server's list of models."""
        models = list(models)
        self._names[provider, url] = tuple(model.id for model in models)
        for model in models:
            if model.context_window:
                self._windows[Place(provider, url, model.id)] = model.context_window
            if model.vision is not None:
                self._vision[Place(provider, url, model.id)] = model.vision

    def names(self, place: Place) -> tuple[str, ...]:
        return self._names.get((place.provider, place.url), ())
