"""The Beam stage: behaviour logs to TFRecords."""
