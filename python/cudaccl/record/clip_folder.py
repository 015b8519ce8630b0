# SPDX-License-Identifier: LGPL-2.1-or-later
"""The folder of clips: names, and how much they may take."""

from __future__ import annotations

import dataclasses
import os
import re
import shutil
import threading
from pathlib import Path

import numpy

from cudaccl.publish.errors import SinkError
from cudaccl.publish.file_lock import ALONE, lock

PART = ".part"
_NS = 10**9
_KEEP = 10 << 30
_STEP = 16 << 20
# The name of a clip without what follows: of a source, and a time in UTC or a position.
_CLIP = re.compile(
    r"([A-Za-z0-9_.-]+-(?:\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}Z|\d{5,}\.\d{3}s)(?:-\d+)?)\.(mkv|mkv\.part|jsonl)")


@dataclasses.dataclass
class _Files:
    """Of one clip."""

    size: int = 0
    time: float = 0.0
    is_part: bool = False
    paths: list[Path] = dataclasses.field(default_factory=list)


def is_clip(path: Path) -> bool:
    """Whether a file of this name counts as a clip, which is removed when room is needed."""
    return _CLIP.fullmatch(path.name) is not None


class ClipFolder:
    """keep: bytes that all clips in it may take, those of other processes included. None: 10 GiB, or half of the room
    on the disk if that is less.

    Clips of several sources may be written at once. Raises SinkError if files cannot be made in it.
    """

    def __init__(self, path: Path, keep: int | None = None) -> None:
        self.path = path
        self._changing = threading.Lock()
        self._written = 0  # since room was made
        try:
            path.mkdir(parents=True, exist_ok=True)
            probe = path / f".cudaccl-{os.getpid()}"
            probe.touch()
            probe.unlink()
            if keep is None:
                room = shutil.disk_usage(path).free + sum(one.size for one in self._clips().values())
                keep = min(_KEEP, room // 2)
        except OSError as error:
            raise SinkError(f"clips cannot be written to {path}: {error.strerror}") from error
        self._keep = keep
        self._step = min(_STEP, keep // 8)
        self.clip_limit = keep // 10  #: bytes after which a clip should end

    def complete_old(self) -> list[str]:
        """Gives clips of a process that was killed their names. Returns these."""
        names = []
        for path in sorted(self.path.glob(f"*.mkv{PART}")):
            if not _CLIP.fullmatch(path.name):
                continue
            try:
                file = os.open(path, os.O_RDWR)
                try:
                    lock(file, ALONE)
                    names.append(complete(path).name)
                finally:
                    os.close(file)
            except OSError:  # a process writes it, or it is not ours
                continue
        return names

    def new_file(self, source: str, utc: int | None, running_time: int) -> tuple[int, Path]:
        """An open file, which is locked, and its path, which ends with PART. Raises OSError."""
        self.make_room()
        when = f"{max(running_time, 0) / _NS:09.3f}s"
        if utc is not None:
            when = f"{numpy.datetime64(utc, 'ns')}"[:23].replace(":", "-") + "Z"
        for number in range(1, 1000):
            name = f"{source}-{when}" + (f"-{number}" if number > 1 else "")
            path = self.path / f"{name}.mkv{PART}"
            if path.with_suffix("").exists():
                continue
            try:
                file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666)
            except FileExistsError:
                continue
            lock(file, ALONE)
            return file, path
        raise FileExistsError(17, "there are a thousand clips of this moment")

    def wrote(self, size: int) -> None:
        """Makes room now and then. Raises OSError."""
        with self._changing:
            self._written += size
            if self._written < self._step:
                return
        self.make_room()

    def make_room(self) -> None:
        """Removes the oldest clips, so that there is room for the next bytes. Raises OSError."""
        with self._changing:
            self._written = 0
            clips = self._clips()
            left = sum(one.size for one in clips.values()) + self._step - self._keep
            for one in sorted(clips.values(), key=lambda files: files.time):
                if left <= 0:
                    break
                if not one.is_part:
                    for path in one.paths:
                        path.unlink(missing_ok=True)
                    left -= one.size

    def _clips(self) -> dict[str, _Files]:
        found: dict[str, _Files] = {}
        with os.scandir(self.path) as entries:
            for entry in entries:
                match = _CLIP.fullmatch(entry.name)
                if match is None:
                    continue
                try:
                    status = entry.stat(follow_symlinks=False)
                except FileNotFoundError:  # another process has removed it
                    continue
                one = found.setdefault(match[1], _Files())
                one.size += max(status.st_size, 512 * status.st_blocks)
                one.time = max(one.time, status.st_mtime)
                one.is_part = one.is_part or match[2].endswith(PART)
                one.paths.append(self.path / entry.name)
        return found


def complete(path: Path) -> Path:
    """A clip that ends with PART gets its name, which is returned. Raises OSError."""
    return path.rename(path.with_suffix(""))
