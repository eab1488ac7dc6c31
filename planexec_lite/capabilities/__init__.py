"""One file per capability, named as the lessons name it. `planexec_lite.assembly` puts them together."""
