"""TFRecords of a run to batches of one static shape, in an order that seed and epoch decide.

    file names -> records -> shuffle -> batches of one replica -> model inputs

The records of a global batch are dealt to replicas in order, so two replicas with a batch of b see
the global batches that one replica with a batch of 2b sees. Rows that are missing from the last
batches are padding with a false mask: every replica of every worker gets as many batches of the
same shape, and none waits for another at the end of an epoch.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from features.manifest import Manifest, Shard, SplitName
from features.spec import InputSpec
from features.tensorflow import tf
from models.parsing import PADDING, parser
from models.sharding import ReadPlan, Sharding, plan_reading

__all__ = ["Examples", "distributed_batches", "replica_batches"]

READ_BYTES = 1 << 20
INTERLEAVED_FILES = 4
INTERLEAVED_RECORDS = 64
READY_BATCHES = 8


@dataclass(frozen=True)
class Examples:
    """One split of a data set, as one job reads it.

    Attributes:
        directory: The data directory of the run.
        manifest: Its manifest.
        spec: The model's inputs.
        split: Name of the split.
        batch_size: Per-replica batch.
        local_replicas: Replicas in each worker.
        workers: Workers of the job.
        sharding: How workers share the rows.
    """

    directory: Path
    manifest: Manifest
    spec: InputSpec
    split: SplitName
    batch_size: int
    local_replicas: int = 1
    workers: int = 1
    sharding: Sharding = "auto"

    @property
    def plan(self) -> ReadPlan:
        """How the rows are dealt; its `steps` are those of an epoch."""
        worker_batch = self.batch_size * self.local_replicas
        return plan_reading(
            self.manifest.splits[self.split], worker_batch, self.workers, self.sharding
        )

    @property
    def steps(self) -> int:
        """Batches that every replica gets in an epoch."""
        return self.plan.steps

    @property
    def global_batch(self) -> int:
        """Rows of a batch on all replicas of all workers."""
        return self.batch_size * self.local_replicas * self.workers


@dataclass(frozen=True)
class Order:
    """The order in which rows are read.

    Attributes:
        seed: Seed of the run.
        epoch: Epoch, counted from 0; each has an order of its own.
        shuffle_rows: Rows in the window from which the next is drawn; 0 for the files' own order.
    """

    seed: int = 0
    epoch: int = 0
    shuffle_rows: int = 0

    @property
    def seeds(self) -> tuple[int, int]:
        """Seeds of the order of files and of the window."""
        file_seed, row_seed = np.random.SeedSequence((self.seed, self.epoch)).generate_state(2)
        return int(file_seed), int(row_seed)


def distributed_batches(
    strategy: Any,
    examples: Examples,
    *,
    worker: int = 0,
    seed: int = 0,
    epoch: int = 0,
    shuffle_rows: int = 0,
    skip_batches: int = 0,
) -> Any:
    """Return one epoch of batches, dealt to the replicas of a strategy.

    Args:
        strategy: The strategy of this process.
        examples: What to read.
        worker: Rank of this process among the workers.
        seed: Seed of the run.
        epoch: Epoch, counted from 0.
        shuffle_rows: Size of the shuffle window; 0 keeps the files' own order, for evaluation.
        skip_batches: Batches that were already consumed in this epoch.

    Returns:
        An iterable of `examples.steps - skip_batches` per-replica batches.
    """
    dataset = replica_batches(
        examples,
        worker=worker,
        seed=seed,
        epoch=epoch,
        shuffle_rows=shuffle_rows,
        skip_batches=skip_batches,
    )
    return strategy.distribute_datasets_from_function(lambda _: dataset)


def replica_batches(
    examples: Examples,
    *,
    worker: int = 0,
    seed: int = 0,
    epoch: int = 0,
    shuffle_rows: int = 0,
    skip_batches: int = 0,
) -> Any:
    """Return one epoch of batches of one replica, those of a worker's replicas in turn.

    Arguments are those of `distributed_batches`.

    Returns:
        A `tf.data.Dataset` of `(steps - skip_batches) × local_replicas` batches, each a dict as
        `models.parsing.parser` describes, with exactly `batch_size` rows.
    """
    order = Order(seed, epoch, shuffle_rows)
    skipped = skip_batches * examples.local_replicas
    records = _replica_records(examples, worker, order).skip(skipped)
    parse = parser(examples.spec, examples.manifest)
    batches = records.map(parse, num_parallel_calls=tf.data.AUTOTUNE, deterministic=True)
    return batches.prefetch(READY_BATCHES).with_options(_options())


def _replica_records(examples: Examples, worker: int, order: Order) -> Any:
    """Return batches of `(batch_size,) string` examples of a worker's replicas in turn."""
    plan, local = examples.plan, examples.local_replicas
    by_record = plan.by == "record"
    records = _records(examples, plan.files[worker], order)
    rows = plan.steps * plan.worker_batch * (examples.workers if by_record else 1)
    batches = _padded(records, rows).batch(examples.batch_size, drop_remainder=True)
    if not by_record:
        return batches
    # A global batch is `workers × local` replica batches in a row, and a worker's are a slice.
    slices = batches.batch(local, drop_remainder=True).shard(examples.workers, worker)
    return slices.unbatch()


def _padded(records: Any, rows: int) -> Any:
    """Extend records with padding to so many rows."""
    padding = tf.data.Dataset.from_tensors(tf.constant(PADDING)).repeat()
    return records.concatenate(padding).take(rows)


def _records(examples: Examples, shards: tuple[Shard, ...], order: Order) -> Any:
    file_seed, row_seed = order.seeds
    names = [str(examples.directory / shard.file) for shard in shards if shard.examples]
    if not names:
        return tf.data.Dataset.from_tensor_slices(tf.constant([], tf.string))
    if order.shuffle_rows:
        np.random.default_rng(file_seed).shuffle(names)
    records = _interleaved(names, examples.manifest.compression, bool(order.shuffle_rows))
    if not order.shuffle_rows:
        return records
    return records.shuffle(order.shuffle_rows, seed=row_seed, reshuffle_each_iteration=False)


def _interleaved(names: list[str], compression: str, mixed: bool) -> Any:
    def read(name: Any) -> Any:
        return tf.data.TFRecordDataset(name, compression, buffer_size=READ_BYTES)

    files = tf.data.Dataset.from_tensor_slices(names)
    cycle = min(INTERLEAVED_FILES, len(names)) if mixed else 1
    return files.interleave(read, cycle_length=cycle, block_length=INTERLEAVED_RECORDS)


def _options() -> Any:
    options = tf.data.Options()
    options.deterministic = True
    options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.OFF
    return options
