from __future__ import annotations

import json
import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from cashcode_jupyter import logs
from cashcode_jupyter.config import Settings
from cashcode_jupyter.protocol.errors import StorageError


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(data_dir=tmp_path)


@dataclass
class OpenLog:
    """The log of a test; reading it closes it first, so that every line is there."""

    path: Path
    close: Callable[[], None]

    def text(self) -> str:
        self.close()
        return self.path.read_text("utf-8")

    def lines(self) -> list[dict]:
        return [json.loads(line) for line in self.text().splitlines()]


@pytest.fixture
def opened(settings: Settings) -> OpenLog:
    close = logs.start(settings, lambda text: text.replace("hunter22", "***"), console=False)
    return OpenLog(settings.logs / logs.FILE_NAME, close)


def test_a_line_is_json_with_event_level_and_the_ids_of_where_it_happened(opened: OpenLog):
    with logs.ids(request_id="r", chat_id="c", turn_id="t"):
        logs.event(logs.log("x"), logging.INFO, "thing.happened", count=3)
    [line] = opened.lines()
    assert line["event"] == "thing.happened" and line["level"] == "INFO" and line["count"] == 3
    assert (line["request_id"], line["chat_id"], line["turn_id"]) == ("r", "c", "t")
    assert datetime.fromisoformat(line["ts"]).utcoffset() is not None


def test_an_exception_shows_its_type_and_frames_but_not_its_text(opened: OpenLog):
    try:
        raise ValueError("what the user wrote")
    except ValueError:
        logs.log("x").exception("thing.failed")
    [line] = opened.lines()
    assert line["exception"] == "ValueError" and "test_logs.py" in line["frames"][-1]
    assert "what the user wrote" not in opened.path.read_text("utf-8")


def test_secrets_are_taken_out_of_lines(opened: OpenLog):
    logs.event(logs.log("x"), logging.INFO, "thing", url="https://x/?key=hunter22")
    assert opened.lines()
    assert "hunter22" not in opened.path.read_text("utf-8")


def test_at_midnight_a_new_file_begins_and_old_ones_go(settings: Settings):
    settings.logs.mkdir(parents=True)
    handler = logs.DailyFile(settings.logs / logs.FILE_NAME, days=3)
    record = logging.makeLogRecord({"msg": "line"})
    for day in range(6):
        handler.emit(record)
        then = datetime.now() - timedelta(days=6 - day)
        handler.rolloverAt = int(then.replace(hour=0, minute=0, second=0, microsecond=0).timestamp()) + 86400
    handler.emit(record)
    handler.close()
    assert 2 <= len(list(settings.logs.iterdir())) <= 3


def test_a_file_that_another_process_rotated_is_opened_anew(settings: Settings):
    settings.logs.mkdir(parents=True)
    path = settings.logs / logs.FILE_NAME
    handler = logs.DailyFile(path, days=3)
    handler.emit(logging.makeLogRecord({"msg": "before"}))
    path.rename(path.with_suffix(".log.yesterday"))
    path.touch()
    handler.emit(logging.makeLogRecord({"msg": "after"}))
    handler.close()
    assert path.read_text("utf-8").strip() == "after"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_costs_lines_and_is_noted_when_there_is_room_again(
    settings: Settings, capfd: pytest.CaptureFixture[str]
):
    settings.logs.mkdir(parents=True)
    path = settings.logs / logs.FILE_NAME
    path.symlink_to("/dev/full")
    close = logs.start(settings, console=False)
    logs.event(logs.log("x"), logging.INFO, "lost")
    close()
    assert capfd.readouterr().err == ""
    handler = logs.DailyFile(path, days=3)
    handler.emit(logging.makeLogRecord({"msg": "lost"}))
    path.unlink()
    handler.emit(logging.makeLogRecord({"msg": "kept"}))
    handler.close()
    assert path.read_text("utf-8").split() == ["kept", "log.lines_late_or_lost"]


def test_a_log_folder_that_was_removed_costs_lines_until_it_is_back(settings: Settings):
    settings.logs.mkdir(parents=True)
    path = settings.logs / logs.FILE_NAME
    handler = logs.DailyFile(path, days=3)
    path.unlink()
    settings.logs.rmdir()
    handler.emit(logging.makeLogRecord({"msg": "lost"}))
    settings.logs.mkdir()
    handler.emit(logging.makeLogRecord({"msg": "kept"}))
    handler.close()
    assert path.read_text("utf-8").split()[0] == "kept"


def test_a_log_that_cannot_be_written_is_said_in_words(tmp_path: Path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match="CASHCODE_LOG_DIR"):
        logs.start(Settings(data_dir=tmp_path, log_dir=tmp_path / "file" / "logs"))


def test_closing_leaves_no_handler_behind(settings: Settings):
    before = list(logging.getLogger(logs.ROOT).handlers)
    logs.start(settings, console=True)()
    assert logging.getLogger(logs.ROOT).handlers == before
    assert [path.name for path in settings.logs.iterdir()] == [logs.FILE_NAME]
