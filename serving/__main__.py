"""`python -m serving`: export, verify, predict, serve, doctor, demo and summary.

TensorFlow takes seconds to import, so each command reads the configuration first and imports
what it needs afterwards.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from features.command import Command, config_arguments, main, read_config, run_directory
from features.config import Config
from features.raw import raw_columns
from serving.release import (
    latest_version,
    model_columns,
    model_directory,
    model_name,
    versions,
)
from serving.server import command as server_command


def run_export(args: argparse.Namespace) -> int:
    """Export the trained model as a new version."""
    config, out = _run(args)
    from serving.export import export
    from serving.trained import find_run

    done = export(out, config, find_run(out))
    if not done.is_new:
        print(f"nothing changed: {done.version} was made from this training already")
        return 0
    print(
        f"exported {done.version}: {done.golden_rows} golden rows score as trained "
        f"(largest difference {done.max_difference:.2g})"
    )
    return 0


def run_verify(args: argparse.Namespace) -> int:
    """Compare served scores with the trained ones."""
    config, out = _run(args)
    directory, name = model_directory(out, config), model_name(config)
    version = latest_version(directory)
    from serving.backends import find_backend, running

    columns, allowed = model_columns(version), config.serving.max_difference
    with running(find_backend(args.serving), directory, name, args.serving) as backend:
        from serving.verify import check, verify, write_verification

        verification = verify(backend, version, name, columns, allowed)
    write_verification(verification, out / "verify.json")
    print(verification.line())
    check(verification)
    return 0


def run_predict(args: argparse.Namespace) -> int:
    """Score rows over gRPC."""
    config, out = _run(args)
    rows = args.input or out / "data" / "golden.jsonl"
    directory, name = model_directory(out, config), model_name(config)
    is_local = not args.serving or versions(directory)
    columns = model_columns(latest_version(directory)) if is_local else raw_columns(config)
    from serving.backends import BackendKind, running
    from serving.columns import column_notes
    from serving.input_rows import column_names

    for line in column_notes(column_names(rows, config), columns, str(rows)).lines():
        print(line, file=sys.stderr)
    kind: BackendKind = "endpoint" if args.serving else "embedded"
    with running(kind, directory, name, args.serving) as backend:
        from serving.client import PredictionClient
        from serving.predict import predict_file

        with PredictionClient(
            backend.address, name, deadline_s=args.deadline, batch_rows=args.batch_rows
        ) as client:
            client.wait_until_available(args.wait)
            count = predict_file(client, rows, columns, config, args.output)
    where = f", written to {args.output}" if args.output else ""
    print(f"{count} rows scored by {backend.name}{where}", file=sys.stderr)
    return 0


def run_serve(args: argparse.Namespace) -> int:
    """Serve over gRPC until stopped."""
    if args.base_path is None:
        config, out = _run(args)
        args.base_path = model_directory(out, config)
        args.model_name = args.model_name or model_name(config)
    return server_command.run(args)


def run_doctor(_: argparse.Namespace) -> int:
    """Report on this machine."""
    from serving.doctor import report

    return report()


def run_demo(args: argparse.Namespace) -> int:
    """Run every step, then the summary."""
    config, out = _run(args)
    from serving.demo import demo

    overrides = [part for one in args.overrides for part in ("--set", one)]
    return demo(["--config", args.config, "--out", str(out), *overrides], out, config)


def run_summary(args: argparse.Namespace) -> int:
    """Print the summary of a run."""
    config, out = _run(args)
    from serving.summary import summary_lines

    print("\n".join(summary_lines(out, config)))
    return 0


def _run(args: argparse.Namespace) -> tuple[Config, Path]:
    config = read_config(args)
    return config, run_directory(args, config)


def _server_arguments(parser: argparse.ArgumentParser) -> None:
    config_arguments(parser)
    parser.add_argument(
        "--serving",
        metavar="HOST:PORT",
        help="server to ask; without it one is chosen or started here",
    )


def _predict_arguments(parser: argparse.ArgumentParser) -> None:
    _server_arguments(parser)
    parser.add_argument(
        "--input",
        type=Path,
        metavar="FILE",
        help="rows as .csv, .tsv or .jsonl, also .gz (default: the golden rows of the run)",
    )
    parser.add_argument(
        "--output", type=Path, metavar="FILE", help="one probability a line (default: stdout)"
    )
    parser.add_argument(
        "--deadline", type=float, default=10.0, metavar="SECONDS",
        help="for each attempt of a request (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--batch-rows", type=int, default=1024, metavar="N",
        help="most rows of a request (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--wait", type=float, default=60.0, metavar="SECONDS",
        help="for the model to be available (default: %(default)s)",
    )  # fmt: skip


def _serve_arguments(parser: argparse.ArgumentParser) -> None:
    config_arguments(parser)
    parser.add_argument(
        "--base-path", type=Path, metavar="DIR",
        help="directory of versions, where it is not that of the run",
    )  # fmt: skip
    parser.add_argument("--model-name", metavar="NAME", help="name that clients give")
    server_command.add_arguments(parser)


def _no_arguments(_: argparse.ArgumentParser) -> None:
    pass


COMMANDS = (
    Command("export", "export the trained model as a new version", config_arguments, run_export),
    Command(
        "verify", "prove that served scores are the trained ones", _server_arguments, run_verify
    ),
    Command("predict", "score rows over gRPC", _predict_arguments, run_predict),
    Command("serve", "serve the exported model until stopped", _serve_arguments, run_serve),
    Command("doctor", "say whether this machine has what is needed", _no_arguments, run_doctor),
    Command("demo", "run every step and sum up", config_arguments, run_demo),
    Command("summary", "sum up a run", config_arguments, run_summary),
)

if __name__ == "__main__":
    status = main("serving", "Export, verification, serving and prediction.", COMMANDS)
    sys.stdout.flush()
    sys.exit(status)
