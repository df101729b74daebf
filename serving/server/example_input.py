"""The `tf.Example`s of Classify and Regress requests, and the signature that takes them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import grpc
import numpy as np
from numpy.typing import NDArray

from serving.protocol.apis import types_pb2
from serving.protocol.signature import DEFAULT_SIGNATURE, Signature
from serving.server.inference import check_rows, check_strings
from serving.server.options import RequestLimits
from serving.server.request_error import RequestError
from serving.server.saved_model import LoadedModel

__all__ = ["find_example_signature", "run_on_examples", "serialised_examples"]

EXAMPLES_SIGNATURE = "serving_examples"


def find_example_signature(model: LoadedModel, name: str, method: str) -> Signature:
    """Return the signature for a Classify or Regress request.

    A signature fits if it has the method of the call, or if it takes one input of strings, the
    serialised examples. TensorFlow 2 exports no other method than predict, which TensorFlow
    Serving refuses here. A request that names none gets `serving_default` where that has the
    method, else `serving_examples`, else `serving_default`.

    Args:
        model: A version.
        name: The signature that the request names, or an empty string.
        method: Method name of the call.

    Raises:
        RequestError: INVALID_ARGUMENT, there is no such signature or it does not fit.
    """
    chosen = name or _chosen(model, method)
    if chosen not in model.signatures:
        raise _invalid(
            f"No signature was found with the name: {chosen}. Signatures of version "
            f"{model.version}: {{{','.join(sorted(model.signatures))}}}."
        )
    signature = model.signatures[chosen]
    if signature.method != method and not _takes_examples(signature):
        raise _invalid(
            f"Expected signature {chosen} to have method_name {method} or one input of serialised "
            f"tf.Examples. Was: {signature.method} with inputs "
            f"{{{','.join(sorted(signature.inputs))}}}."
        )
    return signature


def serialised_examples(examples_input: Any, call: str, limits: RequestLimits) -> NDArray[Any]:
    """Return the examples of an `Input` as `(B,) object`, each with its context merged in.

    Serialised messages merge by concatenation: a feature of the example replaces the one of the
    same name in the context.

    Args:
        examples_input: The `Input` of a request.
        call: Name of the request's message, for the error.
        limits: What one request may hold.

    Raises:
        RequestError: INVALID_ARGUMENT, there is no example, or too many or too long ones.
    """
    examples, context = _examples_and_context(examples_input)
    if not examples:
        raise _invalid(f"{call}::input is empty.")
    check_rows(len(examples), limits)
    array = np.empty(len(examples), dtype=object)
    array[:] = [context + example.SerializeToString() for example in examples]
    check_strings("examples", array, limits)
    return array


def run_on_examples(
    model: LoadedModel, signature: Signature, examples: NDArray[Any], outputs: Sequence[str]
) -> dict[str, NDArray[Any]]:
    """Run a signature that takes examples and nothing else.

    Raises:
        RequestError: The signature takes more than examples, or the model refuses them.
    """
    if len(signature.inputs) != 1:
        raise _invalid("Expected one input Tensor.")
    return model.run(signature, dict.fromkeys(signature.inputs, examples), outputs)


def _chosen(model: LoadedModel, method: str) -> str:
    default = model.signatures.get(DEFAULT_SIGNATURE)
    if (default and default.method == method) or EXAMPLES_SIGNATURE not in model.signatures:
        return DEFAULT_SIGNATURE
    return EXAMPLES_SIGNATURE


def _takes_examples(signature: Signature) -> bool:
    specs = list(signature.inputs.values())
    return (
        len(specs) == 1
        and specs[0].dtype == types_pb2.DT_STRING
        and (specs[0].shape is None or len(specs[0].shape) == 1)
    )


def _examples_and_context(examples_input: Any) -> tuple[Sequence[Any], bytes]:
    if examples_input.WhichOneof("kind") == "example_list_with_context":
        with_context = examples_input.example_list_with_context
        return with_context.examples, with_context.context.SerializeToString()
    return examples_input.example_list.examples, b""


def _invalid(message: str) -> RequestError:
    return RequestError(grpc.StatusCode.INVALID_ARGUMENT, message)
