//! Strangers: whoever has no token, another page, another name, too much to say or too little.

use super::client::{Response, connect, read, send, send_to_socket};
use super::world::{World, empty, serve};
use serde_json::json;
use std::io::{BufReader, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::Duration;
use towline_testkit::wait;

#[test]
fn nobody_is_answered_without_the_token() {
    let world = World::new(&["--write"]);
    let host = world.host();
    let probe = |head: &str, more: &[(&str, &str)]| {
        let headers: Vec<_> = [("Host", host.as_str())].into_iter().chain(more.iter().copied()).collect();
        send(world.server.port, head, &headers, b"")
    };
    let wrong = format!("Bearer {}", "0".repeat(64));
    let short = format!("Bearer {}", &world.token()[..63]);
    let events = format!("Bearer {}", world.events_token());
    for authorisation in ["", "Bearer", "Bearer ", "Basic eDp5", &wrong, &short, &events] {
        for head in ["GET /v1/health", "GET /v1/stream", "GET /", "GET /assets/app.js", "GET /v1/nowhere"] {
            let answer = probe(head, &[("Authorization", authorisation)]);
            assert!([401, 429].contains(&answer.status), "{head} {authorisation}: {answer:?}");
            assert!(!answer.body.contains("mast"), "{answer:?}");
        }
    }
    let port = world.server.port;
    for value in ["", &"0".repeat(64), &world.token(), &world.events_token()] {
        for cookie in [format!("towline={value}"), format!("towline-{port}={value}")] {
            let status = probe("GET /v1/health", &[("Cookie", &cookie)]).status;
            assert!([401, 429].contains(&status), "{cookie}: {status}");
        }
    }
}

#[test]
fn another_name_or_another_page_is_turned_away_even_with_the_token() {
    let world = World::new(&["--write"]);
    let (host, bearer) = (world.host(), format!("Bearer {}", world.token()));
    let port = world.server.port;
    let with = |more: &[(&str, &str)]| {
        let headers: Vec<_> =
            [("Authorization", bearer.as_str())].into_iter().chain(more.iter().copied()).collect();
        send(port, "GET /v1/memories", &headers, b"").status
    };
    let evil = format!("evil.example:{port}");
    for name in [evil.as_str(), "evil.example", "127.0.0.1", "127.0.0.1:1", "localhost.evil.example", ""] {
        assert_eq!(with(&[("Host", name)]), 403, "{name}");
    }
    assert_ne!(with(&[]), 200, "without any name");
    assert_ne!(with(&[("Host", &host), ("Host", &evil)]), 200, "with two");
    assert_eq!(with(&[("Host", &format!("localhost:{port}"))]), 200);
    for origin in ["http://evil.example", "null", "https://127.0.0.1", "http://127.0.0.1:1", "file://"] {
        assert_eq!(with(&[("Host", &host), ("Origin", origin)]), 403, "{origin}");
    }
    assert_eq!(with(&[("Host", &host), ("Origin", &format!("http://{host}"))]), 200);
    for site in ["cross-site", "same-site"] {
        assert_eq!(with(&[("Host", &host), ("Sec-Fetch-Site", site)]), 403, "{site}");
    }
}

#[test]
fn a_form_of_another_page_changes_nothing() {
    let world = World::new(&["--write"]);
    let (host, cookie) = (world.host(), world.server.cookie(&world.server.login()));
    let own = format!("http://{host}");
    let post = |more: &[(&str, &str)]| {
        let headers = [("Host", host.as_str()), ("Cookie", &cookie)];
        let headers: Vec<_> = headers.into_iter().chain(more.iter().copied()).collect();
        send(world.server.port, "POST /v1/memories/m1/pin", &headers, b"{}").status
    };
    assert_eq!(
        post(&[("Content-Type", "application/x-www-form-urlencoded"), ("Origin", "http://evil.example")]),
        403
    );
    assert_eq!(post(&[("Content-Type", "text/plain"), ("X-Towline", "1")]), 415);
    assert_eq!(
        post(&[("Content-Type", "application/json")]),
        403,
        "without the header that no form can send"
    );
    assert!(world.get("/v1/memories/m1").json()["memory"]["pinned_at"].is_null());
    assert_eq!(post(&[("Content-Type", "application/json"), ("X-Towline", "1"), ("Origin", &own)]), 200);
}

#[test]
fn no_other_page_moves_the_terminal_through_a_server_that_only_reads() {
    let world = World::new(&[]);
    let (host, cookie) = (world.host(), world.server.cookie(&world.server.login()));
    let own = format!("http://{host}");
    let ask = |head: &str, more: &[(&str, &str)]| {
        let headers: Vec<_> = [("Host", host.as_str())].into_iter().chain(more.iter().copied()).collect();
        send(world.server.port, &format!("{head} /v1/seats/nobody/goto"), &headers, b"{}")
    };
    let (json, mark) = (("Content-Type", "application/json"), ("X-Towline", "1"));
    let session = ("Cookie", cookie.as_str());
    for foreign in [("Origin", "http://evil.example"), ("Origin", "null"), ("Sec-Fetch-Site", "same-site")] {
        assert_eq!(ask("POST", &[session, json, mark, foreign]).status, 403, "{foreign:?}");
    }
    assert_eq!(ask("POST", &[session, json]).status, 403, "without the header that no form can send");
    assert_eq!(ask("POST", &[session, mark, ("Content-Type", "text/plain")]).status, 415);
    assert_eq!(ask("POST", &[json, mark]).status, 401);
    assert_eq!(ask("GET", &[session, mark]).status, 405, "no image and no link");
    let events = format!("Bearer {}", world.events_token());
    assert_eq!(ask("POST", &[("Authorization", &events), json, mark]).status, 401);
    let asked = ask("POST", &[session, json, mark, ("Origin", &own)]).is(404);
    assert_eq!(asked.json()["error"]["what"], "no agent sits at `nobody`", "the viewer itself may");
    world.ask("POST /v1/memories/m1/pin", Some(&json!({}))).is(403);
}

#[test]
fn a_browser_that_was_not_logged_in_was_shown_raw_json() {
    let world = World::new(&[]);
    let host = world.host();
    let navigate = |path: &str, accept: &str| {
        let headers = [("Host", host.as_str()), ("Accept", accept), ("Sec-Fetch-Site", "none")];
        send(world.server.port, &format!("GET {path}"), &headers, b"").is(401)
    };
    let browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
    for path in ["/", "/v1/memories", "/nowhere", "/?code=1.2.3"] {
        let page = navigate(path, browser);
        assert_eq!(page.header("content-type"), Some("text/html; charset=utf-8"), "{path}");
        assert!(
            page.body.contains("<h1>Log in</h1>") && page.body.contains("<code>tow open</code>"),
            "{page:?}"
        );
        let policy = page.header("content-security-policy").unwrap();
        assert!(policy.starts_with("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
        assert!(
            !page.body.contains("/assets/") && !page.body.contains("<script"),
            "strangers are named no file"
        );
        for accept in ["application/json", "*/*", ""] {
            let answer = navigate(path, accept);
            assert_eq!(answer.header("content-type"), Some("application/json"), "{path} {accept}");
            assert!(answer.json()["error"]["next"].as_str().unwrap().contains("tow open"), "{answer:?}");
        }
    }
}

#[test]
fn a_browser_is_told_to_be_strict() {
    let world = World::new(&[]);
    for path in ["/", "/v1/health", "/assets/app.js", "/nowhere"] {
        let answer = world.get(path);
        let policy = answer.header("content-security-policy").unwrap();
        assert!(policy.starts_with("default-src 'none'") && !policy.contains("unsafe"), "{path}: {policy}");
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"), "{path}");
        assert_eq!(answer.header("x-frame-options"), Some("DENY"), "{path}");
        assert_eq!(answer.header("referrer-policy"), Some("no-referrer"), "{path}");
        assert_eq!(answer.header("access-control-allow-origin"), None, "{path}");
    }
    let policy = |path: &str| world.get(path).header("content-security-policy").unwrap().to_owned();
    assert_eq!(policy("/").matches("'sha256-").count(), 3, "two sheets and a script stand in the page");
    assert!(!policy("/nowhere").contains("sha256"), "and nothing in any other answer");
    let script = world.get("/assets/app.js").is(200);
    let bearer = format!("Bearer {}", world.token());
    let headers = [
        ("Host", &*world.host()),
        ("Authorization", &bearer),
        ("If-None-Match", script.header("etag").unwrap()),
    ];
    send(world.server.port, "GET /assets/app.js", &headers, b"").is(304);
}

/// The policy makes a browser start a process at each load; a page that only its user can have opened needs none.
#[test]
fn only_a_page_whose_browser_names_no_origin_has_an_opener_policy() {
    let world = World::new(&[]);
    let bearer = format!("Bearer {}", world.token());
    let asked = |site: &str| {
        let headers = [("Host", &*world.host()), ("Authorization", &bearer), ("Sec-Fetch-Site", site)];
        send(world.server.port, "GET /", &headers, b"")
    };
    let policy = |answer: &Response| answer.header("cross-origin-opener-policy").map(str::to_owned);
    for site in ["none", "same-origin"] {
        assert_eq!(policy(&asked(site).is(200)), None, "{site}");
    }
    for site in ["same-site", "cross-site"] {
        assert_eq!(policy(&asked(site).is(403)).as_deref(), Some("same-origin"), "{site}");
    }
    assert_eq!(policy(&world.get("/").is(200)).as_deref(), Some("same-origin"));
}

#[test]
fn files_that_the_page_names_by_their_version_are_kept_for_good_and_others_are_not_there() {
    let world = World::new(&[]);
    let page = world.get("/").is(200).body;
    let named = page.split('"').find(|part| part.ends_with("/viewer.js")).unwrap().to_owned();
    let script = world.get(&named).is(200);
    assert_eq!(script.header("cache-control"), Some("private, max-age=31536000, immutable"), "{named}");
    assert_eq!(world.get("/assets/app.js").is(200).header("cache-control"), Some("no-cache"));
    world.get("/assets/0123456789abcdef/app.js").is(404);
}

#[test]
fn no_path_leads_out_of_the_viewer() {
    let world = World::new(&[]);
    let paths = [
        "/assets/../Cargo.toml",
        "/assets/..%2f..%2fetc%2fpasswd",
        "/assets/%2e%2e/%2e%2e/etc/passwd",
        "/assets//etc/passwd",
        "/../../etc/passwd",
        "/assets/app.js%00.html",
        "/assets/.",
        "//etc/passwd",
    ];
    for path in paths {
        let answer = world.get(path);
        assert!([400, 404].contains(&answer.status), "{path}: {answer:?}");
        assert!(!answer.body.contains("root:") && !answer.body.contains("[package]"), "{path}");
    }
}

#[test]
fn what_is_too_large_is_refused_before_it_is_read() {
    let world = World::new(&["--write"]);
    let (host, bearer) = (world.host(), format!("Bearer {}", world.token()));
    let headers = [
        ("Host", host.as_str()),
        ("Authorization", &bearer),
        ("X-Towline", "1"),
        ("Content-Type", "application/json"),
    ];
    let large = vec![b' '; 2 << 20];
    send(world.server.port, "POST /v1/memories", &headers, &large).is(413);
    let mut chunked = format!("{:x}\r\n", large.len()).into_bytes();
    chunked.extend([large.as_slice(), b"\r\n0\r\n\r\n"].concat());
    let with: Vec<_> = headers.into_iter().chain([("Transfer-Encoding", "chunked")]).collect();
    send(world.server.port, "POST /v1/memories", &with, &chunked).is(413);
    let long = format!("GET /v1/search?q={}", "a".repeat(100_000));
    assert!([0, 414, 431].contains(&send(world.server.port, &long, &headers, b"").status));
    world.get("/v1/health").is(200);
}

#[test]
fn who_speaks_slowly_is_let_go_and_others_are_answered() {
    let world = World::new(&[]);
    let slow: Vec<_> = (0..100)
        .map(|_| {
            let mut stream = connect(world.server.port);
            stream.write_all(b"GET /v1/health HTTP/1.1\r\nHost: x\r\n").unwrap();
            stream
        })
        .collect();
    world.get("/v1/health").is(200);
    let begun = std::time::Instant::now();
    for mut stream in slow {
        let mut rest = vec![];
        let _closed = stream.read_to_end(&mut rest);
    }
    assert!(begun.elapsed() < Duration::from_secs(15), "{:?}", begun.elapsed());
}

#[test]
fn a_body_that_never_comes_is_not_waited_for() {
    let world = World::new(&["--write"]);
    let mut stream = connect(world.server.port);
    let head = format!(
        "POST /v1/memories HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nX-Towline: 1\r\n\
         Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{{",
        world.host(),
        world.token()
    );
    stream.write_all(head.as_bytes()).unwrap();
    read(stream).is(408);
}

#[test]
fn a_thousand_listeners_are_bounded_and_the_server_goes_on() {
    let world = World::new(&[]);
    let head = format!(
        "GET /v1/stream HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\n\r\n",
        world.host(),
        world.token()
    );
    let mut listening = vec![];
    let mut refused = 0;
    for _ in 0..1000 {
        let mut stream = connect(world.server.port);
        let _refused = stream.write_all(head.as_bytes());
        let mut reader = BufReader::new(stream);
        match super::client::read_head(&mut reader).0 {
            200 => listening.push(reader),
            429 | 503 | 0 => refused += 1,
            other => panic!("{other}"),
        }
    }
    assert_eq!((listening.len(), refused), (64, 936));
    let memory = std::fs::read_to_string(format!("/proc/{}/status", world.server.pid())).unwrap();
    let resident: u64 = memory
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:")?.trim().strip_suffix(" kB")?.parse().ok())
        .unwrap();
    println!("resident with 64 listeners: {resident} kB");
    assert!(resident < 100_000, "{resident} kB");
    drop(listening);
    wait::until("a place to listen", Duration::from_secs(10), || {
        let mut stream = connect(world.server.port);
        stream.write_all(head.as_bytes()).ok()?;
        (super::client::read_head(&mut BufReader::new(stream)).0 == 200).then_some(())
    });
}

#[test]
fn the_tokens_and_the_socket_are_for_their_owner_alone() {
    let env = empty();
    let path = env.root().join("tow.sock");
    let _server = serve(&env, &["--socket", &path.display().to_string()]);
    let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&path), 0o600);
    assert_eq!(mode(&env.data_dir().join("serve")), 0o700);
    assert_eq!(mode(&env.data_dir().join("serve/token")), 0o600);
    assert_eq!(mode(&env.data_dir().join("serve/events-token")), 0o600);
    assert_eq!(mode(&env.data_dir().join("serve/key")), 0o600);
    send_to_socket(&path, "GET /v1/health").is(200);
}

#[test]
fn another_user_gets_nothing_from_the_socket_and_reads_no_token() {
    const NOBODY: u32 = 65_534;
    let env = empty();
    let path = env.root().join("tow.sock");
    let _server = serve(&env, &["--socket", &path.display().to_string()]);
    // As open as it can be: the file's own bits are not what keeps others out.
    std::fs::set_permissions(env.root(), std::fs::Permissions::from_mode(0o755)).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o666)).unwrap();
    let script = "import socket,sys\ns=socket.socket(socket.AF_UNIX)\ns.connect(sys.argv[1])\n\
        s.sendall(b'GET /v1/health HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n')\n\
        try:\n  sys.stdout.write(s.recv(9999).decode())\nexcept OSError: pass\n";
    let token = env.data_dir().join("serve/token");
    let run = |command: &mut Command| {
        let command = command.stdin(Stdio::null()).current_dir("/");
        if rustix::process::getuid().is_root() { command.uid(NOBODY).gid(NOBODY) } else { command }
            .output()
            .unwrap()
    };
    if rustix::process::getuid().is_root() {
        let said = run(Command::new("python3").args(["-c", script]).arg(&path));
        assert_eq!(String::from_utf8_lossy(&said.stdout), "", "{said:?}");
        let read = run(Command::new("cat").arg(&token));
        assert!(!read.status.success() && read.stdout.is_empty(), "{read:?}");
    }
    send_to_socket(&path, "GET /v1/health").is(200);
}

#[test]
fn who_asks_too_often_waits() {
    let world = World::new(&["--rate", "5"]);
    let refused = (0..60).filter(|_| world.get("/v1/health").status == 429).count();
    assert!(refused > 10, "{refused}");
    let answer = (0..60).map(|_| world.get("/v1/health")).find(|answer| answer.status == 429).unwrap();
    assert_eq!(answer.header("retry-after"), Some("1"));
    assert_eq!(answer.json()["error"]["what"], json!("too many requests"));
}
