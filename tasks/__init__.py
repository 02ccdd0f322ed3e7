"""The benchmark's kernel tasks, one file each. Nothing here imports torch before it is used."""
