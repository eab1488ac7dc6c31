-- The same, with a slip in the second statement: the column is called email.
ALTER TABLE customers ADD COLUMN email TEXT;
UPDATE customers SET email = (SELECT mail FROM contacts WHERE customer_id = customers.id);
DROP TABLE contacts;
