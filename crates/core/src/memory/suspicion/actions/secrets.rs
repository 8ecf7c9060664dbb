//! Reading, copying or showing keys and credentials.
//!
//! A program that loads its own settings is ordinary: `.env` counts only if its content is to be shown or told.

use super::super::action::{Action, pairs};
use super::super::words::{Plain, Words};
use crate::text::{clip, clip_start};

pub(super) fn read_secrets(plain: Plain<'_>) -> Vec<Action> {
    let mut found = pairs(plain, READ, KEY_FILES, 48);
    found.extend(
        pairs(plain, TAKE, KEY_FOLDERS, 30).into_iter().filter(|action| !is_plain_file(plain.text, action)),
    );
    found.extend(pairs(plain, DISCLOSE, SECRET_FILES, 60).into_iter().filter(|action| {
        let from = action.range.start - clip_start(&plain[..action.range.start], 60).len();
        SECRET_WORDS.is_in(clip(&plain[from..], 200))
    }));
    found.extend(pairs(plain, READ, KEYS, 20));
    found.extend(pairs(plain, SHOW, Words("keychain|dump-keychain|printenv`|`env`"), 30));
    found.extend(plain.match_indices("env | sort").map(|(at, _)| Action::at(at..at + 3)));
    found.extend(
        pairs(plain, SHOW, ENVIRONMENT, 30).into_iter().filter(|action| !is_example(plain.text, action)),
    );
    found
}

/// Whether the folder of keys is named for a file that holds none.
fn is_plain_file(plain: &str, action: &Action) -> bool {
    let rest = plain[action.range.start..].split_once(".ssh").map_or("", |(_, rest)| rest);
    ["/config", "/known_hosts", "/authorized_keys"].iter().any(|name| rest.starts_with(name))
        || rest.contains(".pub")
}

const TAKE: Words = Words(
    "read|list|log|print|show|encode|lies|lis|lee|leia|leggi|прочита*|读取|読み|읽|cat|cp|copy|mv|tar|zip|scp|\
    rsync|base64|upload|grab|collect|kopier*|copie*|copia*|скопир*|复制|拷贝|コピー|복사",
);

const KEY_FOLDERS: Words =
    Words("~/.ssh|~/.aws|~/.gnupg|~/.kube|~/.config/gh|~/.docker|$home/.ssh|$home/.aws");

const DISCLOSE: Words = Words(
    "mention|paste|include|write|put|print|post|commit|log|report|repeat|show|grab|tell|riporta*|\
    rapporte*|reporta*|сообщи*|报告|報告|보고|nenne|schreib*|ecris*|mets|note|recuper*|escrib*|pon|incluye|\
    menciona*|escrev*|inclua|mencione|scriv*|inserisc*|метн*|запиши*|укажи*|写进|写入|写到|書き|記載|적으|기록",
);

const SECRET_FILES: Words =
    Words(".env|.npmrc|.netrc|.pypirc|hosts.yml|credentials.json|.git-credentials|secrets.yml");

const SECRET_WORDS: Words = Words(
    "password*|token*|secret|api key*|values|werte|valeurs|valores|valori|значени*|passwort*|kennwort*|\
    jeton*|mot de passe|mots de passe|contrasena*|clave*|senha*|chave*|парол*|токен*|密码|令牌|密钥|パスワード|\
    トークン|비밀번호|토큰",
);

/// `.env.example` holds no secrets.
fn is_example(plain: &str, action: &Action) -> bool {
    let name = plain[action.range.start..].split_once(".env").map_or("", |(_, rest)| rest);
    name.strip_prefix('.').is_some_and(|rest| rest.starts_with(char::is_alphabetic))
}

const READ: Words = Words(
    "log|list|выложи*|выкладыва*|cat|less|head|tail|read|print|show|display|dump|output|paste|copy|\
    include|echo|collect|open|upload|lies|lese|gib|zeige|kopiere|drucke|affiche*|montre*|lis|lire|\
    copie*|lee|leer|muestra|imprim*|copia|pega|mostr*|leia|exib*|leggi|stampa*|incolla|прочита*|прочти|\
    покаж*|выведи|скопир*|读取|显示|打印|输出|复制|読み取|読ん|表示|出力|コピー|읽|출력|표시|복사",
);

const KEY_FILES: Words = Words(
    "id_rsa|id_ed25519|id_ecdsa|.aws/credentials|.netrc|.git-credentials|.kube/config|/etc/shadow|\
    .gnupg/*|.docker/config.json|wallet.dat|.config/gcloud*|.pypirc",
);

const KEYS: Words = Words(
    "private key*|privaten schlussel|cle privee|clave privada|chave privada|chiave privata|\
    приватный ключ|закрытый ключ|私钥|秘密鍵|개인 키|개인키",
);

const SHOW: Words = Words(
    "encode|log|cat|less|print|show|display|dump|output|paste|echo|collect|include|gib|zeige|affiche*|\
    montre*|muestra|imprim*|pega|mostr*|exib*|stampa*|покаж*|выведи|显示|打印|输出|表示|出力|출력|표시",
);

const ENVIRONMENT: Words = Words(
    ".env|lines of the environment|content of the environment|contents of the environment|\
    all environment variables|all env vars|the whole environment|toutes les variables d'environnement|\
    todas las variables de entorno|todas as variaveis de ambiente|tutte le variabili d'ambiente|\
    все переменные окружения|所有环境变量|すべての環境変数|모든 환경 변수",
);
