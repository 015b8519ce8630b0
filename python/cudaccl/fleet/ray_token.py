# SPDX-License-Identifier: LGPL-2.1-or-later
"""Ray's token. Without one, anyone who reaches a cluster can run code on all its nodes."""

from __future__ import annotations

import ipaddress
import os
import secrets
import subprocess
import sys
from pathlib import Path

from cudaccl._visible import visible
from cudaccl.fleet.yaml_tree import ConfigError

_STATUS_S = 60
_REFUSAL = "AuthenticationError"
_HOW = "; docs/fleet.md has the commands"


def demand(address: str | None) -> None:
    """Makes Ray use its token, if the cluster is not this machine alone. To be called before Ray is imported.

    Raises ConfigError if that is not possible.
    """
    if address is None or _is_loopback(address):
        return
    if "://" in address:
        raise ConfigError(f"the Ray cluster {address}: this is no HOST:PORT, and no token can be demanded")
    mode = os.environ.setdefault("RAY_AUTH_MODE", "token")
    if mode.lower() != "token":
        raise ConfigError(f"the Ray cluster {address} needs a token, but RAY_AUTH_MODE is {mode!r}" + _HOW)
    if not _has_token():
        raise ConfigError(f"the Ray cluster {address} needs a token, and there is none here: `ray get-auth-token"
                          " --generate` makes one on the head, and all nodes need ~/.ray/auth_token" + _HOW)


def demand_of_cluster(address: str) -> None:
    """Raises ConfigError unless a cluster refuses strangers, and if it does not accept this machine's token. Ray itself
    would use a cluster without one, and try the other one for 20 seconds.
    """
    if _is_loopback(address):
        return
    command = [sys.executable, "-m", "ray.scripts.scripts", "status", "--address", address]
    hidden = ("RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH")
    nobody = {name: value for name, value in os.environ.items() if name not in hidden} | {"RAY_AUTH_MODE": "disabled"}
    options = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, env=nobody, **options) as open_to_all, subprocess.Popen(command, **options) as ours:
        try:
            errors = [one.communicate(timeout=_STATUS_S)[1] for one in (open_to_all, ours)]
        except subprocess.TimeoutExpired:
            open_to_all.kill()
            ours.kill()
            raise ConfigError(f"the Ray cluster {address} does not answer") from None
    if open_to_all.returncode == 0:
        raise ConfigError(f"the Ray cluster {address} wants no token: anyone who reaches it can run code on it" + _HOW)
    if _REFUSAL not in errors[0]:
        reason = (errors[0].strip().splitlines() or ["no reason is given"])[-1]
        raise ConfigError(f"the Ray cluster {address} does not say whether it wants a token: {visible(reason)}" + _HOW)
    if ours.returncode != 0 and _REFUSAL in errors[1]:
        raise ConfigError(f"the Ray cluster {address} has another token than this machine" + _HOW)


def close_this_machine() -> None:
    """For a Ray that this process will start: it listens on the loopback address alone, and has a token. To be called
    before Ray is imported.
    """
    os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"  # what Ray does there to keep firewalls quiet
    os.environ["RAY_AUTH_MODE"] = "token"
    if not _has_token():
        os.environ["RAY_AUTH_TOKEN"] = secrets.token_hex(32)


def _is_loopback(address: str) -> bool:
    """False for a name of this machine that others may reach it by, too, and for `auto`, which may be any cluster."""
    host = address.rpartition(":")[0].strip("[]")
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _has_token() -> bool:
    """As Ray looks for it."""
    if os.environ.get("RAY_AUTH_TOKEN"):
        return True
    try:
        path = Path(os.environ.get("RAY_AUTH_TOKEN_PATH") or Path.home() / ".ray" / "auth_token")
        return bool(path.read_text(encoding="utf-8").strip())
    except (OSError, UnicodeDecodeError, RuntimeError):  # the last one: there is no home
        return False
