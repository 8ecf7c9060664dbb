//! The server's throughput, measured by wrk.
//!
//! Sends only requests that the viewer sends, and none that changes anything.

use std::process::Command;

use crate::outcome::{Failure, stdout_of};

use super::world::Server;

const ROUTES: [&str; 6] = [
    "/v1/health",
    "/assets/viewer.js",
    "/v1/memories?limit=50",
    "/v1/sessions?limit=50",
    "/v1/search?q=low+tide&limit=50",
    "/v1/search?q=mast+paint+harbour&kind=memory&limit=20",
];

/// One row per route: its path, answers per second, median latency.
pub fn rates(server: &Server) -> Result<Vec<Vec<String>>, Failure> {
    ROUTES.iter().map(|route| rate(server, route)).collect()
}

fn rate(server: &Server, route: &str) -> Result<Vec<String>, Failure> {
    let mut wrk = Command::new("wrk");
    wrk.args(["-t1", "-c8", "-d5s", "--latency", "-H", &format!("Authorization: Bearer {}", server.token())]);
    wrk.arg(format!("{}{route}", server.base()));
    let said = stdout_of("wrk", wrk.output().map_err(Failure::start("wrk"))?)?;
    if said.contains("Non-2xx") {
        return Err(Failure::Failed { program: format!("wrk {route}"), complaint: said });
    }
    let after = |word: &str| said.lines().find_map(|line| line.trim().strip_prefix(word)).map(str::trim);
    let found = [after("Requests/sec:"), after("50%")].map(|figure| figure.unwrap_or("?").to_owned());
    Ok(std::iter::once(route.to_owned()).chain(found).collect())
}
