//! Text that looks like a secret but is none must stay unchanged.

use std::fs;
use std::path::Path;

use towline_core::redact::{SecretKind, findings, redact};

#[track_caller]
fn check_stay(texts: &[&str]) {
    let changed: Vec<String> = texts
        .iter()
        .filter(|text| redact(text) != **text)
        .map(|text| format!("  {text}\n  {}", redact(text)))
        .collect();
    assert!(changed.is_empty(), "\n{}", changed.join("\n"));
}

#[test]
fn digests_and_ids_stay() {
    check_stay(&[
        "commit 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b",
        "Merge 3b2a1c0 into 9f86d08",
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  file.txt",
        "checksum = \"b5c6f1a7e0d24c3f8a9b1e2d3c4f5a6b7c8d9e0f1a2b3c4d5e6f7a8b9c0d1e2f\"",
        "\"integrity\": \"sha512-Xq8ZtvLw0XkR7mPn2BsDq8ZtvLw0XkR7mPn2BsDq8ZtvLw0XkR7mPn2BsDq8ZtvLw0XkR7mPn2BsD==\",",
        "golang.org/x/token v0.3.0 h1:Xq8ZtvLw0XkR7mPn2BsDq8ZtvLw0XkR7mPn2BsD=",
        "id: 123e4567-e89b-12d3-a456-426614174000",
        "session 123e4567-e89b-12d3-a456-426614174000 ended",
        "<img src=\"data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==\">",
        "assert_eq!(digest(\"abc\"), \"900150983cd24fb0d6963f7d28e17f72\");",
        "etag: W/\"5d8c72a5edda8d6a\"",
        "docker pull x@sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "cache key: node-modules-9f86d081884c7d659a2feaa0c55ad015a3bf4f1b",
        "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQC7vbqajDw4o6gJy8UtmIbkcpnkO3Kwc4qsEnSZp me@host",
    ]);
}

#[test]
fn code_about_secrets_stays() {
    check_stay(&[
        "interface Login { password: string; token?: string }",
        "password: \"Password\",",
        "label: 'Password', placeholder: 'Your password'",
        "secret = get_secret()",
        "let token = self.next_token()?;",
        "token: Token,",
        "pub password: Option<String>,",
        "def login(user: str, password: str) -> None:",
        "const token = process.env.TOKEN;",
        "password = os.environ[\"DB_PASSWORD\"]",
        "api_key=config.api_key,",
        "token = token.strip()",
        "match token { Token::Comma => {} }",
        "if password == confirmation {",
        "client = Client(token=token, secret=secret)",
        "\"password\": {\"type\": \"string\", \"minLength\": 8}",
        "max_tokens: 4096, tokens: 128000",
        "\"input_tokens\": 12345, \"output_tokens\": 678",
        "token_type: \"bearer\"",
        "key: \"ArrowDown\"",
        "const KEY = 'user-settings-v2';",
        "primary_key: true, foreign_key: \"user_id\"",
        "expect(screen.getByLabelText(/password/i))",
        "input[type=password]",
        "<input type=\"password\" name=\"password\">",
        "password VARCHAR(255) NOT NULL",
        "#[serde(rename = \"apiKey\")]",
        "std::env::var(\"API_KEY\")",
        "keyboard: Keyboard, monkey: 'banana7x'",
        "let pat = \"foobar\";",
        "secretName: my-tls-cert",
        "auth: { type: 'basic' }",
    ]);
}

#[test]
fn stand_ins_stay() {
    check_stay(&[
        "Authorization: Bearer ${TOKEN}",
        "Authorization: Bearer <token>",
        "curl -H \"Authorization: Bearer $TOKEN\" https://example.com",
        "API_KEY=",
        "API_KEY=\nOTHER=1",
        "API_KEY=<your-api-key>",
        "API_KEY=your_api_key_here",
        "OPENAI_API_KEY=sk-...",
        "password: ********",
        "PASSWORD=$(cat /run/secrets/password)",
        "DB_PASSWORD=${DB_PASSWORD}",
        "password: {{ vault_password }}",
        "token: ${{ secrets.GITHUB_TOKEN }}",
        "--token <TOKEN>",
        "--password PASSWORD",
        "postgres://user:password@localhost/db",
        "postgres://$USER:$PASS@localhost/db",
        "DATABASE_URL=postgres://localhost:5432/app",
        "PASSWORD=[redacted:password]",
        "token: null",
        "secret: false",
    ]);
}

#[test]
fn prose_stays() {
    check_stay(&[
        "The token: it has expired.",
        "I forgot my password and cannot log in.",
        "The password is wrong; the password was changed yesterday.",
        "Use a secret manager: keep every secret out of the repository.",
        "Enter password for user:",
        "Password must be at least 8 characters long",
        "The API key is missing from the configuration.",
        "Set the password to something safe.",
        "basic authentication with bearer tokens",
        "</private> is the tag that closes it",
        "we passed 12 of 14 tests",
    ]);
}

#[test]
fn addresses_and_paths_stay() {
    check_stay(&[
        "https://example.com:8443/path?query=1#part",
        "git@github.com:owner/repo.git",
        "ssh://git@example.com:22/x.git",
        "http://127.0.0.1:8080/@scope/package",
        "/usr/lib/x86_64-linux-gnu/libcrypto.so.3",
        "C:\\Users\\me\\AppData\\Local\\Programs\\tool.exe",
        "src/components/password-reset/PasswordResetForm.tsx:12:34",
        "node_modules/.pnpm/@babel+helper-validator-identifier@7.25.9/node_modules",
        "target/debug/deps/libserde_derive-3f9a1c7be2d84f60.so",
        "2026-01-02T03:04:05.678Z INFO request_id=01J9ZK3T7V8W9X0Y1Z2A3B4C5D path=/a/b status=200",
        "a_very_long_function_name_with_number_128_in_it()",
        "AbstractSingletonProxyFactoryBeanForUtf8Strings",
    ]);
}

/// Sources about secrets and tests hold invented ones.
const ABOUT_SECRETS: [&str; 3] = ["redact", "private", "secret"];

/// The project's sources and documents, without those about secrets.
#[test]
fn ordinary_text_is_left_alone() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let (mut bytes, mut found) = (0, Vec::new());
    for part in ["crates", "docs", "xtask/src"] {
        scan(&root.join(part), &mut |path, text| {
            let text = text.split("#[cfg(test)]").next().unwrap_or_default();
            bytes += text.len();
            let secrets = findings(text).filter(|it| it.kind != SecretKind::PRIVATE);
            found.extend(secrets.map(|it| format!("{}: {}", path.display(), &text[it.start..it.end])));
        });
    }
    let rate = found.len() as f64 / (bytes as f64 / 1e6);
    println!("{} findings in {:.1} MB of ordinary text: {rate:.2} per MB", found.len(), bytes as f64 / 1e6);
    assert!(bytes >= 1_000_000 && rate <= 1.0, "{found:#?}");
}

fn scan(folder: &Path, see: &mut impl FnMut(&Path, &str)) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let is_text = ["rs", "md", "toml", "js", "css"]
            .iter()
            .any(|kind| path.extension().is_some_and(|it| it == *kind));
        if name.starts_with("tests") || ABOUT_SECRETS.iter().any(|word| name.contains(word)) {
            continue;
        }
        if path.is_dir() {
            scan(&path, see);
        } else if is_text {
            see(&path, &fs::read_to_string(&path).unwrap_or_default());
        }
    }
}
