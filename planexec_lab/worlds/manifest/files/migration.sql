-- E-mail addresses become a column of customers.
ALTER TABLE customers ADD COLUMN email TEXT;
UPDATE customers SET email = (SELECT email FROM contacts WHERE customer_id = customers.id);
DROP TABLE contacts;
