"""How far training is, and what it decides after an epoch: stop, slow down, or keep the weights."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from typing import Any

from features.config import TrainConfig

__all__ = ["Progress", "after_batches", "after_epoch"]


@dataclass(frozen=True)
class Progress:
    """The part of a checkpoint that is not a tensor.

    Attributes:
        step: Optimizer updates that were applied; warm-up counts these.
        epoch: Epoch under way, counted from 0.
        position: Batches of this epoch that every replica has consumed.
        rate_factor: What plateaus have multiplied the rates by.
        best_auc: Best validation AUC so far; None where none was defined.
        best_epoch: Epoch of the weights that are kept, counted from 0; None before the first ends.
        stale_epochs: Epochs since the best one.
        plateau_epochs: Epochs since the best one or the last plateau.
        loss_sum: Sum over this epoch's updates of their loss.
        examples: Training examples consumed in all epochs, repeats after a fault excluded.
        seconds: Time spent in training steps.
        history: One entry an epoch that ended.
    """

    step: int = 0
    epoch: int = 0
    position: int = 0
    rate_factor: float = 1.0
    best_auc: float | None = None
    best_epoch: int | None = None
    stale_epochs: int = 0
    plateau_epochs: int = 0
    loss_sum: float = 0.0
    examples: int = 0
    seconds: float = 0.0
    history: tuple[dict[str, Any], ...] = ()

    def finished(self, config: TrainConfig) -> bool:
        """Whether training ends here."""
        return self.epoch >= config.epochs or self.stale_epochs >= config.early_stopping

    def to_json(self) -> str:
        """Return the state as JSON."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Progress:
        """Read what `to_json` wrote.

        >>> Progress.from_json(Progress(step=3, history=({"loss": 0.5},)).to_json()).step
        3
        """
        fields = json.loads(text)
        return cls(**{**fields, "history": tuple(fields["history"])})


def after_batches(
    progress: Progress, batches: int, loss: float, examples: int, seconds: float
) -> Progress:
    """Return the state after one more update over so many batches."""
    return replace(
        progress,
        step=progress.step + 1,
        position=progress.position + batches,
        loss_sum=progress.loss_sum + loss,
        examples=progress.examples + examples,
        seconds=progress.seconds + seconds,
    )


def after_epoch(
    progress: Progress, auc: float | None, config: TrainConfig, entry: dict[str, Any]
) -> Progress:
    """Return the state at the start of the next epoch.

    An undefined AUC is no reason to stop or to slow down: the weights are kept as the latest
    ones, unless an earlier epoch had an AUC.

    >>> config = TrainConfig(plateau_patience=1, plateau_factor=0.5)
    >>> first = after_epoch(Progress(), 0.7, config, {})
    >>> second = after_epoch(first, 0.6, config, {})
    >>> first.best_epoch, second.best_epoch, second.stale_epochs, second.rate_factor
    (0, 0, 1, 0.5)
    """
    ended = replace(
        progress,
        epoch=progress.epoch + 1,
        position=0,
        loss_sum=0.0,
        history=(*progress.history, entry),
    )
    if auc is None:
        kept = progress.best_epoch if progress.best_auc is not None else progress.epoch
        return replace(ended, best_epoch=kept)
    if progress.best_auc is None or auc > progress.best_auc + config.min_improvement:
        return replace(
            ended, best_auc=auc, best_epoch=progress.epoch, stale_epochs=0, plateau_epochs=0
        )
    plateau = progress.plateau_epochs + 1 >= config.plateau_patience
    return replace(
        ended,
        stale_epochs=progress.stale_epochs + 1,
        plateau_epochs=0 if plateau else progress.plateau_epochs + 1,
        rate_factor=progress.rate_factor * (config.plateau_factor if plateau else 1.0),
    )
