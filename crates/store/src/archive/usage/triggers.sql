-- The sums follow the rows that count, whoever changes them; whether one counts is said by whoever adds it. Made anew by
-- everybody who opens the archive to write, and for them alone: who only reads would pay for reading them.

create temp trigger usage_is_counted after update of counted, at, model, input, cache_read, cache_write, cache_write_1h, output
    on usage when new.counted = 1 begin
    insert into usage_sums
        (quarter, conversation, model, band, messages, input, cache_read, cache_write, cache_write_1h, output)
    values (new.quarter, new.conversation, ifnull(new.model, ''), new.band, 1, new.input, new.cache_read,
        new.cache_write, new.cache_write_1h, new.output)
    on conflict (quarter, conversation, model, band) do update set messages = messages + 1,
        input = input + excluded.input, cache_read = cache_read + excluded.cache_read,
        cache_write = cache_write + excluded.cache_write, cache_write_1h = cache_write_1h + excluded.cache_write_1h,
        output = output + excluded.output;
end;

create temp trigger usage_was_counted after update of counted, at, model, input, cache_read, cache_write, cache_write_1h, output
    on usage when old.counted = 1 begin
    update usage_sums set messages = messages - 1, input = input - old.input, cache_read = cache_read - old.cache_read,
        cache_write = cache_write - old.cache_write, cache_write_1h = cache_write_1h - old.cache_write_1h,
        output = output - old.output
    where quarter = old.quarter and conversation = old.conversation and model = ifnull(old.model, '')
        and band = old.band;
    delete from usage_sums where quarter = old.quarter and conversation = old.conversation
        and model = ifnull(old.model, '') and band = old.band and messages = 0;
end;

create temp trigger usage_added after insert on usage when new.counted = 1 begin
    insert into usage_sums
        (quarter, conversation, model, band, messages, input, cache_read, cache_write, cache_write_1h, output)
    values (new.quarter, new.conversation, ifnull(new.model, ''), new.band, 1, new.input, new.cache_read,
        new.cache_write, new.cache_write_1h, new.output)
    on conflict (quarter, conversation, model, band) do update set messages = messages + 1,
        input = input + excluded.input, cache_read = cache_read + excluded.cache_read,
        cache_write = cache_write + excluded.cache_write, cache_write_1h = cache_write_1h + excluded.cache_write_1h,
        output = output + excluded.output;
end;

-- Where the row goes that counted, one of its copies counts.
create temp trigger usage_dropped after delete on usage when old.counted = 1 begin
    update usage_sums set messages = messages - 1, input = input - old.input, cache_read = cache_read - old.cache_read,
        cache_write = cache_write - old.cache_write, cache_write_1h = cache_write_1h - old.cache_write_1h,
        output = output - old.output
    where quarter = old.quarter and conversation = old.conversation and model = ifnull(old.model, '')
        and band = old.band;
    delete from usage_sums where quarter = old.quarter and conversation = old.conversation
        and model = ifnull(old.model, '') and band = old.band and messages = 0;
    update usage set counted = 1 where message = old.message and counted = 0
        and conversation = (select min(conversation) from usage where message = old.message and counted = 0)
        and not exists (select 1 from usage other where other.message = old.message and other.counted = 1);
end;
