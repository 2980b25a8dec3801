"""What a streamed answer costs on its way from a kernel to the browser."""

from __future__ import annotations

from benchmarks.kernel import kernel
from benchmarks.server import Server

DELTAS = 400
ANSWER = "".join(f"{number:05d} " for number in range(DELTAS))


async def test_a_cell_streams_its_answer_in_few_messages_and_about_its_own_bytes(server: Server):
    async with kernel(server) as shell:
        await shell.run("%load_ext cashcode_jupyter")
        await shell.run("%%cashcode\n[[mock:text,chunks=1]] warm")
        output = await shell.run(f"%%cashcode --new\n[[mock:text,chunks={DELTAS},delay_ms=5]] go")
    assert ANSWER.strip() in output.shown
    assert ANSWER.strip() in output.stdout
    assert output.size <= 6 * len(ANSWER)
    assert output.messages <= 100 * output.seconds
