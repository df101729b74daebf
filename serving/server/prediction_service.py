"""The `PredictionService` of TensorFlow Serving over the loaded versions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import grpc

from serving.protocol.apis import get_model_metadata_pb2, prediction_service_pb2_grpc
from serving.server.admission import Admission
from serving.server.answering import answer, pinned_version, unimplemented
from serving.server.classification import classify
from serving.server.inference import predict, write_model_spec
from serving.server.options import RequestLimits
from serving.server.regression import regress
from serving.server.request_error import RequestError
from serving.server.saved_model import LoadedModel
from serving.server.versions import ModelVersions

__all__ = ["PredictionService"]

SIGNATURE_DEF = "signature_def"


class PredictionService(prediction_service_pb2_grpc.PredictionServiceServicer):  # type: ignore[misc]
    """Predict, Classify, Regress and GetModelMetadata; MultiInference is refused."""

    def __init__(
        self, versions: ModelVersions, admission: Admission, limits: RequestLimits
    ) -> None:
        """Serve `versions` to as many callers as `admission` lets in."""
        self._versions = versions
        self._admission = admission
        self._limits = limits

    def Predict(self, request: Any, context: grpc.ServicerContext) -> Any:
        """Answer with the outputs of a signature, or those that the filter names."""
        return self._infer(predict, request, context)

    def Classify(self, request: Any, context: grpc.ServicerContext) -> Any:
        """Answer with classes and scores for each example."""
        return self._infer(classify, request, context)

    def Regress(self, request: Any, context: grpc.ServicerContext) -> Any:
        """Answer with one value for each example."""
        return self._infer(regress, request, context)

    def MultiInference(self, request: Any, context: grpc.ServicerContext) -> Any:
        """Refuse."""
        refusal = unimplemented("MultiInference", "call Classify and Regress one by one")
        return context.abort(refusal.code, refusal.message)

    def GetModelMetadata(self, request: Any, context: grpc.ServicerContext) -> Any:
        """Answer with the signatures of a version."""
        return answer(context, lambda: self._metadata(request))

    def _infer(
        self,
        call: Callable[[LoadedModel, Any, RequestLimits], Any],
        request: Any,
        context: grpc.ServicerContext,
    ) -> Any:
        def handle() -> Any:
            version = pinned_version(request)
            with self._admission.turn(context.time_remaining()):
                with self._versions.lease(request.model_spec.name, version) as model:
                    return self._sendable(call(model, request, self._limits))

        return answer(context, handle)

    def _sendable(self, response: Any) -> Any:
        size, limit = response.ByteSize(), self._limits.max_message_bytes
        if size > limit:
            text = f"the answer has {size} bytes, larger than max ({limit}); send fewer rows"
            raise RequestError(grpc.StatusCode.RESOURCE_EXHAUSTED, text)
        return response

    def _metadata(self, request: Any) -> Any:
        version = pinned_version(request)
        _check_fields(request.metadata_field)
        response = get_model_metadata_pb2.GetModelMetadataResponse()
        with self._versions.lease(request.model_spec.name, version) as model:
            write_model_spec(response.model_spec, request.model_spec.name, model.version)
            signatures = get_model_metadata_pb2.SignatureDefMap()
            for name, definition in model.signature_defs.items():
                signatures.signature_def[name].CopyFrom(definition)
        response.metadata[SIGNATURE_DEF].Pack(signatures)
        return response


def _check_fields(fields: list[str]) -> None:
    if not fields:
        text = "GetModelMetadataRequest must specify at least one metadata_field"
        raise RequestError(grpc.StatusCode.INVALID_ARGUMENT, text)
    for field in fields:
        if field != SIGNATURE_DEF:
            text = f"Metadata field {field} is not supported; {SIGNATURE_DEF} is"
            raise RequestError(grpc.StatusCode.INVALID_ARGUMENT, text)
