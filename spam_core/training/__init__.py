"""The one training loop, its settings, and how members hold out rows."""
