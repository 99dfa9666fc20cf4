"""Registering robots: what a description needs is built, and the name is bound to it."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from grid_backends.numpy import RobotHandle
from grid_core.build import RobotEntry, load_entry, make_plan
from grid_core.build.compilers import compiler_for
from grid_core.build.entry import UnitPaths, make_record
from grid_core.build.options import flag
from grid_core.build.record import usable_record
from grid_core.errors import StaleRobotError, ToolchainError
from grid_rbd.basics import new_name, open_store
from grid_rbd.growing import grown
from grid_rbd.handles import adjusted, compiled_handle, lazy_handle, reference_handle
from grid_rbd.keywords import checked_keywords
from grid_rbd.warming import bind_model, build_and_bind, checked_model, facts_of
from grid_rbd.wishes import Wish, description_of, make_wish
from grid_store import CorruptEntryError, Store


@checked_keywords
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
    cost_features: Sequence[int] | None = None,
    output_convention: str = "pinocchio",
    algorithm_list: Sequence[str] | str | None = None,
    enable_mujoco_kernels: bool = True,
    device: str = "auto",
    lazy: bool = False,
    threads: int | None = None,
    follow_mimic: bool = True,
    cpu_level: str | None = None,
    cuda_archs: str | Sequence[int | str] | None = None,
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
        ``"auto"`` is the CPU, or the GPU if ``cuda_arch`` or ``cuda_archs`` is given.
    cuda_arch : int, optional
        Compute capability to compile for, 90 for sm_90; default: that of the device. Building needs nvcc, but no GPU.
    cuda_archs : str or sequence, optional
        Several compute capabilities for one build, such as ``"86,89,120"``; ``"90+ptx"`` runs on GPUs newer than 9.0
        too, whose driver compiles the code when it is first used. Default: ``GRID_RBD_CUDA_ARCHS``. ``cuda_arch``
        comes in addition.
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
        Plugins to load beside the installed ones: files, and folders of packages.
    runtime_inertia, runtime_transform, runtime_joint_dynamics : bool
        Take inertial parameters, joint frames, or damping, friction and rotor inertia at run time: the handle's setters
        change them, and every method takes one table for all samples or one per sample. Costs some speed, because
        nothing of them folds into the code.
    enable_tool : bool
        Same as ``runtime_inertia``, for ``handle.attach_tool``.
    contact_frames : sequence of str, optional
        Frames at which ``handle.contact_fext`` applies wrenches, in this order.
    cost_frames : sequence of str, optional
        Frames that costs follow beside the first end effector, in this order; ``handle.tracking_cost_menu`` needs one.
    cost_features : (int, int), optional
        Rows of the linear features of the state and of the input in costs. Default: as many as columns.
    backend : str
        ``"numpy"``; ``"jax"`` or ``"torch"`` for the same methods on the arrays of that framework, differentiable.
        What is built is the same for all of them.
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
    for own in ("name", "urdf_path", "urdf_string", "cache_dir", "force_rebuild"):
        del options[own]
    name, store, force = new_name(name), open_store(cache_dir), flag(force_rebuild, "force_rebuild")
    wish = make_wish(description_of(urdf_path, urdf_string), options)
    handle = _registered(name, wish, store, force=force)
    return adjusted(handle, output_convention, threads)


@checked_keywords
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


def _registered(name: str, wish: Wish, store: Store, *, force: bool) -> RobotHandle:
    wish = grown(name, wish, store)
    request = wish.request
    if not wish.is_compiled:
        return reference_handle(name, bind_model(name, wish, store), request, facts_of(wish), wish.backend)
    if wish.lazy:
        kept, model = checked_model(wish, store)
        plan = make_plan(request, store)
        built = {unit.algorithm: unit.entry for unit in plan.units if unit.entry}
        store.bind(name, make_record(request, kept, built, plan, facts_of(wish)))
        return lazy_handle(name, model, request, facts_of(wish), store, UnitPaths(store, built), wish.backend)
    if not force and (entry := _current(name, wish, store)):
        return compiled_handle(entry, request.catalogue, wish.backend)
    build_and_bind(name, wish, store, force=force)
    return compiled_handle(load_entry(name, store), request.catalogue, wish.backend)


def _current(name: str, wish: Wish, store: Store) -> RobotEntry | None:
    """Return the stored robot if it is exactly what is asked for and whole, without running or generating anything."""
    record = usable_record(name, store)
    if record is None or record["request"] != wish.request.identity().digest or record["facts"] != facts_of(wish):
        return None
    try:
        if compiler_for(wish.request, store).stamp != record["compiler"]:
            return None
    except ToolchainError:
        pass  # what is built runs without a compiler
    try:
        entry = load_entry(name, store)
        entry.units.verify()
    except (StaleRobotError, CorruptEntryError):
        return None
    return entry
