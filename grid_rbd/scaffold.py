"""The project of a new plugin, from templates: an algorithm, its tests, and what installs it."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from grid_core.errors import OptionError
from grid_core.plugins.check import HANDLE_WORDS, is_name
from grid_core.plugins.manager import load_catalogue
from grid_rbd.basics import checked_text

TEMPLATES = Path(__file__).parent / "templates" / "plugin"


def new_plugin(name: str, parent: str | Path = ".") -> Path:
    """Write a project with one algorithm into a new folder, ready to be installed and tested.

    Parameters
    ----------
    name : str
        Of the folder, the plugin and its first algorithm.
    parent : path
        The folder to make it in.

    Returns
    -------
    pathlib.Path
        The new folder.

    Raises
    ------
    OptionError
        The name cannot be that of an algorithm or is taken, or the folder exists or cannot be written.
    """
    module = f"grid_{_checked(name)}"
    folder = Path(parent).resolve() / name
    try:
        if folder.exists():
            raise OptionError(f"{folder} exists; give another name, or remove it")
        for file, text in _files(name, module):
            path = folder / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
    except OSError as error:
        raise OptionError(
            f"the project cannot be written to {str(folder)!r:.120}: {error.strerror}; change to another folder, or "
            "give another name"
        ) from error
    return folder


def _files(name: str, module: str) -> Iterator[tuple[str, str]]:
    """Yield the files of a project, by their path in it, and their texts."""
    from grid_core.codegen.render import environment

    made = environment([str(TEMPLATES)])
    for template in sorted(str(path.relative_to(TEMPLATES)) for path in TEMPLATES.rglob("*.j2")):
        text = made.get_template(template).render(name=name, module=module, distribution=module.replace("_", "-"))
        yield template.removesuffix(".j2").replace("module", module), text


def _checked(name: object) -> str:
    """Return a name that an algorithm may have and none has."""
    text = checked_text(name, "name", "the name of the plugin and of its first algorithm")
    if not is_name(text):
        raise OptionError(
            f"name is {text!r:.80}, which no algorithm can have; use lower case letters, digits and _, such as "
            "'contact_power', and no word of C++ or Python"
        )
    catalogue = load_catalogue()
    if text in HANDLE_WORDS:
        raise OptionError(f"name is {text!r}, which is an attribute of every handle; choose another one")
    if text in catalogue.names:
        provider = catalogue.providers[catalogue.names[text]]
        raise OptionError(f"name is {text!r}, which is an algorithm of {provider}; choose another one")
    if text in {*(plugin.name for plugin in catalogue.plugins), *(broken.name for broken in catalogue.broken)}:
        raise OptionError(f"name is {text!r}, which is an installed plugin; choose another one")
    if find_spec(f"grid_{text}") is not None:
        raise OptionError(f"name is {text!r}, but there is a module grid_{text} already; choose another one")
    return text
