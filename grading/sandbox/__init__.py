"""Where students' code runs, and what is believed of what comes out."""
