"""The way to a Dask cluster, which needs the extra `bgserver[dask]`."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING

from bgserver.engine.errors import ClusterError

if TYPE_CHECKING:
    from bgserver.engine.dask_executor import DaskCluster
    from bgserver.engine.dask_worker import EngineSource

__all__ = ["connect_cluster", "require_dask"]


def require_dask() -> None:
    """See that Dask is installed, before anything that takes long.

    Raises:
        ClusterError: The extra is not installed.
    """
    if importlib.util.find_spec("dask") is None or importlib.util.find_spec("distributed") is None:
        message = 'a cluster needs Dask: pip install "bgserver[dask]"'
        raise ClusterError(ClusterError.EXTRA_MISSING, message)


def connect_cluster(address: str, source: EngineSource) -> DaskCluster:
    """Connect to a running cluster and prepare its workers; returns when they are compiled.

    Args:
        address: Of the scheduler, `tcp://host:port`.
        source: The engine that the workers must have.

    Raises:
        ClusterError: The extra is not installed, the scheduler cannot be reached, there are no
            workers, or scheduler or workers have another bgserver or other weights.
    """
    require_dask()
    from bgserver.engine.dask_executor import DaskCluster  # noqa: PLC0415 -- an extra

    return DaskCluster(address, source)
