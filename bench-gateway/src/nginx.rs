//! The yardstick: nginx as a plain reverse proxy with kept connections, which translates nothing.

use std::net::SocketAddr;
use std::process::Command;
use std::thread;

use anyhow::{Result, ensure};

use crate::process;
use crate::process::Process;

pub(crate) fn start(upstream: SocketAddr) -> Result<Process> {
    let is_there = Command::new("nginx").arg("-v").output().is_ok();
    ensure!(
        is_there,
        "nginx is the yardstick and is not installed: apt-get install -y nginx-light"
    );
    let address = process::free_address()?;
    let folder = process::folder("nginx")?;
    let config = process::write(&folder, "nginx.conf", &config(address, upstream))?;
    let nginx = || {
        let mut command = Command::new("nginx");
        command.arg("-p").arg(&folder).arg("-c").arg(&config).arg("-e").arg("error.log");
        command
    };
    let mut stop = nginx();
    stop.args(["-s", "stop"]);
    let command = nginx();
    Process::start(command, address, folder.clone(), Some(stop))
}

/// Bodies stay in memory and streams are not held back: what a proxy for models would be set to.
fn config(address: SocketAddr, upstream: SocketAddr) -> String {
    let workers = thread::available_parallelism().map_or(1, usize::from);
    format!(
        "daemon off;
worker_processes {workers};
worker_rlimit_nofile 20000;
pid nginx.pid;
events {{ worker_connections 10000; }}
http {{
    access_log off;
    client_body_temp_path body;
    proxy_temp_path proxy;
    fastcgi_temp_path fastcgi;
    uwsgi_temp_path uwsgi;
    scgi_temp_path scgi;
    client_max_body_size 64m;
    client_body_buffer_size 4m;
    keepalive_requests 10000000;
    keepalive_timeout 600s;
    tcp_nodelay on;
    upstream mock {{
        server {upstream};
        keepalive 512;
        keepalive_requests 10000000;
    }}
    server {{
        listen {address} backlog=4096;
        location / {{
            proxy_pass http://mock;
            proxy_http_version 1.1;
            proxy_set_header Connection \"\";
            proxy_buffering off;
            proxy_read_timeout 600s;
        }}
    }}
}}
"
    )
}
