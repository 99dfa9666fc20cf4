"""Discovery and isolation: installed plugins, plugin files, broken ones, conflicts, and digests."""

from __future__ import annotations

import logging
import re
import sys
from collections.abc import Callable
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from grid_core.errors import PluginError
from grid_core.plugins.manager import DISABLE, GROUP, load_catalogue, survey_plugins
from tests.grid_core.plugins.conftest import SOURCE, Installed

Write = Callable[..., str]
HELPER = SOURCE.replace('"{name}"', "NAME").format(factor=2.0, requires=())


def test_the_bundled_family_comes_through_the_entry_points() -> None:
    catalogue = load_catalogue()
    assert not catalogue.broken
    plugin = catalogue.providers["inverse_dynamics"]
    assert (plugin.name, plugin.origin) == ("dynamics", "package grid-rbd")
    assert load_catalogue() is catalogue, "loaded once per process"


def test_an_installed_plugin_is_found(installed: Installed) -> None:
    installed("toys", {"__init__.py": SOURCE.format(name="toy", factor=2.0, requires=("crba",))}, version="3.2")
    catalogue = load_catalogue()
    assert str(catalogue.providers["toy"]) == "toys 3.2 (package toys)"
    assert catalogue.closure(["toy"]) == ("crba", "toy")


def test_a_plugin_file_is_found(plugin_file: Write) -> None:
    path = plugin_file("local_toy")
    catalogue = load_catalogue((path, path))
    assert str(catalogue.providers["local_toy"]) == f"local_toy local ({path})"
    assert "local_toy" not in load_catalogue().algorithms, "a file is for those who name it"


def test_a_missing_plugin_file(plugin_file: Write) -> None:
    with pytest.raises(PluginError, match=r"nowhere.py does not exist; give the path of a Python file"):
        load_catalogue((plugin_file("there").replace("there", "nowhere"),))


BROKEN = {
    "raises": ("1 / 0", "ZeroDivisionError: division by zero"),
    "syntax": ("def f(:", "SyntaxError"),
    "imports": ("import no_such_module_anywhere", "ModuleNotFoundError"),
    "leaves": ("raise SystemExit(3)", "SystemExit: 3"),
    "silent": ("x = 1", "implements no hook"),
    "unknown_hook": (
        "from grid_core.plugins import hookimpl\n@hookimpl\ndef grid_algoritms():\n    return []",
        "grid_algoritms",
    ),
    "returns_text": (
        "from grid_core.plugins import hookimpl\n@hookimpl\ndef grid_algorithms():\n    return ['crba']",
        "returned 'crba'; return grid_core.plugins.Algorithm objects",
    ),
    "hook_raises": (
        "from grid_core.plugins import hookimpl\n@hookimpl\ndef grid_algorithms():\n    raise RuntimeError('no')",
        "RuntimeError: no",
    ),
    "dangling": (SOURCE.format(name="d", factor=1.0, requires=("crbaa",)), "'d' requires 'crbaa'.*did you mean 'crba'"),
}


@pytest.mark.parametrize("stem", sorted(BROKEN))
def test_a_broken_plugin_is_reported_once_and_stops_no_other(
    stem: str, installed: Installed, plugin_file: Write, caplog: pytest.LogCaptureFixture
) -> None:
    source, reason = BROKEN[stem]
    installed(f"{stem}_plugin", {"__init__.py": source})
    good = plugin_file("good")
    with caplog.at_level(logging.WARNING, "grid_rbd.plugins"):
        catalogue = load_catalogue((good,))
        load_catalogue()
    assert {"good", "crba"} <= set(catalogue.algorithms)
    (broken,) = catalogue.broken
    assert (broken.name, broken.origin) == (f"{stem}_plugin", f"package {stem}_plugin")
    (record,) = caplog.records
    assert f"plugin '{stem}_plugin' (package {stem}_plugin) is broken and left out" in record.getMessage()
    assert f"set {DISABLE}={stem}_plugin to silence this" in record.getMessage()
    assert re.search(reason, broken.reason)


@pytest.mark.parametrize("stem", sorted(BROKEN))
def test_a_broken_file_that_was_named_is_an_error(
    stem: str, plugin_file: Write, caplog: pytest.LogCaptureFixture
) -> None:
    source, reason = BROKEN[stem]
    path, good = plugin_file(stem, source.replace("{", "{{").replace("}", "}}")), plugin_file("good")
    with pytest.raises(PluginError, match=rf"plugin file {path} is broken: .*(?s:{reason}).*; mend it") as raised:
        load_catalogue((good, path))
    assert str(raised.value).endswith("; mend it, or do not name it")
    assert [broken.origin for broken in survey_plugins((good, path)).broken] == [path]
    assert not caplog.records, "said once"
    assert not [
        m for m in sys.modules.values() if getattr(m, "__file__", None) == path and stem in ("raises", "syntax")
    ]


def test_what_a_broken_plugin_would_have_provided_is_missed(plugin_file: Write) -> None:
    broken = plugin_file("base", "1 / 0")
    needs = plugin_file("user", requires=("base",))
    more = plugin_file("users_user", requires=("user",))
    catalogue = survey_plugins((needs, more, broken))
    assert [b.name for b in catalogue.broken] == ["base", "user", "users_user"]
    assert "crba" in catalogue.algorithms


def test_disabled_plugins_are_not_even_imported(
    plugin_file: Write, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    bundled = [point.name for point in entry_points(group=GROUP)]
    monkeypatch.setenv(DISABLE, ", ".join(["bad", *bundled]))
    catalogue = load_catalogue((plugin_file("bad", "1 / 0"), plugin_file("good")))
    assert list(catalogue.algorithms) == ["good"]
    assert not catalogue.broken
    assert not caplog.records


def test_names_of_no_plugin_are_not_disabled_in_silence(
    plugin_file: Write, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv(DISABLE, "dynamic,mine,")
    path = plugin_file("mine")
    assert "mine" not in load_catalogue((path,)).algorithms
    load_catalogue.cache_clear()
    load_catalogue((path,))
    (record,) = caplog.records
    assert f"{DISABLE} names 'dynamic', but no plugin is called that; did you mean 'dynamics'" in record.getMessage()
    assert re.search("; plugins are centroidal, .*dynamics, .*mine$", record.getMessage())


def test_two_providers_of_one_name(installed: Installed, plugin_file: Write) -> None:
    installed("toys", {"__init__.py": SOURCE.format(name="toy", factor=2.0, requires=())}, version="3.2")
    path = plugin_file("mine", name="toy")
    with pytest.raises(PluginError) as caught:
        load_catalogue((path,))
    message = str(caught.value)
    assert "'toy' is provided twice: by toys 3.2 (package toys) and by mine local (" in message
    assert f"uninstall one of them or set {DISABLE}" in message


def test_an_alias_conflicts_too(plugin_file: Write) -> None:
    with pytest.raises(PluginError, match=r"'rnea' is provided twice: by dynamics .* and by mine local"):
        load_catalogue((plugin_file("mine", name="rnea"),))


def test_circles_are_printed(plugin_file: Write) -> None:
    one, two = plugin_file("one", requires=("two",)), plugin_file("two", requires=("one",))
    with pytest.raises(PluginError, match="in a circle: one -> two -> one; remove one of the edges"):
        load_catalogue((one, two))


def test_entry_points_must_be_modules(installed: Installed) -> None:
    installed("odd", {"__init__.py": "thing = 3\n"}, target="odd:thing")
    (broken,) = load_catalogue().broken
    assert "is not a module; point it at the module that has the hooks" in broken.reason


def digest_of(name: str, *files: str) -> str:
    from grid_core.plugins import sources

    load_catalogue.cache_clear()
    survey_plugins.cache_clear()
    sources.folder_digest.cache_clear()
    return load_catalogue(files).providers[name].digest


def test_the_digest_of_a_file_follows_its_text(plugin_file: Write) -> None:
    path = plugin_file("toy", factor=2.0)
    before = digest_of("toy", path)
    assert digest_of("toy", path) == before
    assert digest_of("toy", plugin_file("toy", factor=3.0)) != before


@pytest.mark.parametrize("target", ["toys", "toys.hooks"])
def test_the_digest_of_a_package_covers_its_modules_and_templates(installed: Installed, target: str) -> None:
    folder = installed(
        "toys",
        {"__init__.py": "from toys.hooks import grid_algorithms\n", "hooks.py": "NAME = 'toy'\n" + HELPER,
         "maths.py": "A = 1\n", "templates/t.j2": "a\n"},
        target=target,
    )  # fmt: skip
    seen = [digest_of("toy")]
    for file in ("maths.py", "templates/t.j2", "hooks.py"):
        (folder / file).write_text((folder / file).read_text() + "# edited\n")
        seen.append(digest_of("toy"))
    (folder / "notes.txt").write_text("not a source\n")
    assert digest_of("toy") == seen[-1]
    assert len(set(seen)) == 4


def test_templates_beside_a_file_belong_to_its_digest(plugin_file: Write) -> None:
    hook = "\n@hookimpl\ndef grid_template_folders():\n    return [__import__('pathlib').Path(__file__).parent / 't']\n"
    path = plugin_file("toy", SOURCE + hook)
    folder = Path(path).parent / "t"
    folder.mkdir()
    (folder / "own.j2").write_text("a")
    before = digest_of("toy", path)
    (folder / "own.j2").write_text("b")
    assert digest_of("toy", path) != before
    assert load_catalogue((path,)).template_folders(["toy"]) == (str(folder),)
    assert load_catalogue((path,)).template_folders(["crba"]) == (), "a plugin's templates do not touch other plugins"


def test_the_folder_of_a_package_is_a_plugin(tmp_path: Path) -> None:
    folder = tmp_path / "folder_of_toys"
    folder.mkdir()
    (folder / "__init__.py").write_text("from folder_of_toys.hooks import grid_algorithms\n")
    (folder / "hooks.py").write_text("NAME = 'toy'\n" + HELPER)
    try:
        before = digest_of("toy", str(folder))
        assert str(load_catalogue((str(folder),)).providers["toy"]) == f"folder_of_toys local ({folder})"
        (folder / "hooks.py").write_text("NAME = 'toy'\n" + HELPER + "# edited\n")
        assert digest_of("toy", str(folder)) != before
    finally:
        for module in ("folder_of_toys.hooks", "folder_of_toys"):
            del sys.modules[module]


def test_a_plugin_that_is_installed_and_named_is_one(installed: Installed) -> None:
    folder = installed("toys", {"__init__.py": SOURCE.format(name="toy", factor=2.0, requires=())}, version="3.2")
    for path in (folder, folder / "__init__.py"):
        assert str(load_catalogue((str(path),)).providers["toy"]) == "toys 3.2 (package toys)"


def test_a_folder_without_a_package(tmp_path: Path) -> None:
    with pytest.raises(PluginError, match=r"is no package, since it has no __init__\.py; give the folder of a package"):
        load_catalogue((str(tmp_path),))
