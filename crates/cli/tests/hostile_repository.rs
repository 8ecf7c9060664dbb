//! A repository whose settings, attributes and remotes name programs: none of them runs when we ask git about it.
#![expect(clippy::unwrap_used, reason = "tests report by panicking")]

use serde_json::json;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use towline_testkit::TestEnv;

struct Hostile {
    env: TestEnv,
    witnesses: PathBuf,
}

impl Hostile {
    /// A memory of a commit that is gone, changed files, and a trap wherever git runs a program.
    fn new() -> Hostile {
        let env = TestEnv::new(env!("CARGO_BIN_EXE_tow"));
        let witnesses = env.root().join("witnesses");
        fs::create_dir(&witnesses).unwrap();
        let hostile = Hostile { env, witnesses };
        hostile.work();
        hostile.set_traps();
        hostile
    }

    fn work(&self) {
        let (env, project) = (&self.env, self.env.project());
        for name in ["a.cleaned", "b.processed", "c.global", "d.info"] {
            fs::write(project.join(name), "before\n").unwrap();
        }
        env.git(&["add", "."]);
        env.git(&["commit", "-q", "-m", "files"]);
        env.git(&["checkout", "-q", "-b", "other"]);
        env.git(&["commit", "-q", "--allow-empty", "-m", "there"]);
        env.tow(&["remember", "The keel is painted on the other branch"]).ok();
        env.git(&["checkout", "-q", "main"]);
        env.git(&["branch", "-q", "-D", "other"]);
        env.git(&["reflog", "expire", "--expire=now", "--all"]);
        env.git(&["gc", "-q", "--prune=now"]);
    }

    fn set_traps(&self) {
        let (env, project) = (&self.env, self.env.project());
        let trap = |name: &str| format!("touch {}/{name}; cat #", self.witnesses.display());
        fs::write(
            project.join(".gitattributes"),
            "*.cleaned filter=evil diff=evil\n*.processed filter=e=v.i\n",
        )
        .unwrap();
        fs::write(env.root().join("attributes"), "*.global filter=global\n").unwrap();
        fs::create_dir_all(project.join(".git/info")).unwrap();
        fs::write(project.join(".git/info/attributes"), "*.info filter=info\n").unwrap();
        let hooks = env.root().join("hooks");
        for folder in [&hooks, &project.join(".git/hooks")] {
            fs::create_dir_all(folder).unwrap();
            for hook in ["post-index-change", "reference-transaction", "fsmonitor-watchman", "pre-auto-gc"] {
                fs::write(folder.join(hook), format!("#!/bin/sh\n{}\n", trap(hook))).unwrap();
                fs::set_permissions(folder.join(hook), PermissionsExt::from_mode(0o755)).unwrap();
            }
        }
        let fetch = format!("ext::sh -c touch% {}/fetch", self.witnesses.display());
        let settings = [
            ("filter.evil.clean", trap("clean")),
            ("filter.evil.smudge", trap("smudge")),
            ("filter.evil.required", "true".into()),
            ("filter.e=v.i.process", trap("process")),
            ("filter.global.clean", trap("global")),
            ("filter.info.clean", trap("info")),
            ("core.attributesFile", env.root().join("attributes").display().to_string()),
            ("core.fsmonitor", trap("fsmonitor")),
            ("core.hooksPath", hooks.display().to_string()),
            ("core.pager", trap("pager")),
            ("core.editor", trap("editor")),
            ("core.askPass", trap("askpass")),
            ("core.sshCommand", trap("ssh")),
            ("credential.helper", format!("!{}", trap("credential"))),
            ("diff.external", trap("external")),
            ("diff.evil.textconv", trap("textconv")),
            ("diff.evil.command", trap("command")),
            ("gpg.program", trap("gpg")),
            ("alias.status", format!("!{}", trap("alias"))),
            ("alias.rev-list", format!("!{}", trap("alias"))),
            ("status.submoduleSummary", "true".into()),
            ("core.repositoryFormatVersion", "1".into()),
            ("extensions.partialClone", "origin".into()),
            ("remote.origin.url", fetch),
            ("remote.origin.promisor", "true".into()),
            ("remote.origin.uploadpack", trap("uploadpack")),
            ("protocol.ext.allow", "always".into()),
        ];
        for (name, value) in settings {
            env.git(&["config", name, &value]);
        }
        for name in ["a.cleaned", "b.processed", "c.global", "d.info"] {
            fs::write(project.join(name), "behind\n").unwrap();
        }
        self.forget_witnesses();
    }

    fn forget_witnesses(&self) {
        fs::remove_dir_all(&self.witnesses).unwrap();
        fs::create_dir(&self.witnesses).unwrap();
    }

    fn witnesses(&self) -> Vec<String> {
        let all = fs::read_dir(&self.witnesses).unwrap();
        let mut names: Vec<String> =
            all.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    fn hook(&self, event: &str, prompt: &str) -> String {
        let payload = json!({"hook_event_name": event, "session_id": "sailing-1", "cwd": self.env.project(),
            "source": "startup", "prompt": prompt});
        let said = self.env.hook("claude", payload.to_string()).ok().stdout;
        self.env.wait_no_process();
        said
    }
}

#[test]
fn the_traps_work() {
    let hostile = Hostile::new();
    let _may_fail = hostile.env.command("git").args(["status", "--short"]).output().unwrap();
    let sprung = hostile.witnesses();
    for name in ["clean", "fsmonitor", "global", "info", "process"] {
        assert!(sprung.iter().any(|it| it == name), "{name} is no trap: {sprung:?}");
    }
}

#[test]
fn no_program_that_a_repository_names_runs_by_a_verb_or_a_hook() {
    let hostile = Hostile::new();
    hostile.hook("SessionStart", "");
    let given = hostile.hook("UserPromptSubmit", "paint the keel");
    assert!(given.contains("keel"), "the memory was looked at: {given}");
    hostile.hook("UserPromptSubmit", "·");
    hostile.hook("Stop", "");
    for words in [
        &["remember", "The mast is oak"][..],
        &["bookmark", "--session", "sailing-1", "here"],
        &["bookmarks"],
        &["memories"],
        &["context"],
        &["status"],
        &["timeline"],
        &["search", "keel"],
        &["export"],
        &["work"],
        &["import"],
        &["doctor"],
        &["report"],
    ] {
        // Some complain about what they find; what counts is what git ran.
        hostile.env.tow(words);
        hostile.env.wait_no_process();
        assert_eq!(hostile.witnesses(), Vec::<String>::new(), "{words:?}");
    }
    let bookmarks = hostile.env.tow(&["bookmarks", "--json"]).ok().json();
    let known =
        bookmarks["bookmarks"].as_array().unwrap().iter().filter(|row| row["commit"].is_string()).count();
    assert!(known == 2, "git was asked: {bookmarks}");
}
