-- When the model of a session was last given what is remembered.
alter table sessions add column recalled_at integer;
