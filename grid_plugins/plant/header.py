"""What the header has of the plant beside the algorithms: feature macros, activations, cost frames and the menu."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grid_core.kernel.builder import KernelBuilder, trace_algorithm, variants
from grid_core.kernel.settings import dimensions
from grid_core.plugins import Algorithm, HeaderContents, HeaderSection, Input, Output
from grid_core.plugins.frames import frame_numbers
from grid_plugins.plant.activations import KINDS, NONE, Activation, Bounded
from grid_plugins.plant.menu import TERMS
from grid_plugins.plant.steps import STATE

if TYPE_CHECKING:
    from grid_core.codegen.render import Rendered

TEMPLATES = Path(__file__).parent / "templates"

PIECES = {
    "EE_COST": "ee_pos_cost",
    "COM_COST": "com_cost",
    "MOMENTUM_COST": "momentum_cost",
    "STATE_COST": "state_cost",
    "STATE_COST_TANGENT": "state_cost_tangent",
    "INPUT_COST": "input_cost",
    "LINEAR_FEATURE_COST": "linear_feature_cost_x",
    "FRAME_EVAL": "frame_motion",
    "FRAME_POSITION_COST": "frame_position_cost",
    "FRAME_ORIENTATION_COST": "frame_orientation_cost",
    "FRAME_VELOCITY_COST": "frame_velocity_cost",
    "COST_MENU": "tracking_cost_menu",
    "GRAVITY_TORQUE": "generalized_gravity",
}
"""Feature -> the algorithm that a header with it has."""

STEPS = {"STEP_HESSIAN": "integrator_hessian_", "STEP_GRADIENT": "integrator_gradient_", "STEP": "integrator_"}
"""Feature -> the beginning of the names of the integrators that a header with it has."""

ACTIVATED = ("value", "slope", "curvature")


def values(contents: HeaderContents) -> Mapping[str, Any]:
    """Return what the template is filled with."""
    model, settings = contents.model, contents.settings
    dims, names = dimensions(model, settings), frozenset(contents.names)
    steps = [step for name in contents.names for step in _steps(contents, name)]
    pieces = [*dict.fromkeys(step["piece"] for step in steps), *(p for p, name in PIECES.items() if name in names)]
    targets = settings.cost_targets(model) if "frame_motion" in names else ()
    return {
        "pieces": [*pieces, "ACTIVATIONS", *(["COST_FRAMES"] if settings.cost_frames else [])],
        "kinds": {"none": NONE, **{kind: number for number, kind in enumerate(KINDS)}},
        "terms": TERMS,
        "layout": {
            "MENU_TANGENT": int(model.nq != model.nv),
            "MENU_NU": dims["nu"],
            "MENU_NLX": dims["nl"] + dims["nv"],
            "NUM_COST_FRAMES": len(targets),
        },
        "activations": [_activation(contents, quantity) for quantity in ACTIVATED],
        "frames": [(frame, _frame(contents, n, frame_numbers(frame))) for n, frame in enumerate(targets)],
        "steps": steps,
        "menu": _menu(contents) if "tracking_cost_menu" in names else None,
    }


def _rendered(
    contents: HeaderContents,
    name: str,
    inputs: Mapping[str, str],
    outputs: Mapping[str, tuple[str, ...]],
    emit: Callable[[KernelBuilder], None],
    requires: tuple[str, ...] = (),
) -> Rendered:
    algorithm = Algorithm(
        name=name,
        family="plant",
        summary=name,
        inputs=tuple(Input(i, (shape,) if shape else (), "") for i, shape in inputs.items()),
        outputs=tuple(Output(o, shape, "") for o, shape in outputs.items()),
        emit=emit,
        requires=requires,
    )
    return contents.rendered(trace_algorithm(algorithm, contents.model, contents.algorithms, contents.settings))


def _activation(contents: HeaderContents, quantity: str) -> Rendered:
    """Return a quantity of an activation at one entry."""

    def emit(k: KernelBuilder) -> None:
        kind, r, w, eps, v, lower, upper = (k.input(name) for name in names)
        term = Activation(kind, eps).of([r], [w], [Bounded(v, lower, upper)])
        k.output("result", dict(zip(ACTIVATED, (term.value, *term.slopes, *term.curvatures)))[quantity])

    names = ("kind", "r", "w", "eps", "value", "lower", "upper")
    return _rendered(contents, f"activation_{quantity}", dict.fromkeys(names, ""), {"result": ()}, emit)


def _frame(contents: HeaderContents, number: int, numbers: Sequence[float]) -> Rendered:
    """Return pose and Jacobian of a cost frame."""

    def emit(k: KernelBuilder) -> None:
        motion = k.call("frame_motion", q=k.input("q"), qd=[0.0] * k.model.nv, target_jid=numbers)
        k.output("transform", motion["transform"])
        k.output("jacobian", motion["jacobian"])

    outputs = {"transform": ("4", "4"), "jacobian": ("6", "nv")}
    return _rendered(contents, f"frame_eval_{number}", {"q": "nq"}, outputs, emit, ("frame_motion",))


def _steps(contents: HeaderContents, name: str) -> Iterator[Mapping[str, Any]]:
    """Yield how the step of the plant calls an integrator: with the state in one vector."""
    algorithm = contents.algorithms[name]
    piece = next((piece for piece, beginning in STEPS.items() if name.startswith(beginning)), None)
    if piece is None or algorithm.emit is None:
        return
    places = dict(zip(STATE["x"], ("x", "x + {}::NUM_POS")))
    for absent in variants(algorithm):
        inputs = [i.name for i in algorithm.inputs if i.name not in absent]
        yield {
            "piece": piece,
            "first": not absent,
            "name": name,
            "plant": "plant_step" + name.removeprefix("integrator"),
            "inputs": ["x", *(i for i in inputs if i not in places)],
            "arguments": [places.get(i, i) for i in inputs],
            "output": algorithm.outputs[0].name,
        }


def _menu(contents: HeaderContents) -> Mapping[str, Any]:
    """Return the names of the menu's parameters, and the function for each choice of what is left out."""
    algorithm = contents.algorithms["tracking_cost_menu"]
    optional = {name for absent in variants(algorithm) for name in absent}
    inputs = [i.name for i in algorithm.inputs]
    return {
        "parameters": [i for i in algorithm.inputs if i.name not in ("x", "u")],
        "optional": sorted(optional),
        "outputs": [o.name for o in algorithm.outputs],
        "variants": [
            {
                "given": sorted(optional - absent),
                "name": algorithm.name if len(absent) in (0, len(optional)) else _without(algorithm, absent),
                "arguments": [i if i in ("x", "u") else f"p.{i}" for i in inputs if i not in absent],
            }
            for absent in sorted(variants(algorithm), key=len)
        ],
    }


def _without(algorithm: Algorithm, absent: frozenset[str]) -> str:
    return algorithm.name + "".join(f"_without_{name}" for name in sorted(absent))


def section(names: Sequence[str]) -> HeaderSection:
    """Return the section, which headers with any of the named algorithms have."""
    return HeaderSection("plant.hpp.j2", tuple(names), values)
