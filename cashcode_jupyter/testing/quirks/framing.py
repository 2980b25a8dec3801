"""The same events in other bytes: line ends, missing spaces and blank lines, an end without its line end."""

from __future__ import annotations

from cashcode_jupyter.testing.quirks.registry import add


def _joined(frames: list[bytes]) -> list[bytes]:
    """Two events become two `data:` lines of one: the blank line between them is missing."""
    joined: list[bytes] = []
    for number, frame in enumerate(frames):
        if number % 2 and frame.startswith(b"data:") and joined[-1].startswith(b"data:"):
            joined[-1] = joined[-1].removesuffix(b"\n") + frame
        else:
            joined.append(frame)
    return joined


def _multiline(frames: list[bytes]) -> list[bytes]:
    """Legal, and rare: one event over several `data:` lines, cut where JSON allows a line end."""
    return [
        frame.replace(b'"choices":', b'\ndata: "choices":', 1) if frame.startswith(b"data: {") else frame
        for frame in frames
    ]


def _unterminated(frames: list[bytes]) -> list[bytes]:
    return [*frames[:-1], frames[-1].rstrip(b"\n")] if frames else frames


def _marked(frames: list[bytes]) -> list[bytes]:
    return [b"\xef\xbb\xbf" + frames[0], *frames[1:]] if frames else frames


add("crlf", "lines end with CR LF", frames=lambda frames: [frame.replace(b"\n", b"\r\n") for frame in frames])
add("cr", "lines end with CR alone", frames=lambda frames: [frame.replace(b"\n", b"\r") for frame in frames])
add(
    "no_space",
    "`data:` without a space after it",
    frames=lambda frames: [frame.replace(b"data: ", b"data:", 1) for frame in frames],
)
add(
    "bytewise",
    "every byte is a chunk of its own, so that UTF-8 and line ends are cut",
    frames=lambda frames: [bytes((byte,)) for byte in b"".join(frames)],
)
add("one_write", "the whole stream comes in one write", frames=lambda frames: [b"".join(frames)] if frames else [])
add("joined_data", "two data lines without the blank line between them", frames=_joined)
add("multiline_data", "one event over two data lines, as the SSE standard allows", frames=_multiline)
add("unterminated", "the last line has no line end; add no_done to meet the finish event", frames=_unterminated)
add("bom", "a byte order mark before the first event", frames=_marked)
