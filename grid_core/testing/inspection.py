"""What can be said of a plugin without compiling: it loads, its declarations fit the others, its algorithms trace."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from grid_core.build.options import make_options
from grid_core.errors import nearest
from grid_core.kernel.builder import trace_algorithm, variants
from grid_core.model import load_model
from grid_core.plugins.algorithm import Algorithm
from grid_core.plugins.asking import declared_algorithms, empty_manager, header_sections, template_folders
from grid_core.plugins.header import HeaderSection
from grid_core.plugins.loading import load_local, local_file, reason_of
from grid_core.plugins.manager import ANY, load_catalogue
from grid_core.testing.documentation import missing_texts
from grid_core.testing.robots import ROBOTS


@dataclass(frozen=True)
class Finding:
    """One rule, and whether a plugin keeps it.

    Attributes
    ----------
    check : str
        The rule's name.
    item : str
        What it is about: the plugin, one of its algorithms or templates.
    status : str
        ``"ok"``, ``"fail"``, or ``"off"`` if it does not apply or needs what is not installed.
    found : str
        What was looked at.
    advice : str
        What to do; empty if all is well.
    """

    check: str
    item: str
    status: str
    found: str
    advice: str = ""


def failure(check: str, item: str, error: BaseException) -> Finding:
    """Return the finding for an error: what broke which rule, and after the last semicolon what to do."""
    found, _, advice = reason_of(error).rpartition("; ")
    return Finding(check, item, "fail", found or advice, advice if found else "")


def inspect_plugin(path: str | Path) -> list[Finding]:
    """Check a plugin beside those that are installed; nothing is built and nothing is written.

    Parameters
    ----------
    path : str or Path
        A file, or the folder of a package.

    Raises
    ------
    PluginError
        There is neither.
    """
    local = Path(path).resolve()
    file = local_file(local)
    try:
        module = load_local(local)
    except ANY as error:
        return [failure("loads", local.stem, error)]
    return [Finding("loads", local.stem, "ok", str(file)), *_of_module(module, local.stem, _others(file))]


@dataclass(frozen=True)
class _Others:
    """What is installed beside the plugin: algorithms by name, and the provider of each name and alias."""

    algorithms: Mapping[str, Algorithm]
    providers: Mapping[str, str]


def _others(file: Path) -> _Others:
    installed = load_catalogue()
    algorithms = {n: a for n, a in installed.algorithms.items() if installed.providers[n].file != str(file)}
    providers = {n: str(installed.providers[target]) for n, target in installed.names.items() if target in algorithms}
    return _Others(algorithms, providers)


def _of_module(module: ModuleType, name: str, others: _Others) -> Iterator[Finding]:
    manager = empty_manager()
    manager.register(module, name)
    hooks = [caller.name for caller in manager.get_hookcallers(module) or ()]
    try:
        algorithms = declared_algorithms(module, name)
        folders, sections = template_folders(module, name), header_sections(module, name)
    except ANY as error:
        yield failure("hooks", name, error)
        return
    yield Finding("hooks", name, "ok", ", ".join(hooks))
    yield from _names(algorithms, others)
    known = {**others.algorithms, **{a.name: a for a in algorithms}}
    required = {algorithm.name: _requirements(algorithm, known) for algorithm in algorithms}
    for algorithm in algorithms:
        yield required[algorithm.name]
        yield from _texts(algorithm)
    units = [template for a in algorithms for template in (a.template, a.cuda_template)]
    yield from _templates([*units, *(section.template for section in sections)], folders)
    yield from _sections(sections, known)
    for algorithm in algorithms:
        if algorithm.emit is not None and required[algorithm.name].status == "ok":
            yield _trace(algorithm, known)


def _names(algorithms: Sequence[Algorithm], others: _Others) -> Iterator[Finding]:
    """Look for a second provider of each name, among the others and in the plugin itself."""
    taken = dict(others.providers)
    for algorithm in algorithms:
        names = (algorithm.name, *algorithm.aliases)
        twice = [f"{name!r} is provided by {taken[name]}, too" for name in names if name in taken]
        if twice:
            yield Finding("names", algorithm.name, "fail", twice[0], "rename the algorithm or its alias")
        else:
            yield Finding("names", algorithm.name, "ok", ", ".join(names))
        taken |= dict.fromkeys(names, f"{algorithm.name!r} of this plugin")


def _requirements(algorithm: Algorithm, known: Mapping[str, Algorithm]) -> Finding:
    missing = [name for name in algorithm.requires if name not in known]
    for along, jacobian in algorithm.jacobian.items():
        if jacobian.algorithm not in known:
            found = f"its Jacobian along {along!r} is {jacobian.algorithm!r}, which no plugin provides"
            advice = "correct the name, or declare that algorithm"
            return Finding("requires", algorithm.name, "fail", found + nearest(jacobian.algorithm, known), advice)
    if missing:
        found = f"it requires {missing[0]!r}, which no plugin provides{nearest(missing[0], known)}"
        return Finding("requires", algorithm.name, "fail", found, "correct the name, or install what provides it")
    if circle := _circle(algorithm.name, known, ()):
        found = f"algorithms require each other in a circle: {' -> '.join(circle)}"
        return Finding("requires", algorithm.name, "fail", found, "remove one of the edges")
    return Finding("requires", algorithm.name, "ok", ", ".join(algorithm.requires) or "nothing")


def _circle(name: str, known: Mapping[str, Algorithm], path: tuple[str, ...]) -> tuple[str, ...]:
    if name in path:
        return (*path[path.index(name) :], name)
    steps = (_circle(r, known, (*path, name)) for r in known[name].requires if r in known)
    return next(filter(None, steps), ())


def _texts(algorithm: Algorithm) -> Iterator[Finding]:
    lacking = list(missing_texts(algorithm))
    for found, advice in lacking:
        yield Finding("documentation", algorithm.name, "fail", found, advice)
    if not lacking:
        yield Finding("documentation", algorithm.name, "ok", algorithm.summary)


def _templates(names: Sequence[str], folders: Sequence[str]) -> Iterator[Finding]:
    """Look each template up that the plugin names, and read it."""
    from jinja2 import TemplateNotFound, TemplateSyntaxError

    from grid_core.codegen.render import environment

    made = environment(folders)
    for name in dict.fromkeys(names):
        try:
            place = made.get_template(name).filename
        except TemplateSyntaxError as error:
            found = f"{error.message} ({error.filename or name}, line {error.lineno})"
            yield Finding("templates", name, "fail", found, "correct that line")
        except TemplateNotFound:
            found = f"it is not in {', '.join(folders) or 'any folder, since grid_template_folders() names none'}"
            advice = "return its folder from grid_template_folders(), and have the package install it"
            yield Finding("templates", name, "fail", found, advice)
        else:
            yield Finding("templates", name, "ok", str(place))


def _trace(algorithm: Algorithm, known: Mapping[str, Algorithm]) -> Finding:
    """Run ``emit`` for the sample robots, with all inputs and with as few as it takes."""
    traced = []
    for sample in ROBOTS:
        free, frames = sample.floating_base, sample.frames
        options = make_options(floating_base=free, contact_frames=frames, cost_frames=frames)
        try:
            model = load_model(sample.urdf, floating_base=free)
            kernels = [trace_algorithm(algorithm, model, known, options.settings, gone) for gone in variants(algorithm)]
        except ANY as error:
            return failure("traces", algorithm.name, error)
        traced.append(f"{sum(kernels[0].operations().values())} operations on the {sample.name} robot")
    return Finding("traces", algorithm.name, "ok", ", ".join(traced))


def _sections(sections: Sequence[HeaderSection], known: Mapping[str, Algorithm]) -> Iterator[Finding]:
    for section in sections:
        unknown = [name for name in section.algorithms if name not in known]
        if unknown or not section.algorithms:
            what = f"{unknown[0]!r}, which no plugin provides{nearest(unknown[0], known)}" if unknown else "nothing"
            found, advice = f"it is for headers that have {what}", "name the algorithms that bring it into a header"
            yield Finding("sections", section.template, "fail", found, advice)
        else:
            yield Finding("sections", section.template, "ok", f"with {', '.join(section.algorithms)}")
