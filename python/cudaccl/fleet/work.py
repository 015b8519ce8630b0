# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the workers of an archive do. Files are the only state, so any of it can be done again."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import hashlib
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from cudaccl import _regions
from cudaccl._file_size import early_end
from cudaccl.fleet import join
from cudaccl.fleet.config import Archive, Archives
from cudaccl.fleet.pieces import Damaged, Piece, Span, load, publish_file, save, sync_folder
from cudaccl.fleet.segment import Uneven, label_span
from cudaccl.fleet.video_index import VideoIndex, make_index
from cudaccl.publish.errors import SinkError
from cudaccl.publish.json_lines import JsonLinesSink
from cudaccl.publish.parquet import ParquetSink
from cudaccl.publish.parquet_part import TABLES
from cudaccl.publish.sink import Sink

WHOLE = Span(0, 0, None)


@dataclasses.dataclass(frozen=True)
class Job:
    """An archive and where its files are."""

    archive: Archive
    settings: Archives

    def content(self) -> str:
        """Names the file and all that decides its result. Raises OSError."""
        status = os.stat(self.archive.path)
        regions = _regions.digest(self.archive.properties)
        text = json.dumps([
            os.path.realpath(self.archive.path), status.st_size, status.st_mtime_ns,
            sorted(self.archive.properties.items()), self.settings.form, self.settings.segment, self.settings.overlap,
            self.settings.longest_overlap, *self.settings.to, *([regions] if regions else [])])
        return hashlib.sha256(text.encode()).hexdigest()

    @property
    def folder(self) -> Path:
        """Where its pieces are."""
        return Path(self.settings.output, ".pieces", self.archive.name)

    @property
    def manifest(self) -> Path:
        return Path(self.settings.output, "manifest", f"{self.archive.name}.json")

    @property
    def result(self) -> Path:
        suffix = ".jsonl" if self.settings.form == "jsonl" else ""
        return Path(self.settings.output, self.archive.name + suffix)

    @property
    def messages(self) -> Path:
        """JSON lines for brokers: there as long as a spool does not have all of them."""
        return Path(self.settings.output, ".messages", f"{self.archive.name}.jsonl")

    @property
    def run(self) -> str:
        """In the key of each message. The same file and settings have the same one in each run."""
        return self.content()[:16]

    def piece(self, content: str, span: Span) -> Path:
        return self.folder / f"{content[:16]}-{span.text}.npz"


@dataclasses.dataclass(frozen=True)
class Done:
    """A span that is on the disk; uneven: why the file must not be cut. warnings: GStreamer's."""

    frames: int
    uneven: str = ""
    warnings: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class Missing:
    """What must be labelled before the result can be written."""

    spans: list[Span]
    damaged: dict[Span, str]  #: those of them whose piece was there, and is removed; with the reason


class _Lost(Exception):
    """A piece was there when cuts were decided, and is damaged now."""


def complete(job: Job, say: Callable[[str], None] = lambda text: None) -> dict[str, Any] | None:
    """The manifest of an earlier run with the same result; None: it has to be done. Raises OSError.

    say: is called with a text if it is damaged.
    """
    content = job.content()
    try:
        manifest = json.loads(job.manifest.read_text())
        is_same = manifest["content"] == content and manifest["files"] == _sizes(job)
        return manifest if is_same and manifest["frames"] >= 0 else None
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError, LookupError, TypeError) as error:
        say(f"{job.archive.name}: its manifest is damaged ({type(error).__name__}: {error}); it is made again")
        return None


def _sizes(job: Job) -> dict[str, int]:
    """Of the result, by path in the output. Raises FileNotFoundError."""
    return {str(path.relative_to(job.settings.output)): path.stat().st_size for path in _files(job)}


def _remove(path: Path) -> None:
    """A file or folder, if it is there. Raises OSError."""
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def survey(job: Job) -> VideoIndex:
    """Prepares the folders, and reads the file without decoding. Raises PipelineError, OSError."""
    for folder in (job.folder, job.manifest.parent, *([job.messages.parent] if job.settings.to else [])):
        folder.mkdir(parents=True, exist_ok=True)
    content = job.content()
    for path in job.folder.iterdir():  # of a file that was changed, or of a worker that was killed
        if not path.name.startswith(content[:16]):
            _remove(path)
    return make_index(job.archive.path, job.settings.stall)


def label(job: Job, index: VideoIndex, span: Span) -> Done:
    """Labels a span unless its piece is there. Raises PipelineError, UsageError, OSError."""
    path = job.piece(job.content(), span)
    if path.exists():
        return Done(0)
    warnings: dict[str, None] = {}  # in their order, each once
    try:
        piece = label_span(job.archive, index, span, job.settings.stall, warnings.setdefault)
    except Uneven as reason:
        return Done(0, str(reason), tuple(warnings))
    save(piece, path)
    return Done(len(piece.frames), "", tuple(warnings))


def put_together(job: Job, index: VideoIndex, obstacle: str) -> Missing | dict[str, Any]:
    """Writes the result, and returns its manifest.

    obstacle: why the file is not cut; "": it is. Raises SinkError, OSError.
    """
    content = job.content()
    damaged: dict[Span, str] = {}

    @functools.lru_cache(2)
    def piece(span: Span) -> Piece | None:
        path = job.piece(content, span)
        try:
            return load(path)
        except FileNotFoundError:
            return None
        except Damaged as error:
            damaged[span] = str(error)
            path.unlink()
            return None

    if obstacle:
        decision = join.Decision([WHOLE], [], [], [WHOLE] if piece(WHOLE) is None else [])
    else:
        decision = join.decide(job.archive, job.settings, index, piece)
    if decision.missing:
        return Missing(decision.missing, damaged)

    def known(span: Span) -> Piece:
        found = piece(span)
        if found is None:
            raise _Lost
        return found

    temporary = [job.folder / name for name in ("messages", "result")]
    try:
        for path in temporary:  # of a run that was interrupted
            _remove(path)
        if job.settings.to:
            _put_all(JsonLinesSink(temporary[0]), job, decision, known, content[:16])
            publish_file(temporary[0], job.messages)
        frames = _write(job, decision, known, temporary[1])
    except _Lost:
        return Missing([*damaged], damaged)
    except BaseException:  # perhaps because the disk is full
        with contextlib.suppress(OSError):
            for path in temporary:
                _remove(path)
        raise
    manifest = {
        "content": content, "source": job.archive.path, "frames": frames, "uncut": obstacle,
        "early_end": early_end(job.archive.path, frames),
        "segments": [span.text for span in decision.spans], "cuts": [dataclasses.asdict(cut) for cut in decision.cuts],
        "files": _sizes(job),
    }
    temporary = job.manifest.with_suffix(".part")
    temporary.write_text(json.dumps(manifest, indent=1) + "\n")
    publish_file(temporary, job.manifest)
    shutil.rmtree(job.folder)
    return manifest


def _files(job: Job) -> list[Path]:
    if job.settings.form == "jsonl":
        return [job.result]
    return [job.result / table / "part.parquet" for table in TABLES]


def _write(job: Job, decision: join.Decision, piece: Callable[[Span], Piece], temporary: Path) -> int:
    """The files of `cudaccl run`. They appear whole, or not at all."""
    if job.settings.form == "jsonl":
        frames = _put_all(JsonLinesSink(temporary), job, decision, piece)
        publish_file(temporary, job.result)
        return frames
    frames = _put_all(ParquetSink(temporary), job, decision, piece)
    for table in TABLES:
        path = temporary / table / "part.parquet"
        publish_file(path, path)
    _remove(job.result)
    os.replace(temporary, job.result)
    sync_folder(job.result.parent)
    return frames


def _put_all(
    sink: Sink, job: Job, decision: join.Decision, piece: Callable[[Span], Piece], run: str = "",
) -> int:
    frames = 0
    try:
        for part in join.renumber(decision, piece):
            for report in part.reports(job.archive.name, job.archive.tracks, run):
                if not sink.put(report):
                    raise SinkError(f"{sink.error}; it ends before frame {report.frame} of {report.source}")
                frames += 1
    finally:
        sink.close()
    if sink.error is not None:
        raise SinkError(sink.error)
    return frames
