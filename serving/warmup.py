"""Warm-up requests: `PredictionLog` records that a server replays before a version is available.

TensorFlow Serving and the embedded server read them from
`assets.extra/tf_serving_warmup_requests`; a file elsewhere, or of another format, is ignored
without a word, hence it is read back before a release.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from features.errors import ServingError
from features.spec import RawColumn
from features.tensorflow import tf
from serving.protocol.apis import predict_pb2, prediction_log_pb2
from serving.requests import Request, requests_of
from serving.rows import Arrays
from serving.signatures import SIGNATURES

__all__ = ["WARMUP_FILE", "check_warmup", "write_warmup"]

WARMUP_FILE = Path("assets.extra") / "tf_serving_warmup_requests"


def write_warmup(
    version: Path, model_name: str, arrays: Arrays, columns: Sequence[RawColumn], batch_rows: int
) -> None:
    """Write one request of real rows for each signature.

    Args:
        version: The directory of the version.
        model_name: Name under which the model is served.
        arrays: `(B,)` raw columns of golden rows.
        columns: Their types.
        batch_rows: Most rows of a request.
    """
    file = version / WARMUP_FILE
    file.parent.mkdir(parents=True, exist_ok=True)
    with tf.io.TFRecordWriter(str(file)) as writer:
        for signature in SIGNATURES:
            request = max(
                requests_of(signature, arrays, columns, batch_rows), key=lambda one: len(one.rows)
            )
            writer.write(_log(request, model_name).SerializeToString(deterministic=True))


def check_warmup(version: Path, model_name: str) -> None:
    """Read the warm-up requests back.

    Raises:
        ServingError: The file is unreadable, or a signature has no request for this model.
    """
    file = version / WARMUP_FILE
    try:
        records = [bytes(record.numpy()) for record in tf.data.TFRecordDataset(str(file))]
        logs = [prediction_log_pb2.PredictionLog.FromString(record) for record in records]
    except (tf.errors.OpError, ValueError) as error:
        raise _broken(str(error), file) from error
    specs = [log.predict_log.request.model_spec for log in logs]
    found = [(spec.name, spec.signature_name) for spec in specs]
    if found != [(model_name, signature) for signature in SIGNATURES]:
        raise _broken(str(found), file)


def _log(request: Request, model_name: str) -> Any:
    predict = predict_pb2.PredictRequest()
    predict.model_spec.name = model_name
    predict.model_spec.signature_name = request.signature
    for name, values in request.inputs.items():
        predict.inputs[name].CopyFrom(tf.make_tensor_proto(values))
    return prediction_log_pb2.PredictionLog(
        predict_log=prediction_log_pb2.PredictLog(request=predict)
    )


def _broken(received: str, file: Path) -> ServingError:
    return ServingError(
        f"the warm-up file has one request for each of {', '.join(SIGNATURES)}",
        received=received,
        where=str(file),
        remedy="run `make export` again",
    )
