"""What people look at: HTML pages, drawings, console tables of runs."""
