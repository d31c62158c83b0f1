"""What errors have in common whose message is a sentence for the user, not a trace of a bug."""


class PlainError(RuntimeError):
    """The work cannot be done as asked; the message says why and what would help."""
