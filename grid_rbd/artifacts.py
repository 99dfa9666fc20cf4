"""Consumer artifacts: another project's sources, compiled against the header of a robot and kept in the store."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from grid_backends.errors import NotAvailableError
from grid_consumers import building, loading
from grid_consumers.artifact import ConsumerArtifact
from grid_consumers.plan import make_plan
from grid_consumers.recipe import checked_name, make_recipe
from grid_consumers.report import plan_report
from grid_core.build.options import flag
from grid_rbd.basics import open_store
from grid_rbd.keywords import checked_keywords
from grid_rbd.wishes import description_of, make_wish, positive

RECIPE = ("sources", "headers", "include_dirs", "defines", "extra_flags", "link_flags", "artifact_name")
ROBOT = (
    "cuda_arch",
    "floating_base",
    "ee_joint_names",
    "dtype",
    "algorithm_list",
    "enable_mujoco_kernels",
    "cost_frames",
    "contact_frames",
    "use_joint_dynamics",
    "friction_model",
    "friction_width",
    "runtime_inertia",
    "runtime_transform",
    "runtime_joint_dynamics",
)
COLLISION = ("collision", "collision_native", "spherized_urdf")


@checked_keywords
def build_artifact(
    consumer: str,
    name: str,
    urdf_path: str | Path,
    *,
    sources: Sequence[str | Path],
    headers: Sequence[str | Path] = (),
    include_dirs: Sequence[str | Path] = (),
    defines: Sequence[str] | dict[str, Any] | None = None,
    extra_flags: Sequence[str] = (),
    link_flags: Sequence[str] = (),
    artifact_name: str = "artifact.so",
    cache_dir: str | Path | None = None,
    cuda_arch: int | None = None,
    force_rebuild: bool = False,
    plan_only: bool = False,
    floating_base: bool = False,
    ee_joint_names: Sequence[str] | None = None,
    dtype: str = "float32",
    algorithm_list: Sequence[str] | str | None = None,
    enable_mujoco_kernels: bool = True,
    cost_frames: Sequence[str] | None = None,
    contact_frames: Sequence[str] | None = None,
    use_joint_dynamics: bool = False,
    friction_model: str = "sign",
    friction_width: float | Sequence[float] | None = None,
    runtime_inertia: bool = False,
    runtime_transform: bool = False,
    runtime_joint_dynamics: bool = False,
    emit_plant: bool | None = None,
    collision: bool = False,
    collision_res: float | Sequence[float] = 0.05,
    collision_native: bool = False,
    spherized_urdf: str | Path | None = None,
    launch_config_profile: str | None = None,
) -> ConsumerArtifact | dict[str, Any]:
    """Compile a project's sources against the header of a robot, or find what was compiled before.

    Sources include ``grid.hpp``, the header of :func:`generate_header`. Sources that end in ``.cu`` need nvcc, which
    then compiles all of them; without such a source and without ``cuda_arch`` the artifact is for the CPU. The macro
    ``GRID_SCALAR`` is ``float`` or ``double``, as ``dtype`` says.

    What a build depends on is known by content: sources, ``headers``, and every file that the compiler reads for them,
    in ``include_dirs`` or elsewhere. An edit of one of them, or a new file that is found before it, makes another
    artifact; sources that did not change are not compiled again.

    Parameters
    ----------
    consumer : str
        The project; its artifacts have names of their own.
    name : str
        The artifact within the project: one per robot and configuration.
    urdf_path : path
        The description of the robot.
    sources : sequence of path
        Translation units: ``.cu``, ``.cpp``, ``.cc`` or ``.cxx``, each with a file name of its own. They are compiled
        side by side where they are, and linked to one shared library.
    headers : sequence of path
        More files that are part of the identity although no source includes them.
    include_dirs : sequence of path
        Folders with headers, searched in this order.
    defines : sequence of str or dict, optional
        ``NAME`` or ``NAME=VALUE``; in a dict, ``None`` is no value.
    extra_flags, link_flags : sequence of str
        Options for each source and for the link.
    artifact_name : str
        File name of the library.
    cache_dir : path, optional
        Root of the store; default: :func:`default_cache_dir`.
    cuda_arch : int, optional
        Compute capability, 90 for sm_90; default: ``GRID_RBD_CUDA_ARCHS``, else that of the GPU.
    force_rebuild : bool
        Compile every source again.
    plan_only : bool
        Return what would be built and why, without generating or compiling anything.
    floating_base, ee_joint_names, algorithm_list, cost_frames, contact_frames, use_joint_dynamics, friction_model, \
friction_width, runtime_inertia, runtime_transform, runtime_joint_dynamics
        As for :func:`register_robot`: they say what the header has.
    dtype : str
        ``"float32"`` or ``"float64"``: what ``GRID_SCALAR`` is.
    emit_plant : bool, optional
        Whether the header has the namespace of the plant; by default it has if one of its algorithms is in the header.
    collision, collision_res, collision_native, spherized_urdf
        Of a part that this version does not have.
    enable_mujoco_kernels, launch_config_profile
        Without effect: there are no separate kernels, and sources choose their own launches.

    Returns
    -------
    ConsumerArtifact or dict
        With ``plan_only`` a dict: ``consumer, name, cache_dir, cuda_arch, code_options, identity, input_key, sources,
        headers, defines, content_key, cached, tier, stale_reasons, store_dir, would``; ``tier`` is the URL of the
        user's tier that it would be copied from, which is known once the header was generated.

    Raises
    ------
    URDFParseError
        The description is not valid.
    OptionError
        A name, path or option is not valid.
    ToolchainError, CompileError
        There is no compiler, or it failed; the message has the log and its last lines.
    PublishError
        A file was edited while it was compiled.
    """
    given = dict(locals())
    recipe = make_recipe(consumer, name, **{part: given[part] for part in RECIPE})
    for option in COLLISION:
        if given[option]:
            raise NotAvailableError(
                f"{option}={given[option]!r}: collisions are not part of this version; leave it out"
            )
    store, force, only_plan = open_store(cache_dir), flag(force_rebuild, "force_rebuild"), flag(plan_only, "plan_only")
    device = "cpu" if cuda_arch is None and not recipe.is_cuda else "cuda"
    wish = make_wish(description_of(urdf_path, None), {option: given[option] for option in ROBOT} | {"device": device})
    sections = {} if emit_plant is None else {"plant": flag(emit_plant, "emit_plant")}
    plan = make_plan(recipe, wish.request, sections, store)
    return plan_report(plan, store) if only_plan else building.build(plan, store, force=force)


@checked_keywords
def load_artifact(
    consumer: str, name: str, cache_dir: str | Path | None = None, cuda_arch: int | None = None
) -> ConsumerArtifact:
    """Return a prepared artifact; needs no compiler and no description.

    Every file is compared with the digest that was recorded when it was built.

    Parameters
    ----------
    consumer, name : str
        As given to :func:`build_artifact`.
    cache_dir : path, optional
        Root of the store; default: :func:`default_cache_dir`.
    cuda_arch : int, optional
        Compute capability that it has to run on; default: that of the GPU here, and any where there is none.

    Raises
    ------
    ArtifactNotFoundError
        The consumer has no artifact of that name.
    ArtifactIncompatibleError
        It is for another device or of another version, or its files are damaged or gone.
    """
    wanted = None if cuda_arch is None else positive(cuda_arch, "cuda_arch")
    consumer, name = checked_name(consumer, "consumer"), checked_name(name, "name")
    return loading.load(consumer, name, open_store(cache_dir), wanted)


@checked_keywords
def list_artifacts(consumer: str, cache_dir: str | Path | None = None) -> list[dict[str, Any]]:
    """Return every artifact that the consumer's manifest names.

    Returns
    -------
    list of dict
        ``consumer, name, path, content_key, input_key, cuda_arch, bytes`` and ``meta``, the record; one that cannot be
        loaded has ``stale_reasons``.
    """
    return loading.described(checked_name(consumer, "consumer"), open_store(cache_dir))


def describe_artifacts(consumer: str | None = None, cache_dir: str | Path | None = None) -> list[dict[str, Any]]:
    """Return what :func:`list_artifacts` does, of all consumers if none is named."""
    store = open_store(cache_dir)
    wanted = store.consumers() if consumer is None else [checked_name(consumer, "consumer")]
    return [artifact for name in wanted for artifact in loading.described(name, store)]


def forget_artifact(consumer: str, name: str, cache_dir: str | Path | None = None) -> dict[str, Any]:
    """Remove an artifact from its consumer's manifest; its files stay until they are collected.

    Returns
    -------
    dict
        ``consumer, name, cache_dir``.

    Raises
    ------
    ArtifactNotFoundError
        The consumer has no artifact of that name.
    StoreUnavailableError
        The store cannot be written.
    """
    consumer, name = checked_name(consumer, "consumer"), checked_name(name, "name")
    store = open_store(cache_dir, strict=True)
    loading.forget(consumer, name, store)
    return {"consumer": consumer, "name": name, "cache_dir": str(store.root)}
