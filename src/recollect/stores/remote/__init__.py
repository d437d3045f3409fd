"""Parts shared by the stores on a server (PostgreSQL, Redis): clock, threads, notifications."""
