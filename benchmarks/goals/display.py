"""An answer in a notebook cell: what goes from the kernel to the browser for it."""

from __future__ import annotations

from benchmarks.bench import Bench
from benchmarks.kernel import kernel
from benchmarks.rows import Row


async def display(bench: Bench) -> list[Row]:
    count = bench.pick(2_000, 600)
    with bench.server() as server:
        async with kernel(server) as shell:
            await shell.run("%load_ext cashcode_jupyter")
            await shell.run("%%cashcode\n[[mock:text,chunks=5]] warm")
            output = await shell.run(f"%%cashcode --new\n[[mock:text,chunks={count},delay_ms=5]] go")
    answer = "".join(f"{number:05d} " for number in range(count))
    if answer.strip() not in output.shown:
        raise RuntimeError(f"the cell does not show the answer: {output.shown[-200:]!r} {output.error!r}")
    how = f"{count:,} deltas of 6 characters at 200/s, {output.messages} messages in {output.seconds:.1f} s"
    return [
        Row("cell output, bytes / answer", f"{output.size:,} B", output.size / len(answer), 6.0, how),
        Row(
            "cell output, messages",
            f"{output.messages / output.seconds:.0f}/s",
            output.messages / output.seconds,
            100,
            "as the browser gets them through the server",
            unit="/s",
        ),
    ]
