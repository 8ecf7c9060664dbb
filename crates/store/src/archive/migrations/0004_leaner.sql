-- What follows from a row of usage is said by whoever opens the archive to write (`usage/triggers.sql`): it is a quarter of
-- what everybody had to read who opened it.
drop trigger usage_is_counted;
drop trigger usage_was_counted;
drop trigger usage_added;
drop trigger usage_dropped;
