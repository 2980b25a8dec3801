"""Scripts that measure inside a page, put there before the page's own scripts run."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Page

# The bars are for a quiet machine; one that shares its cores with other work may be this many times slower.
SLACK = float(os.environ.get("CASHCODE_BROWSER_SLACK", "4" if os.environ.get("CI") else "2"))

# `probe.frames`: when each message arrived on our socket, before the panel hears it. `probe.changes`: when a part
# of the panel changed, and the first frame after that. `probe.gaps`: the time between two frames, while counting.
SCRIPT = """(() => {
  const probe = { frames: [], bytes: 0, changes: [], gaps: [], counting: false, sockets: [] };
  window.probe = probe;
  const Plain = window.WebSocket;
  window.WebSocket = class extends Plain {
    constructor(url, protocols) {
      super(url, protocols);
      if (String(url).includes('/cashcode/ws')) {
        probe.sockets.push(this);
        this.addEventListener('message', event => {
          probe.bytes += new Blob([event.data]).size;
          probe.frames.push({ at: performance.now(), event: JSON.parse(event.data).event });
        });
      }
    }
  };
  let last = performance.now();
  const tick = now => {
    if (probe.counting) {
      probe.gaps.push(now - last);
    }
    last = now;
    requestAnimationFrame(tick);
  };
  requestAnimationFrame(tick);
  probe.count = () => {
    probe.gaps = [];
    probe.counting = true;
  };
  probe.follow = node => {
    new MutationObserver(() => {
      const changed = performance.now();
      requestAnimationFrame(() => probe.changes.push({ changed, painted: performance.now() }));
    }).observe(node, { childList: true, characterData: true, subtree: true });
  };
  // The time from the next click to the first frame in which `selector` is there.
  probe.fromClickTo = selector => {
    probe.opened = new Promise(done => {
      addEventListener('click', () => {
        performance.mark('cc-click');
        const look = () => {
          if (document.querySelector(selector)) {
            requestAnimationFrame(() => {
              performance.mark('cc-shown');
              done(performance.measure('cc-open', 'cc-click', 'cc-shown').duration);
            });
          } else {
            requestAnimationFrame(look);
          }
        };
        look();
      }, { capture: true, once: true });
    });
  };
})()"""


@dataclass(frozen=True)
class Figures:
    """Milliseconds."""

    values: list[float]

    def at(self, share: float) -> float:
        ordered = sorted(self.values)
        return ordered[min(int(len(ordered) * share), len(ordered) - 1)]

    @property
    def worst(self) -> float:
        return max(self.values)

    def __str__(self) -> str:
        return (
            f"median {self.at(0.5):.0f} ms, 95 % {self.at(0.95):.0f} ms, worst {self.worst:.0f} ms "
            f"({len(self.values)} values)"
        )


def gaps(page: Page) -> Figures:
    """Between the frames since `probe.count()`."""
    return Figures(page.evaluate("probe.counting = false, probe.gaps"))


def delays(page: Page) -> Figures:
    """From each delta's arrival to the first frame that shows a change made after it."""
    return Figures(
        page.evaluate(
            """() => probe.frames.filter(frame => frame.event === 'delta').flatMap(frame => {
              const shown = probe.changes.find(change => change.changed >= frame.at);
              return shown ? [shown.painted - frame.at] : [];
            })"""
        )
    )
