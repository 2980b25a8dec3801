"""The child process of `matching.Matcher`: reads texts, answers with the lines that match. Standard library only.

Frames on both pipes are a 4-byte big-endian length and that many bytes. First comes the pattern, then texts; an
empty answer to the pattern means that it compiled. Runs with `-I -S`, so it starts in milliseconds.
"""

import json
import re
import struct
import sys

MAX_MEMORY = 1 << 30
MAX_CPU_SECONDS = 300
MAX_LINE_SHOWN = 300


def bound_resources() -> None:
    try:
        import resource
    except ImportError:
        return
    for kind, limit in ((resource.RLIMIT_AS, MAX_MEMORY), (resource.RLIMIT_CPU, MAX_CPU_SECONDS)):
        resource.setrlimit(kind, (limit, limit))


def read_frame() -> bytes | None:
    head = sys.stdin.buffer.read(4)
    return sys.stdin.buffer.read(struct.unpack(">I", head)[0]) if len(head) == 4 else None


def write_frame(data: bytes) -> None:
    sys.stdout.buffer.write(struct.pack(">I", len(data)) + data)
    sys.stdout.buffer.flush()


def around(line: str, start: int) -> str:
    """The part of a long line where the match is."""
    if len(line) <= MAX_LINE_SHOWN:
        return line
    begin = max(0, min(start - MAX_LINE_SHOWN // 3, len(line) - MAX_LINE_SHOWN))
    end = begin + MAX_LINE_SHOWN
    return ("…" if begin else "") + line[begin:end] + ("…" if end < len(line) else "")


def matches(pattern: "re.Pattern[str]", data: bytes, most: int) -> "tuple[list[tuple[int, str]], int]":
    """`(line index, shown line)` of up to `most` matching lines, and the number of line ends in `data`."""
    lines = data.decode("utf-8", "replace").removesuffix("\n").split("\n")
    found = []
    for index, line in enumerate(lines):
        line = line.rstrip("\r")
        if hit := pattern.search(line):
            found.append((index, around(line, hit.start())))
            if len(found) >= most:
                break
    return found, data.count(b"\n")


def main() -> None:
    bound_resources()
    most, text = json.loads(read_frame() or b'[0, ""]')
    try:
        pattern = re.compile(text)
    except (re.error, OverflowError, RecursionError, MemoryError) as error:
        write_frame(str(error).encode("utf-8", "replace") or b"it cannot be compiled")
        return
    write_frame(b"")
    while (data := read_frame()) is not None:
        write_frame(json.dumps(matches(pattern, data, most)).encode())


if __name__ == "__main__":
    main()
