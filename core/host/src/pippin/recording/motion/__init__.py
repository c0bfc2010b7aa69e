"""The motion `recording`: a channel of a file that a recorder wrote."""
