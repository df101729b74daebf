"""A worker that reads two epochs with the others and writes what all of them saw together."""

import json
import sys
from pathlib import Path
from typing import Any

from features.config import TrainConfig
from features.manifest import read_manifest
from features.tensorflow import tf
from models.cluster import read_cluster
from models.dataset import Examples, distributed_batches
from models.devices import build_strategy, local_replicas
from models.rendezvous import meet
from models.strategy import Choice
from tests.models.records import SPEC


def main(directory: Path) -> None:
    cluster = read_cluster()
    meet(cluster, 60)
    strategy = build_strategy(Choice("multi_worker", ""), TrainConfig(communication="ring"))
    local = local_replicas(strategy, cluster)
    examples = Examples(
        directory, read_manifest(directory), SPEC, "train", 10, local, cluster.world_size
    )

    @tf.function(autograph=False)  # type: ignore[untyped-decorator]
    def real_rows(batch: Any) -> Any:
        counts = strategy.run(
            lambda own: tf.reduce_sum(tf.where(own["mask"], own["dense"][:, 0] + 1, 0.0)), (batch,)
        )
        return strategy.reduce("SUM", counts, axis=None)

    epochs = [
        [
            float(real_rows(batch))
            for batch in distributed_batches(
                strategy, examples, worker=cluster.rank, epoch=epoch, shuffle_rows=50
            )
        ]
        for epoch in range(2)
    ]
    seen = {"world": cluster.world, "epochs": epochs}
    (directory / f"seen-{cluster.rank}.json").write_text(json.dumps(seen))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
