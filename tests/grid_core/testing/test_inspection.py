"""Hostile plugins: every finding names the item, the rule and the fix."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from grid_core.errors import PluginError
from grid_core.testing import empty_manager, inspect_plugin, temporary_store

CHECKOUT = Path(__file__).parents[3]
HEAD = """
from grid_core.plugins import Algorithm, HeaderSection, Input, Output, hookimpl

def toy(name="toy", **more):
    q, y = Input("q", ("nq",), "configuration"), Output("y", (), "a number")
    fields = {"summary": "A toy.", "inputs": (q,), "outputs": (y,), "emit": lambda k: k.output("y", 0.0)}
    return Algorithm(name, "toys", **{**fields, **more})

@hookimpl
def grid_algorithms():
    return %s
"""
HOOK = """
@hookimpl
def grid_%s():
    return %s
"""
HOSTILE = {
    "syntax": ("def f(:\n", "loads", r"SyntaxError: .*hostile.py, line 1", "correct that line"),
    "import": ("import no_such_module", "loads", r"no_such_module.*\(hostile.py, line 1\)", "install what it"),
    "exit": ("raise SystemExit(3)", "loads", r"SystemExit: 3 \(hostile.py, line 1\)", "correct that line"),
    "silent": ("x = 1", "hooks", "it implements no hook", "decorate its functions with"),
    "one": (HEAD % "toy()", "hooks", r"grid_algorithms\(\) returned Algorithm", "return a list"),
    "text": (HEAD % "'crba'", "hooks", r"grid_algorithms\(\) returned 'crba'", "return a list"),
    "dict": (HEAD % "[{'name': 'toy'}]", "hooks", r"returned {'name': 'toy'}", "return grid_core.plugins.Algorithm"),
    "number": (HEAD % "[toy(3)]", "hooks", "algorithm 3: name is 3, expected text", ""),
    "string": (HEAD % "[toy(requires='crba')]", "hooks", "'toy': requires is 'crba', expected a tuple of names", ""),
    "inputs": (HEAD % "[toy(inputs=('q',))]", "hooks", r"'toy': inputs is \('q',\), expected a tuple of .*Input", ""),
    "tangent": (
        HEAD % "[toy(inputs=(Input('q', ('nq',), 'q', tangent='joints'),))]",
        "hooks", "tangent of input 'q' is 'joints', expected 'configuration', or None", "",
    ),
    "shape": (HEAD % "[toy(outputs=(Output('y', ('nz',), 'y'),))]", "hooks", "not understood", "tuple of axes"),
    "method": (HEAD % "[toy('neutral')]", "hooks", "every handle has an attribute 'neutral'", "rename the algorithm"),
    "keyword": (HEAD % "[toy('class')]", "hooks", "the name 'class' cannot be used", "use lower case letters"),
    "taken": (HEAD % "[toy('crba')]", "names", r"'crba' is provided by dynamics .*, too", "rename the"),
    "alias": (HEAD % "[toy(aliases=('rnea',))]", "names", "'rnea' is provided by dynamics", "rename the algorithm"),
    "twice": (HEAD % "[toy(), toy()]", "names", "'toy' is provided by 'toy' of this plugin, too", "rename"),
    "dangling": (HEAD % "[toy(requires=('crbaa',))]", "requires", "'crbaa', which no plugin .* mean 'crba'", "install"),
    "circle": (
        HEAD % "[toy(requires=('tic',)), toy('tic', requires=('toy',))]",
        "requires", "in a circle: toy -> tic -> toy", "remove one of the edges",
    ),
    "jacobian": (
        HEAD.replace("Input,", "Input, Jacobian,") % "[toy(jacobian={'q': Jacobian('crbaa')})]",
        "requires", "its Jacobian along 'q' is 'crbaa', which no plugin provides; did you mean 'crba'", "declare that",
    ),
    "raising": (
        HEAD % "[toy(emit=lambda k: 1 / 0)]",
        "traces", r"toy: emit\(\) failed: ZeroDivisionError: .* \(hostile.py, line 11\)", "correct that line",
    ),
    "branching": (
        HEAD % "[toy(emit=lambda k: k.output('y', max(k.input('q'))))]", "traces", "Use select.less.a, b., x, y", ""
    ),
    "outside": (HEAD % "[toy(emit=lambda k: k.output('y', k.input('q')[2:]))]", "traces", "toy: output 'y' has", ""),
    "undocumented": (HEAD % "[toy(summary='')]", "documentation", "its summary is ''", "write one line"),
    "folder": (
        HEAD % "[toy()]" + HOOK % ("template_folders", "['nowhere']"),
        "hooks", r"grid_template_folders\(\) names 'nowhere', which is no absolute path", "let the package install",
    ),
    "relative": (
        HEAD % "[toy()]" + HOOK % ("template_folders", "['.']"), "hooks", "names '.', which is no absolute", "return"
    ),
    "template": (HEAD % "[toy(template='own.j2')]", "templates", "not in any folder", "grid_template_folders"),
    "section": (
        HEAD % "[toy()]" + HOOK % ("header_sections", "['toy']"),
        "hooks", r"grid_header_sections\(\) returned 'toy'", "return grid_core.plugins.HeaderSection",
    ),
    "sectioned": (
        HEAD % "[toy()]" + HOOK % ("header_sections", "[HeaderSection('grid.hpp.j2', ('toi',), dict)]"),
        "sections", "'toi', which no plugin provides; did you mean 'toy'", "name the algorithms",
    ),
    "unknown hook": (
        "from grid_core.plugins import hookimpl\n@hookimpl\ndef grid_algoritms():\n    return []",
        "hooks", "unknown hook 'grid_algoritms'", "",
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_plugins(kind: str, tmp_path: Path) -> None:
    source, check, found, advice = HOSTILE[kind]
    file = tmp_path / "hostile.py"
    file.write_text(source)
    failed = [finding for finding in inspect_plugin(file) if finding.status == "fail"]
    assert {finding.check for finding in failed} == {check}
    assert re.search(found, failed[0].found), failed[0]
    assert advice in failed[0].advice, failed[0]
    assert failed[0].item in failed[0].found or failed[0].item in ("hostile", "toy", "crba", "own.j2", "grid.hpp.j2")


def test_a_template_with_an_error_is_named(tmp_path: Path) -> None:
    (tmp_path / "own.j2").write_text("fine\n{% if %}\n")
    file = tmp_path / "hostile.py"
    file.write_text(HEAD % "[toy(template='own.j2')]" + HOOK % ("template_folders", f"[{str(tmp_path)!r}]"))
    (failed,) = (finding for finding in inspect_plugin(file) if finding.status == "fail")
    assert (failed.check, failed.item) == ("templates", "own.j2")
    assert "own.j2, line 2" in failed.found


@pytest.mark.parametrize(
    "path",
    ["plugin_kinetic_energy/grid_kinetic_energy.py", "plugin_coupling/grid_coupling"],
)
def test_the_examples_keep_every_rule(path: str) -> None:
    findings = inspect_plugin(CHECKOUT / "examples" / path)
    assert {finding.status for finding in findings} == {"ok"}
    rules = {"loads", "hooks", "names", "requires", "documentation", "templates", "traces"}
    assert rules <= {finding.check for finding in findings}


def test_an_installed_plugin_is_not_in_conflict_with_itself() -> None:
    findings = inspect_plugin(CHECKOUT / "grid_plugins" / "kinematics" / "__init__.py")
    assert not [f for f in findings if f.check == "names" and f.status == "fail"]


def test_what_is_no_plugin(tmp_path: Path) -> None:
    (tmp_path / "src" / "pack").mkdir(parents=True)
    (tmp_path / "src" / "pack" / "__init__.py").write_text("")
    with pytest.raises(PluginError, match=r"is no package, since it has no __init__.py; .*; inside are .*/src/pack"):
        inspect_plugin(tmp_path)
    with pytest.raises(PluginError, match="does not exist; give the path of a Python file"):
        inspect_plugin(tmp_path / "gone.py")


def test_a_broken_package_leaves_nothing_imported(tmp_path: Path) -> None:
    folder = tmp_path / "broken_pack"
    folder.mkdir()
    (folder / "part.py").write_text("x = 1")
    (folder / "__init__.py").write_text("import broken_pack.part\n1 / 0\n")
    (failed,) = inspect_plugin(folder)
    assert failed.found == "ZeroDivisionError: division by zero (__init__.py, line 2)"
    (folder / "__init__.py").write_text(HEAD % "[toy()]")
    assert {finding.status for finding in inspect_plugin(folder)} == {"ok"}


def test_two_packages_of_one_name(tmp_path: Path) -> None:
    for place in ("a", "b"):
        (tmp_path / place / "same_pack").mkdir(parents=True)
        (tmp_path / place / "same_pack" / "__init__.py").write_text(HEAD % "[toy()]")
    assert inspect_plugin(tmp_path / "a" / "same_pack")[0].status == "ok"
    (failed,) = inspect_plugin(tmp_path / "b" / "same_pack")
    assert "another one of that name from" in failed.found
    assert failed.advice == "rename the package, or uninstall the other one"


def test_an_empty_manager_knows_the_hooks() -> None:
    manager = empty_manager()
    assert not manager.get_plugins()
    assert manager.hook.grid_algorithms() == []


def test_a_temporary_store_goes_away() -> None:
    import grid_rbd

    before = grid_rbd.default_cache_dir()
    with temporary_store() as root:
        assert grid_rbd.default_cache_dir() == root != before
        (root / "file").touch()
    assert not root.exists()
    assert grid_rbd.default_cache_dir() == before
    assert "GRID_RBD_CACHE_DIR" in os.environ
