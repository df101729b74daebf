"""TensorFlow Serving's messages and stubs, and those of gRPC health.

The generated modules import TensorFlow, so it is set up first, with what `features.tensorflow`
puts into the environment.
"""

from features.tensorflow import tf

# Reading an attribute is what imports TensorFlow.
TENSORFLOW_VERSION: str = tf.version.VERSION

from grpc_health.v1 import health, health_pb2, health_pb2_grpc  # noqa: E402
from tensorflow.core.example import example_pb2  # noqa: E402
from tensorflow.core.framework import tensor_pb2, types_pb2  # noqa: E402
from tensorflow.core.protobuf import meta_graph_pb2  # noqa: E402
from tensorflow_serving.apis import (  # noqa: E402
    classification_pb2,
    get_model_metadata_pb2,
    get_model_status_pb2,
    inference_pb2,
    input_pb2,
    model_management_pb2,
    model_pb2,
    model_service_pb2_grpc,
    predict_pb2,
    prediction_log_pb2,
    prediction_service_pb2_grpc,
    regression_pb2,
)

__all__ = [
    "classification_pb2",
    "example_pb2",
    "get_model_metadata_pb2",
    "get_model_status_pb2",
    "health",
    "health_pb2",
    "health_pb2_grpc",
    "inference_pb2",
    "input_pb2",
    "meta_graph_pb2",
    "model_management_pb2",
    "model_pb2",
    "model_service_pb2_grpc",
    "predict_pb2",
    "prediction_log_pb2",
    "prediction_service_pb2_grpc",
    "regression_pb2",
    "tensor_pb2",
    "types_pb2",
]
