"""The client: checked inputs in, complete outputs back, whatever the number of rows."""

from __future__ import annotations

from collections.abc import Mapping
from types import TracebackType
from typing import Any, Self

import grpc
from numpy.typing import NDArray

from features.errors import ServingError
from serving.client.batches import split_rows
from serving.client.caller import Caller, check_positive
from serving.client.failure import status_code
from serving.client.inputs import checked_inputs
from serving.client.metadata import ModelMetadata, metadata_request, read_metadata
from serving.client.outputs import check_rows, empty_outputs, joined
from serving.client.readiness import wait_until_available
from serving.client.retry import RetryPolicy
from serving.client.rows import Rows, rows_of
from serving.client.status import VersionStatus, read_status
from serving.protocol.apis import (
    get_model_status_pb2,
    model_service_pb2_grpc,
    predict_pb2,
    prediction_service_pb2_grpc,
)
from serving.protocol.signature import DEFAULT_SIGNATURE, Signature
from serving.protocol.tensors import array_of, proto_content

__all__ = ["PredictionClient"]

Array = NDArray[Any]

MEBIBYTE = 1 << 20
# Names and numbers of a request beside its inputs.
_REQUEST_OVERHEAD_BYTES = 256
# The version that answered the first batch may be unloaded before the last.
_MAX_RESTARTS = 2
_STALE_CODES = (grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode.FAILED_PRECONDITION)


class PredictionClient:
    """Calls one model of a server that speaks TensorFlow Serving's API. One thread at a time.

    Example:
        with PredictionClient("127.0.0.1:8500", "ctr") as client:
            client.wait_until_available(timeout_s=60)
            scores = client.predict({"user": ["u1", "u2"], "price": [9.5, 3.0]})["probability"]
    """

    def __init__(
        self,
        target: str,
        model_name: str,
        version: int | None = None,
        *,
        deadline_s: float = 10.0,
        retries: RetryPolicy | None = None,
        max_message_bytes: int = 64 * MEBIBYTE,
        batch_bytes: int = 2 * MEBIBYTE,
        batch_rows: int = 16_384,
    ) -> None:
        """Open a client; nothing is sent before the first call.

        Args:
            target: `host:port`.
            model_name: Name that the server gives the model.
            version: The version to call; None for the newest at each call.
            deadline_s: Seconds that each attempt of a request may take.
            retries: When to try again.
            max_message_bytes: Largest message, sent or received; a row above it is refused.
            batch_bytes: Size that requests of many rows are split to, below the 4 MiB that
                servers take by default.
            batch_rows: Most rows of a request.

        Raises:
            ServingError: A setting is out of range.
        """
        settings = {
            "deadline_s": deadline_s,
            "max_message_bytes": max_message_bytes,
            "batch_bytes": batch_bytes,
            "batch_rows": batch_rows,
        }
        for name, value in settings.items():
            check_positive(name, value)
        self.model_name, self.version = model_name, version
        self._max_message_bytes = max_message_bytes
        self._batch_bytes, self._batch_rows = batch_bytes, batch_rows
        self._caller = Caller(target, deadline_s, retries or RetryPolicy(), max_message_bytes)
        self._prediction = prediction_service_pb2_grpc.PredictionServiceStub(self._caller.channel)
        self._model = model_service_pb2_grpc.ModelServiceStub(self._caller.channel)
        self._metadata: ModelMetadata | None = None

    def __enter__(self) -> Self:
        """Return the client."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close the channel."""
        self.close()

    def close(self) -> None:
        """Close the channel."""
        self._caller.close()

    def metadata(self) -> Mapping[str, Signature]:
        """Return the signatures of the model by name, from the server once and then from memory.

        Raises:
            ServingError: The server has no such model or version, or cannot be reached.
        """
        if self._metadata is None:
            method = self._prediction.GetModelMetadata
            request = metadata_request(self.model_name, self.version)
            response = self._caller.call(method, request, "GetModelMetadata", self._where())
            self._metadata = read_metadata(response)
        return self._metadata.signatures

    def status(self) -> list[VersionStatus]:
        """Return the status of every version that the server knows, newest first.

        Raises:
            ServingError: The server has no such model, or cannot be reached.
        """
        request = get_model_status_pb2.GetModelStatusRequest()
        request.model_spec.name = self.model_name
        method = self._model.GetModelStatus
        return read_status(self._caller.call(method, request, "GetModelStatus", self._where()))

    def wait_until_available(self, timeout_s: float) -> int:
        """Wait until the version, or any where none is given, answers requests; return it.

        Raises:
            ServingError: The time is over, the server has no such model, or no version loads.
        """
        method = self._model.GetModelStatus
        return wait_until_available(
            self._caller, method, self.model_name, self.version, timeout_s, self._where()
        )

    def predict(
        self, inputs: Mapping[str, Any], signature: str = DEFAULT_SIGNATURE
    ) -> dict[str, Array]:
        """Return the outputs for all rows, in order, all from the same version.

        Args:
            inputs: By key, arrays or sequences `(B, ...)`; strings as str or bytes. Inputs with a
                default may be missing.
            signature: Name of the signature.

        Returns:
            Outputs by key, `(B, ...)` where the signature gives one entry a row; strings are
            object arrays of bytes.

        Raises:
            ServingError: The inputs do not fit the signature, a row is too large, or the server
                refuses; in the last case its cause is the `grpc.RpcError`.
        """
        where = self._where(signature)
        found = self._signature(signature)
        rows = rows_of(found, checked_inputs(found, inputs, where), where)
        if rows.count == 0:
            return empty_outputs(found)
        bounds = self._bounds(rows, where)
        for restarts_left in range(_MAX_RESTARTS, -1, -1):
            try:
                return joined(found, self._parts(found, rows, bounds, where), where)
            except ServingError as error:
                code = status_code(error)
                if code in _STALE_CODES:
                    # Another version may have other signatures than those in memory.
                    self._metadata = None
                was_withdrawn = code is grpc.StatusCode.NOT_FOUND and self.version is None
                if not (was_withdrawn and len(bounds) > 1 and restarts_left):
                    raise
        raise AssertionError("the last attempt returns or raises")

    def _signature(self, name: str) -> Signature:
        signatures = self.metadata()
        if name not in signatures:
            raise ServingError(
                "a call names a signature of the model",
                received=name,
                where=self._where(),
                remedy=f"give one of {sorted(signatures)}",
            )
        return signatures[name]

    def _bounds(self, rows: Rows, where: str) -> list[tuple[int, int]]:
        room = self._max_message_bytes - rows.fixed_bytes() - _REQUEST_OVERHEAD_BYTES
        if rows.count is None:
            return [(0, 1)]
        row_bytes = rows.row_bytes()
        largest = int(row_bytes.argmax())
        if row_bytes[largest] > room:
            raise ServingError(
                f"a row fits into a message of {self._max_message_bytes} bytes",
                received=f"row {largest} of {row_bytes[largest]} bytes",
                where=where,
                remedy="shorten the row, or raise max_message_bytes here and at the server",
            )
        return list(split_rows(row_bytes, self._batch_rows, min(room, self._batch_bytes)))

    def _parts(
        self, signature: Signature, rows: Rows, bounds: list[tuple[int, int]], where: str
    ) -> list[dict[str, Array]]:
        """Send the batches; the version that answers the first has to answer all others."""
        parts: list[dict[str, Array]] = []
        version = self.version
        for start, end in bounds:
            response = self._send(rows.part(start, end), signature, version, where)
            outputs = {
                key: array_of(tensor, self._max_message_bytes)
                for key, tensor in response.outputs.items()
            }
            if rows.count is not None:
                check_rows(signature, outputs, end - start, where)
            parts.append(outputs)
            version = version or response.model_spec.version.value or None
        self._forget_other_version(version)
        return parts

    def _send(
        self, inputs: Mapping[str, Array], signature: Signature, version: int | None, where: str
    ) -> Any:
        request = predict_pb2.PredictRequest()
        request.model_spec.name = self.model_name
        request.model_spec.signature_name = signature.name
        if version is not None:
            request.model_spec.version.value = version
        for key, array in inputs.items():
            request.inputs[key].CopyFrom(proto_content(array, signature.inputs[key].dtype))
        return self._caller.call(self._prediction.Predict, request, "Predict", where)

    def _forget_other_version(self, version: int | None) -> None:
        if self._metadata is not None and version != self._metadata.version:
            self._metadata = None

    def _where(self, signature: str | None = None) -> str:
        version = "newest version" if self.version is None else f"version {self.version}"
        of_signature = f", signature {signature}" if signature else ""
        return f"{self._caller.target}, model {self.model_name}, {version}{of_signature}"
