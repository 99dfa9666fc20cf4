"""Options that several commands share, declared once."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

BUILD = "What to build"
TARGET = "How to build it"


def folder(text: str) -> Path:
    """Return the path that an option gives; an empty one is a variable that nobody set, and not this folder."""
    if not text:
        raise typer.BadParameter("it is empty, expected the path of a folder; leave it out for the default one")
    return Path(text)


RegisteredName = Annotated[
    str | None, typer.Option("--name", "-n", help="Name to register under. Default: the file's.", show_default=False)
]
RobotArgument = Annotated[str, typer.Argument(metavar="ROBOT", help="A URDF file, or the name of an example robot.")]
NameArgument = Annotated[str, typer.Argument(metavar="NAME", help="A registered robot.")]
RegisteredNames = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[NAME]...", help="Registered robots. Default: everything that has a name.", show_default=False
    ),
]
Artifacts = Annotated[
    list[str] | None,
    typer.Option(
        "--artifact", metavar="PROJECT/NAME", help="An artifact of a project; may be repeated.", show_default=False
    ),
]
JsonFlag = Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")]
CacheDir = Annotated[
    Path | None,
    typer.Option(
        "--cache-dir", metavar="DIR", envvar="GRID_RBD_CACHE_DIR", parser=folder, help="Where robots are kept.",
        show_default=False,
    ),
]  # fmt: skip
Plugins = Annotated[
    list[Path] | None,
    typer.Option(
        "--plugin", metavar="PATH", rich_help_panel=TARGET, show_default=False,
        help="A plugin to load, a file or the folder of a package; may be repeated.",
    ),
]  # fmt: skip


def algorithms_option(default: str) -> Any:
    """Return the option that names algorithms, for a command that takes ``default`` without it."""
    return typer.Option(
        "--algorithms", "-a", metavar="NAMES", rich_help_panel=BUILD, show_default=False,
        help=f"Algorithms and profiles, separated by commas; may be repeated. Default: {default}.",
    )  # fmt: skip


Algorithms = Annotated[list[str] | None, algorithms_option("all")]
FloatingBase = Annotated[bool, typer.Option("--floating-base", "-f", rich_help_panel=BUILD, help="Free the root link.")]
Threads = Annotated[int, typer.Option("--threads", min=1, help="Threads per call.")]


@dataclass(frozen=True)
class BuildFlags:
    """The options of a build as the command line spells them; see :func:`with_build_flags`."""

    floating_base: FloatingBase = False
    dtype: Annotated[
        str, typer.Option("--dtype", metavar="TYPE", rich_help_panel=BUILD, help="float32 or float64.")
    ] = "float32"
    algorithms: Algorithms = None
    joint_dynamics: Annotated[
        bool, typer.Option("--joint-dynamics", rich_help_panel=BUILD, help="Model damping and friction of the joints.")
    ] = False
    friction_model: Annotated[
        str, typer.Option("--friction-model", metavar="MODEL", rich_help_panel=BUILD, help="sign or tanh.")
    ] = "sign"
    friction_width: Annotated[
        list[float] | None,
        typer.Option(
            "--friction-width", metavar="W", rich_help_panel=BUILD, show_default=False,
            help="Width of tanh(qd / W); once, or once per velocity coordinate.",
        ),
    ] = None  # fmt: skip
    free_mimic: Annotated[
        bool, typer.Option("--free-mimic", rich_help_panel=BUILD, help="Mimic joints become independent.")
    ] = False
    level: Annotated[
        str | None,
        typer.Option(
            "--level", metavar="LEVEL", rich_help_panel=TARGET, show_default=False,
            help="Instruction-set level, such as x86-64-v3 or native. Default: the best that this machine runs.",
        ),
    ] = None  # fmt: skip
    cuda_arch: Annotated[
        int | None,
        typer.Option(
            "--cuda-arch", metavar="NUMBER", rich_help_panel=TARGET, show_default=False,
            help="Build for CUDA GPUs of this compute capability, such as 90. Needs nvcc, but no GPU.",
        ),
    ] = None  # fmt: skip
    cuda_archs: Annotated[
        str | None,
        typer.Option(
            "--cuda-archs", metavar="LIST", rich_help_panel=TARGET, show_default=False,
            help="Build for several, such as 86,89,120; 90+ptx serves newer GPUs too. Default: GRID_RBD_CUDA_ARCHS.",
        ),
    ] = None  # fmt: skip
    compiler: Annotated[
        str | None,
        typer.Option(
            "--compiler", metavar="COMMAND", rich_help_panel=TARGET, show_default=False,
            help="Compiler. Default: CXX, then g++, clang++; for CUDA: CUDA_HOME, then nvcc.",
        ),
    ] = None  # fmt: skip
    plugins: Plugins = None

    def options(self) -> dict[str, Any]:
        """Return the options as :func:`~grid_rbd.register_robot` takes them."""
        widths = self.friction_width
        return {
            "floating_base": self.floating_base,
            "dtype": self.dtype,
            "algorithm_list": algorithm_list(self.algorithms),
            "use_joint_dynamics": self.joint_dynamics,
            "friction_model": self.friction_model,
            "friction_width": widths[0] if widths and len(widths) == 1 else widths or None,
            "follow_mimic": not self.free_mimic,
            "cpu_level": self.level,
            "cuda_arch": self.cuda_arch,
            "cuda_archs": self.cuda_archs,
            "compiler": self.compiler,
            "plugins": tuple(self.plugins or ()),
        }


def chosen_name(name: str | None, description: Path) -> str:
    """Return the name to register a robot under: the one that was given, else the file's."""
    return description.stem if name is None else name


def algorithm_list(given: list[str] | None) -> list[str] | None:
    """Return the algorithms of repeated options, each of which may be a list with commas."""
    return [name for text in given for name in text.replace(";", ",").split(",")] if given else None


def with_build_flags(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command every field of :class:`BuildFlags` as an option, in place of its parameter ``flags``."""
    own = inspect.signature(command, eval_str=True).parameters
    hints = get_type_hints(BuildFlags, include_extras=True)
    flags = [
        inspect.Parameter(f.name, inspect.Parameter.KEYWORD_ONLY, default=f.default, annotation=hints[f.name])
        for f in fields(BuildFlags)
    ]
    kept = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for name, p in own.items() if name != "flags"]
    signature = inspect.Signature([*kept, *flags])

    @functools.wraps(command)
    def wrapper(**values: Any) -> None:
        chosen = BuildFlags(**{flag.name: values.pop(flag.name) for flag in flags})
        command(**values, flags=chosen)

    wrapper.__signature__ = signature  # type: ignore[attr-defined]
    wrapper.__annotations__ = {p.name: p.annotation for p in signature.parameters.values()}
    return wrapper
