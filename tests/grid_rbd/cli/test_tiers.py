"""Tiers as users meet them: configured by commands, used by builds, counted by ``stats``."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("fsspec")
pytest.importorskip("cryptography")

from tests.grid_core.build.conftest import Stub

from .conftest import Run

CRBA = ("--algorithms", "crba")


@pytest.fixture(autouse=True)
def be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stub: Stub) -> Callable[[str], None]:
    """Be somebody with a configuration and a store."""
    monkeypatch.setenv("CXX", stub.command)

    def become(name: str) -> None:
        monkeypatch.setenv("GRID_RBD_CONFIG_DIR", str(tmp_path / name / "config"))
        monkeypatch.setenv("GRID_RBD_CACHE_DIR", str(tmp_path / name / "store"))

    become("user")
    return become


@pytest.fixture
def url(tmp_path: Path) -> str:
    return (tmp_path / "shared").as_uri()


def test_what_one_builds_another_does_not_compile(
    run: Run, be: Callable[[str], None], url: str, pendulum: Path, stub: Stub
) -> None:
    be("builder")
    line = run("keys", "make", "builder", "--json").document["key"]
    assert run("tiers", "add", url, "--write", "--sign-with", "builder").code == 0
    assert run("build", pendulum, *CRBA).code == 0
    assert stub.compiled() == ["crba"]
    be("user")
    run("tiers", "add", url)
    refused = run("build", pendulum, *CRBA)
    assert (refused.code, stub.compiled()) == (0, ["crba"]), "a stranger's record is no help"
    assert "which is not trusted" in refused.err
    be("third")
    run("keys", "trust", "builder", line)
    run("tiers", "add", url)
    assert run("build", pendulum, *CRBA).code == 0
    assert stub.compiled() == []
    assert run("verify").code == 0
    counts = run("stats", "--json").document["tiers"][url]
    assert (counts["hits"], counts["refused"], counts["written"]) == (1, 0, 0)
    assert counts["bytes_read"] > 1000
    assert url[:20] in run("stats").out


def test_plans_know_what_tiers_have(
    run: Run, be: Callable[[str], None], url: str, pendulum: Path, stub: Stub, tmp_path: Path
) -> None:
    be("builder")
    line = run("keys", "make", "builder", "--json").document["key"]
    run("tiers", "add", url, "--write", "--sign-with", "builder")
    run("build", pendulum, *CRBA)
    stub.compiled()
    be("user")
    run("keys", "trust", "builder", line)
    run("tiers", "add", url)
    minv = (pendulum, "--name", "arm", "--algorithms", "minv")
    report = run("plan", *minv, "--json").document
    assert {unit["algorithm"]: unit["tier"] for unit in report["units"]} == {"crba": url, "minv": None}
    assert report["would"] == "generate+compile (minv: it has not been built before)"
    assert report["expected"]["unknown"] == ["minv"]
    text = run("plan", *minv).out
    assert ("in a tier" in text, "1 unit to copy from tiers, 1 unit to build" in text) == (True, True)
    assert f"crba: It would be copied from {url}, because it has not been built before." in run("explain", *minv).out
    assert not (tmp_path / "user" / "store" / "v1" / "tiers.json").exists(), "to ask is no use"
    assert run("plan", pendulum, *CRBA, "--json").document["would"] == f"copy from {url}"
    run("build", pendulum, "--name", "arm", *CRBA)
    assert (stub.compiled(), run("plan", pendulum, "--name", "arm", *CRBA, "--json").document["would"]) == ([], "load")


def test_what_was_built_before_is_pushed(
    run: Run, be: Callable[[str], None], url: str, pendulum: Path, stub: Stub
) -> None:
    be("builder")
    for name, dtype in (("single", "float32"), ("double", "float64")):
        run("build", pendulum, "--name", name, "--dtype", dtype, *CRBA)
    assert run("tiers", "push").code == 2, "there is none"
    line = run("keys", "make", "builder", "--json").document["key"]
    run("tiers", "add", url, "--write", "--sign-with", "builder")
    report = run("tiers", "push", "single", "--json").document
    assert (report["robots"], report["artifacts"], report["ok"]) == (["single"], [], True)
    assert report["tiers"] == [{"url": url, "written": 1, "present": 0, "failed": 0, "reason": ""}]
    assert re.search(r" 1 +1 +0$", run("tiers", "push").out, re.MULTILINE)
    assert run("tiers", "push", "triple").code == 5
    stub.compiled()
    be("user")
    run("keys", "trust", "builder", line)
    run("tiers", "add", url)
    run("build", pendulum, "--dtype", "float64", *CRBA)
    assert stub.compiled() == []


def test_a_push_that_fails_says_why(run: Run, url: str, pendulum: Path, tmp_path: Path) -> None:
    run("build", pendulum, *CRBA)
    run("keys", "make", "me")
    run("tiers", "add", url, "--write", "--sign-with", "me")
    (tmp_path / "shared").write_text("no folder")
    ran = run("tiers", "push")
    assert (ran.code, f"✗ {url}: NotADirectoryError" in ran.out) == (1, True)


def test_compiling_can_be_forbidden(run: Run, url: str, pendulum: Path, stub: Stub) -> None:
    run("tiers", "add", url)
    assert "is compiled here" in run("tiers", "list").out
    assert run("tiers", "fallback", "off").code == 0
    ran = run("build", pendulum, *CRBA)
    assert (ran.code, stub.compiled()) == (1, [])
    assert "compiling it here is forbidden" in ran.err
    assert "a build would fail (no tier has crba; 'grid-rbd tiers fallback on'" in run("plan", pendulum, *CRBA).out
    assert run("plan", pendulum, *CRBA, "--json").document["forbidden"] == ["crba"]
    assert run("tiers", "fallback", "on").code == 0
    assert run("build", pendulum, *CRBA).code == 0
    assert run("tiers", "fallback", "maybe").code == 2


def test_tiers_are_listed_changed_and_removed(run: Run, url: str) -> None:
    pytest.importorskip("s3fs")
    assert "there are no tiers" in run("tiers", "list").out
    run("keys", "make", "me")
    run("tiers", "add", url, "--option", "secret=hidden", "--timeout", "3")
    run("tiers", "add", "s3://robots/x", "--unverified")
    document = run("tiers", "list", "--json").document
    assert [tier["url"] for tier in document["tiers"]] == [url, "s3://robots/x"]
    assert document["tiers"][0] == {"url": url, "write": False, "timeout": 3.0, "verify": True, "options": ["secret"]}
    assert "not checked" in run("tiers", "list").out
    changed = run("tiers", "add", url, "--write", "--sign-with", "me", "--json").document
    assert [(tier["url"], tier["write"]) for tier in changed["tiers"]] == [("s3://robots/x", False), (url, True)]
    assert run("tiers", "remove", url, "--json").document["tiers"][0]["url"] == "s3://robots/x"
    assert run("tiers", "remove", url).code == 2


def test_keys_are_listed_and_forgotten(run: Run, tmp_path: Path) -> None:
    assert "no key is trusted" in run("keys", "list").out
    line = run("keys", "make", "me", "--json").document["key"]
    assert "grid-rbd keys trust me" in run("keys", "make", "you").out.replace("you", "me")
    (tmp_path / "line").write_text(line)
    assert run("keys", "trust", "friend", tmp_path / "line").code == 0
    listed = run("keys", "list", "--json").document
    assert [(key["name"], key["own"]) for key in listed["trusted"]] == [("friend", False), ("me", True), ("you", True)]
    assert run("keys", "forget", "friend").code == 0
    assert run("keys", "forget", "friend").code == 2
    assert "yours" in run("keys", "list").out


def test_doctor_looks_at_tiers(run: Run, url: str, tmp_path: Path) -> None:
    def found() -> tuple[str, str]:
        (check,) = (check for check in run("doctor", "--json").document["checks"] if check["name"] == "tiers")
        return check["status"], f"{check['found']} | {check['advice']}"

    assert found()[0] == "off"
    run("tiers", "add", url)
    status, text = found()
    assert (status, "every record is refused" in text) == ("warn", True)
    run("keys", "make", "me")
    assert found() == ("warn", f"{url}; trusted keys: 1 | {url} has nothing yet: if that is wrong, look at its URL")
    (tmp_path / "shared" / "v1").mkdir(parents=True)
    assert found() == ("ok", f"{url}; trusted keys: 1 | ")
    run("tiers", "add", "http://127.0.0.1:9", "--timeout", "5")
    status, text = found()
    assert (status, "http://127.0.0.1:9 does not answer: ClientConnectorError" in text) == ("warn", True)
    (tmp_path / "user" / "config" / "tiers.json").write_text("{")
    status, text = found()
    assert (status, "cannot be understood" in text) == ("fail", True)


def test_config_shows_tiers_and_where_they_stand(run: Run, url: str, tmp_path: Path) -> None:
    before = {setting["name"]: setting for setting in run("config", "--json").document}
    assert (before["tiers"]["value"], before["tiers"]["origin"]) == ([], "default")
    run("keys", "make", "me")
    run("tiers", "add", url)
    after = {setting["name"]: setting for setting in run("config", "--json").document}
    assert after["tiers"]["value"] == [url]
    assert after["tiers"]["origin"] == f"file {tmp_path / 'user' / 'config' / 'tiers.json'}"
    assert after["trusted_keys"]["value"] == ["me"]
    assert after["config_dir"]["origin"] == "environment GRID_RBD_CONFIG_DIR"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("tiers", "add", "shared/robots"), "has no protocol"),
        (("tiers", "add", "https://host/robots", "--write"), "nothing can be written by https"),
        (("tiers", "add", "file:///tmp/robots", "--write"), "--write needs a key to sign with"),
        (("tiers", "add", "file:///tmp/robots", "--sign-with", "nobody"), "there is no key 'nobody'"),
        (("tiers", "add", "file:///tmp/robots", "--timeout", "0"), "above 0"),
        (("tiers", "add", "file:///tmp/robots", "--option", "x"), "expected NAME=VALUE"),
        (("keys", "trust", "friend", "no key"), "is no public key"),
        (("keys", "make", "../evil"), "cannot name a key"),
        (("keys", "trust", "friend", "k" * 5000), "is no public key"),
        (("tiers", "add", "ftp://me:secret@host/robots"), "a ftp tier has a password in its URL, which messages would"),
    ],
)
def test_bad_input(run: Run, arguments: tuple[str, ...], message: str) -> None:
    ran = run(*arguments)
    assert (ran.code, message in " ".join(ran.err.split())) == (2, True), ran.err


@pytest.mark.parametrize("arguments", [("keys", "make", "me"), ("tiers", "add", "file:///tmp/robots")])
def test_a_configuration_that_cannot_be_written(
    run: Run, arguments: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("GRID_RBD_CONFIG_DIR", str(tmp_path / "file"))
    ran = run(*arguments)
    assert (ran.code, "cannot be written: " in ran.err, "or set GRID_RBD_CONFIG_DIR to" in ran.err) == (2, True, True)


def test_without_the_extra_packages_the_way_to_them_is_told(
    run: Run, url: str, pendulum: Path, monkeypatch: pytest.MonkeyPatch, stub: Stub
) -> None:
    run("tiers", "add", url)
    for module in [name for name in sys.modules if name.startswith("grid_store.tiers.keys")]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.delattr("grid_store.tiers.keys", raising=False)
    monkeypatch.setitem(sys.modules, "cryptography.exceptions", None)
    for arguments in (("keys", "make", "me"), ("build", pendulum, *CRBA)):
        ran = run(*arguments)
        assert (ran.code, "pip install 'grid-rbd[tiers]'" in ran.err) == (2, True), ran.err
    assert run("list").code == 0, "who only looks needs no keys"


def test_a_broken_configuration_is_told_and_not_passed_over(run: Run, url: str, tmp_path: Path) -> None:
    run("tiers", "add", url)
    (tmp_path / "user" / "config" / "tiers.json").write_text("{")
    ran = run("list")
    assert (ran.code, "tiers.json cannot be understood" in ran.err) == (2, True)


def test_a_protocol_that_nobody_knows_is_refused_at_once(run: Run) -> None:
    ran = run("tiers", "add", "nosuch://x")
    assert (ran.code, "tier 'nosuch://x' cannot be opened: Protocol not known: nosuch" in ran.err) == (2, True)
    assert run("tiers", "list", "--json").document["tiers"] == []


@pytest.mark.parametrize("package", ["fsspec.core", "grid_store.tiers.keys"])
def test_what_tiers_need_is_missed_at_once(run: Run, url: str, monkeypatch: pytest.MonkeyPatch, package: str) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.delattr("grid_store.tiers.keys", raising=False)
    ran = run("tiers", "add", url)
    assert (ran.code, "pip install 'grid-rbd[tiers]'" in ran.err) == (2, True)
    assert run("tiers", "list", "--json").document["tiers"] == []
