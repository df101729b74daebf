"""The embedded gRPC server: TensorFlow Serving's services over one model of several versions.

It answers as TensorFlow Serving does and is none. Beyond it or short of it:

- a request for a version that is still loading gets UNAVAILABLE, so that clients retry it;
- Classify and Regress also run predict signatures that take serialised `tf.Example`s;
- version labels, MultiInference and configuration reloads are refused with a message;
- no TLS and no access control: keep it on loopback or inside a trusted network.

`serving.server.embedded` has the server, `serving.server.command` its command line.
"""
