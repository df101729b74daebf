import threading

import pytest

from features.errors import TrainingError
from models.cluster import Cluster
from models.launch import free_addresses
from models.rendezvous import meet


def together(addresses: tuple[str, ...], ranks: list[int], seconds: float) -> dict[int, str]:
    ends: dict[int, str] = {}

    def come(rank: int) -> None:
        try:
            meet(Cluster(workers=addresses, index=rank), seconds)
            ends[rank] = "met"
        except TrainingError as error:
            ends[rank] = str(error.received)

    threads = [threading.Thread(target=come, args=(rank,)) for rank in ranks]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return ends


def test_three_workers_meet() -> None:
    assert together(free_addresses(3), [0, 1, 2], 20) == {0: "met", 1: "met", 2: "met"}


def test_a_worker_that_never_comes_is_named_by_all_that_waited() -> None:
    addresses = free_addresses(3)
    ends = together(addresses, [0, 2], 1.5)
    assert ends == dict.fromkeys((0, 2), f"missing: worker 1 ({addresses[1]})")


def test_one_process_waits_for_nobody() -> None:
    meet(Cluster(), 0.001)


def test_a_port_in_use_is_an_error() -> None:
    addresses = free_addresses(2)
    first = threading.Thread(target=lambda: together(addresses, [0], 2))
    first.start()
    with pytest.raises(TrainingError, match="own address|are there within"):
        meet(Cluster(workers=addresses), 0.5)
    first.join()
