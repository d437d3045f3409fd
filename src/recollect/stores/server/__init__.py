"""Parts shared by the stores on a server: its clock, threads and notifications."""
