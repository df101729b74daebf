"""What a feature is, and how raw values become model inputs, in training and in serving alike."""
