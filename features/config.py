"""The whole configuration of a run, as frozen models; `features.load` reads it from TOML."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import Field

from features.kinds import Feature
from features.kinds.settings import Settings

__all__ = [
    "Config",
    "DataConfig",
    "ExpectedConfig",
    "JoinConfig",
    "LabelConfig",
    "LogConfig",
    "ModelConfig",
    "ServingConfig",
    "SourceConfig",
    "SplitConfig",
    "TimestampConfig",
    "TrainConfig",
]

MISSING_SPELLINGS = ("", "NA", "N/A", "NaN", "nan", "null", "NULL", "None", "\\N")


class SourceConfig(Settings):
    """Files of delimited text, JSON lines or Parquet.

    Attributes:
        path: A file, a glob, or a list of both; `.gz` files are decompressed.
        format: `auto` goes by the suffix (csv, tsv, jsonl, json, parquet, each with or without gz).
        columns: Column names of files without a header; none where the files have one.
        separator: Field separator, where the format's own (comma, tab) is not it.
        quote: Quote character, `""` for none; by default `"` in CSV and none in TSV.
        encoding: Encoding of text; a row that does not decode is rejected.
    """

    path: str | tuple[str, ...]
    format: Literal["auto", "csv", "tsv", "jsonl", "parquet"] = "auto"
    columns: tuple[str, ...] | None = None
    separator: str | None = Field(default=None, min_length=1, max_length=1)
    quote: str | None = Field(default=None, max_length=1)
    encoding: Literal["utf-8", "latin-1"] = "utf-8"


class JoinConfig(SourceConfig):
    """A side table, small enough for memory, whose columns are added by key.

    Attributes:
        on: Column of the log.
        key: Column of the side table; as `on` by default.
        take: Columns to add; all others than the key by default.
    """

    on: str
    key: str | None = None
    take: tuple[str, ...] | None = None


class LabelConfig(Settings):
    """The label: 0 or 1, or a rule that makes it so.

    Attributes:
        column: Raw column.
        at_least: A number from which on the label is 1; 0 below.
        positive: Values for which the label is 1; 0 for any other.
    """

    column: str
    at_least: float | None = None
    positive: tuple[str, ...] | None = None


class TimestampConfig(Settings):
    """The time of the impression.

    Attributes:
        column: Raw column.
        unit: Unix seconds, milliseconds or microseconds; ISO 8601 (UTC unless it has a zone);
            or `format`.
        format: A `strptime` format, read as UTC.
        max_future_hours: How far past the clock a time may lie before its row is rejected.
    """

    column: str
    unit: Literal["s", "ms", "us", "iso", "format"] = "s"
    format: str | None = None
    max_future_hours: float = Field(default=24.0, ge=0)


class LogConfig(SourceConfig):
    """The impression log and what its columns mean.

    Attributes:
        label: The label.
        timestamp: The time of the impression; needed for a split by time and for time parts.
        user: Column of the user, for GAUC and for a split by user.
        weight: Column of the example weight; each example weighs 1 without it.
        required: Columns without which a row is rejected and a request refused.
        missing: Spellings of a missing value.
        short_rows: Whether a row with too few fields is rejected or padded with missing values.
        max_rejected: Share of rejected rows at which preprocessing fails.
        max_record_bytes: Size of one row, past which it is rejected.
        joins: Side tables.
    """

    label: LabelConfig
    timestamp: TimestampConfig | None = None
    user: str | None = None
    weight: str | None = None
    required: tuple[str, ...] = ()
    missing: tuple[str, ...] = MISSING_SPELLINGS
    short_rows: Literal["reject", "pad"] = "reject"
    max_rejected: float = Field(default=0.001, ge=0, le=1)
    max_record_bytes: int = Field(default=1 << 20, ge=1 << 10)
    joins: tuple[JoinConfig, ...] = ()


class SplitConfig(Settings):
    """Which rows train, which choose the epoch (eval), which are held out (test).

    Attributes:
        by: By time (oldest rows train), by a hash of the user, or by a hash of the row's place.
        fractions: Shares of train, eval and test.
        eval_from: Time from which rows are for evaluation, instead of fractions.
        test_from: Time from which rows are for test, instead of fractions.
        seed: Seed of the hash.
    """

    by: Literal["time", "user", "random"] = "time"
    fractions: tuple[float, float, float] = (0.8, 0.1, 0.1)
    eval_from: datetime | None = None
    test_from: datetime | None = None
    seed: int = 0


class DataConfig(Settings):
    """How TFRecords are written.

    Attributes:
        shards: Number of files of the training split; eval and test have a quarter, at least one.
        compression: `GZIP`, or none.
        block_bytes: Bytes of log parsed at a time.
        seed: Seed of the order of rows in the shards.
        golden_rows: Number of evaluation rows kept in raw form to prove the chain.
    """

    shards: int = Field(default=4, ge=1)
    compression: Literal["", "GZIP"] = ""
    block_bytes: int = Field(default=8 << 20, ge=1 << 10)
    seed: int = 0
    golden_rows: int = Field(default=256, ge=1, le=10_000)


class ModelConfig(Settings):
    """The network.

    Attributes:
        kind: Wide&Deep (arXiv 1606.07792) or DeepFM (arXiv 1703.04247).
        embedding_dim: Embedding width D.
        hidden: Units of each hidden layer of the deep part.
        dropout: Share of units dropped after each hidden layer.
        batch_norm: Whether hidden layers are batch-normalised, synchronised over replicas.
        l2_embedding: L2 penalty on the embedding rows in the batch.
        l2_linear: L2 penalty on the first-order weights in the batch.
        l2_dense: L2 penalty on the kernels of hidden layers.
        embedding_stddev: Standard deviation of initial embeddings.
    """

    kind: Literal["wide_deep", "deepfm"] = "deepfm"
    embedding_dim: int = Field(default=16, ge=1)
    hidden: tuple[int, ...] = (400, 400, 400)
    dropout: float = Field(default=0.0, ge=0, lt=1)
    batch_norm: bool = True
    l2_embedding: float = Field(default=0.0, ge=0)
    l2_linear: float = Field(default=0.0, ge=0)
    l2_dense: float = Field(default=0.0, ge=0)
    embedding_stddev: float = Field(default=0.01, gt=0)


class TrainConfig(Settings):
    """How the model is trained.

    Attributes:
        strategy: `auto` decides from table bytes, devices and cluster.
        batch_size: Per-replica batch.
        epochs: Most epochs.
        learning_rate: Rate of the dense layers at the reference batch.
        table_learning_rate: Rate of the tables.
        table_optimizer: Row-wise optimizer of the tables.
        scaling: How the dense rate follows the global batch over the reference batch.
        table_scaling: The same for the tables.
        reference_batch: Global batch for which the rates are given; `batch_size` by default.
        warmup_steps: Optimizer steps of linear warm-up.
        accumulate: Batches whose gradients are summed into one optimizer step.
        early_stopping: Epochs without a better validation AUC after which training ends.
        plateau_factor: What the rates are multiplied by on a plateau.
        plateau_patience: Epochs without a better validation AUC that make a plateau.
        min_improvement: By how much a validation AUC must be better to count.
        checkpoint_steps: Optimizer steps between checkpoints inside an epoch; 0 for none.
        shuffle_rows: Size of the shuffle window, in rows.
        clip_norm: Global norm that the dense gradients are clipped to.
        device_memory_bytes: Memory of a device, where it is not asked of the device.
        communication: Collective implementation between workers.
        worker_timeout_seconds: How long a worker waits for its peers at the start.
        histogram_steps: Steps between gradient histograms; 0 for once an epoch.
        seed: Seed of weights, dropout and shuffling.
        xla: Whether the step is compiled by XLA.
    """

    strategy: Literal["auto", "default", "mirrored", "multi_worker", "parameter_server", "tpu"] = (
        "auto"
    )
    batch_size: int = Field(default=4096, ge=1)
    epochs: int = Field(default=10, ge=1)
    learning_rate: float = Field(default=1e-3, gt=0)
    table_learning_rate: float = Field(default=1e-2, gt=0)
    table_optimizer: Literal["adagrad", "lazy_adam", "ftrl"] = "lazy_adam"
    scaling: Literal["linear", "sqrt", "none"] = "linear"
    table_scaling: Literal["linear", "sqrt", "none"] = "none"
    reference_batch: int | None = Field(default=None, ge=1)
    warmup_steps: int = Field(default=0, ge=0)
    accumulate: int = Field(default=1, ge=1)
    early_stopping: int = Field(default=2, ge=1)
    plateau_factor: float = Field(default=0.1, gt=0, le=1)
    plateau_patience: int = Field(default=1, ge=1)
    min_improvement: float = Field(default=1e-5, ge=0)
    checkpoint_steps: int = Field(default=1000, ge=0)
    shuffle_rows: int = Field(default=100_000, ge=1)
    clip_norm: float | None = Field(default=None, gt=0)
    device_memory_bytes: int | None = Field(default=None, ge=1)
    communication: Literal["auto", "ring", "nccl"] = "auto"
    worker_timeout_seconds: float = Field(default=120.0, gt=0)
    histogram_steps: int = Field(default=0, ge=0)
    seed: int = 0
    xla: bool = False


class ServingConfig(Settings):
    """The exported model.

    Attributes:
        model_name: Name under which the model is exported and served; the data set's by default.
        max_difference: Largest difference of a served score to the trained model's.
        warmup_batch: Rows of each warm-up request.
    """

    model_name: str | None = Field(default=None, pattern=r"^[A-Za-z0-9_\-]+$")
    max_difference: float = Field(default=1e-5, gt=0)
    warmup_batch: int = Field(default=64, ge=1)


class ExpectedConfig(Settings):
    """What this configuration reaches, and under which protocol.

    Attributes:
        test_auc: Test AUC of the configured model.
        tolerance: By how much a run may fall below it.
        protocol: Split, seeds and how the settings were chosen.
    """

    test_auc: float = Field(gt=0, lt=1)
    tolerance: float = Field(gt=0)
    protocol: str


class Config(Settings):
    """The whole configuration of a run; each section's own documentation says what it holds."""

    name: str = Field(pattern=r"^[A-Za-z0-9_\-]+$")
    log: LogConfig
    split: SplitConfig = SplitConfig()
    data: DataConfig = DataConfig()
    features: tuple[Feature, ...] = Field(min_length=1)
    model: ModelConfig = ModelConfig()
    train: TrainConfig = TrainConfig()
    serving: ServingConfig = ServingConfig()
    expected: ExpectedConfig | None = None

    @property
    def model_name(self) -> str:
        """Name under which the model is exported and served."""
        return self.serving.model_name or self.name
