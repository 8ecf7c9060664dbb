//! Invented secrets, generated at run time from each documented format, so that no file contains one.

/// A secret and the text it is recognised in.
pub struct Sample {
    /// The provider, or the announcing phrase.
    pub name: String,
    /// The shortest text in which it is recognised; the secret itself if no context is needed.
    pub text: String,
    /// No part of this may be left.
    pub secret: String,
}

/// The alphabet of a part of a secret.
#[derive(Clone, Copy)]
pub enum Alphabet {
    Hex,
    Capitals,
    Alnum,
    Word,
    Base64,
}

impl Alphabet {
    fn letters(self) -> &'static [u8] {
        match self {
            Alphabet::Hex => b"0123456789abcdef",
            Alphabet::Capitals => b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567",
            Alphabet::Alnum => b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
            Alphabet::Word => b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-",
            Alphabet::Base64 => b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
        }
    }
}

/// A deterministic generator: equal seeds give equal numbers.
pub struct SeededRng(u64);

impl SeededRng {
    pub fn new(seed: u64) -> SeededRng {
        SeededRng(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % bound
    }

    /// `length` characters, beginning with a letter or a digit and not ending in a symbol.
    pub fn text(&mut self, alphabet: Alphabet, length: usize) -> String {
        let letters = alphabet.letters();
        let plain = Alphabet::Alnum.letters();
        let inner: String =
            (0..length.saturating_sub(2)).map(|_| char::from(letters[self.below(letters.len())])).collect();
        let mut end = || match alphabet {
            Alphabet::Hex | Alphabet::Capitals => char::from(letters[self.below(letters.len())]),
            Alphabet::Alnum | Alphabet::Word | Alphabet::Base64 => char::from(plain[self.below(plain.len())]),
        };
        // A random string sometimes lacks a digit; the tests are not about that.
        format!("{}4{}7{}", end(), &inner[inner.len().min(2)..], end())
    }

    pub fn uuid(&mut self) -> String {
        [8, 4, 4, 4, 12].map(|length| self.text(Alphabet::Hex, length)).join("-")
    }
}

/// Keys recognised by a prefix or shape. The prefix is split into parts.
const KEYS: &[(&str, &[&str], Alphabet, usize)] = &[
    ("anthropic api", &["sk-", "ant-", "api03-"], Alphabet::Word, 95),
    ("anthropic oauth", &["sk-", "ant-", "oat01-"], Alphabet::Word, 95),
    ("openai", &["sk", "-"], Alphabet::Alnum, 48),
    ("openai project", &["sk-", "proj-"], Alphabet::Word, 120),
    ("openai service", &["sk-", "svcacct-"], Alphabet::Word, 120),
    ("openai session", &["se", "ss-"], Alphabet::Alnum, 40),
    ("openrouter", &["sk-", "or-", "v1-"], Alphabet::Hex, 64),
    ("deepseek", &["sk", "-"], Alphabet::Hex, 32),
    ("github classic", &["gh", "p_"], Alphabet::Alnum, 36),
    ("github oauth", &["gh", "o_"], Alphabet::Alnum, 36),
    ("github user", &["gh", "u_"], Alphabet::Alnum, 36),
    ("github server", &["gh", "s_"], Alphabet::Alnum, 36),
    ("github refresh", &["gh", "r_"], Alphabet::Alnum, 76),
    ("github fine-grained", &["github", "_pat_"], Alphabet::Alnum, 82),
    ("gitlab", &["gl", "pat-"], Alphabet::Word, 20),
    ("gitlab deploy", &["gl", "dt-"], Alphabet::Word, 20),
    ("gitlab runner", &["gl", "rt-"], Alphabet::Word, 20),
    ("gitlab trigger", &["gl", "ptt-"], Alphabet::Hex, 40),
    ("gitlab feed", &["gl", "ft-"], Alphabet::Word, 20),
    ("aws id", &["AK", "IA"], Alphabet::Capitals, 16),
    ("aws temporary id", &["AS", "IA"], Alphabet::Capitals, 16),
    ("aws session", &["IQoJ", "b3JpZ2lu"], Alphabet::Base64, 300),
    ("google api", &["AI", "za"], Alphabet::Word, 35),
    ("google oauth", &["ya", "29."], Alphabet::Word, 120),
    ("google client", &["GOC", "SPX-"], Alphabet::Word, 28),
    ("azure client", &["Xy", "z8", "Q~"], Alphabet::Word, 34),
    ("slack bot", &["xo", "xb-", "1234567890-"], Alphabet::Alnum, 24),
    ("slack user", &["xo", "xp-", "1234567890-"], Alphabet::Alnum, 32),
    ("slack app", &["xa", "pp-", "1-"], Alphabet::Alnum, 64),
    ("slack refresh", &["xo", "xe-", "1-"], Alphabet::Alnum, 140),
    ("slack webhook", &["https://hooks.", "slack.com/services/T0/B0/"], Alphabet::Alnum, 24),
    ("discord webhook", &["https://discord", ".com/api/webhooks/1/"], Alphabet::Word, 68),
    ("telegram", &["123456", "789:", "AA"], Alphabet::Word, 33),
    ("stripe", &["sk_", "live_"], Alphabet::Alnum, 24),
    ("stripe restricted", &["rk_", "live_"], Alphabet::Alnum, 24),
    ("stripe webhook", &["wh", "sec_"], Alphabet::Alnum, 32),
    ("twilio", &["S", "K"], Alphabet::Hex, 32),
    ("sendgrid", &["S", "G.", "abcdefghijklmnopqrstu1."], Alphabet::Word, 43),
    ("mailgun", &["ke", "y-"], Alphabet::Hex, 32),
    ("npm", &["np", "m_"], Alphabet::Alnum, 36),
    ("pypi", &["py", "pi-", "AgEIcHlwaS5vcmc"], Alphabet::Word, 130),
    ("rubygems", &["ruby", "gems_"], Alphabet::Hex, 48),
    ("crates.io", &["ci", "o"], Alphabet::Alnum, 32),
    ("docker", &["dc", "kr_", "pat_"], Alphabet::Word, 27),
    ("hugging face", &["h", "f_"], Alphabet::Alnum, 34),
    ("replicate", &["r", "8_"], Alphabet::Alnum, 37),
    ("digitalocean", &["do", "p_v1_"], Alphabet::Hex, 64),
    ("digitalocean oauth", &["do", "o_v1_"], Alphabet::Hex, 64),
    ("heroku", &["HR", "KU-", "AA"], Alphabet::Word, 58),
    ("shopify", &["sh", "pat_"], Alphabet::Hex, 32),
    ("shopify shared", &["sh", "pss_"], Alphabet::Hex, 32),
    ("square", &["sq0", "atp-"], Alphabet::Word, 22),
    ("square secret", &["sq0", "csp-"], Alphabet::Word, 43),
    ("atlassian", &["AT", "ATT3x"], Alphabet::Word, 180),
    ("bitbucket", &["AT", "BB"], Alphabet::Alnum, 32),
    ("linear", &["lin", "_api_"], Alphabet::Alnum, 40),
    ("notion", &["sec", "ret_"], Alphabet::Alnum, 43),
    ("notion new", &["nt", "n_"], Alphabet::Alnum, 46),
    ("figma", &["fi", "gd_"], Alphabet::Word, 40),
    ("new relic", &["NR", "AK-"], Alphabet::Capitals, 27),
    ("grafana cloud", &["gl", "c_"], Alphabet::Base64, 100),
    ("grafana service", &["gl", "sa_"], Alphabet::Alnum, 41),
    ("sentry", &["sn", "trys_"], Alphabet::Base64, 120),
    ("vault", &["hv", "s."], Alphabet::Word, 90),
    ("terraform", &["AbCdEfGhIjKl12", ".atlas", "v1."], Alphabet::Word, 67),
    ("databricks", &["da", "pi"], Alphabet::Hex, 32),
    ("supabase", &["sb", "p_"], Alphabet::Hex, 40),
    ("supabase secret", &["sb_", "secret_"], Alphabet::Word, 31),
    ("netlify", &["nf", "p_"], Alphabet::Alnum, 36),
    ("fly", &["fo", "1_"], Alphabet::Word, 43),
    ("fly macaroon", &["FlyV1 ", "fm", "2_"], Alphabet::Base64, 200),
    ("planetscale", &["pscale", "_tkn_"], Alphabet::Word, 43),
    ("postman", &["PM", "AK-"], Alphabet::Hex, 59),
    ("groq", &["gs", "k_"], Alphabet::Alnum, 52),
    ("xai", &["xa", "i-"], Alphabet::Alnum, 80),
    ("perplexity", &["pp", "lx-"], Alphabet::Alnum, 48),
    ("age", &["AGE-SEC", "RET-KEY-1"], Alphabet::Capitals, 58),
    ("tailscale", &["ts", "key-auth-"], Alphabet::Alnum, 40),
    ("pulumi", &["pu", "l-"], Alphabet::Hex, 40),
    ("doppler", &["dp", ".pt."], Alphabet::Alnum, 43),
    ("brevo", &["xkey", "sib-"], Alphabet::Hex, 64),
    ("langsmith", &["lsv2", "_pt_"], Alphabet::Hex, 32),
    ("nvidia", &["nv", "api-"], Alphabet::Word, 64),
    ("dynatrace", &["dt0", "c01.", "ABCDEFGHIJKLMNOPQRSTUVW2."], Alphabet::Capitals, 64),
    ("sonar", &["sq", "p_"], Alphabet::Hex, 40),
    ("circleci", &["CCI", "PAT_", "AbCdEf_"], Alphabet::Hex, 40),
    ("contentful", &["CF", "PAT-"], Alphabet::Word, 43),
    ("airtable", &["pat", "AbCdEfGhIjKl12", "."], Alphabet::Hex, 64),
    ("pinecone", &["pc", "sk_"], Alphabet::Word, 60),
    ("elevenlabs", &["s", "k_"], Alphabet::Hex, 48),
    ("posthog", &["ph", "x_"], Alphabet::Alnum, 43),
    ("artifactory", &["AK", "Cp"], Alphabet::Alnum, 69),
    ("jwt", &["ey", "JhbGciOiJIUzI1NiJ9.", "ey", "JzdWIiOiIxMjM0In0."], Alphabet::Word, 43),
];

/// Keys of providers, each alone.
pub fn keys(rng: &mut SeededRng) -> Vec<Sample> {
    let mut samples = Vec::new();
    for (name, beginning, alphabet, length) in KEYS {
        let secret = rng.text(*alphabet, *length);
        let text = format!("{}{secret}", beginning.concat());
        samples.push(Sample { name: (*name).to_owned(), text, secret });
    }
    let (id, signature) = (rng.text(Alphabet::Alnum, 23), rng.text(Alphabet::Word, 38));
    let text = format!("M{id}.GabcDe.{signature}");
    samples.push(Sample { name: "discord bot".to_owned(), text, secret: signature });
    let (account, secret) = (rng.text(Alphabet::Hex, 32), rng.text(Alphabet::Hex, 32));
    samples.push(Sample {
        name: "twilio pair".to_owned(),
        text: format!("A{}{account}:{secret}", "C"),
        secret,
    });
    samples
}

/// Phrases that announce a secret without a shape of its own. `{}` is the secret.
const ANNOUNCED: &[&str] = &[
    "AWS_SECRET_ACCESS_KEY={}",
    "aws_secret_access_key = {}",
    "\"SecretAccessKey\": \"{}\"",
    "aws_session_token={}",
    "HEROKU_API_KEY={}",
    "DD_API_KEY={}",
    "DATADOG_APP_KEY: {}",
    "CLOUDFLARE_API_TOKEN={}",
    "CO_API_KEY={}",
    "MISTRAL_API_KEY=\"{}\"",
    "VERCEL_TOKEN={}",
    "TWILIO_AUTH_TOKEN={}",
    "NEXT_PRIVATE_SECRET_KEY='{}'",
    "SECRET_KEY_BASE={}",
    "DB_PASSWORD={}",
    "export PGPASSWORD={}",
    "- POSTGRES_PASSWORD={}",
    "docker run -e MYSQL_ROOT_PASSWORD={} mysql",
    "spring.datasource.password={}",
    "password = \"{}\"",
    "password: {}",
    "  password: '{}'",
    "+password: {}",
    "-  \"password\": \"{}\",",
    "{\"client_secret\": \"{}\"}",
    "{\"clientSecret\":\"{}\",\"a\":1}",
    "{\\\"password\\\": \\\"{}\\\"}",
    "{\\\\\\\"api_key\\\\\\\": \\\\\\\"{}\\\\\\\"}",
    "\"text\": \"A=1\\nAPI_TOKEN={}\\nB=2\"",
    "{\"name\": \"DB_PASSWORD\", \"value\": \"{}\"}",
    "- name: DB_PASSWORD\n  value: {}\n",
    "<add key=\"ApiKey\" value=\"{}\" />",
    "<password>{}</password>",
    "%7B%22password%22%3A%22{}%22%7D",
    "grant_type=password&client_secret={}&scope=x",
    "https://example.com/?access_token={}&x=1",
    "https://a.blob.core.windows.net/c?sv=2024&sig={}&se=1",
    "const token: string = \"{}\";",
    "let password: &str = \"{}\";",
    "config[\"secret_key\"] = \"{}\"",
    ":password => '{}',",
    "setPassword(\"{}\")",
    "os.environ.setdefault(\"GITHUB_TOKEN\", \"{}\")",
    "Server=db;User Id=sa;Password={};Encrypt=true",
    "DefaultEndpointsProtocol=https;AccountName=a;AccountKey={};EndpointSuffix=x",
    "Endpoint=sb://x/;SharedAccessKeyName=r;SharedAccessKey={}",
    "postgres://me:{}@db.example.com:5432/shop",
    "mysql://me:{}@db/shop",
    "mongodb+srv://me:{}@cluster0.example.net/?retryWrites=true",
    "redis://:{}@cache:6379/0",
    "amqp://me:{}@mq/vhost",
    "https://me:{}@example.com/repo.git",
    "git clone https://oauth2:{}@gitlab.example.com/x.git",
    "root:{}@tcp(db:3306)/shop",
    "Authorization: Bearer {}",
    "authorization: Basic {}",
    "curl -H 'Authorization: token {}' https://x",
    "\"Authorization\": \"Bearer {}\"",
    "{\\\"authorization\\\":\\\"Bearer {}\\\"}",
    "Cookie: sid={}; theme=dark",
    "Set-Cookie: session={}; Path=/; HttpOnly",
    "curl --cookie \"sid={}\" https://x",
    "X-Api-Key: {}",
    "x-auth-token: {}",
    "PRIVATE-TOKEN: {}",
    "tool --password {} --verbose",
    "tool --token={} --verbose",
    "tool --api-key '{}'",
    "[\"--client-secret\", \"{}\"]",
    "mysql -u root -p{} shop",
    "sshpass -p {} ssh me@host",
    "curl -u me:{} https://x",
    "redis-cli -a {} ping",
    "machine example.com login me password {}",
    "machine example.com\n  login me\n  password {}\n",
    "db.example.com:5432:shop:me:{}",
    "//registry.example.com/:_authToken={}",
    "{\"auths\": {\"x\": {\"auth\": \"{}\"}}}",
    "PrivateKey = {}=",
    "PresharedKey = {}=",
    "the password is {}, remember it",
    "my API key is {}",
    "Here is the token:\n{}\n",
    "use this secret: `{}`",
    "Bearer {}",
    "password: \u{201c}{}\u{201d}",
    "&quot;password&quot;: &quot;{}&quot;",
    "\u{1b}[32mpassword\u{1b}[0m: x\nPASSWORD={}\u{1b}[0m",
];

/// Shapeless secrets, each with every announcement.
pub fn announced(rng: &mut SeededRng) -> Vec<Sample> {
    let mut samples = Vec::new();
    for announcement in ANNOUNCED {
        for secret in [
            rng.text(Alphabet::Hex, 40),
            rng.text(Alphabet::Alnum, 32),
            rng.text(Alphabet::Alnum, 43),
            rng.uuid(),
        ] {
            let text = announcement.replace("{}", &secret);
            samples.push(Sample { name: (*announcement).to_owned(), text, secret });
        }
    }
    samples
}

/// Announcements after which any word is a password.
const PASSWORDS: &[&str] = &[
    "DB_PASSWORD={}\n",
    "password: \"{}\"",
    "\"passwd\": \"{}\"",
    "postgres://me:{}@db/x",
    "Server=db;User Id=sa;Password={};Encrypt=true",
    "machine h login me password {}",
    "mysql -u root -p{} shop",
    "my password is \"{}\"",
];

/// Short passwords as people choose them.
pub fn passwords() -> Vec<Sample> {
    let chosen = ["hunter2", "correcthorsebattery", "Tr0ub4dor+3", "S3cr3t!", "1q2w3e4r"];
    let all = PASSWORDS.iter().flat_map(|place| chosen.map(|secret| (place, secret)));
    let sample = |(place, secret): (&&str, &str)| Sample {
        name: (*place).to_owned(),
        text: place.replace("{}", secret),
        secret: secret.to_owned(),
    };
    all.map(sample).collect()
}

/// Private keys in PEM armour, with every way to break their lines.
pub fn armoured(rng: &mut SeededRng) -> Vec<Sample> {
    let titles =
        ["RSA PRIVATE KEY", "PRIVATE KEY", "EC PRIVATE KEY", "OPENSSH PRIVATE KEY", "PGP PRIVATE KEY BLOCK"];
    let breaks = ["\n", "\r\n", "\\n", "\\\\n", "\n+", "\n-", "\n    ", "\n> "];
    let mut samples = Vec::new();
    for title in titles {
        for line_break in breaks {
            let lines: Vec<String> = (0..6).map(|_| rng.text(Alphabet::Base64, 64)).collect();
            let (secret, dashes) = (lines.join(line_break), "-".repeat(5));
            let text = format!(
                "{dashes}BEGIN {title}{dashes}{line_break}{secret}{line_break}{dashes}END {title}{dashes}"
            );
            samples.push(Sample { name: format!("{title} {line_break:?}"), text, secret });
        }
    }
    let lines: Vec<String> = (0..4).map(|_| rng.text(Alphabet::Base64, 64)).collect();
    let secret = lines.join("\n");
    let text = format!(
        "PuTTY-User-Key-File-3: ssh-rsa\nEncryption: none\nPrivate-Lines: 4\n{secret}\nPrivate-MAC: 00"
    );
    samples.push(Sample { name: "putty".to_owned(), text, secret });
    samples
}
