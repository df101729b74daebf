"""`python -m pipeline`: from behaviour logs to TFRecords."""

from __future__ import annotations

import argparse
import sys

from features.command import Command, config_arguments, main, read_config, run_directory


def _preprocess_arguments(parser: argparse.ArgumentParser) -> None:
    config_arguments(parser)
    parser.add_argument(
        "--runner",
        default="direct",
        help="Beam runner: direct, or any that Beam knows by name (default: %(default)s)",
    )
    parser.add_argument(
        "--force",
        action="store_true",
        help="replace another run's data, or redo what is up to date",
    )
    parser.add_argument(
        "options", nargs="*", metavar="-- BEAM_OPTION", help="further options for the Beam runner"
    )


def _preprocess(args: argparse.Namespace) -> int:
    config = read_config(args)
    from pipeline.preprocess import preprocess
    from pipeline.summary import describe

    out = run_directory(args, config)
    manifest, written = preprocess(
        config, out, runner=args.runner, options=args.options, force=args.force
    )
    print(describe(manifest, out, written))
    return 0


def _generate_arguments(parser: argparse.ArgumentParser) -> None:
    from pipeline.generate.command import add_arguments

    add_arguments(parser)


def _generate(args: argparse.Namespace) -> int:
    from pipeline.generate.command import run

    return run(args)


COMMANDS = (
    Command("preprocess", "Write TFRecords from the log.", _preprocess_arguments, _preprocess),
    Command("generate", "Write a synthetic log.", _generate_arguments, _generate),
)

if __name__ == "__main__":
    sys.exit(main("pipeline", "Behaviour logs to TFRecords.", COMMANDS))
