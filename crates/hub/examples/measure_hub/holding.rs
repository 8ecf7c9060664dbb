//! Disk space of rows, and memory of server and client.
//!
//! Sizes come from the server, memory from the kernel.

use std::fs;

use crate::figure;
use crate::world::BenchWorld;

/// One line per table and index, summed over its partitions.
const SIZES: &str = "
    select p.relname::text as name, sum(pg_table_size(t.relid))::bigint as bytes
    from pg_class p, lateral pg_partition_tree(p.oid) t
    where p.relnamespace = 'towline'::regnamespace and p.relkind in ('p', 'I') and not p.relispartition and t.isleaf
    group by p.relname, p.relkind order by p.relkind desc, p.relname";

const SETTINGS: [&str; 9] = [
    "server_version",
    "shared_buffers",
    "work_mem",
    "maintenance_work_mem",
    "effective_cache_size",
    "random_page_cost",
    "max_wal_size",
    "fsync",
    "synchronous_commit",
];

pub fn settings(world: &mut BenchWorld) {
    for name in SETTINGS {
        let value = world.admin.ask("select current_setting($1)", &[&name]);
        figure("Settings", name, "is", value[0].get::<_, &str>(0));
    }
}

pub fn sizes(world: &mut BenchWorld, name: &str) {
    let rows = world.admin.number("select count(*) from towline.rows") as f64;
    let mut sum = 0.0;
    for row in world.admin.ask(SIZES, &[]) {
        let bytes = row.get::<_, i64>("bytes") as f64;
        sum += bytes;
        figure("Bytes a row", row.get("name"), name, format!("{:.0}", bytes / rows));
    }
    figure("Bytes a row", "all of these", name, format!("{:.0}", sum / rows));
    let texts =
        "select (sum(octet_length(words)))::bigint from (select words from towline.rows limit 100000) few";
    let some = rows.min(100_000.0);
    figure(
        "Bytes a row",
        "of that, words as they travel",
        name,
        format!("{:.0}", world.admin.number(texts) as f64 / some),
    );
    figure("Bytes a row", "whole hub, MB", name, format!("{:.0}", sum / 1e6));
}

/// The private memory of the server's processes.
pub fn memory(world: &mut BenchWorld, name: &str) {
    let mut private: Vec<f64> =
        world.postgres.processes().iter().filter_map(|process| private_mb(process.pid)).collect();
    private.sort_by(f64::total_cmp);
    let report = |row, mb: f64| figure("Memory, MB", row, name, format!("{mb:.1}"));
    report("the server's processes, without what they share", private.iter().sum());
    report("the largest of them", private.last().copied().unwrap_or(f64::NAN));
    let shared = "select (setting::bigint * 8192) from pg_settings where name = 'shared_buffers'";
    report("shared buffers", world.admin.number(shared) as f64 / 1e6);
}

fn private_mb(pid: u32) -> Option<f64> {
    let text = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).ok()?;
    let kilobytes = |name| after(&text, name);
    Some((kilobytes("Private_Clean:")? + kilobytes("Private_Dirty:")?) / 1000.0)
}

/// The peak memory of this process.
pub fn peak_mb() -> f64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    after(&status, "VmHWM:").unwrap_or(f64::NAN) / 1000.0
}

fn after(text: &str, name: &str) -> Option<f64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse().ok()
}
