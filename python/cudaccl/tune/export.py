# SPDX-License-Identifier: LGPL-2.1-or-later
"""What is on the screen, in the forms that the documented tools read."""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Mapping

from cudaccl import _gst_pipeline
from cudaccl.tune import description
from cudaccl.video.sources import Source

Values = Mapping[str, str]


def all_of(source: Source, values: Values, output: str, preset: str) -> dict[str, str]:
    """By kind of text. preset: the name that the preset gets."""
    return {
        "command": command(source, values), "launch": launch_line(source, values, output),
        "python": snippet(source, values), "fleet": fleet(source, values), "preset": preset_file(preset, values),
        "settings": settings_file(values), "regions": regions(values)}


def command(source: Source, values: Values) -> str:
    """For a shell."""
    words = ["cudaccl", "run"]
    for name, text in values.items():
        words += ["-s", f"{name}={text}"]
    return " ".join(map(shlex.quote, [*words, _given(source)]))


def launch_line(source: Source, values: Values, output: str) -> str:
    """For a shell. output: of the element."""
    properties = {**values, "output": output}
    element = " ".join(_word(name, text) for name, text in properties.items())
    head = _gst_pipeline.source_line(source.text)
    words = " ".join(word if word == "!" else shlex.quote(word) for word in shlex.split(head)) if source.path else head
    return f"gst-launch-1.0 {words} ! videoconvert ! cudaccl {element} ! videoconvert ! autovideosink"


def _word(name: str, text: str) -> str:
    """A property, quoted for GStreamer where that is needed, and for the shell."""
    is_plain = text and all(letter.isalnum() or letter in "._+-" for letter in text)
    return shlex.quote(f"{name}={text if is_plain else _gst_pipeline.quoted(text)}")


def snippet(source: Source, values: Values) -> str:
    """A program in Python."""
    lines = "".join(f"    {name.replace('-', '_')}={_literal(name, text)},\n" for name, text in values.items())
    return (f"import cudaccl.gst\n\nfor time, image, records in cudaccl.gst.frames(\n    {_given(source)!r},\n{lines}):\n"
            "    print(time, len(records))\n")


def _literal(name: str, text: str) -> str:
    kind = description.settings()[name].kind
    if kind == "boolean":
        return text.capitalize()
    return text if kind in ("integer", "real", "time") else repr(text)


def fleet(source: Source, values: Values) -> str:
    """YAML, of which JSON is a part."""
    lines = "".join(f"  {name}: {_scalar(name, text)}\n" for name, text in values.items())
    properties = f"properties:\n{lines}" if lines else ""
    if source.path is not None:
        path = os.path.abspath(source.path)
        return (f"{properties}archives:\n  output: records\n  files:\n"
                f"    - {{name: {_quoted(source.name)}, path: {_quoted(path)}}}\n")
    return (f'{properties}live:\n  to: [{_quoted(f"jsonl:{source.name}.jsonl")}]\n  sources:\n'
            f"    - {{name: {_quoted(source.name)}, source: {_quoted(source.text)}}}\n")


def _quoted(text: str) -> str:
    """For YAML, which reads the two escapes that JSON may have for one character as two. What YAML takes for the end of
    a line, or does not read, is escaped."""
    return re.sub("[\x7f-\x9f\u2028\u2029\ufeff]", lambda found: f"\\u{ord(found[0]):04x}",
                  json.dumps(text, ensure_ascii=False))


def _scalar(name: str, text: str) -> str:
    is_word = description.settings()[name].kind in ("boolean", "integer", "real", "time")
    return text if is_word else _quoted(text)


def preset_file(name: str, values: Values) -> str:
    """In the form of GStreamer."""
    lines = "".join(f"{key}={text}\n" for key, text in values.items())
    return f"[_presets_]\nversion=0.0.0\nelement-name=GstCudaCcl\n\n[{name}]\n_meta/comment=Made with cudaccl tune\n{lines}"


def settings_file(values: Values) -> str:
    """What `--settings` reads."""
    return "".join(f"{name}={text}\n" for name, text in values.items())


def regions(values: Values) -> str:
    """The document of docs/regions.md, with one member on each line; empty if there is none."""
    if not values.get("regions"):
        return ""
    members = []
    for name, value in json.loads(values["regions"]).items():
        if isinstance(value, list) and value:
            entries = ",\n".join(f"    {json.dumps(one, ensure_ascii=False)}" for one in value)
            members.append(f"  {json.dumps(name)}: [\n{entries}\n  ]")
        else:
            members.append(f"  {json.dumps(name)}: {json.dumps(value, ensure_ascii=False)}")
    return "{\n" + ",\n".join(members) + "\n}\n"


def _given(source: Source) -> str:
    """As it can be given to a command in any folder."""
    return os.path.abspath(source.text) if os.path.exists(source.text) and source.path else source.text
