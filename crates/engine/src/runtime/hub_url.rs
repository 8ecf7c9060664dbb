//! Parses the address of a hub: `postgres://ann@hub.example:5432/towline`.
//!
//! Pure. Rejects passwords and never repeats one, because addresses are displayed, stored and copied.

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Url {
    /// A host name, an IP address, or the folder of a socket.
    pub host: String,
    pub port: u16,
    pub database: String,
    pub user: String,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadUrl {
    #[error("the address holds a password, which would be seen by everybody who sees the address")]
    Password,
    #[error("the address does not begin with postgres://")]
    Scheme,
    #[error("the address names no user: postgres://USER@HOST/DATABASE")]
    User,
    #[error("the address names no host: postgres://USER@HOST/DATABASE")]
    Host,
    #[error("the address names no database: postgres://USER@HOST/DATABASE")]
    Database,
    #[error("the port is no number from 1 to 65535")]
    Port,
    #[error("`{0}` is not part of an address here: see hub.tls and hub.ca")]
    Parameter(String),
    #[error("the address holds a `%` without two hexadecimal digits, or control characters")]
    Letters,
}

impl BadUrl {
    /// The rule an address must satisfy, as the completion of "must be".
    pub fn requirement(&self) -> String {
        match self {
            BadUrl::Password => "without a password: see hub.password_command, or ~/.pgpass".to_owned(),
            BadUrl::Scheme | BadUrl::User | BadUrl::Host | BadUrl::Database | BadUrl::Port => {
                "like postgres://USER@HOST:5432/DATABASE".to_owned()
            }
            BadUrl::Parameter(_) | BadUrl::Letters => {
                "like postgres://USER@HOST:5432/DATABASE, with nothing behind it".to_owned()
            }
        }
    }
}

const PORT: u16 = 5432;

pub fn parse(text: &str) -> Result<Url, BadUrl> {
    let rest = text.strip_prefix("postgres://").or_else(|| text.strip_prefix("postgresql://"));
    let rest = rest.ok_or(BadUrl::Scheme)?;
    let (rest, parameters) = rest.split_once('?').unwrap_or((rest, ""));
    let (authority, database) = rest.split_once('/').ok_or(BadUrl::Database)?;
    let (user, place) = authority.rsplit_once('@').ok_or(BadUrl::User)?;
    if user.contains(':') {
        return Err(BadUrl::Password);
    }
    let (place, port) = port_of(place)?;
    let socket = socket_of(parameters)?;
    let url = Url {
        host: socket.map_or_else(|| plain(place.trim_matches(['[', ']'])), Ok)?,
        port,
        database: plain(database)?,
        user: plain(user)?,
    };
    match &url {
        Url { host, .. } if host.is_empty() => Err(BadUrl::Host),
        Url { user, .. } if user.is_empty() => Err(BadUrl::User),
        Url { database, .. } if database.is_empty() || database.contains('/') => Err(BadUrl::Database),
        Url { .. } => Ok(url),
    }
}

fn port_of(place: &str) -> Result<(&str, u16), BadUrl> {
    let behind_brackets = place.rfind(']').map_or(0, |at| at + 1);
    match place[behind_brackets..].rfind(':') {
        None => Ok((place, PORT)),
        Some(at) => {
            let (host, port) = place.split_at(behind_brackets + at);
            let port: u16 = port[1..].parse().map_err(|_| BadUrl::Port)?;
            if port == 0 { Err(BadUrl::Port) } else { Ok((host, port)) }
        }
    }
}

/// The folder of a socket, which cannot be written as a host name.
fn socket_of(parameters: &str) -> Result<Option<String>, BadUrl> {
    let mut socket = None;
    for parameter in parameters.split('&').filter(|parameter| !parameter.is_empty()) {
        let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
        match name {
            "host" => socket = Some(plain(value)?),
            "password" | "sslpassword" => return Err(BadUrl::Password),
            _ => return Err(BadUrl::Parameter(plain(name)?)),
        }
    }
    Ok(socket)
}

/// Decodes percent escapes.
fn plain(text: &str) -> Result<String, BadUrl> {
    let mut bytes = vec![];
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
        bytes.push(match byte {
            b'%' => {
                let (high, low) = (digit(rest.next()), digit(rest.next()));
                let value = high.zip(low).map(|(high, low)| high * 16 + low);
                value.and_then(|value| u8::try_from(value).ok()).ok_or(BadUrl::Letters)?
            }
            byte => byte,
        });
    }
    let text = String::from_utf8(bytes).map_err(|_| BadUrl::Letters)?;
    if text.chars().any(char::is_control) { Err(BadUrl::Letters) } else { Ok(text) }
}

impl Url {
    /// Whether the connection stays on this machine.
    pub fn is_here(&self) -> bool {
        let number = self.host.parse::<std::net::IpAddr>();
        self.host.starts_with('/')
            || self.host == "localhost"
            || number.is_ok_and(|number| number.is_loopback())
    }
}

impl std::fmt::Display for Url {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} at {}:{} as {}", self.database, self.host, self.port, self.user)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Result<(&str, u16, &str, &str), BadUrl>) {
        let expected = expected.map(|(host, port, database, user)| Url {
            host: host.into(),
            port,
            database: database.into(),
            user: user.into(),
        });
        assert_eq!(parse(text), expected, "{text}");
    }

    #[test]
    fn an_address_is_read_as_people_write_it() {
        check("postgres://ann@hub.example/towline", Ok(("hub.example", 5432, "towline", "ann")));
        check("postgresql://ann@10.0.0.7:6432/t", Ok(("10.0.0.7", 6432, "t", "ann")));
        check("postgres://ann@[::1]:5433/t", Ok(("::1", 5433, "t", "ann")));
        check("postgres://a%40b@h/t", Ok(("h", 5432, "t", "a@b")));
        check("postgres://ann@%2Frun%2Fpg/t", Ok(("/run/pg", 5432, "t", "ann")));
        check("postgres://ann@/t?host=/run/pg", Ok(("/run/pg", 5432, "t", "ann")));
    }

    #[test]
    fn a_password_is_refused_wherever_it_stands_and_never_repeated() {
        check("postgres://ann:pw@h/t", Err(BadUrl::Password));
        check("postgres://ann:p@w@h/t", Err(BadUrl::Password));
        check("postgres://ann@h/t?password=pw", Err(BadUrl::Password));
        assert!(!BadUrl::Password.to_string().contains("pw"));
    }

    #[test]
    fn what_is_missing_or_strange_is_named() {
        check("mysql://ann@h/t", Err(BadUrl::Scheme));
        check("postgres://h/t", Err(BadUrl::User));
        check("postgres://ann@h", Err(BadUrl::Database));
        check("postgres://ann@/t", Err(BadUrl::Host));
        check("postgres://ann@h:0/t", Err(BadUrl::Port));
        check("postgres://ann@h:x/t", Err(BadUrl::Port));
        check("postgres://ann@h/t?sslmode=disable", Err(BadUrl::Parameter("sslmode".into())));
        check("postgres://ann@h%0a/t", Err(BadUrl::Letters));
        check("postgres://ann@h%f/t", Err(BadUrl::Letters));
    }

    #[test]
    fn sockets_and_loopback_are_this_machine_and_nothing_else_is() {
        let is_here =
            |host: &str| Url { host: host.into(), port: 1, database: "t".into(), user: "a".into() }.is_here();
        assert!(["/run/pg", "localhost", "127.0.0.1", "127.9.9.9", "::1"].into_iter().all(is_here));
        assert!(!["hub.example", "10.0.0.1", "localhost.example", "0.0.0.0"].into_iter().any(is_here));
    }
}
