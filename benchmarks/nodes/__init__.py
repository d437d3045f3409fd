"""Several service processes on one PostgreSQL database, behind one address."""
