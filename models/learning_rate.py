"""The learning rate at every optimizer step: scaled by the global batch, after a warm-up.

Linear scaling and linear warm-up: Goyal et al., arXiv 1706.02677. Linear scaling is known to fail
for the tables of click models, since an id is in few of the batches (CowClip, arXiv 2204.06240),
so tables have a rule of their own.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from features.config import TrainConfig

__all__ = ["Rule", "Schedule", "dense_schedule", "scaled_rate", "table_schedule", "warmed_up"]

Rule = Literal["linear", "sqrt", "none"]


def scaled_rate(base: float, global_batch: int, reference_batch: int, rule: Rule) -> float:
    """Return the rate for a global batch, given the rate for the reference batch.

    >>> scaled_rate(0.1, 4096, 1024, "linear"), scaled_rate(0.1, 4096, 1024, "sqrt")
    (0.4, 0.2)
    """
    ratio = global_batch / reference_batch
    factor: dict[Rule, float] = {"linear": ratio, "sqrt": math.sqrt(ratio), "none": 1.0}
    return base * factor[rule]


def warmed_up(step: int, warmup_steps: int) -> float:
    """Return the share of the full rate at an optimizer step.

    Step s, counted from 0, is the update that follows s updates. The first of `warmup_steps`
    updates has the share 1 / warmup_steps, the last has 1, and every later one has 1.

    >>> [warmed_up(step, 4) for step in range(6)]
    [0.25, 0.5, 0.75, 1.0, 1.0, 1.0]
    """
    return min(1.0, (step + 1) / warmup_steps) if warmup_steps else 1.0


@dataclass(frozen=True)
class Schedule:
    """The rate of one part of the model, as a function of applied optimizer steps.

    Attributes:
        base: Rate at the reference batch.
        global_batch: Examples behind one optimizer step, on all replicas and accumulated.
        reference_batch: Global batch for which `base` is given.
        rule: How the rate follows the global batch.
        warmup_steps: Optimizer steps of linear warm-up; 0 for none.

    >>> Schedule(0.1, 2048, 1024, "linear", warmup_steps=2).rate(0)
    0.1
    """

    base: float
    global_batch: int
    reference_batch: int
    rule: Rule
    warmup_steps: int = 0

    @property
    def peak(self) -> float:
        """The rate after warm-up."""
        return scaled_rate(self.base, self.global_batch, self.reference_batch, self.rule)

    def rate(self, step: int) -> float:
        """Return the rate of the update that follows `step` updates."""
        return self.peak * warmed_up(step, self.warmup_steps)

    def __str__(self) -> str:
        """Return the schedule in words.

        >>> str(Schedule(0.1, 2048, 1024, "linear", warmup_steps=10))
        '0.2 (0.1 × 2048/1024, linear), warmed up over 10 steps'
        """
        ratio = f"{self.global_batch}/{self.reference_batch}"
        scaling = {"linear": f" × {ratio}, linear", "sqrt": f" × √({ratio})", "none": ", unscaled"}
        warmup = f", warmed up over {self.warmup_steps} steps" if self.warmup_steps else ""
        return f"{self.peak:g} ({self.base:g}{scaling[self.rule]}){warmup}"


def dense_schedule(config: TrainConfig, replicas: int) -> Schedule:
    """Return the schedule of the dense layers on so many replicas in all."""
    return _schedule(config, replicas, config.learning_rate, config.scaling)


def table_schedule(config: TrainConfig, replicas: int) -> Schedule:
    """Return the schedule of the tables on so many replicas in all."""
    return _schedule(config, replicas, config.table_learning_rate, config.table_scaling)


def _schedule(config: TrainConfig, replicas: int, base: float, rule: Rule) -> Schedule:
    return Schedule(
        base=base,
        global_batch=config.batch_size * replicas * config.accumulate,
        reference_batch=config.reference_batch or config.batch_size,
        rule=rule,
        warmup_steps=config.warmup_steps,
    )
