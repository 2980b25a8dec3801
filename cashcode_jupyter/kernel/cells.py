"""The cell that runs, exactly as it was written, and the cells that ran before it.

IPython hands a cell magic a body that it may have changed (a final newline added, `>>>` prompts and indentation
removed), so the raw cell is kept when it starts to run.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cashcode_jupyter.kernel.variables import describe

if TYPE_CHECKING:
    from IPython.core.interactiveshell import ExecutionInfo, InteractiveShell

MAX_CELLS = 24
MAX_SOURCE, MAX_OUTPUT, MAX_TOTAL = 8_000, 2_000, 100_000
MAGIC = "%%cashcode"


@dataclass(frozen=True)
class Running:
    """The cell that runs now. `cell_id` is the front end's; clients that are no front end send none."""

    number: int = 0
    raw: str = ""
    cell_id: str | None = None


class Cells:
    """Watches a shell's cells start."""

    def __init__(self, shell: InteractiveShell) -> None:
        self._shell = shell
        self._cell_ids: dict[int, str] = {}
        self.running = Running()

    def start(self) -> None:
        self._shell.events.register("pre_run_cell", self._on_start)

    def stop(self) -> None:
        self._shell.events.unregister("pre_run_cell", self._on_start)

    def _on_start(self, info: ExecutionInfo) -> None:
        raw = info.raw_cell if isinstance(info.raw_cell, str) else ""
        # The cell gets the next place in the history; `execution_count` may be counted up already.
        number = len(self._sources()) if info.store_history else 0
        self.running = Running(number, raw, info.cell_id)
        if info.cell_id and number:
            self._cell_ids[number] = info.cell_id

    def exact_body(self, line: str, body: str) -> str:
        """`body` as it stands in the cell, if the running cell is this magic and nothing else."""
        lines = self.running.raw.splitlines(keepends=True)
        start = next((at for at, text in enumerate(lines) if text.strip()), 0)
        if not lines or not lines[start].lstrip().startswith(MAGIC):
            return body
        # A cell that reached us through other magics, or was changed by somebody's transformer, is not this call.
        call = f"get_ipython().run_cell_magic({MAGIC[2:]!r}, {line!r}, {body!r})\n"
        if self._shell.transform_cell(self.running.raw) != call:
            return body
        return "".join(lines[start + 1 :])

    def context(self, wanted: str) -> list[dict[str, str]]:
        """Context items of earlier cells with their results, oldest first.

        `above` takes the last run of each cell, `all` every run, a number the last so many of `above`. Our own
        cells are left out, the chat has them. At most 24 cells and 100,000 characters, the newest first to get in;
        what is left out is said in the first item.
        """
        if wanted == "none":
            return []
        numbers = self._earlier(every_run=wanted == "all")
        if wanted.isdigit():
            numbers = numbers[-int(wanted) :] if int(wanted) else []
        items: list[dict[str, str]] = []
        room = MAX_TOTAL
        for number in reversed(numbers[-MAX_CELLS:]):
            text = self._text(number)
            if len(text) > room:
                break
            room -= len(text)
            items.insert(0, {"kind": "cell", "label": f"In [{number}]", "text": text})
        if items and (left_out := len(numbers) - len(items)):
            items[0]["text"] = f"({left_out} earlier cells are left out.)\n" + items[0]["text"]
        return items

    def _sources(self) -> list[str]:
        return self._shell.history_manager.input_hist_raw if self._shell.history_manager else []

    def _earlier(self, *, every_run: bool) -> list[int]:
        sources = self._sources()
        now = self.running.number or len(sources)
        numbers = [
            number
            for number in range(1, min(len(sources), now))
            if sources[number].strip() and not sources[number].lstrip().startswith((MAGIC, MAGIC[1:]))
        ]
        if every_run:
            return numbers
        # The running cell counts as below its own earlier runs, which a rerun replaced.
        newest = {self._cell_ids.get(number, number): number for number in numbers}
        newest.pop(self.running.cell_id or 0, None)
        return sorted(newest.values())

    def _text(self, number: int) -> str:
        text = clip(self._sources()[number], MAX_SOURCE)
        outputs: dict[int, Any] = self._shell.user_ns.get("_oh") or {}
        if number in outputs:
            text += f"\n# Out [{number}]:\n{clip(self._output(number, outputs[number]), MAX_OUTPUT)}"
        return text

    def _output(self, number: int, value: Any) -> str:
        stored = getattr(self._shell.history_manager, "outputs", {}).get(number, ())
        for output in stored:
            shown = output.bundle.get("text/plain") if output.output_type == "execute_result" else None
            if shown:
                return shown if isinstance(shown, str) else "".join(shown)
        return describe(value)


def clip(text: str, limit: int) -> str:
    """`text`, or its beginning and end with a note of what is missing between them."""
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half]}\n… {len(text) - limit} characters left out …\n{text[-half:]}"
