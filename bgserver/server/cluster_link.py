"""The server's connection to a Dask cluster, made again after it was lost."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from bgserver.engine.cluster import connect_cluster
from bgserver.engine.errors import ClusterError

if TYPE_CHECKING:
    from structlog.typing import FilteringBoundLogger

    from bgserver.engine.chunks import Executor
    from bgserver.engine.dask_worker import EngineSource

__all__ = ["ClusterLink"]

_AGAIN_AFTER_S = 5.0


class ClusterLink:
    """Makes executors while there is a cluster, and looks for it again while there is none."""

    def __init__(
        self,
        address: str,
        source: EngineSource,
        logger: FilteringBoundLogger,
        again_after_s: float = _AGAIN_AFTER_S,
    ) -> None:
        """Connect and prepare the workers, which may take minutes.

        Args:
            address: Of the scheduler.
            source: The engine that the workers must have.
            logger: Told when the cluster is lost and found.
            again_after_s: Time between two attempts to find it again.

        Raises:
            ClusterError: There is no such cluster, or it has other weights or another version.
        """
        self._address = address
        self._source = source
        self._logger = logger
        self._again_after_s = again_after_s
        self._lock = threading.Lock()
        self._closed = threading.Event()
        self._search: threading.Thread | None = None
        self._cluster = connect_cluster(address, source)

    def executor(self) -> Executor:
        """An executor for one call.

        Raises:
            ClusterError: The cluster has gone.
        """
        with self._lock:
            if not self._cluster.is_lost:
                return self._cluster.executor()
            if self._search is None and not self._closed.is_set():
                self._logger.warning("the cluster is lost", address=self._address)
                self._search = threading.Thread(
                    target=self._find_again, name="bgserver-cluster", daemon=True
                )
                self._search.start()
        message = f"the Dask cluster at {self._address} is lost and is being looked for"
        raise ClusterError(ClusterError.LOST, message)

    def close(self) -> None:
        """Close the connection."""
        self._closed.set()
        if self._search is not None:
            self._search.join()
        self._cluster.close()

    def _find_again(self) -> None:
        self._cluster.close()
        while not self._closed.is_set():
            try:
                found = connect_cluster(self._address, self._source)
            except ClusterError as error:
                self._logger.debug("the cluster is not there", reason=str(error))
                self._closed.wait(self._again_after_s)
                continue
            with self._lock:
                self._cluster = found
                self._search = None
            self._logger.warning("the cluster is there again", address=self._address)
            return
