"""Registering robots and getting handles on them."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from grid_backends.numpy import RobotHandle
from grid_backends.numpy.threads import checked_threads
from grid_core.build import RobotEntry, RobotRequest, build, load_entry, make_plan
from grid_core.build.builder import check_friction_width
from grid_core.build.compilers import compiler_for
from grid_core.build.entry import UnitPaths, make_record
from grid_core.build.models import DESCRIPTION, read_model, stored_model
from grid_core.build.options import BuildOptions
from grid_core.errors import RobotNotRegisteredError, StaleRobotError, ToolchainError
from grid_core.model import Model
from grid_core.model.xml_source import Source, read_source
from grid_core.plugins.manager import load_catalogue
from grid_rbd.growing import grown
from grid_rbd.handles import compiled_handle, lazy_handle, reference_handle
from grid_rbd.planning import plan_report
from grid_rbd.progress import shown_progress
from grid_rbd.wishes import Wish, check_backend, check_convention, description_of, make_wish
from grid_store import Entry, Store


def register_robot(
    name: str,
    urdf_path: str | Path | None = None,
    *,
    urdf_string: str | None = None,
    floating_base: bool = False,
    ee_joint_names: Sequence[str] | None = None,
    max_batch_size: int = 256,
    cache_dir: str | Path | None = None,
    force_rebuild: bool = False,
    cuda_arch: int | None = None,
    backend: str = "numpy",
    dtype: str = "float32",
    runtime_inertia: bool = False,
    runtime_transform: bool = False,
    runtime_joint_dynamics: bool = False,
    use_joint_dynamics: bool = False,
    friction_model: str = "sign",
    friction_width: float | Sequence[float] | None = None,
    enable_tool: bool = False,
    contact_frames: Sequence[str] | None = None,
    cost_frames: Sequence[str] | None = None,
    output_convention: str = "pinocchio",
    algorithm_list: Sequence[str] | str | None = None,
    enable_mujoco_kernels: bool = True,
    device: str = "auto",
    lazy: bool = False,
    threads: int | None = None,
    follow_mimic: bool = True,
    cpu_level: str | None = None,
    compiler: str | None = None,
    plugins: Sequence[str | Path] = (),
    _profile_overlay: str | None = "pybind",
) -> RobotHandle:
    """Build a robot, keep it in the store under a name, and return a handle.

    What is in the store already is reused: a second call takes milliseconds. One more algorithm compiles the units that
    it needs and no other, and joins those that the name has.

    Parameters
    ----------
    name : str
        Name for :func:`get_robot`. Registering another description under it replaces the binding.
    urdf_path, urdf_string : path or str
        The description, exactly one of both.
    floating_base : bool
        Free the root link; q starts with position and quaternion xyzw, velocities with the body-frame twist.
    ee_joint_names : sequence of str, optional
        Frames that count as end effectors; default: the leaf joints.
    max_batch_size : int
        Kept for ``handle.max_batch``; the CPU target takes any batch.
    cache_dir : path, optional
        Root of the store; default: :func:`default_cache_dir`.
    force_rebuild : bool
        Compile everything again.
    dtype : str
        ``"float32"`` (default) or ``"float64"``: what is computed and returned. Inputs are cast to it.
    use_joint_dynamics : bool
        Model damping and Coulomb friction of the description: inverse dynamics adds ``b qd + f s(qd)``, forward
        dynamics subtracts it.
    friction_model, friction_width
        ``"sign"`` or ``"tanh"`` with width ``w`` in ``tanh(qd / w)``: one number (default 0.03) or one per velocity
        slot.
    algorithm_list : sequence of str or str, optional
        Algorithms and profiles to build, with what they require; default: all.
    device : str
        ``"cpu"``; ``"cuda"`` or ``"cuda:1"``; ``"reference"`` (NumPy interpreter in float64, needs no compiler);
        ``"auto"`` is the CPU, or the GPU if ``cuda_arch`` is given.
    cuda_arch : int, optional
        Compute capability to compile for, 90 for sm_90; default: that of the device. Building needs nvcc, but no GPU.
    lazy : bool
        Compile each method's unit when it is first called.
    threads : int, optional
        Threads per call; default: ``GRID_RBD_THREADS``, else the processors of this process.
    follow_mimic : bool
        Mimic joints follow their target and own no coordinate; False makes them independent.
    cpu_level : str, optional
        Instruction-set level, such as ``"x86-64-v3"`` or ``"native"``; default: the best that this machine runs.
    compiler : str, optional
        Compiler command; default: ``CXX``, then g++, clang++; for CUDA ``CUDA_HOME``, then nvcc.
    plugins : sequence of path
        Plugin files to load beside the installed plugins.
    backend, enable_tool, contact_frames, cost_frames
        Documented parts that this version does not have; any value but the default raises.
    runtime_inertia, runtime_transform, runtime_joint_dynamics
        As above.
    output_convention : str
        ``"pinocchio"``; ``"mujoco"`` is the same on a fixed base and raises on a floating one.
    enable_mujoco_kernels : bool
        Without effect: there are no separate kernels.

    Returns
    -------
    RobotHandle

    Raises
    ------
    URDFParseError
        The description is not valid.
    OptionError
        An option is not valid.
    NotAvailableError
        An option belongs to a part that this version does not have.
    ToolchainError, CompileError
        There is no compiler, or it failed.
    """
    options = dict(locals())
    for own in ("name", "urdf_path", "urdf_string", "cache_dir", "force_rebuild", "threads"):
        del options[own]
    if threads is not None:
        checked_threads(threads)
    wish = make_wish(description_of(urdf_path, urdf_string), options)
    handle = _registered(name, wish, Store(cache_dir), force=force_rebuild)
    return _adjusted(handle, output_convention, threads)


def _registered(name: str, wish: Wish, store: Store, *, force: bool) -> RobotHandle:
    wish = grown(name, wish, store)
    request = wish.request
    if wish.device == "reference":
        kept, model = _checked_model(wish, store)
        store.bind(name, make_record(request, kept, {}, None, _facts(wish)))
        return reference_handle(name, model, request, _facts(wish))
    if wish.lazy:
        kept, model = _checked_model(wish, store)
        plan = make_plan(request, store)
        built = {unit.algorithm: unit.entry for unit in plan.units if unit.entry}
        store.bind(name, make_record(request, kept, built, plan, _facts(wish)))
        return lazy_handle(name, model, request, _facts(wish), store, UnitPaths(store, built))
    if not force and (entry := _current(name, wish, store)):
        return compiled_handle(entry, request.catalogue)
    build_and_bind(name, wish, store, force=force)
    return compiled_handle(load_entry(name, store), request.catalogue)


def _checked_model(wish: Wish, store: Store) -> tuple[Entry, Model]:
    """Return the model of a wish once what the wish says about it is known to be true."""
    kept = stored_model(wish.request, store)
    model = read_model(kept)
    check_friction_width(wish.request, model)
    for frame in wish.end_effectors:
        model.frame(frame)
    return kept, model


def build_and_bind(name: str, wish: Wish, store: Store, *, force: bool = False) -> None:
    """Build what a wish lacks and bind the name to the result."""
    wish = grown(name, wish, store)
    kept, _ = _checked_model(wish, store)
    plan = make_plan(wish.request, store, _inputs_before(name, store))
    with shown_progress(len(plan.units if force else plan.missing), name) as progress:
        units = build(plan, store, force=force, progress=progress)
    store.bind(name, make_record(wish.request, kept, units, plan, _facts(wish)))


def _inputs_before(name: str, store: Store) -> dict[str, dict[str, str]]:
    record = store.resolve(name)
    return dict(record.get("inputs", {})) if record else {}


def _current(name: str, wish: Wish, store: Store) -> RobotEntry | None:
    """Return the stored robot if it is exactly what is asked for, without running or generating anything."""
    record = store.resolve(name)
    if record is None or record.get("request") != wish.request.identity().digest or record["facts"] != _facts(wish):
        return None
    try:
        if compiler_for(wish.request, store).stamp != record["compiler"]:
            return None
    except ToolchainError:
        pass  # what is built runs without a compiler
    try:
        return load_entry(name, store)
    except StaleRobotError:
        return None


def _facts(wish: Wish) -> dict[str, Any]:
    return {
        "device": wish.device,
        "end_effectors": list(wish.end_effectors),
        "max_batch": wish.max_batch,
        "lazy": wish.lazy,
        "algorithm_list": list(wish.request.algorithms),
        "cpu_level": wish.request.level if wish.request.target.name == "cpu" else None,
        "cuda_arch": int(wish.request.level.removeprefix("sm_")) if wish.request.target.name == "cuda" else None,
    }


def _adjusted(handle: RobotHandle, output_convention: str, threads: int | None) -> RobotHandle:
    if threads is not None:
        handle.threads = threads
    handle.output_convention = output_convention
    return handle


def load_robot(
    urdf_path: str | Path | None = None,
    *,
    backend: str = "numpy",
    floating_base: bool = False,
    urdf_string: str | None = None,
    name: str | None = None,
    cache_dir: str | Path | None = None,
    **opts: Any,
) -> RobotHandle:
    """Load a description and return a handle; the name is derived from its content.

    Equal descriptions share one entry. Everything else is :func:`register_robot`, which documents ``opts``.

    Parameters
    ----------
    urdf_path, urdf_string : path or str
        The description, exactly one of both.
    backend, floating_base, cache_dir
        As for :func:`register_robot`.
    name : str, optional
        Name to register under.

    Returns
    -------
    RobotHandle
    """
    if name is None:
        source = description_of(urdf_path, urdf_string)
        stem = Path(urdf_path).stem if urdf_path is not None else "inline"
        base = "floating" if floating_base else "fixed"
        name = f"{stem}_{base}_{hashlib.sha256(source.data).hexdigest()[:12]}"
    return register_robot(
        name,
        urdf_path,
        urdf_string=urdf_string,
        backend=backend,
        floating_base=floating_base,
        cache_dir=cache_dir,
        **opts,
    )


def get_robot(
    name: str,
    cache_dir: str | Path | None = None,
    *,
    backend: str = "numpy",
    output_convention: str = "pinocchio",
    urdf_path: str | Path | None = None,
    _profile_overlay: str | None = "pybind",
    **register_opts: Any,
) -> RobotHandle:
    """Return a handle on a registered robot; needs no compiler and no description.

    Parameters
    ----------
    name : str
    cache_dir : path, optional
    urdf_path : path, optional
        Registered under the name if there is no such robot, with ``register_opts``. If there is one, it is returned,
        with a warning when it was made from something else.

    Raises
    ------
    RobotNotRegisteredError
        The name is not registered, and no description was given.
    StaleRobotError
        The stored build cannot be used by this process; ``reasons`` says why.
    TypeError
        Build options without a description.
    """
    check_backend(backend)
    check_convention(output_convention)
    threads = register_opts.pop("threads", None)
    if register_opts and urdf_path is None:
        raise TypeError(
            f"get_robot() got build options {sorted(register_opts)} without urdf_path; "
            "a stored robot is as it was built"
        )
    store = Store(cache_dir)
    try:
        entry = load_entry(name, store)
    except RobotNotRegisteredError:
        if urdf_path is None:
            raise
        return register_robot(
            name, urdf_path, cache_dir=cache_dir, threads=threads, output_convention=output_convention, **register_opts
        )
    if urdf_path is not None:
        _warn_if_different(name, entry, make_wish(description_of(urdf_path, None), register_opts).request)
    return _adjusted(_stored_handle(entry, store), output_convention, threads)


def _stored_handle(entry: RobotEntry, store: Store) -> RobotHandle:
    record = entry.record
    facts = record["facts"]
    if facts["device"] == "reference":
        return reference_handle(entry.name, entry.model, _request_of(entry, store), facts)
    if facts["lazy"]:
        return lazy_handle(entry.name, entry.model, _request_of(entry, store), facts, store, entry.units)
    return compiled_handle(entry, load_catalogue(tuple(record["plugin_files"])))


def _request_of(entry: RobotEntry, store: Store) -> RobotRequest:
    """Rebuild the request of a stored robot from its record and its kept description."""
    record = entry.record
    kept = store.get(record["model"])
    assert kept is not None
    source: Source = read_source(kept.verified(DESCRIPTION).read_bytes())
    options = BuildOptions.from_json(record["options"])
    algorithms = tuple(record["facts"]["algorithm_list"])
    return RobotRequest(source, options, algorithms, record["level"], None, tuple(record["plugin_files"]))


def _warn_if_different(name: str, entry: RobotEntry, request: RobotRequest) -> None:
    if entry.record["request"] != request.identity().digest:
        warnings.warn(
            f"robot {name!r} is registered already, from another description, options or version of grid-rbd; "
            "the stored one is returned. Use register_robot to replace it",
            stacklevel=3,
        )


def warm_robot(
    name: str,
    urdf_path: str | Path | None = None,
    *,
    urdf_string: str | None = None,
    cache_dir: str | Path | None = None,
    force_rebuild: bool = False,
    plan_only: bool = False,
    **opts: Any,
) -> Any:
    """Build a robot into the store without loading it.

    Returns
    -------
    tuple
        ``(content_key, store root, meta)``, ``meta`` the stored record. With ``plan_only=True``, the report of
        :func:`build_plan` instead.
    """
    wish = make_wish(description_of(urdf_path, urdf_string), opts)
    store = Store(cache_dir)
    if plan_only:
        return plan_report(name, wish, store)
    build_and_bind(name, wish, store, force=force_rebuild)
    record = store.resolve(name)
    return make_plan(wish.request, store).content_key, store.root, record


def precompile(
    name: str,
    urdf_path: str | Path | None = None,
    *,
    urdf_string: str | None = None,
    tiers: Iterable[dict[str, Any]] | None = None,
    floating_base: bool = False,
    ee_joint_names: Sequence[str] | None = None,
    max_batch_size: int = 256,
    backends: Iterable[str] = ("numpy",),
    cache_dir: str | Path | None = None,
    cuda_arch: int | None = None,
) -> list[dict[str, Any]]:
    """Build one or several variants of a robot ahead of time.

    Parameters
    ----------
    tiers : iterable of dict, optional
        Overrides of :func:`register_robot` options, one build each; several are named ``name__tier0``,
        ``name__tier1``, ...

    Returns
    -------
    list of dict
        ``{"name", "backend", ...}`` and the stored record, for each tier and backend.
    """
    shared = {
        "floating_base": floating_base,
        "ee_joint_names": ee_joint_names,
        "max_batch_size": max_batch_size,
        "cuda_arch": cuda_arch,
    }
    wanted = [dict(tier) for tier in tiers] if tiers is not None else [{}]
    built = []
    for number, tier in enumerate(wanted):
        own_name = f"{name}__tier{number}" if len(wanted) > 1 else name
        for backend in backends:
            check_backend(backend)
            _, _, record = warm_robot(
                own_name, urdf_path, urdf_string=urdf_string, cache_dir=cache_dir, **{**shared, **tier}
            )
            built.append({"name": own_name, "backend": backend, **record})
    return built
