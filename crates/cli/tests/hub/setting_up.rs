//! Making a hub, joining it, leaving it; who belongs to it, and what is refused.

use super::world::{KEY, Server, Site, password, remember, sync};

fn every_command(server: Server) {
    let site = Site::new(server);
    let desk = site.machine("ann_login");
    let url = site.url("ann_login");
    desk.tow(&site.at(&["hub", "init", &url])).ok().prints("made the hub's schema");
    desk.tow(&site.at(&["hub", "init", &url, "--team", "crew", "--as", "ann"])).ok().prints("already");
    desk.tow(&["hub", "status"]).ok().prints("has joined no hub");
    site.join(&desk, "ann_login", "desk").prints("nothing is shared yet");
    let members = desk.tow(&["hub", "members", "add", "bob", "--role", "bob_login", "--json"]).ok().json();
    assert_eq!(members["members"].as_array().unwrap().len(), 2);
    remember(&desk, "The mast is of spruce");
    desk.tow(&["hub", "share", "."]).exits(2).complains("--as NAME");
    desk.tow(&["hub", "share", ".", "--as", KEY, "--with", "bob"]).ok();
    sync(&desk);
    let status = desk.tow(&["hub", "status", "--json"]).ok().json();
    assert_eq!((&status["reachable"], &status["person"]), (&true.into(), &"ann".into()), "{status}");
    assert_eq!(status["projects"][0]["key"], KEY);
    desk.tow(&["hub", "status"]).ok().prints("ann in crew on desk");
    desk.tow(&["hub", "members", "disallow", "bob", KEY]).ok();
    desk.tow(&["hub", "members", "allow", "bob", KEY]).ok();
    desk.tow(&["hub", "sync", "--dry-run"]).ok().prints("rows would go");
    desk.tow(&["hub", "unshare", ".", "--dry-run"]).ok().prints("would no longer");
    desk.tow(&["hub", "unshare", "."]).ok().prints("no longer shared");
    desk.tow(&["hub", "members", "revoke", "bob"]).ok();
    let cabin = site.machine("bob_login");
    let bobs = site.url("bob_login");
    cabin.tow(&site.at(&["hub", "join", &bobs, "--team", "crew"])).exits(1).complains("not a member");
    desk.tow(&["doctor"]).prints("the team crew");
    desk.tow(&["hub", "leave"]).ok().prints("left the team crew");
    desk.tow(&["hub", "status", "--json"]).ok().prints("\"joined\":false");
}

#[test]
fn every_command_works_with_tls() {
    every_command(Server::Debian);
}

#[test]
fn every_command_works_with_vectors() {
    every_command(Server::Vectors);
}

#[test]
fn the_printed_sql_run_by_an_administrator_makes_the_same_hub() {
    let site = Site::new(Server::Debian);
    let desk = site.machine("ann_login");
    let sql = desk.tow(&["hub", "init", "--print-sql", "--partitions", "4"]).ok().stdout;
    site.postgres.run("create database other owner ann_login");
    let login = password("ann_login");
    site.postgres.run_as(("ann_login", &login), "other", &sql).ok();
    desk.tow(&site.at(&["hub", "init", &site.url("ann_login"), "--partitions", "4"])).ok();
    let [by_us, by_hand] =
        ["towline", "other"].map(|database| site.postgres.run_in(database, "\\d towline.*"));
    assert!(by_us.contains("words_stamp"), "{by_us}");
    assert_eq!(by_us, by_hand);
}

#[test]
fn joining_keeps_what_the_configuration_said_and_its_comments() {
    let site = Site::with_team(Server::Debian);
    let desk = site.machine("ann_login");
    let file = desk.home().join(".config/towline/config.toml");
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(&file, "# mine\n[keep]\nevents_days = 30 # a month\n").unwrap();
    site.join(&desk, "ann_login", "desk");
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.starts_with("# mine\n[keep]\nevents_days = 30 # a month\n"), "{text}");
    assert!(text.contains("team = \"crew\"") && !text.contains(&password("ann_login")), "{text}");
    desk.tow(&["hub", "leave"]).ok();
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.contains("# a month") && !text.contains("postgres://"), "{text}");
}

#[test]
fn another_authority_and_plain_text_are_refused_by_name() {
    let site = Site::with_team(Server::Debian);
    let desk = site.machine("ann_login");
    let (url, other) = (site.url("ann_login"), site.postgres.other_ca());
    let joined = desk.tow(&["hub", "join", &url, "--team", "crew", "--ca", other.to_str().unwrap()]);
    joined.exits(1).complains("no protected connection");
    desk.tow(&["hub", "join", &url, "--team", "crew", "--plain"]).exits(1).complains("no encryption");
    desk.tow(&["hub", "join", "postgres://ann@hub.example/t", "--team", "crew", "--plain"])
        .exits(1)
        .complains("hub.tls is plain");
    desk.tow(&["hub", "status", "--json"]).ok().prints("\"joined\":false");
}
