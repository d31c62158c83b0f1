"""Tools that know nothing of links: arrays, validation, files, errors, wording."""
