"""What the command lines of all packages share: common options, and errors without a traceback."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from features.config import Config
from features.errors import PipelineError
from features.load import load_config

__all__ = ["Command", "config_arguments", "main", "read_config", "run_directory"]

USER_ERROR = 2
INTERRUPTED = 130


@dataclass(frozen=True)
class Command:
    """One subcommand.

    Attributes:
        name: Its name on the command line.
        help: What it does, in one line.
        arguments: Adds its options to a parser.
        run: Does it and returns the exit status.
    """

    name: str
    help: str
    arguments: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], int]


def config_arguments(parser: argparse.ArgumentParser) -> None:
    """Add `--config`, `--set` and `--out`, which every step of a run has."""
    parser.add_argument(
        "--config",
        default="default",
        metavar="FILE",
        help="TOML file of the run, or the name of one in features/datasets (default: %(default)s)",
    )
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        dest="overrides",
        help="override a key, for example model.kind=deepfm; may be repeated",
    )
    parser.add_argument("--out", metavar="DIR", help="directory of the run (default: out/NAME)")


def read_config(args: argparse.Namespace) -> Config:
    """Read the configuration that the common options name."""
    return load_config(args.config, args.overrides)


def run_directory(args: argparse.Namespace, config: Config) -> Path:
    """Return the directory of the run that the common options name."""
    return Path(args.out or Path("out") / config.name)


def main(
    package: str,
    description: str,
    commands: Sequence[Command],
    arguments: Sequence[str] | None = None,
) -> int:
    """Run one of a package's commands.

    Args:
        package: Package name, for usage messages.
        description: What the package does.
        commands: Its subcommands.
        arguments: The command line; that of the process by default.

    Returns:
        The exit status: 0, 2 for what the user can mend, 130 when interrupted. A fault of ours
        is an exception, which Python reports with status 1.
    """
    parser = argparse.ArgumentParser(prog=f"python -m {package}", description=description)
    subparsers = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for command in commands:
        subparser = subparsers.add_parser(command.name, help=command.help, description=command.help)
        command.arguments(subparser)
        subparser.set_defaults(run=command.run)
    args = parser.parse_args(arguments)
    try:
        status: int = args.run(args)
    except PipelineError as error:
        print(f"error: {error}", file=sys.stderr)
        return USER_ERROR
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return INTERRUPTED
    return status
