"""`python -m models`: from TFRecords to a trained model."""

from __future__ import annotations

import argparse
import sys

from features.artefact import Artefact
from features.command import Command, config_arguments, main, read_config, run_directory
from features.errors import ConfigError
from features.load import store_config
from features.manifest import read_manifest
from models.cluster import read_cluster
from models.display import displayed
from models.start import describe_outcome, finished, start_workers, train_here


def _train_arguments(parser: argparse.ArgumentParser) -> None:
    config_arguments(parser)
    parser.add_argument(
        "--workers",
        type=int,
        default=1,
        metavar="N",
        help="local worker processes to train with (default: %(default)s); on several machines, "
        "set TF_CONFIG in each process instead",
    )


def _train(args: argparse.Namespace) -> int:
    config, cluster = read_config(args), read_cluster()
    out = run_directory(args, config)
    _check_workers(args.workers, cluster.world_size)
    outcome = finished(config, out)
    if outcome is not None:
        if cluster.is_chief:
            print(f"nothing has changed since {out}/train was trained\n{describe_outcome(outcome)}")
        return 0
    if cluster.is_chief:
        store_config(config, out)
    with displayed() as display:
        if args.workers > 1:
            start_workers(_worker_arguments(args), args.workers, out, display.receive)
        else:
            outcome = train_here(config, out, cluster, display)
            if cluster.is_chief:
                display.line(describe_outcome(outcome))
    return 0


def _check_workers(workers: int, world_size: int) -> None:
    if workers < 1 or (workers > 1 and world_size > 1):
        raise ConfigError(
            "--workers is the number of local workers to start, outside of a cluster",
            received=f"--workers {workers}, {world_size} tasks in TF_CONFIG",
            where="command line",
            remedy="give 1 or more, and unset TF_CONFIG to start workers on this machine",
        )


def _worker_arguments(args: argparse.Namespace) -> list[str]:
    out = ["--out", args.out] if args.out else []
    return ["--config", args.config, *out, *(f"--set={item}" for item in args.overrides)]


def _plan(args: argparse.Namespace) -> int:
    config, cluster = read_config(args), read_cluster()
    spec = Artefact.load(run_directory(args, config) / "transform").spec
    from models.plan import make_plan

    print(make_plan(config, spec, cluster).describe())
    return 0


def _validate(args: argparse.Namespace) -> int:
    config = read_config(args)
    data = run_directory(args, config) / "data"
    manifest = read_manifest(data)
    spec = Artefact.load(data.parent / "transform").spec
    from models.validate import check_shards, validate

    check_shards(data, manifest)
    print(f"{validate(data, manifest, spec)} records are whole and have their inputs")
    return 0


COMMANDS = (
    Command("train", "Train the model from the data set of a run.", _train_arguments, _train),
    Command("plan", "Say how training would run, and why.", config_arguments, _plan),
    Command("validate", "Read every record of the data set.", config_arguments, _validate),
)

if __name__ == "__main__":
    sys.exit(main("models", "TFRecords to a trained model.", COMMANDS))
