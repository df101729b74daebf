"""What the embedded server and the client have in common: messages, tensors and signatures."""
