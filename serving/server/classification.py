"""Classify: a score for every class of an example."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import grpc
import numpy as np
from numpy.typing import NDArray

from serving.protocol.apis import classification_pb2
from serving.protocol.signature import CLASSIFY_METHOD, Signature
from serving.server.example_input import (
    find_example_signature,
    run_on_examples,
    serialised_examples,
)
from serving.server.inference import write_model_spec
from serving.server.options import RequestLimits
from serving.server.regression import one_score_per_example, score_output
from serving.server.request_error import RequestError
from serving.server.saved_model import LoadedModel

__all__ = ["binary_scores", "classify"]

CLASSES = "classes"
SCORES = "scores"
BINARY_LABELS = ("0", "1")


def classify(model: LoadedModel, request: Any, limits: RequestLimits) -> Any:
    """Return the `ClassificationResponse` to a `ClassificationRequest`.

    A classify signature gives its own classes and scores. Any other that takes examples is a
    binary classifier: labels "0" and "1" with scores 1 - p and p.

    Raises:
        RequestError: The request does not fit the model or the limits.
    """
    signature = find_example_signature(model, request.model_spec.signature_name, CLASSIFY_METHOD)
    outputs = _outputs(signature)
    examples = serialised_examples(request.input, "ClassificationRequest", limits)
    arrays = run_on_examples(model, signature, examples, outputs)
    response = classification_pb2.ClassificationResponse()
    write_model_spec(response.model_spec, request.model_spec.name, model.version, signature.name)
    if signature.method == CLASSIFY_METHOD:
        _write_classes(
            response, _matrix(arrays, CLASSES, examples), _matrix(arrays, SCORES, examples)
        )
    else:
        scores = binary_scores(one_score_per_example(arrays[outputs[0]], len(examples)))
        _write_classes(response, np.tile(BINARY_LABELS, (len(examples), 1)), scores)
    return response


def binary_scores(probabilities: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the scores `(B, 2) float32` of both classes.

    >>> binary_scores(np.array([0.25], np.float32))
    array([[0.75, 0.25]], dtype=float32)
    """
    return np.stack([1 - probabilities, probabilities], axis=1)


def _outputs(signature: Signature) -> Sequence[str]:
    if signature.method != CLASSIFY_METHOD:
        return [score_output(signature)]
    outputs = [key for key in (CLASSES, SCORES) if key in signature.outputs]
    if not outputs:
        raise RequestError(
            grpc.StatusCode.FAILED_PRECONDITION,
            f'Expected classification signature outputs to contain at least one of "{CLASSES}" '
            f'or "{SCORES}". Signature {signature.name} has {sorted(signature.outputs)}',
        )
    return outputs


def _matrix(
    arrays: dict[str, NDArray[Any]], key: str, examples: NDArray[Any]
) -> NDArray[Any] | None:
    array = arrays.get(key)
    if array is not None and (array.ndim != 2 or len(array) != len(examples)):
        raise RequestError(
            grpc.StatusCode.INVALID_ARGUMENT,
            f"Expected {key} Tensor shape: [{len(examples)} num_classes] "
            f"but got {list(array.shape)}",
        )
    return array


def _write_classes(response: Any, labels: NDArray[Any] | None, scores: NDArray[Any] | None) -> None:
    given = labels if labels is not None else scores
    for row in range(0 if given is None else len(given)):
        classification = response.result.classifications.add()
        for column in range(0 if given is None else given.shape[1]):
            added = classification.classes.add()
            if labels is not None:
                label = labels[row, column]
                added.label = label.decode() if isinstance(label, bytes) else str(label)
            if scores is not None:
                added.score = float(scores[row, column])
