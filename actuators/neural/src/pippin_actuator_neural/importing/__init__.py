"""Networks of checkpoints: read as layers, written as the ONNX file that the actuator runs."""
