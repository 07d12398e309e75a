//! Keys of a live Redis or Valkey, alone or a cluster, by SCAN.
//!
//! What it is: SCAN from cursor to cursor over one database, or over every master of a cluster, one after the other.
//! What it promises: AUTH, SELECT, INFO, CLUSTER NODES, DBSIZE, SCAN and MEMORY USAGE are all that is ever sent; no
//! more keys a second than asked for, all masters together. What it does not: split the load between replicas, or
//! follow slots that move meanwhile. Cost: a server is kept busy for about a millisecond by each SCAN of 1000 keys.

use std::time::Duration;

use ::redis::{
    Client, Cmd, Connection, ConnectionAddr, ErrorKind, IntoConnectionInfo as _, Pipeline,
    RedisConnectionInfo, RedisError, TlsCertificates,
};
use clockwise_plan::keys::Escaped;
use clockwise_plan::{Warning, grouped};

use super::address::{Address, place};
use super::cluster::{Masters, SLOTS};
use super::pace::Pace;
use super::{Done, Feed, TIMEOUT};
use crate::args::KeyArgs;
use crate::clock::Moment;
use crate::failure::Failure;

/// A Redis to be asked.
#[derive(Debug)]
pub(crate) struct Redis {
    address: Address,
    db: u32,
    rate: u64,
    /// The certificates to trust, in PEM.
    ca: Option<Vec<u8>>,
}

impl Redis {
    /// The server behind `redis://` or `rediss://`.
    pub(crate) fn parse(scheme: &'static str, rest: &str, args: &KeyArgs) -> Result<Self, Failure> {
        let refuse = |reason: &str| {
            Failure::usage(format!("--keys {scheme}://...: {reason}"))
                .hint(format!("write {scheme}://[[user]:password@]host:port[/db]"))
        };
        let mut address = Address::parse(scheme, rest, 6379).map_err(|reason| refuse(&reason))?;
        let db = match address.path.as_str() {
            "" => Some(0),
            digits if digits.bytes().all(|byte| byte.is_ascii_digit()) => digits.parse().ok(),
            _ => None,
        };
        let db = db.ok_or_else(|| refuse("the database must be a number"))?;
        if address.password.is_none() {
            address.password = std::env::var(PASSWORD_VARIABLE)
                .ok()
                .filter(|password| !password.is_empty());
        }
        if address.user.is_some() && address.password.is_none() {
            return Err(refuse(
                "a user without a password: a password alone is written with a colon before it",
            ));
        }
        let ca = args.tls_ca.as_ref().map(|path| {
            let shown = path.display();
            let pem = std::fs::read(path)
                .map_err(|error| Failure::usage(format!("--tls-ca {shown}: {error}")))?;
            let begin = b"-----BEGIN CERTIFICATE-----";
            if !pem.windows(begin.len()).any(|part| part == begin) {
                return Err(Failure::usage(format!(
                    "--tls-ca {shown}: there is no certificate in it"
                ))
                .hint("name a PEM file with the certificate of the CA"));
            }
            Ok(pem)
        });
        let redis = Self {
            address,
            db,
            rate: args.scan_rate.unwrap_or(DEFAULT_RATE),
            ca: ca.transpose()?,
        };
        // Certificates that cannot be read are found before anything is connected.
        redis
            .client(&redis.address.host, redis.address.port)
            .map_err(|error| {
                let error = error.to_string();
                Failure::usage(format!("--keys {}: {}", redis.name(), redis.shown(&error)))
            })?;
        Ok(redis)
    }

    /// The address without its password.
    pub(crate) fn name(&self) -> String {
        self.address.to_string()
    }

    /// Reads all keys.
    pub(crate) fn scan(self, feed: &mut Feed) -> Result<Done, Failure> {
        let (host, port) = (self.address.host.as_str(), self.address.port);
        let failed = |error| self.explain(&place(host, port), &error, 0);
        let mut connection = self.connect(host, port).map_err(failed)?;
        let info: String = Cmd::new()
            .arg("INFO")
            .arg("cluster")
            .query(&mut connection)
            .map_err(failed)?;
        let mut warnings = Vec::new();
        let mut of_whom = String::new();
        let mut connections = Vec::new();
        if info.lines().any(|line| line == "cluster_enabled:1") {
            let nodes: String = Cmd::new()
                .arg("CLUSTER")
                .arg("NODES")
                .query(&mut connection)
                .map_err(failed)?;
            let masters = Masters::parse(&nodes, self.is_tls()).map_err(|reason| {
                let text = format!("redis at {}: {}", place(host, port), self.shown(&reason));
                Failure::unreachable(text)
            })?;
            for master in &masters.masters {
                let (host, port) = match &master.place {
                    None => (host, port),
                    Some((host, port)) => (host.as_str(), *port),
                };
                let place = place(host, port);
                let connection = self.connect(host, port);
                let connection = connection.map_err(|error| self.explain(&place, &error, 0))?;
                connections.push((connection, place));
            }
            of_whom = format!("{} masters, ", connections.len());
            warnings.extend(doubts(&masters));
        } else {
            connections.push((connection, place(host, port)));
        }
        let mut expected = 0;
        for (connection, place) in &mut connections {
            let size: u64 = Cmd::new()
                .arg("DBSIZE")
                .query(connection)
                .map_err(|error| self.explain(place, &error, 0))?;
            expected += size;
        }
        feed.expect(expected);

        let count = (self.rate / 10).clamp(10, MOST_AT_ONCE);
        let mut scan = Scan {
            count,
            pace: Pace::new(self.rate, count),
            started: Moment::now(),
            sizes: Sizes::default(),
        };
        for (connection, place) in &mut connections {
            scan.all(connection, feed)
                .map_err(|error| self.explain(place, &error, feed.given()))?;
        }
        Ok(Done {
            text: format!("{of_whom}SCAN{}", scan.sizes.describe()),
            bad: 0,
            warnings,
        })
    }

    fn is_tls(&self) -> bool {
        self.address.scheme == "rediss"
    }

    fn client(&self, host: &str, port: u16) -> Result<Client, RedisError> {
        let mut settings = RedisConnectionInfo::default()
            .set_db(self.db.into())
            .set_skip_set_lib_name();
        if let Some(user) = &self.address.user {
            settings = settings.set_username(user);
        }
        if let Some(password) = &self.address.password {
            settings = settings.set_password(password);
        }
        let host = host.to_owned();
        if !self.is_tls() {
            let address = ConnectionAddr::Tcp(host, port).into_connection_info()?;
            return Client::open(address.set_redis_settings(settings));
        }
        let address = ConnectionAddr::TcpTls {
            host,
            port,
            insecure: false,
            tls_params: None,
        };
        let certificates = TlsCertificates {
            client_tls: None,
            root_cert: self.ca.clone(),
        };
        let address = address.into_connection_info()?;
        Client::build_with_tls(address.set_redis_settings(settings), certificates)
    }

    fn connect(&self, host: &str, port: u16) -> Result<Connection, RedisError> {
        let connection = self
            .client(host, port)?
            .get_connection_with_timeout(TIMEOUT)?;
        connection.set_read_timeout(Some(TIMEOUT))?;
        connection.set_write_timeout(Some(TIMEOUT))?;
        Ok(connection)
    }

    /// Text from the server, fit to be shown: without controls, and without the password, which a server that does
    /// not know AUTH repeats.
    fn shown(&self, text: &str) -> String {
        let text = match &self.address.password {
            Some(password) if !password.is_empty() => text.replace(password.as_str(), "***"),
            _ => text.to_owned(),
        };
        Escaped(text.as_bytes()).to_string()
    }

    fn explain(&self, place: &str, error: &RedisError, given: u64) -> Failure {
        let text = error.to_string();
        let code = error.code().unwrap_or_default();
        let hint = if error.kind() == ErrorKind::AuthenticationFailed
            || ["NOAUTH", "WRONGPASS"].contains(&code)
        {
            format!(
                "give the password as {}://:PASSWORD@HOST:PORT or in {PASSWORD_VARIABLE}",
                self.address.scheme
            )
        } else if code == "NOPERM" {
            "the user needs +info +cluster|nodes +dbsize +scan; +memory|usage for sizes".to_owned()
        } else if text.contains("certificate") {
            "name the CA's certificate with --tls-ca FILE, and the server as its certificate does"
                .to_owned()
        } else if error.is_connection_refusal() {
            "does it run, and does it listen there?".to_owned()
        } else if error.is_io_error() {
            let other = if self.is_tls() { "redis" } else { "rediss" };
            format!("look at host, port and firewall; is it {other}:// perhaps?")
        } else {
            "SCAN, DBSIZE and INFO have to be allowed, of the database named".to_owned()
        };
        let so_far = match given {
            0 => String::new(),
            given => format!(" after {} keys", grouped(given)),
        };
        let text = if error.is_timeout() {
            format!("no answer within {} s", TIMEOUT.as_secs())
        } else {
            self.shown(&text)
        };
        Failure::unreachable(format!("cannot read redis at {place}{so_far}: {text}")).hint(hint)
    }
}

/// One pass over all servers.
struct Scan {
    /// Keys to ask for at once.
    count: u64,
    pace: Pace,
    started: Moment,
    sizes: Sizes,
}

impl Scan {
    fn all(&mut self, connection: &mut Connection, feed: &mut Feed) -> Result<(), RedisError> {
        let mut cursor = 0_u64;
        while !feed.is_stopped() {
            let (next, keys): (u64, Vec<Vec<u8>>) = Cmd::new()
                .arg("SCAN")
                .arg(cursor)
                .arg("COUNT")
                .arg(self.count)
                .query(connection)?;
            let new: Vec<&Vec<u8>> = keys.iter().filter(|key| feed.key(key, None)).collect();
            self.sizes.sample(&new, connection)?;
            feed.flush();
            if next == 0 {
                break;
            }
            cursor = next;
            // An answer without keys has cost the server as much: where most were deleted, nearly all are like that.
            let cost = (keys.len() as u64).max(self.count / 10);
            let wait = self.pace.take(cost, self.started.elapsed());
            if wait > Duration::ZERO {
                std::thread::sleep(wait);
            }
        }
        Ok(())
    }
}

/// Sizes of one key in a hundred.
#[derive(Debug, Default)]
struct Sizes {
    /// New keys so far.
    passed: u64,
    asked: u64,
    known: u64,
    bytes: u64,
    refused: bool,
}

impl Sizes {
    fn sample(&mut self, new: &[&Vec<u8>], connection: &mut Connection) -> Result<(), RedisError> {
        let mut questions = Pipeline::new();
        for key in new {
            if self.passed.is_multiple_of(EVERY) && self.asked < MOST_SIZES && !self.refused {
                self.asked += 1;
                questions.cmd("MEMORY").arg("USAGE").arg(key.as_slice());
            }
            self.passed += 1;
        }
        if questions.is_empty() {
            return Ok(());
        }
        match questions.query::<Vec<Option<u64>>>(connection) {
            Ok(sizes) => {
                for bytes in sizes.into_iter().flatten() {
                    self.known += 1;
                    self.bytes = self.bytes.saturating_add(bytes);
                }
                Ok(())
            }
            Err(error) if error.is_io_error() => Err(error),
            // Old, or not allowed: keys are what was asked for.
            Err(_) => {
                self.refused = true;
                Ok(())
            }
        }
    }

    fn describe(&self) -> String {
        match self.bytes.checked_div(self.known) {
            None => String::new(),
            Some(mean) => format!(
                "; {} bytes a key, the mean of {} by MEMORY USAGE",
                grouped(mean),
                grouped(self.known)
            ),
        }
    }
}

/// What a cluster in this state makes uncertain.
fn doubts(masters: &Masters) -> Vec<Warning> {
    let mut warnings = Vec::new();
    if masters.slots < SLOTS {
        warnings.push(Warning::new(
            "live-keys",
            format!(
                "the cluster serves {} of {} slots: keys in the others were not read",
                grouped(masters.slots),
                grouped(SLOTS)
            ),
        ));
    }
    if masters.moving {
        warnings.push(Warning::new(
            "live-keys",
            "slots are moving between the cluster's masters: some of their keys may have been missed",
        ));
    }
    warnings
}

/// Where a password may stand that is not to be seen in a list of processes.
const PASSWORD_VARIABLE: &str = "CLOCKWISE_REDIS_PASSWORD";
/// Keys a second: about a twentieth of what a server can give, so that its clients do not notice.
const DEFAULT_RATE: u64 = 50_000;
/// Keys that a SCAN is to look at: more of them would keep the server's other clients waiting longer.
const MOST_AT_ONCE: u64 = 1000;
/// One key in so many is asked for its size, and no more than so many keys: a mean needs no more.
const EVERY: u64 = 100;
const MOST_SIZES: u64 = 10_000;
