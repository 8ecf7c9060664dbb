//! The corpus of `kinds.txt`, and names × syntaxes × random values. All values come from a seed, none is real.

use crate::secrets::{Alphabet, Sample, SeededRng};

const KINDS: &str = include_str!("kinds.txt");

/// Characters of passwords that need no quoting in the templates.
const SYMBOLS: &[u8] = b"!*+-.:=?@^_~";

/// Words of mnemonics; the checks must not depend on the list of them.
const WORDS: &str = "abandon ability absent actor badge bamboo cabbage dolphin eagle fabric galaxy habit \
    icon jaguar kangaroo ladder magnet napkin oak paddle quarter rabbit sadness tackle umbrella vacant wagon \
    yellow zebra argue bench crisp dizzy elbow frown glide hollow ivory jungle kitten lunar mango noodle orbit";

/// Names that announce a secret, as they are spelt in code, settings and headers.
const NAMES: &str = "password passwd Password DB_PASSWORD db_password dbPassword user.password admin_password \
    SMTP_PASS smtp_pass pwd userPwd ADMIN_PW passphrase keyPassphrase secret client_secret clientSecret \
    CLIENT_SECRET app-secret appSecret webhook_secret JWT_SECRET session_secret signingSecret secret_key \
    secretKey SECRET_KEY token TOKEN auth_token authToken access_token accessToken ACCESS_TOKEN refresh_token \
    GITHUB_TOKEN bot_token deployToken api_key apiKey API_KEY ApiKey api-key X-Api-Key x-api-key X-Auth-Token \
    OPENAI_API_KEY stripe_api_key access_key accessKey AWS_SECRET_ACCESS_KEY private_key privateKey \
    encryption_key encryptionKey ENCRYPTION_KEY master_key signing_key license_key account_key credentials \
    keystorePassword storepass hmac_key";

/// How a name and its value are written; a line break separates two. Those after `URL` take values without symbols.
const SYNTAXES: &str = r#"
N=V
export N=V
N="V"
N='V'
N = "V"
N = 'V'
N: V
  N: V
N: "V"
N: 'V',
"N": "V"
{"N":"V"}
{"a": 1, "N": "V", "b": 2}
{\"N\": \"V\"}
'N': 'V',
{ N: 'V' }
const N = "V";
let N = 'V';
var N string = "V"
N := "V"
:N => "V",
'N' => 'V',
set("N", "V")
config["N"] = "V"
<N>V</N>
<add key="N" value="V" />
<property name="N">V</property>
- name: N\n  value: V
| N | V |
| `N` | `V` |
- **N**: V
**N:** `V`
variable "N" {\n  type = string\n  default = "V"\n}
curl -H 'N: V' https://example.com
-H "N: V"
docker run -e N=V image
N=V command
tool --N V
tool --N=V
--N "V" --other
["--N", "V"]
#define N "V"
f(a, N="V")
f(a, N='V', b=1)
The N is V.
my N is `V`
2026-01-02T03:04:05Z info start N=V port=80
[debug] N: V
+N=V
-  N: "V"
setenv N V
URL
https://example.com/?N=V&a=1
a=1&N=V&b=2
jdbc:x://h/d?user=a&N=V
N%3DV%26x
Server=h;N=V;Encrypt=true
"#;

/// Every kind of the corpus.
pub fn kinds(rng: &mut SeededRng) -> Vec<Sample> {
    let lines = KINDS.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines
        .filter_map(|line| line.split_once('\t'))
        .map(|(name, template)| sample(name, template, rng))
        .collect()
}

/// `count` random values behind telling names.
pub fn named(rng: &mut SeededRng, count: usize) -> Vec<Sample> {
    let (names, (any, plain)): (Vec<&str>, _) =
        (NAMES.split_whitespace().collect(), SYNTAXES.split_once("URL\n").unwrap_or_default());
    let any: Vec<&str> = any.lines().filter(|line| !line.is_empty()).collect();
    let all: Vec<&str> = any.iter().copied().chain(plain.lines()).collect();
    let draw = |rng: &mut SeededRng, from: &[&'static str]| from[rng.below(from.len())];
    let one = |_| {
        let (name, syntax, secret) = (draw(rng, &names), draw(rng, &all), value(rng));
        let is_plain = secret.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
        let syntax = if is_plain { syntax } else { draw(rng, &any) };
        let text = unescaped(syntax).replace('V', "\u{0}").replace('N', name).replace('\u{0}', &secret);
        Sample { name: syntax.to_owned(), text, secret }
    };
    (0..count).map(one).collect()
}

/// A random value as generators of keys and passwords make them.
fn value(rng: &mut SeededRng) -> String {
    const HEX: [usize; 4] = [24, 32, 40, 64];
    let length = 12 + rng.below(36);
    match rng.below(9) {
        0 => part(rng, "hex", HEX[length % 4]),
        1 => rng.uuid(),
        2 => part(rng, "b64", length.max(20)) + "==",
        3 => part(rng, "word", length.max(16)),
        4 => part(rng, "low", length.max(14)),
        5 => part(rng, "cap", length.max(16)),
        6 => part(rng, "pw", 10 + length % 14),
        7 => part(rng, "let", length.max(16)),
        _ => part(rng, "alnum", length),
    }
}

fn sample(name: &str, template: &str, rng: &mut SeededRng) -> Sample {
    let (mut text, mut secrets, mut rest) = (String::new(), Vec::new(), template);
    while let Some((before, after)) = rest.split_once('{') {
        text.push_str(&unescaped(before));
        let generated =
            after.split_once('}').and_then(|(spec, after)| Some((generate(rng, spec)?, spec, after)));
        let Some((value, spec, after)) = generated else {
            text.push('{');
            rest = after;
            continue;
        };
        text.push_str(&value);
        if !spec.starts_with('~') {
            let lines = value.lines().filter(|line| !line.starts_with('-'));
            secrets.extend(lines.map(visible));
        }
        rest = after;
    }
    text.push_str(&unescaped(rest));
    Sample { name: name.to_owned(), text, secret: secrets.join("\n") }
}

/// The part that `class length` describes; `None` if it is no such description.
fn generate(rng: &mut SeededRng, spec: &str) -> Option<String> {
    let spec = spec.trim_start_matches('~');
    if let Some(title) = spec.strip_prefix("pem ") {
        let lines = [64, 64, 64, 32].map(|length| part(rng, "b64", length)).join("\n");
        let dashes = "-".repeat(5);
        return Some(format!("{dashes}BEGIN {title}{dashes}\n{lines}\n{dashes}END {title}{dashes}"));
    }
    match spec.split_once(' ') {
        Some((class, length)) if class.bytes().all(|byte| byte.is_ascii_alphanumeric()) => {
            Some(part(rng, class, length.parse().ok()?))
        }
        Some(_) => None,
        None if spec == "uuid" => Some(rng.uuid()),
        None if spec == "word1" => Some(part(rng, "words", 1)),
        None => None,
    }
}

fn part(rng: &mut SeededRng, class: &str, length: usize) -> String {
    let mut from = |letters: &[u8]| -> String {
        (0..length).map(|_| char::from(letters[rng.below(letters.len())])).collect()
    };
    match class {
        "hex" => rng.text(Alphabet::Hex, length),
        "HEX" => rng.text(Alphabet::Hex, length).to_uppercase(),
        "cap" => rng.text(Alphabet::Capitals, length),
        "alnum" => rng.text(Alphabet::Alnum, length),
        "word" => rng.text(Alphabet::Word, length),
        "b64" => rng.text(Alphabet::Base64, length),
        "dig" => from(b"0123456789"),
        "low" => from(b"abcdefghijklmnopqrstuvwxyz0123456789"),
        "let" => from(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"),
        "base58" => from(b"123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"),
        "b64ish" => from(b"./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"),
        "pw" => password(rng, length),
        "url" => password(rng, length).bytes().map(encoded).collect(),
        "basic" => base64(format!("bob:{}", rng.text(Alphabet::Alnum, length)).as_bytes()),
        "words" => words(rng, length),
        "zw" => broken(rng, length, 14, "\u{200b}"),
        "zz" => broken(rng, length, 3, "\u{200d}"),
        "shy" => broken(rng, length, 13, "\u{ad}"),
        "ansi" => broken(rng, length, 14, "\u{1b}[1;32m"),
        other => unreachable!("no class {other}"),
    }
}

/// Letters and digits with a few symbols among them, as a password manager makes them.
fn password(rng: &mut SeededRng, length: usize) -> String {
    let mut bytes = rng.text(Alphabet::Alnum, length).into_bytes();
    for at in (3..length - 1).step_by(4) {
        bytes[at] = SYMBOLS[rng.below(SYMBOLS.len())];
    }
    bytes.into_iter().map(char::from).collect()
}

fn encoded(byte: u8) -> String {
    if byte.is_ascii_alphanumeric() { char::from(byte).to_string() } else { format!("%{byte:02X}") }
}

fn words(rng: &mut SeededRng, count: usize) -> String {
    let words: Vec<&str> = WORDS.split_whitespace().collect();
    let first = rng.below(words.len());
    (0..count).map(|at| words[(first + at * 5) % words.len()]).collect::<Vec<_>>().join(" ")
}

fn broken(rng: &mut SeededRng, length: usize, every: usize, by: &str) -> String {
    let text = rng.text(Alphabet::Alnum, length);
    text.as_bytes().chunks(every).map(String::from_utf8_lossy).collect::<Vec<_>>().join(by)
}

fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let group = |group: &[u8]| -> String {
        let number = (0..3).fold(0, |sum, at| sum << 8 | usize::from(*group.get(at).unwrap_or(&0)));
        let letter = |at: usize| char::from(LETTERS[number >> (18 - 6 * at) & 63]);
        (0..4).map(|at| if at <= group.len() { letter(at) } else { '=' }).collect()
    };
    bytes.chunks(3).map(group).collect()
}

/// `text` without the characters that hide a token: checks compare what a person would see.
pub fn visible(text: &str) -> String {
    let mut out = text.replace(['\u{200b}', '\u{200d}', '\u{ad}'], "");
    while let Some(start) = out.find("\u{1b}[") {
        let end = out[start..].find('m').map_or(out.len(), |end| start + end + 1);
        out.replace_range(start..end, "");
    }
    out
}

fn unescaped(text: &str) -> String {
    let signs = [("\\\\", "\u{0}"), ("\\n", "\n"), ("\\t", "\t"), ("\\e", "\u{1b}"), ("\\z", "\u{200b}")];
    let text = signs.iter().fold(text.to_owned(), |text, (sign, stands_for)| text.replace(sign, stands_for));
    text.replace('\u{0}', "\\")
}
