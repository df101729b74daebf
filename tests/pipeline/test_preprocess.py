from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from features.artefact import Artefact
from features.config import Config
from features.errors import DataError
from features.load import parse_config
from features.manifest import Manifest
from features.tensorflow import tf
from pipeline.preprocess import preprocess

HEADER = "timestamp,user_id,item_id,tags,price,click\n"
ROWS = 400


def log_line(at: int) -> str:
    tags = "|".join(f"t{tag}" for tag in range(at % 4))
    price = "" if at % 10 == 0 else f"{at % 37}.5"
    return f"{1_700_000_000 + at},u{at % 23},i{at * 7 % 51},{tags},{price},{int(at % 5 == 0)}\n"


def write_log(path: Path, rows: Sequence[int] = range(ROWS), extra: str = "") -> Path:
    path.write_text(HEADER + "".join(log_line(at) for at in rows) + extra)
    return path


def config_of(source: Path | list[Path], **sections: Any) -> Config:
    paths = [str(path) for path in source] if isinstance(source, list) else str(source)
    tree: dict[str, Any] = {
        "name": "shop",
        "log": {
            "path": paths,
            "user": "user_id",
            "label": {"column": "click"},
            "timestamp": {"column": "timestamp"},
            **sections.pop("log", {}),
        },
        "features": [
            {"kind": "vocabulary", "name": "user_id"},
            {"kind": "hash", "name": "item_id", "buckets": 100},
            {"kind": "multi", "name": "tags", "max_length": 3},
            {"kind": "numeric", "name": "price"},
            {"kind": "time_part", "name": "hour", "part": "hour"},
            {"kind": "cross", "name": "user_x_item", "of": ["user_id", "item_id"], "buckets": 50},
        ],
        **sections,
    }
    return parse_config(tree, "test")


def examples_of(out: Path, manifest: Manifest, split: str) -> list[bytes]:
    files = [str(out / "data" / shard.file) for shard in manifest.splits[split].shards]  # type: ignore[index]
    return [canonical(example.numpy()) for example in tf.data.TFRecordDataset(files)]


def canonical(example: bytes) -> bytes:
    """Order the features of an example, which protobuf leaves open."""
    serialised: bytes = tf.train.Example.FromString(example).SerializeToString(deterministic=True)
    return serialised


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Config, Manifest]:
    root = tmp_path_factory.mktemp("finished")
    config = config_of(write_log(root / "log.csv"))
    manifest, written = preprocess(config, root / "out")
    assert written
    return root / "out", config, manifest


def test_every_row_lands_in_one_split(finished: tuple[Path, Config, Manifest]) -> None:
    _, _, manifest = finished
    sizes = {name: split.examples for name, split in manifest.splits.items()}
    assert sizes == {"train": 320, "eval": 40, "test": 40}
    assert manifest.rows == ROWS and manifest.rejects == {}


def test_the_manifest_counts_what_the_files_hold(finished: tuple[Path, Config, Manifest]) -> None:
    out, _, manifest = finished
    for name, split in manifest.splits.items():
        assert len(examples_of(out, manifest, name)) == split.examples
        for shard in split.shards:
            assert (out / "data" / shard.file).stat().st_size == shard.bytes


def test_an_example_holds_the_record_layout(finished: tuple[Path, Config, Manifest]) -> None:
    out, _, manifest = finished
    example = tf.train.Example.FromString(examples_of(out, manifest, "eval")[0])
    # Row 320 of the log: user u21, click 1, no tag, no price, Tuesday 22:18 UTC.
    values = example.features.feature
    assert list(values["label"].float_list.value) == [1.0]
    assert len(values["dense"].float_list.value) == 1
    assert len(values["sparse"].int64_list.value) == 4
    assert list(values["multi_lengths"].int64_list.value) == [0]
    assert len(values["group"].int64_list.value) == 1


def test_golden_rows_are_evaluation_rows_in_raw_form(
    finished: tuple[Path, Config, Manifest],
) -> None:
    out, _, _ = finished
    rows = [json.loads(line) for line in (out / "data" / "golden.jsonl").read_text().splitlines()]
    assert all(set(row) == {"timestamp", "user_id", "item_id", "tags", "price"} for row in rows)
    evaluation = [row for row in rows if 1_700_000_320 <= row["timestamp"] < 1_700_000_360]
    assert len(evaluation) == 40 and rows[:40] == evaluation


def test_nothing_is_left_beside_the_published_folders(
    finished: tuple[Path, Config, Manifest],
) -> None:
    out, _, _ = finished
    visible = {path.name for path in out.iterdir() if path.name != ".preprocess.lock"}
    assert visible == {"config.json", "data", "rejects", "transform"}


def test_a_second_run_with_nothing_changed_writes_nothing(
    finished: tuple[Path, Config, Manifest],
) -> None:
    out, config, manifest = finished
    assert preprocess(config, out) == (manifest, False)


def test_another_configurations_directory_is_refused(
    finished: tuple[Path, Config, Manifest],
) -> None:
    out, config, _ = finished
    with pytest.raises(DataError, match="one configuration"):
        preprocess(config.model_copy(update={"name": "other"}), out)


@pytest.mark.parametrize("change", ["shards", "blocks", "files"])
def test_examples_do_not_depend_on_shards_blocks_or_files(
    change: str, finished: tuple[Path, Config, Manifest], tmp_path: Path
) -> None:
    out, config, manifest = finished
    expected = Counter(
        example for split in manifest.splits for example in examples_of(out, manifest, split)
    )
    if change == "files":
        halves = [range(0, ROWS, 2), range(1, ROWS, 2)]
        logs = [write_log(tmp_path / f"{at}.csv", half) for at, half in enumerate(halves)]
        config = config_of(logs)
    else:
        data = {"shards": {"shards": 7}, "blocks": {"block_bytes": 1024}}[change]
        config = config_of(Path(str(config.log.path)), data=data)
    changed, _ = preprocess(config, tmp_path / "out")
    assert changed.fingerprint == manifest.fingerprint
    assert expected == Counter(
        example
        for split in changed.splits
        for example in examples_of(tmp_path / "out", changed, split)
    )
    sizes = [shard.examples for shard in changed.splits["train"].shards]
    assert max(sizes) - min(sizes) <= 1


def test_the_portable_runner_with_loopback_workers_writes_the_same(
    finished: tuple[Path, Config, Manifest], tmp_path: Path
) -> None:
    out, config, manifest = finished
    flags = ["--job_endpoint=embed", "--environment_type=LOOPBACK"]
    portable, _ = preprocess(config, tmp_path / "out", runner="PortableRunner", options=flags)
    assert portable == manifest
    for split in manifest.splits:
        assert examples_of(tmp_path / "out", portable, split) == examples_of(out, manifest, split)


def test_rejected_lines_are_kept_whole_with_their_place(tmp_path: Path) -> None:
    bad = "1700000001,u1,i1,,abc,0\n"
    log = write_log(tmp_path / "log.csv", extra=bad)
    manifest, _ = preprocess(config_of(log, log={"max_rejected": 0.01}), tmp_path / "out")
    assert manifest.rejects == {"not_a_number:price": 1} and manifest.rows == ROWS + 1
    (file,) = (tmp_path / "out" / "rejects").iterdir()
    reject = json.loads(file.read_text())
    assert reject["line"] == ROWS + 2 and reject["raw"].rstrip("\n") == bad.rstrip("\n")


def test_too_many_rejects_fail_with_reasons_and_examples(tmp_path: Path) -> None:
    log = write_log(tmp_path / "log.csv", extra="1700000001,u1,i1,,abc,0\n" * 3)
    with pytest.raises(DataError) as caught:
        preprocess(config_of(log), tmp_path / "out")
    assert "3 x not_a_number:price" in str(caught.value)
    assert f"log.csv:{ROWS + 2}:" in str(caught.value)
    assert not (tmp_path / "out" / "data").exists()


@pytest.mark.parametrize("content", ["", HEADER])
def test_a_log_without_rows_is_an_error(content: str, tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text(content)
    with pytest.raises(DataError):
        preprocess(config_of(tmp_path / "log.csv"), tmp_path / "out")
    assert not (tmp_path / "out" / "data").exists()


def test_a_failed_run_leaves_the_earlier_data_set_alone(tmp_path: Path) -> None:
    log = write_log(tmp_path / "log.csv")
    manifest, _ = preprocess(config_of(log), tmp_path / "out")
    write_log(log, extra="broken\n" * 9)
    with pytest.raises(DataError):
        preprocess(config_of(log), tmp_path / "out")
    assert (tmp_path / "out" / "data" / "manifest.json").read_text() == manifest.model_dump_json(
        indent=2
    ) + "\n"


def test_a_directory_that_cannot_be_made_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match="can be written"):
        preprocess(config_of(write_log(tmp_path / "log.csv")), tmp_path / "file" / "out")


def test_a_changed_feature_is_told_from_the_data_set(
    finished: tuple[Path, Config, Manifest],
) -> None:
    out, config, _ = finished
    artefact = Artefact.load(out / "transform")
    artefact.check_configured(config, out)
    numeric = next(feature for feature in config.features if feature.name == "price")
    others = tuple(feature for feature in config.features if feature is not numeric)
    changed = numeric.model_copy(update={"log1p": True})
    with pytest.raises(DataError, match="differs in price"):
        artefact.check_configured(config.model_copy(update={"features": (*others, changed)}), out)
