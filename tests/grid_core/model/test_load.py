"""Sources, strictness, hostile input, locales, speed, and what importing costs."""

from __future__ import annotations

import io
import logging
import os
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grid_core.errors import ArgumentError, URDFParseError
from grid_core.model import Model, URDFWarning, load_model, xml_source

BODY = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
LIMIT = '<limit lower="-1" upper="1" velocity="1" effort="1"/>'


def chain(links: int) -> str:
    parts = [
        f'<link name="l{i}">{BODY}</link><joint name="j{i}" type="revolute"><parent link="l{i - 1}"/>'
        f'<child link="l{i}"/><origin xyz="0 0 1"/><axis xyz="0 1 0"/>{LIMIT}</joint>'
        for i in range(1, links + 1)
    ]
    return '<robot name="chain"><link name="l0"/>' + "\n".join(parts) + "</robot>"


def test_every_kind_of_source(tmp_path: Path) -> None:
    text = chain(2)
    path = tmp_path / "chain.urdf"
    path.write_text(text, encoding="utf-8")
    expected = load_model(text).to_json()
    sources = (path, str(path), text.encode(), f"\n  {text}", f"\ufeff{text}", f"<!-- first -->{text}")
    assert [load_model(source).to_json() for source in sources] == [expected] * len(sources)


def test_source_that_was_read_before(tmp_path: Path) -> None:
    path = tmp_path / "chain.urdf"
    path.write_text(chain(1), encoding="utf-8")
    source = xml_source.read_source(path)
    path.unlink()
    assert load_model(source).to_json() == load_model(chain(1)).to_json()


def test_text_with_an_encoding_declaration() -> None:
    declared = '<?xml version="1.0" encoding="ISO-8859-1"?><robot name="r"><link name="stütze"/></robot>'
    assert load_model(declared).frame("stütze").body == -1
    assert load_model(declared.encode("latin-1")).frame("stütze").body == -1


def test_missing_file_is_the_usual_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"no\.urdf: there is no such file") as raised:
        load_model(tmp_path / "no.urdf")
    assert isinstance(raised.value, URDFParseError)


def test_only_regular_files_are_read(tmp_path: Path) -> None:
    fifo, loop, link = (tmp_path / name for name in ("fifo.urdf", "loop.urdf", "link.urdf"))
    os.mkfifo(fifo)
    loop.symlink_to(loop)
    link.symlink_to(fifo)
    for path, problem in {
        tmp_path: "is a directory, expected a URDF file",
        fifo: "is a FIFO, expected a regular file",
        link: "is a FIFO, expected a regular file",
        Path("/dev/zero"): "is a device, expected a regular file",
        loop: "cannot be read: .*symbolic links",
        tmp_path / ("n" * 300): "cannot be read: .*too long",
    }.items():
        with pytest.raises(URDFParseError, match=f"{path.name[:20]}.*{problem}"):
            load_model(path)


def test_no_more_than_the_limit_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "grows.urdf"
    path.write_text(chain(1), encoding="utf-8")
    monkeypatch.setattr(xml_source, "MAX_BYTES", 100)
    status = os.stat_result((0o100644, *[0] * 9))
    monkeypatch.setattr(Path, "stat", lambda _: status)
    with pytest.raises(URDFParseError, match="has 101 bytes, at most 100"):
        load_model(path)


@pytest.mark.parametrize(("source", "problem"), [("", "is empty"), ("a\0b", "no NUL"), ("\ud800", "cannot be read")])
def test_texts_that_are_no_path(source: str, problem: str) -> None:
    with pytest.raises(URDFParseError, match=problem):
        load_model(source)


@pytest.mark.parametrize("source", [3, None, ["a.urdf"], io.BytesIO(b"<robot/>")])
def test_other_types_are_refused(source: Any) -> None:
    with pytest.raises(ArgumentError, match="expected the path of a URDF file, XML text or bytes"):
        load_model(source)


def test_name_replaces_the_description_s() -> None:
    assert load_model(chain(1)).name == "chain"
    assert load_model(chain(1), name="arm").name == "arm"


def test_warnings_as_errors_are_the_strict_mode() -> None:
    text = '<robot name="r"><link name="base" colour="red"/></robot>'
    with pytest.warns(URDFWarning, match='<string>:1: attribute "colour" of <link>'):
        load_model(text)
    with warnings.catch_warnings():
        warnings.simplefilter("error", URDFWarning)
        with pytest.raises(URDFWarning):
            load_model(text)


def test_items_that_meet_one_rule_share_a_warning() -> None:
    joints = "".join(
        f"""<link name="l{i}"/><joint name="f{i}" type="fixed"><parent link="base"/><child link="l{i}"/>
            <mimic joint="j{i % 2}"/></joint>\n"""
        for i in range(24)
    )
    with pytest.warns(URDFWarning) as caught:
        load_model(f'<robot name="r"><link name="base"/>\n{joints}</robot>')
    (text,) = (str(warning.message) for warning in caught)
    assert text.startswith("<string>:3: joint 'f0': is fixed, so that its mimic of 'j0' does nothing; remove <mimic> (")
    assert "(also joint 'f1' ('j1', line 5), joint 'f2' ('j0', line 7), " in text
    assert text.endswith("joint 'f20' ('j0', line 43) and 3 more)")


PLANAR = f"""<robot name="r"><link name="a"/><link name="b">{BODY}</link><joint name="j" type="planar">
            <parent link="a"/><child link="b"/><axis xyz="0 0 1"/>{LIMIT}</joint></robot>"""


@pytest.mark.parametrize("text", ['<robot name="r"><link name="base" colour="red"/></robot>', PLANAR])
def test_warnings_point_at_the_caller(text: str) -> None:
    with pytest.warns(URDFWarning) as caught:
        load_model(text)
    assert {warning.filename for warning in caught} == {__file__}


def test_nothing_is_printed(
    golden_dir: Path, quiet_load: Callable[..., Model], capfd: pytest.CaptureFixture[str]
) -> None:
    quiet_load(golden_dir / "go2.urdf")
    assert capfd.readouterr() == ("", "")


def test_massless_frames_are_reported(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger="grid_rbd.model"):
        load_model('<robot name="r"><link name="base"/></robot>')
    assert "link 'base': has no <inertial>" in caplog.text


def test_deep_nesting_is_refused_without_recursion() -> None:
    depth = 100_000
    text = '<robot name="r"><link name="base">' + "<a>" * depth + "</a>" * depth + "</link></robot>"
    with pytest.raises(URDFParseError, match=r"<string>:1:.*nested more than 256 deep"):
        load_model(text)


def test_huge_files_are_refused_before_they_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "huge.urdf"
    with path.open("wb") as file:
        file.truncate(100 * 2**20)
    monkeypatch.setattr(Path, "open", lambda *_: pytest.fail("the file was opened"))
    with pytest.raises(URDFParseError, match="104857600 bytes, at most 33554432"):
        load_model(path)


def test_huge_texts_are_refused_before_they_are_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(xml_source, "MAX_BYTES", 100)
    monkeypatch.setattr(xml_source, "parse", lambda _: pytest.fail("the text was parsed"))
    for source in (chain(1), chain(1).encode()):
        with pytest.raises(URDFParseError, match="at most 100"):
            load_model(source)


@pytest.mark.parametrize(
    ("data", "place", "problem"),
    [
        (b"<robot name='r'>\n <link name='\xff'/></robot>", "2:14", "the byte 0xff is not UTF-8"),
        (b"\n\n<robot name='\xfc'/>", "3:14", "the byte 0xfc is not UTF-8"),
        (b"<?xml version='1.0' encoding='UTF-8'?>\n<robot name='\xfc'/>", "2:14", "the byte 0xfc is not UTF-8"),
        ("<robot name='\ud800'/>", "1:14", "the byte 0xed is not UTF-8"),
        (b"<?xml version='1.0' encoding='klingon'?><robot name='r'/>", "1:", "Unsupported encoding"),
    ],
)
def test_bytes_in_no_known_encoding(data: Any, place: str, problem: str) -> None:
    with pytest.raises(URDFParseError, match=f":{place}.*{problem}.*; save the text as UTF-8, or"):
        load_model(data)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32", "gb2312"])
def test_document_types_are_refused_in_every_encoding(encoding: str) -> None:
    layers = "".join(f'<!ENTITY e{i + 1} "{f"&e{i};" * 100}">' for i in range(9))
    text = f'<?xml version="1.0" encoding="{encoding}"?><!DOCTYPE robot [<!ENTITY e0 "lol">{layers}]><robot name="r"/>'
    with pytest.raises(URDFParseError, match="document types and entities are refused"):
        load_model(text.encode(encoding))


def test_lone_surrogates_are_a_parse_error() -> None:
    with pytest.raises(URDFParseError, match="not well-formed"):
        load_model('<robot name="\ud800"><link name="base"/></robot>')


def test_long_chain_is_fast_and_exact() -> None:
    text = chain(2000)
    start = time.process_time()
    model = load_model(text)
    assert time.process_time() - start < 2.0
    assert model.nb == 2000
    assert model.joint_names[1999] == "j2000"
    assert [joint.parent for joint in model.joints] == list(range(-1, 1999))
    assert len(model.ancestors(1999)) == 2000


def test_long_massless_chain_has_a_short_message() -> None:
    with pytest.raises(URDFParseError, match="and 1992 more") as raised:
        load_model(chain(2000).replace(BODY, ""))
    assert len(str(raised.value)) < 1000


def test_small_robots_load_in_milliseconds(golden_dir: Path) -> None:
    load_model(golden_dir / "iiwa14.urdf")
    times = []
    for _ in range(5):
        start = time.process_time()
        load_model(golden_dir / "iiwa14.urdf")
        times.append(time.process_time() - start)
    assert min(times) < 0.03


def test_importing_the_model_imports_no_parser() -> None:
    code = "import sys, grid_core.model; print(sorted({'lxml', 'yaml', 'urdf_parser_py', 'xml'} & set(sys.modules)))"
    paths = f"import sys; sys.path[:0] = {[path for path in sys.path if path]!r}; "
    result = subprocess.run(
        [sys.executable, "-c", paths + code], capture_output=True, text=True, check=True, timeout=60
    )
    assert result.stdout.strip() == "[]"


SAMPLE = chain(2).encode()


def refusal(source: str | bytes) -> str | None:
    """The message of the one kind of error that a description may end in; None for a model."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", URDFWarning)
        try:
            load_model(source)
        except URDFParseError as error:
            return str(error)
    return None


@given(st.lists(st.tuples(st.integers(0, len(SAMPLE) - 1), st.integers(0, 255)), min_size=1, max_size=4))
def test_damaged_bytes_end_in_a_model_or_one_kind_of_error(changes: list[tuple[int, int]]) -> None:
    data = bytearray(SAMPLE)
    for position, value in changes:
        data[position] = value
    message = refusal(bytes(data))
    assert message is None or message.startswith("<bytes>")


PIECES = (
    *("<link", "<joint", "</joint>", "</link>", "/>", ">", "<axis", "<limit", "<mimic", "<origin", "<inertia"),
    *("<inertial>", "</inertial>", '<mass value="1"/>', '<parent link="a"/>', '<child link="b"/>', "<!--", "-->"),
    *(
        ' name="a"',
        ' name="b"',
        ' type="revolute"',
        ' type=""',
        ' xyz="1 0 0"',
        ' xyz=""',
        ' lower="nan"',
        ' joint="a"',
    ),
)


@given(st.lists(st.sampled_from(PIECES), max_size=30))
def test_scrambled_elements_end_in_a_model_or_one_kind_of_error(pieces: list[str]) -> None:
    message = refusal('<robot name="r">' + "".join(pieces) + "</robot>")
    assert message is None or message.startswith("<string>")


LINKS = ('<link name="a"/>', '<link name="b"/>', f'<link name="c">{BODY}</link>', '<link name=""/>')
JOINTS = tuple(
    f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>{inner}</joint>'
    for name, kind, parent, child, inner in (
        ("i", "revolute", "a", "b", LIMIT),
        ("j", "fixed", "b", "c", '<mimic joint="i"/>'),
        ("j", "planar", "b", "c", LIMIT),
        ("k", "spherical", "a", "c", '<mimic joint="i" multiplier="0"/>'),
        ("i", "floating", "c", "a", ""),
        ("l", "prismatic", "a", "c", '<mimic joint="i" multiplier="0"/>'),
        ("", "continuous", "", "", '<limit lower="3"/>'),
    )
)


@given(st.lists(st.sampled_from(LINKS + JOINTS), max_size=8), st.booleans())
def test_random_documents_end_in_a_model_or_one_kind_of_error(elements: list[str], shuffled: bool) -> None:
    links = [] if shuffled else [link for link in LINKS[:3] if link not in elements]
    message = refusal('<robot name="r">' + "".join([*links, *elements]) + "</robot>")
    assert message is None or message.startswith("<string>")
