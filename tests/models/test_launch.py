import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from features.errors import TrainingError
from models.launch import run_workers

PREAMBLE = """
import json, os, signal, sys, time
task = json.loads(os.environ["TF_CONFIG"])["task"]["index"]
open(f"{sys.argv[1]}/pid-{task}", "w").write(str(os.getpid()))
"""


def worker(tmp_path: Path, body: str) -> list[str]:
    script = tmp_path / "worker.py"
    script.write_text(PREAMBLE + textwrap.dedent(body))
    return [sys.executable, str(script), str(tmp_path)]


def processes(tmp_path: Path) -> list[int]:
    return [int(path.read_text() or "0") for path in sorted(tmp_path.glob("pid-*"))]


def runs(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def wait_until_ended(pids: list[int]) -> list[int]:
    deadline = time.monotonic() + 20
    while any(runs(pid) for pid in pids) and time.monotonic() < deadline:
        time.sleep(0.05)
    return [pid for pid in pids if runs(pid)]


def test_each_worker_has_its_own_log(tmp_path: Path) -> None:
    run_workers(worker(tmp_path, "print('I am', task)"), 2, tmp_path / "logs")
    logs = [(tmp_path / "logs" / f"worker-{k}.log").read_text() for k in range(2)]
    assert logs == ["I am 0\n", "I am 1\n"]


def test_only_the_chief_reports_progress(tmp_path: Path) -> None:
    lines: list[str] = []
    body = """
    if "CTR_PROGRESS_FD" in os.environ:
        with os.fdopen(int(os.environ["CTR_PROGRESS_FD"]), "w") as out:
            print("step", task, file=out)
    """
    run_workers(worker(tmp_path, body), 3, tmp_path, progress=lines.append)
    assert lines == ["step 0"]


def test_all_stop_when_one_fails_and_its_last_lines_are_told(tmp_path: Path) -> None:
    body = """
    if task == 1:
        print("no such table", flush=True)
        sys.exit(3)
    time.sleep(600)
    """
    with pytest.raises(TrainingError) as raised:
        run_workers(worker(tmp_path, body), 3, tmp_path, grace_seconds=5)
    assert "worker 1 ended with exit status 3" in str(raised.value.received)
    assert "no such table" in str(raised.value.received)
    assert [pid for pid in processes(tmp_path) if runs(pid)] == []


def test_a_worker_that_ignores_sigterm_is_killed_after_the_grace(tmp_path: Path) -> None:
    body = """
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    open(f"{sys.argv[1]}/ready-{task}", "w").close()
    while not os.path.exists(f"{sys.argv[1]}/ready-0"):
        time.sleep(0.01)
    if task == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(600)
    """
    with pytest.raises(TrainingError, match="worker 1 ended with signal SIGKILL"):
        run_workers(worker(tmp_path, body), 2, tmp_path, grace_seconds=0.5)
    assert [pid for pid in processes(tmp_path) if runs(pid)] == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_nothing_is_left_behind_when_the_parent_ends(tmp_path: Path, number: int) -> None:
    command = worker(tmp_path, "time.sleep(600)")
    parent = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import sys; from pathlib import Path; from models.launch import run_workers;"
            "run_workers(sys.argv[2:], 2, Path(sys.argv[1]))",
            str(tmp_path / "logs"),
            *command,
        ],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
        stderr=subprocess.DEVNULL,
    )
    deadline = time.monotonic() + 30
    while 0 in [*processes(tmp_path), *[0] * (2 - len(processes(tmp_path)))]:
        assert time.monotonic() < deadline, "workers did not start"
        time.sleep(0.05)
    parent.send_signal(number)
    assert parent.wait(30) != 0
    assert wait_until_ended(processes(tmp_path)) == []
