//! A gateway of a test's own, in a process that ends with the test.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use crate::folder::Folder;

pub(crate) struct Serving {
    child: Child,
    address: String,
}

impl Serving {
    /// Starts it on a free port, with the folder's configuration and the folder for its data.
    pub(crate) fn start(folder: &Folder) -> (Self, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sabir"));
        command.args(["serve", "--listen", "127.0.0.1:0"]).current_dir(folder.path());
        command.env("SABIR_DATA_DIR", folder.path());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut banner = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut banner).unwrap();
        let address = banner.trim().rsplit('/').next().unwrap().to_owned();
        (Self { child, address: address.clone() }, address)
    }

    /// Sends a body with more lines of head, each ended, and returns all that comes back.
    pub(crate) fn post(&self, path: &str, head: &str, body: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let length = body.len();
        let request = format!(
            "POST {path} HTTP/1.1\r\nhost: {}\r\nconnection: close\r\ncontent-type: application/json\r\n{head}content-length: {length}\r\n\r\n{body}",
            self.address
        );
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
