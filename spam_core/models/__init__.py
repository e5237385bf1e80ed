"""Models on tensors: the polynomial, its feature maps, and the networks beside it."""

from spam_core.models.spam import SPAM

__all__ = ["SPAM"]
