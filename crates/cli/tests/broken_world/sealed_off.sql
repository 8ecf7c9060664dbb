-- Lets nobody in at all, not even to read.
.bail on
pragma locking_mode = exclusive;
begin exclusive;
insert into facts values ('held', 'by a test');
.shell echo ready
