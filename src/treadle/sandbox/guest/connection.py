"""The tests' side of the channel to the program: calls that cannot do harm, whatever answers them."""

from __future__ import annotations

import _socket
import os
import struct
import sys

from changes import apply
from channel import Channel, Ended
from dressed import Dressed, dressed
from raising import STANDARD, attributes_of, kinds_of, raised, text_of
from remote import Iterating, Remote, awaited, inside
from spawner import ENDED
from wire import Encoder, WireError, kind_of
from wire_decode import decode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

_MOST_HEARD = 1 << 22
"""Characters that a call may print, and be heard."""

_PATIENCE = 2.0
_CPU_TIME = 24
_MOST_REMOTES = 200_000
_SIGNALS = {4: "SIGILL", 6: "SIGABRT", 7: "SIGBUS", 8: "SIGFPE", 9: "SIGKILL", 11: "SIGSEGV", 14: "SIGALRM"}
_SIGNALS.update({15: "SIGTERM", 25: "SIGXFSZ", 31: "SIGSYS"})


class Connection(Channel):
    """A process with the program, replaced when it is lost.

    Args:
        control: To the spawner.
        modules: Names of the modules that both sides have.
    """

    def __init__(self, control: _socket.socket, modules: frozenset[str]) -> None:
        super().__init__(modules)
        self._control = control
        control.settimeout(_PATIENCE)
        self.generation = 0
        self.last: list[Any] = []
        self.failed_inside: BaseException | None = None
        self._busy = False
        self._depth = 0
        self._heard = 0
        self._held: dict[int, Any] = {}
        self._base = 1
        self._callbacks: list[Any] = []
        self._numbers: dict[int, int] = {}
        self._remotes: dict[int, Remote] = {}
        self._origins: list[BaseException] = []
        self._constants: dict[int, Any] = {}

    @property
    def usable(self) -> bool:
        """Whether a process is there and waits for a call."""
        return self.channel >= 0 and not self.fault and not self._busy

    def start(self) -> None:
        """Start the program in a fresh process; what it does is not waited for."""
        self.stop()
        try:
            self._control.send(b"s")
            _, ancillary, _, _ = self._control.recvmsg(1, _socket.CMSG_SPACE(4))
            self.channel = struct.unpack("i", ancillary[0][2][:4])[0]
        except (OSError, IndexError, struct.error) as error:
            raise Ended("crashed", f"the program's process cannot be started: {text_of(error)}") from None
        self.generation += 1
        self.fault, self._busy, self._depth = None, True, 0
        for table in (self._held, self._callbacks, self._numbers, self._remotes, self._origins, self._constants):
            table.clear()

    def stop(self) -> tuple[str, str]:
        """End the process, if one is there; what that makes of a test, and how it ended in words."""
        if self.channel < 0:
            return "crashed", "is gone"
        os.close(self.channel)
        self.channel = -1
        try:
            self._control.send(b"k")
            status = ENDED.unpack(self._control.recv(ENDED.size))[0]
        except (OSError, struct.error):
            return "crashed", "was lost"
        if not os.WIFSIGNALED(status):
            return "crashed", f"ended with exit code {os.WEXITSTATUS(status)}"
        number = os.WTERMSIG(status)
        if number == _CPU_TIME:
            return "timed_out", "used up its CPU time"
        name = f" ({_SIGNALS[number]})" if number in _SIGNALS else ""
        return "crashed", f"was killed by signal {number}{name}"

    def close(self) -> None:
        """End the process and the spawner; returns when they are gone, or do not go."""
        if self.channel >= 0:
            os.close(self.channel)
        try:
            self._control.shutdown(_socket.SHUT_WR)
            self._control.recv(1)
        except OSError:
            return

    def introduction(self) -> list[Any]:
        """What the program says after it was loaded; raises what its loading raised."""
        root = self._answer()
        self._busy = False
        return root

    def call(self, operation: str, number: int, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Have the program do something.

        Args:
            operation: See `candidate`.
            number: Of the object that does it.
            args: What to hand over.
            kwargs: The same, by name.

        Raises:
            Ended: The process is gone.
            TypeError: An argument cannot be handed over.
        """
        if self.channel < 0 or self.fault:
            raise self.fault or Ended("crashed", "the program's process is gone")
        encoder = Encoder(self)
        try:
            data = encoder.encode([operation, number, args, kwargs, self._base])
        except WireError as error:
            raise TypeError(f"the test cannot hand this to the program: {error}") from None
        for value in encoder.containers:
            self._held[self._base] = value
            self._base += 1
        self._busy = True
        self._depth += 1
        self._heard = 0
        self.send(b"c", data)
        value = self._answer()
        self._done()
        return value

    def _done(self) -> None:
        self._depth -= 1
        if self._depth <= 0:
            self._held.clear()
            self._busy = False

    def _answer(self) -> Any:
        while True:
            kind, data = self.receive()
            try:
                root, _ = decode(data, self)
                if kind == b"v":
                    value, changes = root
                    for handle, state in changes:
                        apply(self.held(handle), state, self)
                    return value
                if kind == b"h":
                    return root
                if kind == b"o":
                    self._say(root[0])
                    continue
                if kind == b"x":
                    error = self._error(root)
                elif kind == b"u":
                    error = inside(TypeError(f"what the program gave cannot be handed over: {str(root[0])[:200]}"), "")
                elif kind == b"b":
                    self._call_back(*root)
                    continue
                else:
                    raise WireError(f"unknown message {kind!r}")
            except (WireError, ValueError, TypeError, LookupError, AttributeError) as nonsense:
                self.fault = Ended("error", f"the program's process answered nonsense ({text_of(nonsense)[:100]})")
                raise self.fault from None
            self._done()
            raise error

    def _error(self, root: list[Any]) -> BaseException:
        kinds, place, text, args, attributes = root
        origin = attributes.pop("_origin", None)
        if type(origin) is int and 0 <= origin < len(self._origins):
            known = self._origins[origin]
            if isinstance(known, (StopIteration, StopAsyncIteration)):
                return RuntimeError(f"a function of the test raised {type(known).__name__}")
            return known
        if type(args) is not tuple:
            raise WireError("arguments that are none")
        return inside(raised(kinds, args, str(text), attributes, self.modules), str(place))

    def _call_back(self, number: int, args: Any, kwargs: Any) -> None:
        function = self._callbacks[number]
        try:
            data = Encoder(self).encode([function(*args, **kwargs)])
        except Exception as error:
            if isinstance(error, AssertionError) and self.failed_inside is None:
                self.failed_inside = error
            self._origins.append(error)
            self.send(b"e", self._failure(error, len(self._origins) - 1))
        else:
            self.send(b"r", data)

    def _say(self, text: str) -> None:
        """Print what the program printed, where the test of the moment has its standard output."""
        self._heard += len(text)
        if self._heard <= _MOST_HEARD:
            print(text, end="", flush=True)

    def _failure(self, error: Exception, origin: int) -> bytes:
        """What the program is told of an exception that a function of the tests raised."""
        kinds, text = kinds_of(type(error)), text_of(error)
        try:
            return Encoder(self).encode([kinds, error.args, text, attributes_of(error), origin])
        except WireError:
            return Encoder(self).encode([kinds, (text,), text, {}, origin])

    def held(self, number: int) -> Any:
        """See `Plug.held`."""
        return self._held[number]

    def leaf(self, value: Any) -> tuple[Any, ...] | None:
        """See `Plug.leaf`."""
        if isinstance(value, Remote):
            return "remote", value.treadle_number(self)
        if isinstance(value, Dressed):
            number = value.treadle_number(self)
            return None if number is None else ("remote", number)
        if hasattr(kind_of(value), "__next__"):
            return "iterator", self._number(lambda: tuple(item for _, item in zip((0,), value)), value)  # noqa: B905
        if not callable(value):
            return None
        module, name = str(getattr(value, "__module__", None)), str(getattr(value, "__qualname__", ""))
        shared = module.partition(".")[0] in STANDARD or module in self.modules
        if shared and getattr(sys.modules.get(module), name, None) is value:
            return "global", module, name
        return "callback", self._number(value, value)

    def _number(self, function: Any, value: Any) -> int:
        number = self._numbers.get(id(value))
        if number is None:
            number = self._numbers[id(value)] = len(self._callbacks)
            self._callbacks.append(function)
        return number

    def resolve(self, kind: str, fields: list[Any]) -> Any:
        """See `Plug.resolve`."""
        if kind == "plain":
            return fields[0]
        if kind == "callback":
            return self._callbacks[fields[0]]
        if kind == "dressed":
            return self.dressed("", *fields)
        if kind != "remote" or type(fields[0]) is not int or len(self._remotes) > _MOST_REMOTES:
            raise WireError(f"unknown kind {kind!r}")
        number, name, flags = fields
        if flags & 2:
            return awaited(self, number)
        if number not in self._remotes:
            made = Iterating if flags & 1 else Remote
            self._remotes[number] = made(self, number, str(name))
        return self._remotes[number]

    def dressed(self, letter: str, number: int, name: str, content: Any) -> Any:
        """See `Plug.dressed`."""
        if type(number) is not int:
            raise WireError("an object without a number")
        if letter:
            return dressed(self, letter, number, str(name), content)
        known = self._constants.get(number)
        if known is None:
            known = self._constants[number] = dressed(self, letter, number, str(name), content)
        return known

    def lose(self) -> NoReturn:
        """See `Channel.lose`."""
        verdict, how = self.stop()
        self.fault = Ended(verdict, f"the program's process {how}")
        raise self.fault
