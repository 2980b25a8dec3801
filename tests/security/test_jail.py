from __future__ import annotations

import os
import socket
import threading
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cashcode_jupyter.protocol.errors import CashCodeError
from cashcode_jupyter.security.beneath import HAS_OPENAT
from cashcode_jupyter.security.jail import Jail, NoSuchPath, OutsideWorkspace

WAYS = [pytest.param(False, id="real path")]
if HAS_OPENAT:
    WAYS.append(pytest.param(True, id="openat"))
pytestmark = pytest.mark.skipif(os.name == "nt", reason="links need rights there")


@pytest.fixture(params=WAYS)
def openat(request: pytest.FixtureRequest) -> bool:
    return request.param


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """`ws` with a file in a folder; `secret.txt` beside it."""
    build(tmp_path)
    return tmp_path


def build(folder: Path) -> None:
    (folder / "ws" / "data" / "deep").mkdir(parents=True)
    (folder / "ws" / "data" / "in.txt").write_text("inside")
    (folder / "secret.txt").write_text("SECRET")
    (folder / "other").mkdir()
    (folder / "other" / "in.txt").write_text("SECRET")


def read(jail: Jail, path: str) -> str:
    with jail.open(path) as file:
        return file.read().decode()


@pytest.mark.parametrize(
    "path", ["data/in.txt", "./data//in.txt", "data/deep/../in.txt", "data/./in.txt", "ABSOLUTE/data/in.txt"]
)
def test_a_path_inside_is_read(place: Path, openat: bool, path: str) -> None:
    assert read(Jail(place / "ws", openat=openat), path.replace("ABSOLUTE", str(place / "ws"))) == "inside"


@pytest.mark.parametrize(
    "path",
    [
        *("../secret.txt", "data/../../secret.txt", "/etc/passwd", "data/deep/../../../secret.txt"),
        *(
            "ROOT/secret.txt",
            "ROOT/ws/../secret.txt",
            "/proc/self/root/etc/passwd",
            "ROOT/ws-other",
            "//etc/passwd",
        ),
        *("..", "ROOT", "/", "data/nothing/../../../secret.txt"),
    ],
)
def test_a_path_outside_is_refused(place: Path, openat: bool, path: str) -> None:
    jail = Jail(place / "ws", openat=openat)
    for use in (jail.open, jail.entries, jail.resolve, jail.kind):
        with pytest.raises((OutsideWorkspace, NoSuchPath)):
            use(path.replace("ROOT", str(place)))


@pytest.mark.parametrize(
    "target", ["../secret.txt", "../other", "ROOT/secret.txt", "ROOT/other", "/proc/self/root"]
)
@pytest.mark.parametrize("chain", [1, 3])
def test_a_link_that_leads_out_is_refused(place: Path, openat: bool, target: str, chain: int) -> None:
    link = place / "ws" / "link"
    for number in range(1, chain):
        (place / "ws" / f"link{number}").symlink_to("link" if number == 1 else f"link{number - 1}")
    link.symlink_to(target.replace("ROOT", str(place)))
    jail = Jail(place / "ws", openat=openat)
    last = "link" if chain == 1 else f"link{chain - 1}"
    for path in (last, f"{last}/in.txt"):
        with pytest.raises(CashCodeError):
            jail.open(path)
    with pytest.raises(CashCodeError):
        jail.entries(last)


@pytest.mark.parametrize("target", ["data", "ROOT/ws/data", "data/deep/..", "data/deep/../../data"])
def test_a_link_that_stays_inside_is_followed(place: Path, openat: bool, target: str) -> None:
    (place / "ws" / "link").symlink_to(target.replace("ROOT", str(place)))
    jail = Jail(place / "ws", openat=openat)
    assert read(jail, "link/in.txt") == "inside"
    assert [entry.path for entry in jail.entries("link")] == ["data/deep", "data/in.txt"]


def test_a_loop_of_links_ends(place: Path, openat: bool) -> None:
    (place / "ws" / "a").symlink_to("b")
    (place / "ws" / "b").symlink_to("a")
    with pytest.raises(CashCodeError):
        Jail(place / "ws", openat=openat).open("a")


def test_a_root_that_is_a_link_itself_works(place: Path, openat: bool) -> None:
    (place / "alias").symlink_to("ws")
    jail = Jail(place / "alias", openat=openat)
    assert read(jail, "data/in.txt") == read(jail, str(place / "alias/data/in.txt")) == "inside"


def test_a_walk_names_links_but_never_enters_them(place: Path, openat: bool) -> None:
    (place / "ws" / "out").symlink_to(place / "other")
    (place / "ws" / "self").symlink_to(".")
    paths = [(entry.path, entry.kind) for entry in Jail(place / "ws", openat=openat).walk()]
    folders, links = [("data", "folder"), ("data/deep", "folder")], [("out", "link"), ("self", "link")]
    assert paths == [*folders, ("data/in.txt", "file"), *links]


def test_pipes_sockets_and_devices_are_refused_without_waiting(place: Path, openat: bool) -> None:
    os.mkfifo(place / "ws" / "pipe")
    with socket.socket(socket.AF_UNIX) as server:
        folder = os.open(place / "ws", os.O_RDONLY)
        try:
            server.bind(f"/proc/self/fd/{folder}/socket")
        finally:
            os.close(folder)
        jail = Jail(place / "ws", openat=openat)
        for name in ("pipe", "socket"):
            with pytest.raises(OutsideWorkspace, match="no regular file"):
                jail.open(name)
    with pytest.raises(OutsideWorkspace, match="no regular file"):
        Jail(Path("/dev"), openat=openat).open("zero")


@pytest.mark.parametrize(
    "path", ["data/in.txt\0", "\0", "\ud800", "x" * 300, "x/" * 3000, "data/in.txt/more", "nope"]
)
def test_a_name_that_cannot_be_is_said_in_words(place: Path, openat: bool, path: str) -> None:
    with pytest.raises(NoSuchPath) as raised:
        Jail(place / "ws", openat=openat).open(path)
    assert str(place) not in raised.value.detail


@pytest.mark.parametrize(
    "path", ["．．/secret.txt", "․․/secret.txt", "..⁄secret.txt", "%2e%2e/secret.txt", "..\\secret.txt"]
)
def test_look_alikes_of_dots_and_slashes_are_ordinary_names(place: Path, openat: bool, path: str) -> None:
    with pytest.raises(NoSuchPath):
        Jail(place / "ws", openat=openat).open(path)


@given(
    st.lists(
        st.sampled_from(["..", ".", "", "data", "deep", "in.txt", "l", "m", "n", "secret.txt", "ws"]), max_size=8
    )
)
@settings(max_examples=200, deadline=None)
def test_no_path_over_links_and_dots_reads_what_is_outside(tmp_path_factory, names: list[str]) -> None:
    place = tmp_path_factory.getbasetemp() / "walks"
    if not place.exists():
        build(place)
        (place / "ws" / "l").symlink_to("data/deep")
        (place / "ws" / "data" / "m").symlink_to("../..")
        (place / "ws" / "data" / "deep" / "n").symlink_to(place)
    for path in ("/".join(names), "/".join([str(place / "ws"), *names])):
        for openat in {False, HAS_OPENAT}:
            try:
                assert read(Jail(place / "ws", openat=openat), path) == "inside"
            except CashCodeError as error:
                assert "SECRET" not in error.detail


@pytest.mark.parametrize("what", ["file", "folder"])
def test_a_link_swapped_in_while_files_are_opened_never_leads_out(place: Path, openat: bool, what: str) -> None:
    """A second thread keeps replacing the file (or its folder) by a link to the secret one."""
    victim = place / "ws" / "data" / "in.txt" if what == "file" else place / "ws" / "data"
    aside, evil = place / "aside", place / "evil"
    target = place / "other" / "in.txt" if what == "file" else place / "other"
    stop = threading.Event()

    def swap() -> None:
        while not stop.is_set():
            evil.symlink_to(target)
            victim.rename(aside)
            evil.rename(victim)
            victim.unlink()
            aside.rename(victim)

    thread = threading.Thread(target=swap)
    thread.start()
    seen: set[str] = set()
    try:
        for _ in range(1500):
            try:
                seen.add(read(Jail(place / "ws", openat=openat), "data/in.txt"))
            except CashCodeError:
                continue
    finally:
        stop.set()
        thread.join()
    assert seen <= {"inside"}


@pytest.mark.parametrize("back", [False, True], ids=["for good", "and back"])
@pytest.mark.parametrize("what", ["file", "folder"])
def test_a_link_swapped_in_right_between_check_and_open_is_not_followed(
    place: Path, openat: bool, what: str, back: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    victim = place / "ws" / "data" / "in.txt" if what == "file" else place / "ws" / "data"
    target = place / "other" / "in.txt" if what == "file" else place / "other"
    real_open = os.open

    def swapping_open(path: str, flags: int, *args: int, **options: int) -> int:
        if Path(path).name != ("in.txt" if what == "file" or not openat else "data"):
            return real_open(path, flags, *args, **options)
        victim.rename(place / "aside")
        victim.symlink_to(target)
        try:
            return real_open(path, flags, *args, **options)
        finally:
            if back:
                victim.unlink()
                (place / "aside").rename(victim)

    jail = Jail(place / "ws", openat=openat)
    monkeypatch.setattr(os, "open", swapping_open)
    with pytest.raises(CashCodeError):
        jail.open("data/in.txt")


def test_a_missing_name_resolves_when_asked_for(place: Path, openat: bool) -> None:
    jail = Jail(place / "ws", openat=openat)
    assert jail.resolve("data/new/file.txt", must_exist=False) == place / "ws" / "data" / "new" / "file.txt"
    with pytest.raises(NoSuchPath):
        jail.resolve("data/new/file.txt")
    with pytest.raises(OutsideWorkspace):
        jail.resolve("new/../../file.txt", must_exist=False)


def test_an_extra_folder_is_reached_by_its_absolute_path(place: Path, openat: bool) -> None:
    jail = Jail(place / "ws", [place / "other"], openat=openat)
    assert read(jail, str(place / "other" / "in.txt")) == "SECRET"
    assert [entry.path for entry in jail.walk(str(place / "other"))] == [str(place / "other" / "in.txt")]


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="counts descriptors there")
def test_no_descriptor_is_left_open(place: Path, openat: bool) -> None:
    (place / "ws" / "out").symlink_to("../other")
    jail = Jail(place / "ws", openat=openat)
    before = {fd.name for fd in Path("/proc/self/fd").iterdir()}
    for path in ("data/in.txt", "out/in.txt", "data/deep/../../..", "nope", "data"):
        try:
            read(jail, path)
        except CashCodeError:
            continue
    list(jail.walk())
    # Fewer is no fault: what earlier tests left to the garbage collector may be closed meanwhile.
    assert {fd.name for fd in Path("/proc/self/fd").iterdir()} <= before
