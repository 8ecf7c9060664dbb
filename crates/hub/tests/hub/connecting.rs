//! Connections that must be refused, their error messages, and servers that do not answer.

use crate::bench::{Build, DATABASE, HubBench, PATIENCE, password};
use std::time::Duration;
use towline_hub::{HubAddress, HubClient, HubError, HubPassword, Tls};
use towline_testkit::{Cut, Served};

const WRONG: &str = "hush-wrong-hush";

/// Asserts that connecting fails and that the error contains no password.
#[track_caller]
fn refusal(address: &HubAddress, secret: &str, patience: Duration) -> HubError {
    let Err(error) = HubClient::connect(address, Some(&HubPassword::new(secret)), patience) else {
        panic!("{address} was reached")
    };
    let said = format!("{error} {error:?}");
    assert!(!said.contains("hush"), "{said}");
    error
}

#[test]
fn a_server_that_does_not_prove_its_name_is_refused() {
    let bench = HubBench::empty(Build::Debian);
    let right = bench.address("ann");
    let with_ca = |ca| HubAddress { tls: Tls::Verified { ca: Some(ca) }, ..right.clone() };
    let secret = password("ann");
    let check = |address: &HubAddress, why: &str| {
        let error = refusal(address, &secret, PATIENCE);
        assert!(matches!(&error, HubError::Unprotected { .. }), "{error:?}");
        assert!(error.to_string().contains(why), "{error}");
    };
    check(&with_ca(bench.postgres.other_ca()), "certificate");
    check(&HubAddress { tls: Tls::Verified { ca: None }, ..right.clone() }, "certificate");
    check(&with_ca("/nowhere/ca.crt".into()), "/nowhere/ca.crt");
    bench.postgres.serve(Served::Expired);
    check(&right, "xpired");
    bench.postgres.serve(Served::OtherHost);
    check(&right, "not valid for name");
    bench.postgres.serve(Served::Right);
    assert!(HubClient::connect(&right, Some(&HubPassword::new(secret.clone())), PATIENCE).is_ok());
    let log = bench.postgres.log();
    assert!(!log.contains("hush"), "{log}");
}

#[test]
fn plain_text_is_refused_by_either_side() {
    let bench = HubBench::empty(Build::Debian);
    let plain = HubAddress { tls: Tls::Plain, ..bench.address("ann") };
    assert!(matches!(refusal(&plain, &password("ann"), PATIENCE), HubError::Unprotected { .. }));
    let far = HubAddress { host: "db.example.com".into(), ..plain };
    let error = refusal(&far, &password("ann"), PATIENCE);
    assert!(error.to_string().contains("on another machine, and TLS is off"), "{error}");

    // A server without TLS, or a man in the middle who claims so.
    let bench = HubBench::empty(Build::Vectors);
    let wanted = HubAddress { tls: Tls::Verified { ca: None }, ..bench.address("ann") };
    let error = refusal(&wanted, &password("ann"), PATIENCE);
    assert!(matches!(&error, HubError::Unprotected { .. }), "{error:?}");
    assert!(error.to_string().contains("does not support TLS"), "{error}");
}

#[test]
fn a_wrong_login_is_reported_as_such() {
    for build in [Build::Debian, Build::Vectors] {
        let bench = HubBench::empty(build);
        for (user, secret) in [("ann", WRONG), ("nobody", WRONG), ("ann", "")] {
            let error = refusal(&bench.address(user), secret, PATIENCE);
            assert!(matches!(&error, HubError::Login { .. }), "{error:?}");
            assert!(error.to_string().contains(user), "{error}");
            assert!(!error.is_transient());
        }
        let Err(none) = HubClient::connect(&bench.address("ann"), None, PATIENCE) else {
            panic!("no password was wanted")
        };
        assert!(matches!(&none, HubError::Login { .. }), "{none:?}");
    }
}

#[test]
fn a_server_that_is_gone_silent_or_slow_costs_no_more_than_the_patience() {
    let bench = HubBench::new(Build::Debian);
    let cut = Cut::before(bench.postgres.port());
    let address = HubAddress { port: cut.port(), ..bench.address("ann") };
    let secret = HubPassword::new(password("ann"));
    let short = Duration::from_millis(700);
    let mut hub = HubClient::connect(&address, Some(&secret), short).unwrap();
    assert_eq!(hub.teams().unwrap().len(), 1);
    cut.silence();
    assert!(matches!(hub.teams(), Err(HubError::Timeout { .. })));
    assert!(matches!(hub.teams(), Err(HubError::Unreachable { .. })), "it stays closed");
    assert!(matches!(refusal(&address, "hush", short), HubError::Timeout { .. }));
    cut.slow(Duration::from_secs(10));
    assert!(refusal(&address, "hush", short).is_transient());
    cut.cut();
    assert!(matches!(refusal(&address, "hush", short), HubError::Unreachable { .. }));
    cut.heal();
    assert!(HubClient::connect(&address, Some(&secret), PATIENCE).is_ok());
    bench.postgres.stop();
    let error = refusal(&bench.address("ann"), "hush", PATIENCE);
    assert!(matches!(&error, HubError::Unreachable { .. }), "{error:?}");
    assert!(error.to_string().contains("tow hub sync"), "{error}");
}

#[test]
fn a_connection_does_not_outlive_a_restart_of_the_server_but_a_new_one_works() {
    let bench = HubBench::new(Build::Debian);
    let mut hub = bench.connect("ann");
    assert!(hub.teams().is_ok());
    bench.postgres.restart();
    let error = hub.teams().unwrap_err();
    assert!(error.is_transient(), "{error:?}");
    assert_eq!(bench.connect("ann").teams().unwrap().len(), 1);
}

#[test]
fn a_database_that_does_not_exist_is_named() {
    let bench = HubBench::empty(Build::Debian);
    let address = HubAddress { database: format!("{DATABASE}2"), ..bench.address("ann") };
    let error = refusal(&address, &password("ann"), PATIENCE);
    assert!(error.to_string().contains("\"shared2\" does not exist"), "{error}");
}
