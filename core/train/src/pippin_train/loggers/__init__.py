"""Loggers: programs that keep and draw what trainings tell, such as TensorBoard."""
