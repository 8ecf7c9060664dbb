//! A connection without the hub client, for comparison and for administration.
//!
//! Uses the client's library, encryption and password, so that only the client's own work differs.

use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use bytes::BytesMut;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use tokio::runtime::{Builder, Runtime};
use tokio_postgres::types::{IsNull, ToSql, Type, accepts, to_sql_checked};
use tokio_postgres::{Client, Config, Row, Statement};
use tokio_postgres_rustls::MakeRustlsConnect;
use towline_core::id::Uid;
use towline_hub::HubAddress;

pub struct Database {
    runtime: Runtime,
    client: Client,
}

pub type Values<'a> = &'a [&'a (dyn ToSql + Sync)];

impl Database {
    pub fn connect(address: &HubAddress, password: &str, ca: &Path) -> Database {
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        let mut config = Config::new();
        config.host(&address.host).port(address.port).dbname(&address.database).user(&address.user);
        config.password(password).ssl_mode(tokio_postgres::config::SslMode::Require);
        let client = runtime.block_on(async {
            let (client, connection) = config.connect(connector(ca)).await.unwrap();
            tokio::spawn(async move { drop(connection.await) });
            client
        });
        Database { runtime, client }
    }

    pub fn run(&self, script: &str) {
        self.runtime.block_on(self.client.batch_execute(script)).unwrap();
    }

    pub fn prepared(&self, sql: &str) -> Statement {
        self.runtime.block_on(self.client.prepare(sql)).unwrap()
    }

    pub fn execute(&self, statement: &Statement, values: Values<'_>) -> u64 {
        self.runtime.block_on(self.client.execute(statement, values)).unwrap()
    }

    pub fn ask(&self, sql: &str, values: Values<'_>) -> Vec<Row> {
        self.runtime.block_on(self.client.query(sql, values)).unwrap()
    }

    pub fn number(&self, sql: &str) -> i64 {
        self.ask(sql, &[])[0].get(0)
    }
}

fn connector(ca: &Path) -> MakeRustlsConnect {
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_file_iter(ca).unwrap() {
        roots.add(certificate.unwrap()).unwrap();
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    MakeRustlsConnect::new(config.with_root_certificates(roots).with_no_client_auth())
}

/// A uid as PostgreSQL's `uuid`.
#[derive(Debug)]
pub struct BenchUid(pub Uid);

impl ToSql for BenchUid {
    fn to_sql(&self, _: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        out.extend_from_slice(&self.0.0);
        Ok(IsNull::No)
    }

    accepts!(UUID);
    to_sql_checked!();
}
