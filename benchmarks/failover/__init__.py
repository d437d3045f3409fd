"""PostgreSQL under Patroni, whose primary is killed under load."""
