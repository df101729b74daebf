"""Two logical CPU devices, so that two replicas run in one process."""

from features.tensorflow import tf

tf.config.set_logical_device_configuration(
    tf.config.list_physical_devices("CPU")[0], [tf.config.LogicalDeviceConfiguration()] * 2
)
