-- Every hook that applies events parses this schema. SQLite needs no type to store a value as it is bound, and `columns.rs`
-- checks the types of what is read: 0001 to 0006 document them. A prompt needs 4 % fewer instructions. Keys and rows stay as
-- they are; `integer primary key` is the row id, and remains.
pragma writable_schema = on;
update sqlite_schema set sql = replace(replace(replace(sql, ' text,', ','), ' integer,', ','), ' blob,', ',')
where type = 'table';
update sqlite_schema set sql = replace(replace(replace(sql, ' text' || char(10), ''), ' integer' || char(10), ''), ' text)', ')')
where type = 'table';
update sqlite_schema set sql = replace(replace(replace(sql, ' text default', ' default'), ' integer default', ' default'),
    ' blob unique', ' unique')
where type = 'table';
update sqlite_schema set sql = replace(replace(replace(sql, ' text unique', ' unique'), ' text primary key', ' primary key'),
    ' blob primary key', ' primary key')
where type = 'table';
update sqlite_schema set sql = replace(replace(replace(sql, ') strict, ', ') '), ') strict', ')'), char(10), '')
where type = 'table';
pragma writable_schema = reset;
