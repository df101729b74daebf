"""The `ModelService` of TensorFlow Serving: the status of every version."""

from __future__ import annotations

from typing import Any

import grpc

from serving.protocol.apis import get_model_status_pb2, model_service_pb2_grpc
from serving.server.answering import answer, pinned_version, unimplemented
from serving.server.request_error import RequestError
from serving.server.versions import ModelVersions

__all__ = ["ModelService"]


class ModelService(model_service_pb2_grpc.ModelServiceServicer):  # type: ignore[misc]
    """GetModelStatus; HandleReloadConfigRequest is refused."""

    def __init__(self, versions: ModelVersions) -> None:
        """Tell about `versions`."""
        self._versions = versions

    def GetModelStatus(self, request: Any, context: grpc.ServicerContext) -> Any:
        """Answer with the state and the error, if any, of one version or of all."""
        return answer(context, lambda: self._status(request))

    def HandleReloadConfigRequest(self, request: Any, context: grpc.ServicerContext) -> Any:
        """Refuse."""
        refusal = unimplemented(
            "configuration to reload", "it serves one model and finds new versions by itself"
        )
        return context.abort(refusal.code, refusal.message)

    def _status(self, request: Any) -> Any:
        version, name = pinned_version(request), request.model_spec.name
        is_ours = name == self._versions.model_name
        known = self._versions.statuses() if is_ours else []
        if is_ours and not known:
            # A client that waits for the model must not take it for unknown.
            text = f"no version of model {name} is there yet"
            raise RequestError(grpc.StatusCode.UNAVAILABLE, text)
        wanted = [status for status in known if version in (None, status.version)]
        if not wanted:
            which = "any versions" if version is None else f"version {version}"
            text = f"Could not find {which} of model {name}"
            raise RequestError(grpc.StatusCode.NOT_FOUND, text)
        response = get_model_status_pb2.GetModelStatusResponse()
        response.model_version_status.extend(status.proto() for status in wanted)
        return response
