"""Commands about shared tiers: ``tiers`` and ``keys``."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

from grid_core.errors import OptionError
from grid_rbd.cli.commands import Commands
from grid_rbd.cli.failures import FAILURE
from grid_rbd.cli.options import Artifacts, CacheDir, JsonFlag, RegisteredNames
from grid_rbd.cli.output import results, table, write_json
from grid_rbd.pushing import push_robots
from grid_store.tiers import TierSettings, TiersSettings, load_settings, save_settings
from grid_store.tiers.keyring import key_files
from grid_store.tiers.remote import Remote
from grid_store.tiers.settings import TIMEOUT

Url = Annotated[str, typer.Argument(help="Such as file:///shared/robots, s3://bucket/robots, https://host/robots.")]
KeyName = Annotated[str, typer.Argument(metavar="NAME", help="What you call the key.")]

tiers_app = Commands(help="Places beyond this machine where builds are found and left.", no_args_is_help=True)
keys_app = Commands(help="Keys that sign what is left in tiers, and those that you trust.", no_args_is_help=True)


@tiers_app.command("list")
def list_tiers(as_json: JsonFlag = False) -> None:
    """Show the tiers in the order in which they are asked."""
    settings = load_settings()
    if as_json:
        write_json(_document(settings))
        return
    rows = table("tier", "written to", "signatures", "timeout", right=("timeout",))
    for tier in settings.tiers:
        checked = "checked" if tier.verify else "[yellow]not checked"
        rows.add_row(escape(tier.url), "yes" if tier.write else "no", checked, f"{tier.timeout:g} s")
    console = results()
    console.print(rows if settings.tiers else "there are no tiers; 'grid-rbd tiers add URL' adds one")
    console.print(f"\n{escape(_manner(settings))}", style="dim", soft_wrap=True)


@tiers_app.command("add")
def add_tier(
    url: Url,
    write: Annotated[bool, typer.Option("--write", help="Leave there what is built here.")] = False,
    sign_with: Annotated[
        str | None, typer.Option("--sign-with", metavar="NAME", help="Your key that signs it.", show_default=False)
    ] = None,
    timeout: Annotated[float, typer.Option("--timeout", metavar="SECONDS", help="For one operation.")] = TIMEOUT,
    unverified: Annotated[
        bool, typer.Option("--unverified", help="Believe all that is there, whoever can write to it.")
    ] = False,
    options: Annotated[
        list[str] | None,
        typer.Option("--option", metavar="NAME=VALUE", help="For fsspec, such as endpoint_url; may be repeated."),
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """Ask one more tier, after the others; adding one again changes it."""
    tier = TierSettings(url, write, timeout, not unverified, dict(map(_option, options or ())))
    Remote(tier).check()
    settings, keys = load_settings(), key_files()
    if sign_with is not None:
        keys.own_key(sign_with)
    others = [other for other in settings.tiers if other.url != url]
    signing = sign_with or settings.sign_with
    if write and not unverified and signing is None:
        raise OptionError("--write needs a key to sign with; 'grid-rbd keys make NAME', then --sign-with NAME")
    _keep(replace(settings, tiers=(*others, tier), sign_with=signing), as_json=as_json)


@tiers_app.command("remove")
def remove_tier(url: Url, as_json: JsonFlag = False) -> None:
    """Ask a tier no more."""
    settings = load_settings()
    if url not in [tier.url for tier in settings.tiers]:
        raise OptionError(f"there is no tier {url!r}; 'grid-rbd tiers list' shows those that are")
    _keep(replace(settings, tiers=tuple(tier for tier in settings.tiers if tier.url != url)), as_json=as_json)


@tiers_app.command("fallback")
def set_fallback(
    allowed: Annotated[str, typer.Argument(metavar="on|off", help="Whether what no tier has is compiled here.")],
    as_json: JsonFlag = False,
) -> None:
    """Allow or forbid to compile what no tier has."""
    if allowed not in ("on", "off"):
        raise OptionError(f"fallback is {allowed!r}, expected on or off")
    _keep(replace(load_settings(), fallback=allowed == "on"), as_json=as_json)


@tiers_app.command("push")
def push_command(
    names: RegisteredNames = None,
    artifacts: Artifacts = None,
    cache_dir: CacheDir = None,
    as_json: JsonFlag = False,
) -> None:
    """Leave what was built before in the tiers that are written to, signed with your key."""
    report = push_robots(names or None, cache_dir, artifacts=artifacts or None)
    if as_json:
        write_json(report)
    else:
        rows = table("tier", "new", "there before", "failed", right=("new", "there before", "failed"))
        for tier in report["tiers"]:
            rows.add_row(escape(tier["url"]), *(str(tier[count]) for count in ("written", "present", "failed")))
        console = results()
        console.print(rows)
        for tier in report["tiers"]:
            if tier["reason"]:
                console.print(f"[red]✗[/] {escape(tier['url'])}: {escape(tier['reason'])}", soft_wrap=True)
    if not report["ok"]:
        raise typer.Exit(FAILURE)


@keys_app.command("make")
def make_key_command(name: KeyName, as_json: JsonFlag = False) -> None:
    """Make a key of your own, and trust it; give its line to those who should trust you."""
    public = key_files().make_key(name).public
    if as_json:
        write_json({"name": name, "identity": public.identity, "key": public.text})
        return
    console = results()
    console.print(f"[green]✓[/] {escape(name)} ({public.identity}); others trust it with")
    console.print(f'  grid-rbd keys trust {name} "{public.text}"', style="dim", soft_wrap=True)


@keys_app.command("list")
def list_keys(as_json: JsonFlag = False) -> None:
    """Show the keys that you trust, and which are your own."""
    keys = key_files()
    own, trusted = keys.own_names(), keys.trusted_keys()
    if as_json:
        facts = [{"name": k.name, "identity": k.identity, "key": k.text, "own": k.name in own} for k in trusted]
        write_json({"trusted": facts, "own": own})
        return
    rows = table("trusted", "identity", "key", "")
    for key in trusted:
        rows.add_row(escape(key.name), key.identity, f"[dim]{key.text}", "yours" if key.name in own else "")
    results().print(rows if trusted else "no key is trusted; 'grid-rbd keys make' makes one, 'trust' adds another's")


@keys_app.command("trust")
def trust_key_command(
    name: KeyName,
    key: Annotated[str, typer.Argument(help="The line of the key, or a file with it.")],
    as_json: JsonFlag = False,
) -> None:
    """Believe what is signed with the key of somebody else."""
    public = key_files().trust_key(name, _line(key))
    if as_json:
        write_json({"name": name, "identity": public.identity, "key": public.text})
        return
    results().print(f"[green]✓[/] {escape(name)} ({public.identity}) is trusted")


@keys_app.command("forget")
def forget_key_command(name: KeyName, as_json: JsonFlag = False) -> None:
    """Trust a key no longer."""
    key_files().forget_key(name)
    if as_json:
        write_json({"name": name})
        return
    results().print(f"[green]✓[/] {escape(name)} is no longer trusted")


def _line(key: str) -> str:
    """Return the line of a key that is given as it is, or as the file that holds it."""
    with suppress(OSError):  # too long for a path, or not readable: then it is taken as it is, and refused
        if Path(key).is_file():
            return Path(key).read_text("utf-8", "replace")
    return key


def _keep(settings: TiersSettings, *, as_json: bool) -> None:
    path = save_settings(settings)
    if as_json:
        write_json(_document(settings))
        return
    results().print(f"[green]✓[/] {escape(str(path))}", soft_wrap=True)


def _document(settings: TiersSettings) -> dict[str, Any]:
    """Return the settings without what may be secret."""
    tiers = [{**asdict(tier), "options": sorted(tier.options)} for tier in settings.tiers]
    return {**asdict(settings), "tiers": tiers}


def _manner(settings: TiersSettings) -> str:
    signing = f"signed with {settings.sign_with!r}" if settings.sign_with else "nothing is signed"
    return f"{signing}; what no tier has is {'compiled here' if settings.fallback else 'an error'}"


def _option(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not name or not equals:
        raise OptionError(f"--option is {text!r}, expected NAME=VALUE, such as endpoint_url=http://localhost:9000")
    return name, value
