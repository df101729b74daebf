"""Replay of the warm-up requests that travel with a version.

The first run of a graph is many times slower than the next. A version that has answered its
warm-up requests before it becomes available costs no client a deadline.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import grpc
from google.protobuf.message import DecodeError

from features.tensorflow import tf
from serving.protocol.apis import prediction_log_pb2
from serving.server.classification import classify
from serving.server.inference import predict
from serving.server.options import RequestLimits
from serving.server.regression import regress
from serving.server.request_error import RequestError, refusal_of
from serving.server.saved_model import LoadedModel

__all__ = ["MAX_RECORDS", "WARMUP_FILE", "replay_warmup"]

WARMUP_FILE = Path("assets.extra") / "tf_serving_warmup_requests"
MAX_RECORDS = 1000

_CALL_OF_LOG: dict[str, Callable[[LoadedModel, Any, RequestLimits], Any]] = {
    "predict_log": predict,
    "classify_log": classify,
    "regress_log": regress,
}


def replay_warmup(model: LoadedModel, version_path: Path, limits: RequestLimits) -> int:
    """Run every warm-up request of a version and return how many there were.

    Args:
        model: The version, loaded.
        version_path: Its directory; the file of requests is optional.
        limits: What one request may hold.

    Raises:
        RequestError: The file is broken or has too many records, or the model refuses one.
    """
    file = version_path / WARMUP_FILE
    if not file.is_file():
        return 0
    count = 0
    for record in _records(file):
        if count == MAX_RECORDS:
            raise _invalid(f"{file} has more than {MAX_RECORDS} warm-up records")
        _replay(model, record, f"warm-up record {count} of {file}", limits)
        count += 1
    return count


def _records(file: Path) -> Iterator[bytes]:
    try:
        for record in tf.data.TFRecordDataset(str(file)):
            yield record.numpy()
    except tf.errors.OpError as error:
        refusal = refusal_of(error)
        text = f"{file} is no TFRecord file that can be read: {refusal.message}"
        raise RequestError(refusal.code, text) from error


def _replay(model: LoadedModel, record: bytes, where: str, limits: RequestLimits) -> None:
    log = _parsed(record, where)
    kind = log.WhichOneof("log_type")
    if kind not in _CALL_OF_LOG:
        text = f"{where} is a {kind or 'record without a request'}; expected {list(_CALL_OF_LOG)}"
        raise RequestError(grpc.StatusCode.UNIMPLEMENTED, text)
    try:
        _CALL_OF_LOG[kind](model, getattr(log, kind).request, limits)
    except RequestError as error:
        raise RequestError(error.code, f"{where} is refused: {error.message}") from error


def _parsed(record: bytes, where: str) -> Any:
    try:
        return prediction_log_pb2.PredictionLog.FromString(record)
    except DecodeError as error:
        raise _invalid(f"{where} is no PredictionLog: {error}") from error


def _invalid(message: str) -> RequestError:
    return RequestError(grpc.StatusCode.INVALID_ARGUMENT, message)
