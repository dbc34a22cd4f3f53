"""A session for dry runs: models are known by name and price, without the keys that only their calls would need."""

from __future__ import annotations

from treadle.config import ModelSettings
from treadle.ledger.endpoint import Endpoint
from treadle.ledger.session import Session
from treadle.models.registry import build_model


class KeylessSession(Session):
    """A session in which no call may be made and no program run: its models are built without their keys."""

    spends = False

    @property
    def aliases(self) -> list[str]:
        """The models that have a name here; those that were built are no further ones."""
        return list(self.settings.models)

    def endpoint(self, name: str) -> Endpoint:
        """As `Session.endpoint`, but for missing keys."""
        configured = self.settings.models.get(name)
        if name not in self._given_models and (configured is not None or ":" in name):
            settings = configured or ModelSettings(model=name)
            self._given_models[name] = build_model(
                settings.model,
                base_url=settings.base_url,
                api_key_env=settings.api_key_env,
                folder=self.settings.folder,
                keyless=True,
            )
        return super().endpoint(name)
