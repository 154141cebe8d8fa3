"""The way to a Dask cluster, which needs the extra `bgserver[dask]`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bgserver.engine.errors import ClusterError

if TYPE_CHECKING:
    from bgserver.engine.dask_executor import DaskCluster
    from bgserver.engine.dask_worker import EngineSource

__all__ = ["connect_cluster"]


def connect_cluster(address: str, source: EngineSource) -> DaskCluster:
    """Connect to a running cluster and prepare its workers; returns when they are compiled.

    Args:
        address: Of the scheduler, `tcp://host:port`.
        source: The engine that the workers must have.

    Raises:
        ClusterError: The extra is not installed, the scheduler cannot be reached, there are no
            workers, or scheduler or workers have another bgserver or other weights.
    """
    try:
        from bgserver.engine.dask_executor import DaskCluster  # noqa: PLC0415 -- an extra
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in {"dask", "distributed"}:
            raise
        message = "a cluster needs Dask: pip install 'bgserver[dask]'"
        raise ClusterError(ClusterError.EXTRA_MISSING, message) from None
    return DaskCluster(address, source)
