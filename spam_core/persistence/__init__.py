"""Save and load fitted models: tensors and JSON, nothing that runs."""

from spam_core.persistence.file import SCHEMA, ModelFileError, load_model, save_model

__all__ = ["SCHEMA", "ModelFileError", "load_model", "save_model"]
