"""What the pages share: state, caches, jobs and widgets."""
