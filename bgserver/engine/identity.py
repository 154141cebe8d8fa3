"""What an engine is: engines of one version and one digest give the same figures."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bgserver import __version__
from bgserver.engine.position import Variant

if TYPE_CHECKING:
    from bgserver.engine.evaluator import Engine

__all__ = ["Identity", "identity_of"]

_DIGEST_LENGTH = 16


@dataclass(frozen=True, slots=True)
class Identity:
    """What the figures of an engine depend on, besides the question."""

    version: str
    """Version of bgserver."""
    digest: str
    """Digest of weights and tables, in hexadecimal."""


def identity_of(engine: Engine) -> Identity:
    """The identity of an engine; takes about two milliseconds."""
    digest = hashlib.sha256()
    for variant in Variant:
        for array in engine.core(variant).weights.raw:
            digest.update(repr(array.shape).encode())
            digest.update(array.tobytes())
    digest.update(engine.met.table.pre.tobytes())
    digest.update(engine.met.table.post.tobytes())
    # Tables that are computed are the same everywhere, unless they are missing.
    digest.update(repr([network.loaded for network in engine.networks()]).encode())
    return Identity(__version__, digest.hexdigest()[:_DIGEST_LENGTH])
