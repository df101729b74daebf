"""Local workers: started together, watched together, ended together.

A worker runs in a process group of its own and dies with its parent (`PR_SET_PDEATHSIG`), so that
nothing is left behind, even where the parent itself was killed.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from features.errors import TrainingError
from models.cluster import tf_config

__all__ = ["PROGRESS_VARIABLE", "WorkerProcess", "free_addresses", "run_workers", "worker_threads"]

PROGRESS_VARIABLE = "CTR_PROGRESS_FD"
"""Names the file descriptor on which the chief reports its progress to the parent."""

POLL_SECONDS = 0.1
GRACE_SECONDS = 10.0
LAST_LINES = 15
_PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None


@dataclass(frozen=True)
class WorkerProcess:
    """A worker that was started.

    Attributes:
        index: Its index.
        process: Its process.
        log: File of its output.
    """

    index: int
    process: subprocess.Popen[bytes]
    log: Path

    @property
    def status(self) -> int | None:
        """Exit status; None while it runs."""
        return self.process.poll()

    def signal(self, number: int) -> None:
        """Send a signal to its process group."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, number)


def run_workers(
    command: Sequence[str],
    workers: int,
    log_directory: Path,
    *,
    progress: Callable[[str], None] = lambda line: None,
    environment: Mapping[str, str] = os.environ,
    grace_seconds: float = GRACE_SECONDS,
) -> None:
    """Run a command as so many workers of one cluster on this machine, until all have ended.

    Args:
        command: The command line of a worker; `TF_CONFIG` tells it who it is.
        workers: Number of workers.
        log_directory: Gets `worker-K.log`, the output of each.
        progress: Called with every line that the chief writes to the descriptor that
            `PROGRESS_VARIABLE` names.
        environment: Environment of the workers, to which `TF_CONFIG` and threads are added.
        grace_seconds: How long workers may take to end after SIGTERM, before SIGKILL.

    Raises:
        TrainingError: A worker failed; all have ended, and its last lines are in the error.
    """
    log_directory.mkdir(parents=True, exist_ok=True)
    addresses, threads = free_addresses(workers), worker_threads(workers)
    with _signals_as_interrupts(), _progress_pipe(progress) as descriptor:
        started: list[WorkerProcess] = []
        try:
            for index in range(workers):
                own = {"TF_CONFIG": tf_config({"worker": addresses}, "worker", index)}
                chief = {PROGRESS_VARIABLE: str(descriptor)} if index == 0 else {}
                full = {**environment, **threads, **own, **chief}
                kept = (descriptor,) if index == 0 else ()
                started.append(_start(command, index, log_directory, full, kept))
            failed = _wait(started)
        finally:
            _stop(started, grace_seconds)
    if failed:
        raise _failure(failed)


def free_addresses(count: int) -> tuple[str, ...]:
    """Return loopback addresses whose ports are free and distinct."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for opened in sockets:
            opened.bind(("127.0.0.1", 0))
        return tuple(f"127.0.0.1:{opened.getsockname()[1]}" for opened in sockets)


def worker_threads(workers: int, cores: int | None = None) -> dict[str, str]:
    """Return the environment that limits a worker's threads to its share of the cores.

    >>> worker_threads(2, cores=8)
    {'TF_NUM_INTRAOP_THREADS': '4', 'TF_NUM_INTEROP_THREADS': '4', 'OMP_NUM_THREADS': '4'}
    """
    available = cores or len(os.sched_getaffinity(0))
    share = str(max(1, available // workers))
    names = ("TF_NUM_INTRAOP_THREADS", "TF_NUM_INTEROP_THREADS", "OMP_NUM_THREADS")
    return dict.fromkeys(names, share)


def _start(
    command: Sequence[str],
    index: int,
    log_directory: Path,
    environment: Mapping[str, str],
    kept_descriptors: Sequence[int],
) -> WorkerProcess:
    log = log_directory / f"worker-{index}.log"
    parent = os.getpid()
    with log.open("wb") as output:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=dict(environment),
            pass_fds=kept_descriptors,
            start_new_session=True,
            preexec_fn=lambda: _die_with(parent),
        )
    return WorkerProcess(index, process, log)


def _die_with(parent: int) -> None:
    """Ask the kernel to kill this new process when its parent ends."""
    if _LIBC is not None:
        _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(1)


def _wait(workers: Sequence[WorkerProcess]) -> WorkerProcess | None:
    """Return the first worker that failed, or None when all have ended well."""
    while True:
        statuses = [worker.status for worker in workers]
        failed = [w for w, status in zip(workers, statuses, strict=True) if status]
        if failed:
            return _culprit(failed)
        if all(status == 0 for status in statuses):
            return None
        time.sleep(POLL_SECONDS)


def _culprit(failed: Sequence[WorkerProcess]) -> WorkerProcess:
    """Return one killed by a signal, if any: its peers fail only because it is gone."""
    return min(failed, key=lambda worker: (worker.status or 0) >= 0)


def _stop(workers: Sequence[WorkerProcess], grace_seconds: float) -> None:
    """End what still runs: SIGTERM, then SIGKILL to each whole group after the grace."""
    for worker in workers:
        if worker.status is None:
            worker.signal(signal.SIGTERM)
    deadline = time.monotonic() + grace_seconds
    for worker in workers:
        with contextlib.suppress(subprocess.TimeoutExpired):
            worker.process.wait(max(0.0, deadline - time.monotonic()))
        worker.signal(signal.SIGKILL)
        worker.process.wait()


def _failure(worker: WorkerProcess) -> TrainingError:
    status = worker.process.returncode
    end = f"signal {signal.Signals(-status).name}" if status < 0 else f"exit status {status}"
    text = worker.log.read_text(errors="replace")
    lines = "\n    ".join(text.splitlines()[-LAST_LINES:])
    return TrainingError(
        "every worker ends without an error",
        received=f"worker {worker.index} ended with {end}; all were stopped. Its last lines:"
        f"\n    {lines}",
        where=str(worker.log),
        remedy="mend the cause in its log; training goes on from the last checkpoint",
    )


@contextlib.contextmanager
def _signals_as_interrupts() -> Iterator[None]:
    """Let SIGTERM end the parent as SIGINT does: by an exception, which stops the workers."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextlib.contextmanager
def _progress_pipe(progress: Callable[[str], None]) -> Iterator[int]:
    """Yield a descriptor; what is written to it arrives at `progress` line by line."""
    reading, writing = os.pipe()

    def pump() -> None:
        with os.fdopen(reading, encoding="utf-8", errors="replace") as lines:
            for line in lines:
                progress(line.rstrip("\n"))

    thread = threading.Thread(target=pump, daemon=True)
    thread.start()
    try:
        yield writing
    finally:
        os.close(writing)
        thread.join(timeout=GRACE_SECONDS)
