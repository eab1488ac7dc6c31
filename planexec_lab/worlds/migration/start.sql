-- The shop's database before the migration: e-mail addresses stand in a table of their own.
-- Customers 1 and 3 share an address; customer 8 has none.

CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
CREATE TABLE contacts (customer_id INTEGER PRIMARY KEY REFERENCES customers (id), email TEXT NOT NULL);
CREATE TABLE orders (
    id INTEGER PRIMARY KEY,
    customer_id INTEGER NOT NULL REFERENCES customers (id),
    product TEXT NOT NULL,
    cents INTEGER NOT NULL CHECK (cents > 0)
);

INSERT INTO customers VALUES
    (1, 'Ana Silva'), (2, 'Bo Chen'), (3, 'Bruno Silva'), (4, 'Chidi Okafor'), (5, 'Dara Novak'), (6, 'Elif Kaya'),
    (7, 'Farah Haddad'), (8, 'Goran Petrov'), (9, 'Hana Sato'), (10, 'Ines Costa'), (11, 'Jonas Berg'), (12, 'Kavya Rao');

INSERT INTO contacts VALUES
    (1, 'silva@example.org'), (2, 'bo@example.org'), (3, 'silva@example.org'), (4, 'chidi@example.org'),
    (5, 'dara@example.org'), (6, 'elif@example.org'), (7, 'farah@example.org'), (9, 'hana@example.org'),
    (10, 'ines@example.org'), (11, 'jonas@example.org'), (12, 'kavya@example.org');

INSERT INTO orders VALUES
    (1, 1, 'teapot', 2400), (2, 2, 'lamp', 3900), (3, 3, 'kettle', 3100), (4, 1, 'two cups', 1200), (5, 4, 'chair', 8900),
    (6, 5, 'lamp', 3900), (7, 6, 'rug', 12900), (8, 3, 'teapot', 2400), (9, 7, 'desk', 24900), (10, 8, 'shelf', 5400),
    (11, 9, 'kettle', 3100), (12, 2, 'chair', 8900), (13, 10, 'mirror', 4600), (14, 11, 'two cups', 1200),
    (15, 12, 'rug', 12900), (16, 5, 'clock', 2800), (17, 9, 'shelf', 5400), (18, 3, 'mirror', 4600), (19, 7, 'lamp', 3900),
    (20, 12, 'clock', 2800);
