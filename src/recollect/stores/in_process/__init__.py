"""The store of ``memory:``: all in this process, gone with it; the reference of the others."""
