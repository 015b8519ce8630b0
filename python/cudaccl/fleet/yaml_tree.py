# SPDX-License-Identifier: LGPL-2.1-or-later
"""YAML whose errors name the line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from cudaccl.publish.errors import need

_T = TypeVar("_T")


class ConfigError(ValueError):
    """A file that is wrong. The text is FILE:LINE: REASON, one line: what the file has of control characters, which a
    terminal would obey, is escaped."""

    def __init__(self, text: str) -> None:
        super().__init__("".join(c if c.isprintable() else repr(c)[1:-1] for c in text))


class Value:
    """A node of the file."""

    def __init__(self, path: Path, node: Any) -> None:
        self._path = path
        self._node = node

    def error(self, reason: str) -> ConfigError:
        """For this place in the file."""
        return ConfigError(f"{self._path}:{self._node.start_mark.line + 1}: {reason}")

    @property
    def is_text(self) -> bool:
        return self._node.id == "scalar"

    def text(self) -> str:
        """Of a scalar, as it is written."""
        if not self.is_text:
            raise self.error("one value is needed here, no list and no mapping")
        return self._node.value

    def list(self) -> list[Value]:
        if self._node.id != "sequence":
            raise self.error("a list is needed here")
        return [Value(self._path, node) for node in self._node.value]

    def mapping(self) -> Mapping:
        if self._node.id != "mapping":
            raise self.error("a mapping is needed here: KEY: VALUE")
        return Mapping(self, self._path, self._node)

    def parse(self, function: Callable[[str], _T]) -> _T:
        """Applies the function to the text. Its ValueError becomes an error of this line."""
        text = self.text()
        try:
            return function(text)
        except ValueError as error:
            raise self.error(str(error)) from None


class Mapping:
    """Keys are taken out; `finish()` refuses those that nobody took."""

    def __init__(self, value: Value, path: Path, node: Any) -> None:
        self.value = value
        self._keys: dict[str, Value] = {}
        self._values: dict[str, Value] = {}
        for key_node, value_node in node.value:
            key = Value(path, key_node)
            if key.text() in self._keys:
                raise key.error(f"the key {key.text()} is there twice")
            self._keys[key.text()] = key
            self._values[key.text()] = Value(path, value_node)
        self._known: list[str] = []

    def take(self, key: str) -> Value | None:
        self._known.append(key)
        self._keys.pop(key, None)
        return self._values.get(key)

    def require(self, key: str) -> Value:
        value = self.take(key)
        if value is None:
            raise self.value.error(f"the key {key} is missing")
        return value

    def parse(self, key: str, function: Callable[[str], _T], default: _T) -> _T:
        value = self.take(key)
        return default if value is None else value.parse(function)

    def items(self) -> list[tuple[str, Value]]:
        """All, for mappings whose keys are names."""
        self._keys.clear()
        return list(self._values.items())

    def finish(self) -> None:
        for name, key in self._keys.items():
            raise key.error(f"the key {name} is not known; possible are {', '.join(self._known)}")


def read(path: Path) -> Value:
    """Raises ConfigError; MissingPackage if PyYAML is not installed."""
    yaml = need("yaml", "fleet")
    try:
        node = yaml.compose(path.read_text(encoding="utf-8"), yaml.SafeLoader)
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: {error.reason}: the file must be UTF-8") from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f":{mark.line + 1}" if mark is not None else ""
        raise ConfigError(f"{path}{where}: {error.problem or error.context}") from None
    except yaml.YAMLError as error:
        raise ConfigError(f"{path}: {' '.join(str(error).split())}") from None
    except RecursionError:
        raise ConfigError(f"{path}: it has too many levels") from None
    if node is None:
        raise ConfigError(f"{path}:1: the file is empty")
    return Value(path, node)
