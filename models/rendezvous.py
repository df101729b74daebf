"""Workers meet before the strategy is built, since TensorFlow waits for a missing peer for ever.

Every worker listens at its own address and greets every peer. It goes on when each peer has both
answered it and greeted it, so that none closes its listener before a slower peer has been there.
The listener then makes room for TensorFlow's own server at the same address.
"""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable

from features.errors import TrainingError
from models.cluster import Cluster

__all__ = ["meet"]

ATTEMPT_SECONDS = 1.0
PAUSE_SECONDS = 0.1
GREETING_BYTES = 32
LOOPBACK = ("localhost", "127.0.0.1", "[::1]", "::1")


def meet(
    cluster: Cluster,
    timeout_seconds: float,
    log: Callable[[str], None] = lambda line: None,
) -> None:
    """Wait until all workers of the cluster are there.

    Args:
        cluster: The cluster; nothing happens in a cluster of one.
        timeout_seconds: How long to wait.
        log: Called with one line when waiting begins.

    Raises:
        TrainingError: Some workers did not come in time, or the own address is not free.
    """
    if cluster.world_size == 1:
        return
    log(f"waiting for {cluster.world}, at most {timeout_seconds:g} s")
    meeting = _Meeting(cluster)
    listener = _listen(cluster)
    try:
        threading.Thread(target=meeting.answer, args=(listener,), daemon=True).start()
        _greet_all(cluster, meeting, time.monotonic() + timeout_seconds)
    finally:
        meeting.over.set()
        listener.close()
    _check_all_came(cluster, meeting, timeout_seconds)


class _Meeting:
    """Who has answered this worker and whom it has answered."""

    def __init__(self, cluster: Cluster) -> None:
        self.peers = set(range(cluster.world_size)) - {cluster.rank}
        self.name = _greeting(cluster.rank)
        self.answered: set[int] = set()
        self.came: set[int] = set()
        self.over = threading.Event()

    @property
    def missing(self) -> set[int]:
        return self.peers - (self.answered & self.came)

    def answer(self, listener: socket.socket) -> None:
        """Answer greetings until the meeting is over."""
        while not self.over.is_set():
            try:
                connection, _ = listener.accept()
            except TimeoutError:
                continue
            except OSError:
                return
            with connection:
                self._answer_one(connection)

    def _answer_one(self, connection: socket.socket) -> None:
        try:
            connection.settimeout(ATTEMPT_SECONDS)
            peer = _rank(connection.recv(GREETING_BYTES))
            connection.sendall(self.name)
        except OSError:
            return
        if peer in self.peers:
            self.came.add(peer)

    def greet(self, peer: int, address: str) -> None:
        """Greet one peer; it counts only if it answers with its own rank."""
        host, _, port = address.rpartition(":")
        try:
            with socket.create_connection((host.strip("[]"), int(port)), ATTEMPT_SECONDS) as call:
                call.settimeout(ATTEMPT_SECONDS)
                call.sendall(self.name)
                if _rank(call.recv(GREETING_BYTES)) == peer:
                    self.answered.add(peer)
        except OSError:
            return


def _greet_all(cluster: Cluster, meeting: _Meeting, deadline: float) -> None:
    while meeting.missing and time.monotonic() < deadline:
        for peer in sorted(meeting.peers - meeting.answered):
            meeting.greet(peer, cluster.trainers[peer])
        if meeting.missing:
            time.sleep(PAUSE_SECONDS)


def _listen(cluster: Cluster) -> socket.socket:
    address = cluster.trainers[cluster.rank]
    host, _, port = address.rpartition(":")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    own = host.strip("[]") if host in LOOPBACK else ""
    try:
        listener = socket.create_server((own, int(port)), family=family, backlog=128)
    except OSError as error:
        raise TrainingError(
            "a worker can listen at its own address",
            received=f"{address}: {error.strerror or error}",
            where=f"TF_CONFIG, worker {cluster.rank}",
            remedy="end the process that uses the port, or give another port",
        ) from error
    listener.settimeout(PAUSE_SECONDS)
    return listener


def _check_all_came(cluster: Cluster, meeting: _Meeting, timeout_seconds: float) -> None:
    if meeting.missing:
        names = (f"worker {peer} ({cluster.trainers[peer]})" for peer in sorted(meeting.missing))
        raise TrainingError(
            f"all of {cluster.world} are there within {timeout_seconds:g} s",
            received=f"missing: {', '.join(names)}",
            where=f"worker {cluster.rank}, train.worker_timeout_seconds",
            remedy="start the missing workers with the same TF_CONFIG, or raise the time",
        )


def _greeting(rank: int) -> bytes:
    return f"ctr-worker {rank}\n".encode()


def _rank(greeting: bytes) -> int | None:
    name, _, rank = greeting.decode("ascii", "replace").strip().partition(" ")
    return int(rank) if name == "ctr-worker" and rank.isdigit() else None
