"""Two servers on one data directory: both work, and the second one says so."""

from __future__ import annotations

from cashcode_jupyter.app import CashCode
from cashcode_jupyter.config import Settings
from cashcode_jupyter.testing.fixtures import CashcodeHome


async def started() -> CashCode:
    core = CashCode(Settings.load(), console=False, resident=True)
    await core.start()
    return core


async def test_the_second_server_on_a_data_directory_knows_that_it_is_not_alone(cashcode_home: CashcodeHome):
    first = await started()
    second = await started()
    assert (first.shares_data_dir, second.shares_data_dir) == (False, True)
    await second.stop()
    await first.stop()


async def test_after_the_first_has_ended_the_next_one_is_alone(cashcode_home: CashcodeHome):
    await (await started()).stop()
    second = await started()
    assert not second.shares_data_dir
    await second.stop()
