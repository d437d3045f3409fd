"""What the stores on a server share, whichever server it is: its time, and turns at it."""
