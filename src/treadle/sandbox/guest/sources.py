"""Modules that exist as text only, and objects of their classes on both sides of the wire."""

from __future__ import annotations

import sys
from _frozen_importlib import ModuleSpec

from wire import Plug, WireError, kind_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import ModuleType
    from typing import Any

_SLOT = kind_of(type("_", (), {"__slots__": ("it",)}).__dict__["it"])


class Finder:
    """Imports modules from their sources; it goes first on ``sys.meta_path``."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._texts = texts

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        """The import system's question for a module."""
        if name not in self._texts:
            return None
        spec = ModuleSpec(name, self)  # pyright: ignore[reportArgumentType]
        if any(other.startswith(name + ".") for other in self._texts):
            spec.submodule_search_locations = []
        return spec

    def create_module(self, spec: ModuleSpec) -> None:
        """Leave the making of the module to the import system."""

    def exec_module(self, module: ModuleType) -> None:
        """Run a module's text in it."""
        name = module.__name__
        module.__file__ = f"{name.replace('.', '/')}.py"
        exec(compile(self._texts[name], module.__file__, "exec", dont_inherit=True), module.__dict__)


class Shared(Plug):
    """Objects whose classes are of modules that both sides have.

    Args:
        names: The names of those modules.
    """

    def __init__(self, names: frozenset[str]) -> None:
        self.modules = names

    def state(self, value: Any) -> tuple[str, str, dict[str, Any]] | None:
        """See `Plug.state`."""
        kind = kind_of(value)
        module = str(kind.__module__)
        if module not in self.modules or getattr(sys.modules.get(module), kind.__name__, None) is not kind:
            return None
        if hasattr(kind, "__members__"):
            return None
        return module, kind.__name__, attributes(value)

    def shell(self, module: str, name: str) -> Any:
        """See `Plug.shell`."""
        return object.__new__(self.named(module, name))

    def named(self, module: str, name: str) -> Any:
        """A class of one of the modules.

        Raises:
            WireError: There is none.
        """
        if module not in self.modules:
            raise WireError(f"unknown module {module!r}")
        __import__(module)
        kind: Any = vars(sys.modules[module]).get(name)
        if not isinstance(kind, type):
            raise WireError(f"unknown class {module}.{name}")
        return kind

    def fill(self, shell: Any, state: dict[str, Any]) -> None:
        """See `Plug.fill`; what would hide a method is left out."""
        kind = kind_of(shell)
        for name, value in state.items():
            found: Any = next((base.__dict__[name] for base in kind.__mro__ if name in base.__dict__), None)
            if isinstance(found, _SLOT):
                object.__setattr__(shell, name, value)
            elif not callable(found) and not hasattr(kind_of(found), "__get__"):
                shell.__dict__[name] = value


def attributes(value: Any) -> dict[str, Any]:
    """The attributes that an object has of its own, in ``__dict__`` and in slots."""
    found: dict[str, Any] = dict(getattr(value, "__dict__", None) or {})
    for base in type(value).__mro__:
        for name, slot in base.__dict__.items():
            if isinstance(slot, _SLOT) and name not in ("__dict__", "__weakref__"):
                try:
                    found[name] = slot.__get__(value)
                except AttributeError:
                    continue
    return found
