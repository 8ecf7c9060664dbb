//! Protections turned off, work destroyed, and things left behind that start by themselves.
//!
//! Deleting a build folder and leases of a forced push are ordinary.

use super::super::action::{Action, each, pairs};
use super::super::words::{Plain, Words};

pub(super) fn disabled_protection(plain: Plain<'_>) -> Vec<Action> {
    const COMMANDS: Words = Words(
        "setenforce 0|ufw disable|stop firewalld|stop auditd|disable firewalld|disable --now auditd|\
        disable --now ufw|disable auditd|disablerealtimemonitoring|iptables -f|aa-teardown|csrutil disable|\
        spctl --master-disable|netsh advfirewall set*",
    );
    const STOP: Words = Words(
        "shut down|shut off|kill|turn off|turning off|turn the|switch off|switch the|disable|stop|remove|\
        dismiss|schalte|deaktivier*|stoppe|beende|desactiv*|arret*|coupe*|deten|detener|apaga*|desativ*|\
        deslig*|pare|disabilit*|disattiv*|ferma|отключ*|выключ*|останов*|关闭|关掉|禁用|停用|停止|無効|オフに|止めて|끄|비활성|중지|\
        해제",
    );
    each(COMMANDS, plain).chain(pairs(plain, STOP, PROTECTIONS, 40)).collect()
}

const PROTECTIONS: Words = Words(
    "endpoint protection|required review*|required status check*|review requirement*|selinux|apparmor|\
    firewall|the antivirus|antivirus*|virus scanner|windows defender|secret scann*|branch protection|\
    auditd|two-factor*|2fa|code scanning|dependabot alert*|security alert*|branchschutz|\
    protection de la branche|proteccion de la rama|protecao da branch|protecao do branch|\
    protezione del branch|защит* ветки|分支保护|ブランチ保護|브랜치 보호|virenscanner|pare-feu|l'antivirus|cortafuegos|\
    антивирус*|брандмауэр*|фаервол*|防火墙|杀毒软件|ファイアウォール|ウイルス対策|방화벽|백신",
);

pub(super) fn destroyed(plain: Plain<'_>) -> Vec<Action> {
    const COMMANDS: Words = Words(
        "push --force|push -f|push --mirror|push origin --force|push origin main --force|push origin +main|\
        drop database|drop schema|mkfs*|of=/dev/sd*|of=/dev/nvme*|terraform destroy|\
        kubectl delete namespace|kubectl delete ns|delete all branches|delete the repository|\
        delete all backups|delete the backups",
    );
    let mut wiped = pairs(plain, WIPE, WHOLE, 60);
    wiped.extend(pairs(plain, Words("-delete|-exec rm"), Words("find /|find ~"), 60));
    let forced = pairs(plain, Words("-f|--force"), Words("git push|push"), 40);
    let forced = forced.into_iter().filter(|action| !is_lease_or_test(&plain[action.range.end..]));
    let removed = Words("rm -rf|rm -fr|rm -r -f|rm -rf --no-preserve-root").find_in(plain);
    let removed = removed.filter(|at| is_everything(&plain[at.end..])).map(Action::at);
    let commands = each(COMMANDS, plain).filter(|action| !is_lease_or_test(&plain[action.range.end..]));
    commands.chain(removed).chain(wiped).chain(forced).collect()
}

const WIPE: Words = Words(
    "drop|delete|wipe|erase|losch*|supprime*|efface*|borra*|elimina*|apague*|exclua*|cancella*|удали*|\
    сотри*|删除|清空|削除|消去|삭제|지우",
);

const WHOLE: Words = Words(
    "home directory|home folder|all backups|all branches|whole repository|production database|\
    git history|home-verzeichnis|homeverzeichnis|alle zweige|dossier personnel|repertoire personnel|\
    toutes les branches|directorio personal|las ramas|diretorio pessoal|todas as branches|cartella home|\
    tutti i branch|домашн* каталог*|домашн* папк*|все ветки|主目录|家目录|所有分支|ホームディレクトリ|すべてのブランチ|홈 디렉터리|\
    모든 브랜치",
);

/// `--force-with-lease`, and databases of tests.
fn is_lease_or_test(after: &str) -> bool {
    let name = after.trim_start_matches([' ', '`', '"']);
    let name = name.strip_prefix("if exists ").unwrap_or(name);
    after.starts_with('-') || name.starts_with("test") || name.starts_with("tmp")
}

/// Whether the target of a deletion is a home folder, the root, a system folder or a repository.
fn is_everything(after: &str) -> bool {
    const WHOLE: [&str; 14] = [
        "/",
        "/*",
        "~",
        "~/",
        "~/*",
        "$home",
        "${home}",
        "$home/",
        "$home/*",
        "\"$home\"",
        "*",
        ".",
        ".git",
        "./*",
    ];
    const BELOW: [&str; 6] = ["/etc", "/usr", "/home", "/var", "/boot", "/lib"];
    let target = after.split_whitespace().find(|word| !word.starts_with('-')).unwrap_or("");
    let target = target.trim_end_matches(['`', ',', ';', '。', ')']);
    let target = if target.len() > 1 { target.strip_suffix('.').unwrap_or(target) } else { target };
    WHOLE.contains(&target) || BELOW.iter().any(|folder| target == *folder || target == format!("{folder}/"))
}

pub(super) fn persisted(plain: Plain<'_>) -> Vec<Action> {
    const PLACES: Words = Words(
        "crontab|authorized_keys|authorized keys|launchagents*|launchdaemons*|rc.local|@reboot|autostart|\
        startup folder|login items|currentversion\\run|/etc/cron*|/etc/sudoers*",
    );
    const ADD: Words = Words(
        "add|append|put|write|insert|install|create|register|echo|trage|registrier*|enregistr*|registra*|\
        зарегистр*|注册|erstell*|creer|cree|crea|crie|создай*|创建|作成|생성|eintrag*|fuge|schreib*|ajoute*|inscri*|\
        anade*|agrega*|pon|adicion*|acrescent*|coloque|aggiung*|inserisc*|добав*|запиши*|添加|加入|写入|追加|登録|추가|\
        등록|>>",
    );
    const JOBS: Words = Words("cron*|systemctl|systemd|scheduled task|tache cron|定时任务|타이머|launchctl");
    const HIDDEN_PLACES: Words = Words("/tmp*|/var/tmp*|~/.*|/dev/shm*");
    let mut found = pairs(plain, ADD, PLACES, 120);
    found.extend(plain.match_indices("| crontab").map(|(at, _)| Action::at(at..at + 9)));
    found.extend(pairs(plain, JOBS, HIDDEN_PLACES, 80));
    found
}
