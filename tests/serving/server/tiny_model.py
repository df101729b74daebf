"""A SavedModel small enough to be built in a second, with one signature of every kind."""

import shutil
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from features.tensorflow import tf
from serving.protocol.apis import example_pb2, predict_pb2, prediction_log_pb2

BIAS = 0.5
DEFAULT_CONTEXT = 0.25


def probability(
    user: list[bytes], price: NDArray[np.float32], context: float = DEFAULT_CONTEXT
) -> NDArray[np.float32]:
    lengths = np.array([len(name) for name in user], np.float32)
    return np.asarray(1 / (1 + np.exp(-(price + BIAS + lengths + context))), np.float32)


def build_tiny_model(path: Path) -> None:
    module = tf.Module()
    module.bias = tf.Variable(BIAS, dtype=tf.float32)
    tf.saved_model.save(module, str(path), signatures=_signatures(module))
    _set_methods(path / "saved_model.pb")


def publish(model: Path, base_path: Path, version: int) -> Path:
    """Copies a model beside and renames it, as an export does."""
    beside = base_path / f"{version}.tmp"
    shutil.copytree(model, beside)
    return beside.rename(base_path / str(version))


def example(price: float, **features: bytes) -> Any:
    made = example_pb2.Example()
    made.features.feature["price"].float_list.value.append(price)
    for key, value in features.items():
        made.features.feature[key].bytes_list.value.append(value)
    return made


def predict_request(
    name: str = "tiny",
    signature: str = "",
    version: int | None = None,
    **inputs: Any,
) -> Any:
    request = predict_pb2.PredictRequest()
    request.model_spec.name = name
    request.model_spec.signature_name = signature
    if version is not None:
        request.model_spec.version.value = version
    for key, value in inputs.items():
        request.inputs[key].CopyFrom(tf.make_tensor_proto(value))
    return request


def write_warmup(version_path: Path, *requests: Any) -> Path:
    logs = []
    for request in requests:
        log = prediction_log_pb2.PredictionLog()
        log.predict_log.request.CopyFrom(request)
        logs.append(log.SerializeToString())
    return write_records(version_path, *logs)


def write_records(version_path: Path, *records: bytes) -> Path:
    file = version_path / "assets.extra" / "tf_serving_warmup_requests"
    file.parent.mkdir(exist_ok=True)
    with tf.io.TFRecordWriter(str(file)) as writer:
        for record in records:
            writer.write(record)
    return file


def _signatures(module: Any) -> dict[str, Any]:
    spec = tf.TensorSpec
    default = tf.constant([DEFAULT_CONTEXT])
    strings, floats = spec([None], tf.string), spec([None], tf.float32)

    def score(user: Any, price: Any, context: Any) -> Any:
        lengths = tf.cast(tf.strings.length(user), tf.float32)
        return tf.sigmoid(price + module.bias + lengths + context)

    def parsed(examples: Any) -> Any:
        wanted = {
            "price": tf.io.FixedLenFeature([], tf.float32),
            "user": tf.io.FixedLenFeature([], tf.string, default_value=b""),
        }
        return tf.io.parse_example(examples, wanted)

    def serving_default(user: Any, price: Any, context: Any = default) -> Any:
        return {
            "probability": score(user, price, context),
            "user_bytes": tf.strings.length(user),
            "user": user,
        }

    def serving_examples(examples: Any) -> Any:
        row = parsed(examples)
        return {"probability": score(row["user"], row["price"], 0.25)}

    def rank(user: Any, price: Any) -> Any:
        return {"probability": score(user, price, 0.25)}

    def classify(inputs: Any) -> Any:
        price = parsed(inputs)["price"]
        labels = tf.tile([["low", "high"]], [tf.size(price), 1])
        return {"classes": labels, "scores": tf.stack([-price, price], axis=1)}

    def regress(inputs: Any) -> Any:
        return {"outputs": parsed(inputs)["price"][:, None] * 2}

    def slow(steps: Any) -> Any:
        start = tf.zeros([], tf.float64)
        count = tf.while_loop(
            lambda done, _: done < steps,
            lambda done, x: (done + 1, tf.cos(x)),
            [tf.zeros([], tf.int32), start],
        )
        return {"cosine": count[1]}

    found = [
        (serving_default, [strings, floats, floats]),
        (serving_examples, [spec([None], tf.string, name="examples")]),
        (rank, [spec([1], tf.string), floats]),
        (classify, [spec([None], tf.string, name="inputs")]),
        (regress, [spec([None], tf.string, name="inputs")]),
        (slow, [spec([], tf.int32)]),
    ]
    return {
        function.__name__: tf.function(function, input_signature=signature)
        for function, signature in found
    }


def _set_methods(file: Path) -> None:
    """TensorFlow 2 writes predict for every signature; older exports have the other methods."""
    from tensorflow.core.protobuf import saved_model_pb2

    model = saved_model_pb2.SavedModel.FromString(file.read_bytes())
    signatures = model.meta_graphs[0].signature_def
    for name in ("classify", "regress"):
        signatures[name].method_name = f"tensorflow/serving/{name}"
    file.write_bytes(model.SerializeToString())
