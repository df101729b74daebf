"""What GetModelMetadata tells about a version."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from serving.protocol.apis import get_model_metadata_pb2
from serving.protocol.signature import Signature, signature_of

__all__ = ["ModelMetadata", "metadata_request", "read_metadata"]

_FIELD = "signature_def"


@dataclass(frozen=True)
class ModelMetadata:
    """A version and its signatures.

    Attributes:
        version: The version that the server described.
        signatures: By name.
    """

    version: int
    signatures: Mapping[str, Signature]


def metadata_request(model_name: str, version: int | None) -> Any:
    """Return the request for the signatures of a version; None for the newest."""
    request = get_model_metadata_pb2.GetModelMetadataRequest(metadata_field=[_FIELD])
    request.model_spec.name = model_name
    if version is not None:
        request.model_spec.version.value = version
    return request


def read_metadata(response: Any) -> ModelMetadata:
    """Return what a `GetModelMetadataResponse` holds."""
    signatures = get_model_metadata_pb2.SignatureDefMap()
    response.metadata[_FIELD].Unpack(signatures)
    return ModelMetadata(
        version=response.model_spec.version.value,
        signatures={
            name: signature_of(name, definition)
            for name, definition in signatures.signature_def.items()
        },
    )
