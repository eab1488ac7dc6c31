psql -X -v ON_ERROR_STOP=1 --single-transaction --file="$1" mydb
