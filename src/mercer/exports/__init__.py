"""Exports: a model as an ONNX graph, or as one Python file, for places where mercer is not."""

from mercer.exports.python_file import python_file
from mercer.exports.written_model import WrittenModel, write_model

__all__ = ["WrittenModel", "python_file", "write_model"]
