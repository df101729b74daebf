"""A gRPC client for any server that speaks TensorFlow Serving's `PredictionService`."""

from serving.client.prediction_client import PredictionClient
from serving.client.retry import RetryPolicy
from serving.protocol.signature import Signature, TensorSpec

__all__ = ["PredictionClient", "RetryPolicy", "Signature", "TensorSpec"]
