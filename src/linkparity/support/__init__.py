"""Tools that know nothing of links: arrays, validation, errors, files, messages."""
