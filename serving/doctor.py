"""Says in one line each whether this machine has what the pipeline needs."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import platform
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from packaging.requirements import Requirement

from serving.backends import MODEL_SERVER, docker_version

__all__ = ["Finding", "checksum_path", "examine", "mismatches", "report"]

DISTRIBUTION = "ctr-pipeline"
PYTHON = (3, 11)
GIBIBYTE = 1 << 30
LEAST_MEMORY_BYTES = 4 * GIBIBYTE
LEAST_DISK_BYTES = 5 * GIBIBYTE


@dataclass(frozen=True)
class Finding:
    """One line of the report.

    Attributes:
        subject: What was looked at.
        found: What there is.
        remedy: What to do about it; empty where all is well.
        is_fatal: Whether the pipeline does not work as it is.
    """

    subject: str
    found: str
    remedy: str = ""
    is_fatal: bool = False

    def __str__(self) -> str:
        """Return the line."""
        mark = "FAIL" if self.is_fatal else "note" if self.remedy else "ok"
        remedy = f" -> {self.remedy}" if self.remedy else ""
        return f"{mark:4}  {self.subject:15} {self.found}{remedy}"


def report() -> int:
    """Print all findings and return 0 where the pipeline can be used, 1 where it cannot."""
    is_usable = True
    for finding in examine():
        print(finding, flush=True)
        is_usable = is_usable and not finding.is_fatal
    return 0 if is_usable else 1


def examine() -> Iterator[Finding]:
    """Yield the findings, the quick ones first."""
    yield _python()
    yield _versions()
    yield _legacy_keras()
    yield _memory()
    yield _disk()
    yield _checksum()
    yield _docker()
    yield _model_server()
    yield Finding("embedded server", "available (not TensorFlow Serving)")
    yield _devices()


def mismatches(requirements: list[str], installed: Mapping[str, str | None]) -> list[str]:
    """Return in words which requirements are not met.

    Args:
        requirements: As in `pyproject.toml`.
        installed: Version by distribution name; None where it is not installed.

    >>> mismatches(["numpy>=2.2", "rich>=14"], {"numpy": "1.26.0", "rich": "15.0"})
    ['numpy 1.26.0 is installed, >=2.2 is needed']
    """
    found = []
    for text in requirements:
        requirement = Requirement(text)
        version = installed.get(requirement.name)
        if version is None:
            found.append(f"{requirement.name} is not installed")
        elif not requirement.specifier.contains(version, prereleases=True):
            needed = requirement.specifier
            found.append(f"{requirement.name} {version} is installed, {needed} is needed")
    return found


def checksum_path(has_module: Callable[[str], bool]) -> tuple[str, bool]:
    """Return how Beam computes the checksums of TFRecord, and whether that is quick.

    Beam (`apache_beam.io.tfrecordio`) takes python-snappy where it is old enough to offer its
    checksum, then google-crc32c, and else falls back to crcmod without an error.

    >>> checksum_path(lambda name: name == "crcmod")
    ('crcmod, in pure Python', False)
    """
    if has_module("google_crc32c"):
        return "google-crc32c", True
    if has_module("snappy"):
        return "python-snappy, where it still offers a checksum", True
    if has_module("crcmod"):
        return "crcmod, in pure Python", False
    return "none", False


def _python() -> Finding:
    found = f"{platform.python_version()} at {sys.executable}"
    if sys.version_info[:2] == PYTHON:
        return Finding("python", found)
    return Finding("python", found, "make the environment with Python 3.11: `make setup`", True)


def _versions() -> Finding:
    requirements = _requirements()
    installed = {name: _version(name) for name in (Requirement(r).name for r in requirements)}
    wrong = mismatches(requirements, installed)
    if wrong:
        return Finding("versions", "; ".join(wrong), "rm -r .venv and run `make setup`", True)
    shown = ", ".join(f"{name} {installed[name]}" for name in list(installed)[:5])
    return Finding("versions", f"{len(installed)} packages fit together: {shown}, …")


def _requirements() -> list[str]:
    """Return the requirements of the project, of its source tree or of its distribution."""
    import tomllib

    project = Path(__file__).parents[1] / "pyproject.toml"
    if project.is_file():
        tree = tomllib.loads(project.read_text(encoding="utf-8"))
        return [str(requirement) for requirement in tree["project"]["dependencies"]]
    every = importlib.metadata.requires(DISTRIBUTION) or []
    return [requirement for requirement in every if "extra ==" not in requirement]


def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def _legacy_keras() -> Finding:
    setting = os.environ.get("TF_USE_LEGACY_KERAS", "1")
    version = _version("tf-keras")
    if setting != "1":
        return Finding(
            "legacy Keras",
            f"TF_USE_LEGACY_KERAS={setting}",
            "unset TF_USE_LEGACY_KERAS or set it to 1",
            True,
        )
    if version is None:
        return Finding("legacy Keras", "tf-keras is not installed", "run `make setup`", True)
    return Finding("legacy Keras", f"tf-keras {version}, set by the project itself")


def _memory() -> Finding:
    size = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    found = f"{size / GIBIBYTE:.1f} GiB, {os.cpu_count()} processors"
    if size >= LEAST_MEMORY_BYTES:
        return Finding("memory", found)
    return Finding("memory", found, "4 GiB are advised: lower train.batch_size and table sizes")


def _disk() -> Finding:
    free = shutil.disk_usage(Path.cwd()).free
    found = f"{free / GIBIBYTE:.1f} GiB free here"
    if free >= LEAST_DISK_BYTES:
        return Finding("disk", found)
    return Finding("disk", found, "free some, or put OUT on another disk")


def _checksum() -> Finding:
    path, is_quick = checksum_path(lambda name: importlib.util.find_spec(name) is not None)
    remedy = "" if is_quick else "run `make setup`; without google-crc32c Beam is slow at TFRecord"
    return Finding("TFRecord crc", path, remedy)


def _docker() -> Finding:
    version = docker_version()
    if version:
        return Finding("docker", f"daemon {version}; `make verify` runs TensorFlow Serving in it")
    return Finding(
        "docker", "no daemon answers", "start docker to verify against TensorFlow Serving"
    )


def _model_server() -> Finding:
    path = shutil.which(MODEL_SERVER)
    if path:
        return Finding("model server", path)
    remedy = f"install {MODEL_SERVER} to verify against TensorFlow Serving without docker"
    return Finding("model server", f"no {MODEL_SERVER} on PATH", remedy)


def _devices() -> Finding:
    try:
        from features.tensorflow import tf

        devices = [
            device for device in tf.config.list_physical_devices() if device.device_type != "CPU"
        ]
        version = tf.version.VERSION
    except Exception as error:
        # Whatever keeps TensorFlow from loading is the finding itself.
        return Finding("devices", f"TensorFlow does not load: {error}", "run `make setup`", True)
    names = ", ".join(device.name for device in devices) or "CPU alone"
    return Finding("devices", f"{names} (TensorFlow {version})")
