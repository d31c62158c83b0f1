"""The one door for tables of ids: files, frames and streams → numbered, checked rows."""
