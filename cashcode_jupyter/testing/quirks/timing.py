"""When bytes come, or do not. These are acted on where the answer is written (`completions.py`)."""

from __future__ import annotations

from cashcode_jupyter.testing.quirks.registry import add

add("silent", "the request is accepted and never answered")
add("silent_stream", "the head of the answer comes at once, an event never")
add("keepalive_only", "the head comes, then `: keep-alive` every delay_ms (100) without an end")
add("slow_first", "the first byte waits 1000 ms (or first_ms)")
add("stall", "after `after` events nothing comes any more, and the connection stays open")
add("cut", "after `after` events the connection breaks (as fault=disconnect)")
add("cut_clean", "after `after` events the body ends cleanly (as fault=truncate)")
add("closed", "the connection is closed without an answer")
