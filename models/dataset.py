"""TFRecords of a run to batches of one static shape, in an order that seed and epoch decide.

    file names -> records -> shuffle -> batches of one replica -> model inputs

The records of a global batch are dealt to replicas in order, so two replicas with a batch of b see
the global batches that one replica with a batch of 2b sees. Rows that are missing from the last
batches are padding with a false mask: every replica of every worker gets as many batches of the
same shape, and none waits for another at the end of an epoch.
"""

from __future__ import annotations

import math
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
    plan, size, local = examples.plan, examples.batch_size, examples.local_replicas
    by_record = plan.by == "record"
    share = examples.workers if by_record else 1
    names = _names(examples, plan.files[worker], order)
    records = _interleaved(names, examples.manifest.compression, bool(order.shuffle_rows))
    batches = _full(_cut(records, size, local * share, order), size)
    batches = batches.take(plan.steps * local * share)
    if not by_record:
        return batches
    # A global batch is `workers × local` replica batches in a row, and a worker's are a slice.
    return batches.batch(local, drop_remainder=True).shard(examples.workers, worker).unbatch()


def _names(examples: Examples, shards: tuple[Shard, ...], order: Order) -> list[str]:
    names = [str(examples.directory / shard.file) for shard in shards if shard.examples]
    if order.shuffle_rows:
        np.random.default_rng(order.seeds[0]).shuffle(names)
    return names


def _interleaved(names: list[str], compression: str, mixed: bool) -> Any:
    def read(name: Any) -> Any:
        return tf.data.TFRecordDataset(name, compression, buffer_size=READ_BYTES)

    files = tf.data.Dataset.from_tensor_slices(tf.constant(names, tf.string))
    cycle = max(1, min(INTERLEAVED_FILES, len(names))) if mixed else 1
    return files.interleave(
        tf.autograph.experimental.do_not_convert(read),
        cycle_length=cycle,
        block_length=INTERLEAVED_RECORDS,
    )


def _cut(records: Any, size: int, replicas: int, order: Order) -> Any:
    """Cut records into batches, shuffled within windows of whole global batches.

    Moving one record at a time through `Dataset.shuffle` costs several times more than its
    parsing; a window is permuted by one gather.
    """
    if not order.shuffle_rows:
        return records.batch(size)
    global_batch = size * replicas
    rows = math.ceil(order.shuffle_rows / global_batch) * global_batch

    def permuted(index: Any, window: Any) -> Any:
        seed = tf.stack([tf.constant(order.seeds[1], tf.int64), index])
        keys = tf.random.stateless_uniform(tf.shape(window), seed)
        ordered = tf.gather(window, tf.argsort(keys, stable=True))
        return tf.data.Dataset.from_tensor_slices(ordered).batch(size)

    windows = records.batch(rows).prefetch(1).enumerate()
    return windows.flat_map(tf.autograph.experimental.do_not_convert(permuted))


def _full(batches: Any, size: int) -> Any:
    """Fill the last batch with padding and append batches of padding without end."""
    padding = tf.fill([size], PADDING)

    def fill(batch: Any) -> Any:
        return tf.ensure_shape(tf.concat([batch, padding[tf.size(batch) :]], 0), [size])

    return batches.map(tf.autograph.experimental.do_not_convert(fill)).concatenate(
        tf.data.Dataset.from_tensors(padding).repeat()
    )


def _options() -> Any:
    options = tf.data.Options()
    options.deterministic = True
    options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.OFF
    return options
