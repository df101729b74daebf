"""Repeats every configuration that states an expected test AUC and whose log is there.

python -m benchmarks.quality [NAME …] [--seeds 0 1 2] [--out out/quality]
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from features.config import Config
from features.load import load_config, shipped_configs

COLUMNS = "{:<24} {:<10} {:>9} {:>9} {:>9}  {}"


@dataclass(frozen=True)
class Outcome:
    """What a configuration reached.

    Attributes:
        name: Name of the configuration.
        kind: Wide&Deep or DeepFM.
        aucs: Test AUC by seed.
        expected: Least test AUC that is good enough.
    """

    name: str
    kind: str
    aucs: tuple[float, ...]
    expected: float

    @property
    def reached(self) -> bool:
        """Whether the mean over the seeds is good enough."""
        return statistics.mean(self.aucs) >= self.expected

    def line(self) -> str:
        """Return one row of the table."""
        spread = max(self.aucs) - min(self.aucs)
        mean = statistics.mean(self.aucs)
        verdict = "reached" if self.reached else "MISSED"
        return COLUMNS.format(
            self.name, self.kind, f"{mean:.4f}", f"{spread:.4f}", f"{self.expected:.4f}", verdict
        )


def can_run(config: Config) -> bool:
    """Say whether a configuration states a figure and its log is there."""
    paths = (config.log.path,) if isinstance(config.log.path, str) else config.log.path
    return config.expected is not None and all(any(Path().glob(path)) for path in paths)


def repeat(name: str, config: Config, kind: str, seeds: list[int], out: Path) -> Outcome:
    """Run a configuration once for each seed, and read the test AUC."""
    assert config.expected is not None
    aucs = []
    for seed in seeds:
        run = ["--config", name, "--out", str(out / f"{name}-{kind}")]
        run += ["--set", f"model.kind={kind}", "--set", f"train.seed={seed}"]
        for step in (["pipeline", "preprocess"], ["models", "train"]):
            subprocess.run([sys.executable, "-m", *step, *run], check=True)
        metrics = json.loads((out / f"{name}-{kind}" / "train" / "metrics.json").read_text())
        aucs.append(float(metrics["test"]["auc"]))
    expected = config.expected.test_auc - config.expected.tolerance
    return Outcome(name, kind, tuple(aucs), expected)


def main() -> int:
    """Run what can run, print the table, and fail if a figure was missed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("names", nargs="*", help="configurations (default: all that can run)")
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1, 2])
    parser.add_argument("--kinds", nargs="+", default=["wide_deep", "deepfm"])
    parser.add_argument("--out", type=Path, default=Path("out/quality"))
    args = parser.parse_args()
    configs = {name: load_config(name) for name in args.names or shipped_configs()}
    runnable = {name: config for name, config in configs.items() if can_run(config)}
    for name in configs.keys() - runnable.keys():
        print(f"left out {name}: it states no figure, or its log is not there")
    outcomes = [
        repeat(name, config, kind, args.seeds, args.out)
        for name, config in runnable.items()
        for kind in args.kinds
    ]
    print(COLUMNS.format("configuration", "model", "test AUC", "spread", "at least", ""))
    for outcome in outcomes:
        print(outcome.line())
    return 0 if all(outcome.reached for outcome in outcomes) else 1


if __name__ == "__main__":
    sys.exit(main())
