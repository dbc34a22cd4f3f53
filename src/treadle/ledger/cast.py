"""Who plays which part of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from treadle.errors import UserError

_PLAYED_BY = {"manager": "strong", "worker": "weak"}
"""Roles that are played by another role's model where they are not named themselves."""


@dataclass(frozen=True, slots=True)
class Cast:
    """Who plays which part: the models a command was given, and roles named by it.

    Attributes:
        models: Aliases or ``provider:model`` names, the strong one first.
        roles: Role name to alias; wins over everything else.
    """

    models: tuple[str, ...] = ()
    roles: Mapping[str, str] = field(default_factory=dict[str, str])

    def model(self, role: str | None, configured: Mapping[str, str], aliases: Sequence[str]) -> str:
        """The model that plays a role.

        ``--role`` wins; ``strong`` and ``weak`` are the first and the last of the models given; then the file's
        roles; then ``manager`` and ``worker`` are the strong and the weak one; then the first model given, the file's
        strong one, or the only one it has; then whoever manages or works, where only that is said.

        Args:
            role: A role, or ``None`` for whoever answers where nothing is said.
            configured: The file's roles.
            aliases: The file's models.

        Raises:
            UserError: When nothing says who that is.
        """
        role = "optimiser" if role == "optimizer" else role
        if role is not None and role in self.roles:
            return self.roles[role]
        if self.models and role in (None, "strong", "weak"):
            return self.models[-1 if role == "weak" else 0]
        if role is not None and role in configured:
            return configured[role]
        if role in _PLAYED_BY:
            return self.model(_PLAYED_BY[role], configured, aliases)
        if self.models:
            return self.models[0]
        if "strong" in configured or len(aliases) == 1:
            return configured.get("strong") or aliases[0]
        for named in (self.roles, configured):
            for player in _PLAYED_BY:
                if player in named:
                    return named[player]
        raise UserError(
            "no model is given: use --model ALIAS or --model provider:model, or name [roles] strong in treadle.toml"
            + (f" (models there: {', '.join(aliases)})" if aliases else "")
        )
