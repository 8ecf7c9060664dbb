//! One database connection: every query is a transaction of its own, with a deadline on both sides.
//!
//! Keeps no session state, neither settings nor prepared statements, so that a pooler may use another server connection
//! for every transaction. After a missed deadline the connection is dropped: its next answer would be undefined.

use crate::address::{HubAddress, HubPassword, Tls};
use crate::error::{HubError, Result};
use crate::tls;
use crate::value::SqlValue;
use std::future::Future;
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};
use tokio_postgres::config::SslMode;
use tokio_postgres::types::FromSql;
use tokio_postgres::{Client, Config, NoTls, Row};
use tokio_postgres_rustls::MakeRustlsConnect;

/// One SQL statement and its values.
pub(crate) struct SqlCall {
    pub sql: &'static str,
    pub values: Vec<SqlValue>,
}

pub(crate) struct HubConn {
    address: HubAddress,
    patience: Duration,
    /// `None` only during drop.
    runtime: Option<Runtime>,
    client: Option<Client>,
}

impl HubConn {
    pub fn open(address: &HubAddress, secret: Option<&HubPassword>, patience: Duration) -> Result<HubConn> {
        if address.tls == Tls::Plain && !address.is_here() {
            let why = "the server is on another machine, and TLS is off".to_owned();
            return Err(HubError::Unprotected { place: address.to_string(), why });
        }
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| other(address, error.to_string()))?;
        let mut link = HubConn { address: address.clone(), patience, runtime: Some(runtime), client: None };
        let config = config(address, secret, patience);
        let client = match &address.tls {
            Tls::Verified { ca } => {
                let tls = MakeRustlsConnect::new(tls::client_config(ca.as_deref(), address)?);
                link.within(connect(&config, tls))?
            }
            Tls::Plain | Tls::PlainAnywhere => link.within(connect(&config, NoTls))?,
        };
        link.client = Some(client);
        Ok(link)
    }

    pub fn address(&self) -> &HubAddress {
        &self.address
    }

    pub fn query(&mut self, sql: &'static str, values: Vec<SqlValue>) -> Result<Vec<Row>> {
        let answers = self.query_all(&[SqlCall { sql, values }])?;
        Ok(answers.into_iter().next().unwrap_or_default())
    }

    /// Runs several statements in one transaction.
    pub fn query_all(&mut self, statements: &[SqlCall]) -> Result<Vec<Vec<Row>>> {
        let begin = format!("begin; set local statement_timeout = {}", self.patience.as_millis().max(1));
        self.with_client(async |client| {
            client.batch_execute(&begin).await?;
            let answers = run_statements(client, statements).await;
            let end = if answers.is_ok() { "commit" } else { "rollback" };
            // Of two errors the first is more useful.
            let ended = client.batch_execute(end).await;
            let answers = answers?;
            ended.map(|()| answers)
        })
    }

    /// Runs a script that contains its own transaction control.
    pub fn run(&mut self, script: &str) -> Result<()> {
        self.with_client(async |client| {
            let ran = client.batch_execute(script).await;
            if ran.is_err() {
                let _ = client.batch_execute("rollback").await;
            }
            ran
        })
    }

    /// The single row of an answer that always has one.
    pub fn only<'a>(&self, rows: &'a [Row]) -> Result<&'a Row> {
        rows.first().ok_or_else(|| other(&self.address, "it gave no answer".into()))
    }

    pub fn read<'a, T: FromSql<'a>>(&self, row: &'a Row, column: &str) -> Result<T> {
        row.try_get(column).map_err(|error| other(&self.address, error.to_string()))
    }

    fn with_client<T>(
        &mut self,
        work: impl AsyncFnOnce(&Client) -> Result<T, tokio_postgres::Error>,
    ) -> Result<T> {
        let Some(client) = self.client.take() else {
            let why = "the connection is closed".to_owned();
            return Err(HubError::Unreachable { place: self.address.to_string(), why });
        };
        let done = self.within(work(&client));
        if !client.is_closed() && !matches!(done, Err(HubError::Timeout { .. })) {
            self.client = Some(client);
        }
        done
    }

    fn within<T>(&self, work: impl Future<Output = Result<T, tokio_postgres::Error>>) -> Result<T> {
        let Some(runtime) = &self.runtime else {
            return Err(other(&self.address, "the connection is being closed".into()));
        };
        let done = runtime.block_on(async { tokio::time::timeout(self.patience, work).await });
        match done {
            Ok(done) => done.map_err(|error| HubError::of(&error, &self.address)),
            Err(_) => Err(HubError::Timeout {
                place: self.address.to_string(),
                patience_ms: self.patience.as_millis(),
            }),
        }
    }
}

impl Drop for HubConn {
    fn drop(&mut self) {
        // Tells the server about the disconnect, without waiting for a pending name lookup.
        if let (Some(client), Some(runtime)) = (self.client.take(), &self.runtime) {
            drop(client);
            runtime.block_on(tokio::task::yield_now());
        }
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

async fn run_statements(
    client: &Client,
    statements: &[SqlCall],
) -> Result<Vec<Vec<Row>>, tokio_postgres::Error> {
    let mut answers = Vec::with_capacity(statements.len());
    for statement in statements {
        let values: Vec<_> = statement.values.iter().map(SqlValue::typed).collect();
        answers.push(client.query_typed(statement.sql, &values).await?);
    }
    Ok(answers)
}

async fn connect<T>(config: &Config, tls: T) -> Result<Client, tokio_postgres::Error>
where
    T: tokio_postgres::tls::MakeTlsConnect<tokio_postgres::Socket>,
    T::Stream: Send + 'static,
{
    let (client, connection) = config.connect(tls).await?;
    // Its errors surface in the next query.
    tokio::spawn(async move {
        let _ = connection.await;
    });
    Ok(client)
}

fn config(address: &HubAddress, secret: Option<&HubPassword>, patience: Duration) -> Config {
    let mut config = Config::new();
    config
        .host(&address.host)
        .port(address.port)
        .dbname(&address.database)
        .user(&address.user)
        .application_name("towline")
        .connect_timeout(patience)
        .ssl_mode(match address.tls {
            Tls::Verified { .. } => SslMode::Require,
            Tls::Plain | Tls::PlainAnywhere => SslMode::Disable,
        });
    if let Some(secret) = secret {
        config.password(secret.bytes());
    }
    config
}

fn other(address: &HubAddress, why: String) -> HubError {
    HubError::Other { place: address.to_string(), why }
}
