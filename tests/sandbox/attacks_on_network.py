"""Attacks by way of the network and of sockets."""

from __future__ import annotations

import socket

from attack import UNPROTECTED, Attack, Seen, by_root, says_won


def knows_an_interface(seen: Seen) -> bool:
    """Whether the name of a network interface of this machine came out."""
    return any(f"<{name}>" in seen.texts for _, name in socket.if_nameindex() if name != "lo")


NETWORK = (
    Attack(
        "TCP",
        "connect to a listener on this machine",
        "the listener meets nobody",
        "import socket\nsocket.create_connection(('127.0.0.1', bait['ports']['tcp']), 0.5).send(b'out')",
        UNPROTECTED,
    ),
    Attack(
        "TCP by IPv6",
        "connect to a listener on this machine",
        "the listener meets nobody",
        "import socket\nsocket.create_connection(('::1', bait['ports']['tcp6']), 0.5).send(b'out')",
        UNPROTECTED,
    ),
    Attack(
        "UDP",
        "send a datagram to a socket on this machine",
        "nothing arrives",
        "import socket\nsocket.socket(type=socket.SOCK_DGRAM).sendto(b'out', ('127.0.0.1', bait['ports']['udp']))",
        UNPROTECTED,
    ),
    Attack(
        "raw packets",
        "send a packet that it made itself",
        "nothing arrives",
        """
import socket, struct
packet = struct.pack("!4H", 9, bait["ports"]["udp"], 11, 0) + b"out"
socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_UDP).sendto(packet, ("127.0.0.1", 0))
""",
        by_root("unprotected"),
    ),
    Attack(
        "names",
        "carry a secret out in a question to a name server",
        "the name server is asked nothing",
        """
import socket
link = socket.socket(type=socket.SOCK_DGRAM)
link.connect(("127.0.0.1", bait["ports"]["dns"]))
link.send(bytes.fromhex("000101000001000000000000") + b"\\x03out\\x04test\\x00\\x00\\x01\\x00\\x01")
""",
        UNPROTECTED,
    ),
    Attack(
        "interfaces",
        "learn this machine's network interfaces from the kernel",
        "none of their names but lo is in any output",
        "import socket\nfor _, name in socket.if_nameindex(): print(f'<{name}>')\nprint(open('/proc/net/dev').read())",
        UNPROTECTED,
        knows_an_interface,
    ),
    Attack(
        "abstract socket",
        "connect to an abstract unix socket on this machine",
        "the listener meets nobody",
        "import socket\nsocket.socket(socket.AF_UNIX).connect('\\0' + bait['mark'])",
        UNPROTECTED,
    ),
    Attack(
        "socket file",
        "connect to a unix socket that has a path",
        "the listener meets nobody",
        "import socket\nsocket.socket(socket.AF_UNIX).connect(bait['socket'])",
        UNPROTECTED,
    ),
    Attack(
        "other families",
        "make a socket of a family that no program needs",
        "the program does not say that it could",
        """
import socket
for family, kind in ((16, 3), (17, 2), (38, 5), (40, 1), (31, 3), (29, 3), (15, 3), (44, 3)):
    if tried(socket.socket, family, kind) is not None: won()
""",
        UNPROTECTED,
        says_won,
    ),
)
