"""Wide&Deep and DeepFM, and their training under `tf.distribute`."""
