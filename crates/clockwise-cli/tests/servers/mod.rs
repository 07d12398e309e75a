//! Real servers for the tests that need them: started on free ports of the loopback, stopped by their process id.
//!
//! Promises that a server answers before a test sees it, and that none outlives its test. A program that is missing
//! fails the test: `./test` installs all of them.

#![allow(dead_code, reason = "each file of tests uses its own part")]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use redis::{Cmd, Connection, FromRedisValue, Pipeline};
use tempfile::TempDir;

/// A server that runs.
pub(crate) struct Server {
    child: Child,
    pub(crate) port: u16,
    /// The port of a cluster's own traffic.
    pub(crate) bus_port: u16,
    _folder: TempDir,
}

impl Server {
    /// A redis-server with these options besides those that it needs.
    pub(crate) fn redis(options: &[&str]) -> Self {
        Self::start(|port, bus_port, folder| {
            let mut command = Command::new("redis-server");
            // With a port for TLS the plain one is closed.
            let tls = options.contains(&"--tls-cert-file");
            let (plain, secret) = if tls { (0, port) } else { (port, 0) };
            command.args(["--port", &plain.to_string()]);
            if tls {
                command.args(["--tls-port", &secret.to_string()]);
            }
            if options.contains(&"--cluster-enabled") {
                command.args(["--cluster-port", &bus_port.to_string()]);
            }
            command
                .args(["--bind", "127.0.0.1", "--save", "", "--dir"])
                .arg(folder)
                .args(options);
            command
        })
    }

    /// A memcached.
    pub(crate) fn memcached() -> Self {
        Self::start(|port, _, _| {
            let mut command = Command::new("memcached");
            // It takes -u only from root, and without it root is refused.
            command.args([
                "-l",
                "127.0.0.1",
                "-U",
                "0",
                "-u",
                "root",
                "-m",
                "512",
                "-p",
            ]);
            command.arg(port.to_string());
            command
        })
    }

    /// Starts a server, on other ports where somebody else was faster.
    fn start(command: impl Fn(u16, u16, &std::path::Path) -> Command) -> Self {
        for _ in 0..ATTEMPTS {
            let folder = tempfile::tempdir().unwrap();
            let [port, bus_port] = free_ports();
            let mut command = command(port, bus_port, folder.path());
            let program = command.get_program().to_string_lossy().into_owned();
            let child = command.stdin(Stdio::null()).stdout(Stdio::null()).spawn();
            let child = child.unwrap_or_else(|error| {
                panic!("{program}: {error} (./test installs it, or apt-get install {program})")
            });
            let mut server = Self {
                child,
                port,
                bus_port,
                _folder: folder,
            };
            let mut runs = true;
            wait_until(&program, || {
                runs = server.child.try_wait().unwrap().is_none();
                !runs || TcpStream::connect(("127.0.0.1", port)).is_ok()
            });
            // Whoever took the port answers as well, but then the server ends at once.
            if runs && server.answers(&program) {
                return server;
            }
        }
        panic!("no server came up in {ATTEMPTS} attempts");
    }

    /// Whether it answers, in the words of its protocol. One that wants a login or TLS has done so by accepting.
    fn answers(&mut self, program: &str) -> bool {
        let question: &[u8] = match program {
            "memcached" => b"version\r\n",
            _ => b"PING\r\n",
        };
        // Whoever took the port may have left since.
        let Ok(mut stream) = TcpStream::connect(("127.0.0.1", self.port)) else {
            return false;
        };
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.write_all(question).unwrap();
        // A server for TLS ends the connection.
        let _ = stream.read(&mut [0; 64]);
        self.child.try_wait().unwrap().is_none()
    }

    /// `127.0.0.1:port`.
    pub(crate) fn place(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// A connection to this Redis, with what comes before the host in an address.
    pub(crate) fn connect(&self, credentials: &str) -> Connection {
        let address = format!("redis://{credentials}{}", self.place());
        redis::Client::open(address)
            .unwrap()
            .get_connection()
            .unwrap()
    }

    /// Stores keys in this memcached.
    pub(crate) fn store(&self, keys: &[Vec<u8>]) {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        let mut text = Vec::new();
        for key in keys {
            text.extend_from_slice(b"set ");
            text.extend_from_slice(key);
            text.extend_from_slice(b" 0 0 2 noreply\r\nxy\r\n");
        }
        text.extend_from_slice(b"version\r\n");
        let mut writer = stream.try_clone().unwrap();
        let writer = thread::spawn(move || writer.write_all(&text).unwrap());
        let mut line = String::new();
        BufReader::new(&mut stream).read_line(&mut line).unwrap();
        writer.join().unwrap();
        assert!(line.starts_with("VERSION "), "{line}");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // By its process id. It has nothing to save.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Asks a Redis.
pub(crate) fn ask<T: FromRedisValue>(connection: &mut Connection, words: &str) -> T {
    let mut command = Cmd::new();
    for word in words.split(' ') {
        command.arg(word);
    }
    command.query(connection).unwrap()
}

/// Sets every key in a Redis.
pub(crate) fn set_all<'a>(connection: &mut Connection, keys: impl IntoIterator<Item = &'a [u8]>) {
    let keys: Vec<&[u8]> = keys.into_iter().collect();
    for part in keys.chunks(1000) {
        let mut pipeline = Pipeline::new();
        for key in part {
            pipeline.cmd("SET").arg(*key).arg("value").ignore();
        }
        pipeline.query::<()>(connection).unwrap();
    }
}

/// A server of the test's own: gives each connection these answers, one for each command that comes, and then holds
/// its tongue, or hangs up.
pub(crate) fn scripted(answers: &'static [&'static str], hangs_up: bool) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            thread::spawn(move || {
                let mut buffer = [0; 4096];
                for answer in answers {
                    let _ = stream.read(&mut buffer);
                    let _ = stream.write_all(answer.as_bytes());
                }
                // Until the other side goes.
                while !hangs_up && stream.read(&mut buffer).is_ok_and(|read| read > 0) {}
            });
        }
    });
    port
}

/// A port where nobody listens.
pub(crate) fn free_port() -> u16 {
    free_ports::<1>()[0]
}

/// Ports that are free at this moment, all different.
fn free_ports<const N: usize>() -> [u16; N] {
    let listeners: [TcpListener; N] =
        std::array::from_fn(|_| TcpListener::bind("127.0.0.1:0").unwrap());
    listeners.map(|listener| listener.local_addr().unwrap().port())
}

/// Looks again and again, up to a deadline.
#[expect(
    clippy::disallowed_methods,
    reason = "a deadline ends a test that would hang; no result depends on the time"
)]
pub(crate) fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let started = Instant::now();
    while !holds() {
        assert!(started.elapsed() < PATIENCE, "waited in vain for {what}");
        thread::park_timeout(Duration::from_millis(5));
    }
}

/// Far more than a server takes to start on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);
/// Ports that somebody else takes between the look and the start are rare.
const ATTEMPTS: u32 = 5;
