from pathlib import Path

import numpy as np
import pytest

from features.config import ModelConfig, TrainConfig
from features.errors import TrainingError
from models.checkpoints import Checkpoints, claim
from models.progress import Progress
from models.step import build_trainable
from tests.models.batches import SPEC, strategy_of

MODEL = ModelConfig(hidden=(4,))


def test_a_damaged_checkpoint_is_skipped_for_the_one_before(tmp_path: Path) -> None:
    trainable = build_trainable(strategy_of(1), SPEC, MODEL, TrainConfig())
    checkpoints = Checkpoints(tmp_path, trainable)
    table = trainable.tables[0]
    for step in (1, 2):
        table.assign(np.full(table.shape, float(step)))
        checkpoints.save(Progress(step=step))
    latest = max((tmp_path / "checkpoints").iterdir())
    (latest / "weights.data-00000-of-00001").write_bytes(b"half")
    with pytest.warns(RuntimeWarning, match="damaged"):
        assert checkpoints.restore().step == 1
    assert (table.numpy() == 1).all()


def test_checkpoints_of_another_fingerprint_are_refused_by_both_names(tmp_path: Path) -> None:
    claim(tmp_path, {"fingerprint": "old"})
    (tmp_path / "checkpoints" / "step-1").mkdir(parents=True)
    with pytest.raises(TrainingError, match="fingerprint old, now new"):
        claim(tmp_path, {"fingerprint": "new"})
