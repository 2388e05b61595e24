//! The listening socket, the threads behind it, and how all of them come to an end.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::thread::JoinHandle;

use sabir_backend::http::Proxies;
use tokio::net::TcpListener;
use tokio::sync::watch;

use crate::Gateway;
use crate::server::worker;
use crate::server::worker::Worker;
use crate::state;

/// A gateway that listens.
#[derive(Debug)]
pub struct Server {
    gateway: Arc<Gateway>,
    listener: std::net::TcpListener,
    address: SocketAddr,
    proxies: Proxies,
    stop: watch::Sender<bool>,
}

/// Tells a server to stop: new requests are refused, streams may finish.
#[derive(Clone, Debug)]
pub struct Stop(watch::Sender<bool>);

impl Stop {
    pub fn stop(&self) {
        self.0.send_replace(true);
    }
}

/// Why a gateway cannot listen.
#[derive(Debug)]
pub struct ServerError(String);

impl Server {
    /// Binds the configured address.
    pub fn bind(gateway: Arc<Gateway>, proxies: Proxies) -> Result<Self, ServerError> {
        let config = gateway.config();
        let address = config.listen;
        if let Some(refusal) = config.bind_refusal() {
            return Err(ServerError(refusal));
        }
        let failed = |error: io::Error| {
            let hint = match error.kind() {
                io::ErrorKind::AddrInUse => {
                    "; another program, perhaps another sabir, listens there: use --listen"
                }
                _ => "",
            };
            ServerError(format!("cannot listen on {address}: {error}{hint}"))
        };
        let listener = std::net::TcpListener::bind(address).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let (stop, _) = watch::channel(false);
        Ok(Self { gateway, listener, address, proxies, stop })
    }

    /// Where it listens, with the port that the system chose if none was asked for.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    pub fn stop_handle(&self) -> Stop {
        Stop(self.stop.clone())
    }

    /// Serves until a signal or its [`Stop`] says to stop and the last stream has ended or run out of time.
    pub fn run(self) -> Result<(), ServerError> {
        self.run_until(signalled())
    }

    /// Serves until its [`Stop`] says to stop; signals are left to the rest of the process.
    pub fn run_until_stopped(self) -> Result<(), ServerError> {
        self.run_until(std::future::pending())
    }

    fn run_until(self, end: impl Future<Output = ()>) -> Result<(), ServerError> {
        let failed = |error: io::Error| ServerError(format!("cannot start: {error}"));
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(failed)?;
        let (workers, handles) = self.start_workers(state::threads()).map_err(failed)?;
        let Self { gateway, listener, stop, .. } = self;
        runtime.block_on(async {
            let listener = TcpListener::from_std(listener).map_err(failed)?;
            tokio::select! {
                () = accept(&listener, &workers, stop.subscribe()) => {}
                () = end => {}
            }
            stop.send_replace(true);
            Ok(())
        })?;
        gateway.stop();
        drop(workers);
        for handle in handles {
            let _ = handle.join();
        }
        Ok(())
    }

    fn start_workers(&self, threads: usize) -> io::Result<(Vec<Worker>, Vec<JoinHandle<()>>)> {
        let mut workers = Vec::with_capacity(threads);
        let mut handles = Vec::with_capacity(threads);
        for number in 0..threads {
            let load = Arc::new(AtomicUsize::new(0));
            let seat = worker::Seat {
                gateway: Arc::clone(&self.gateway),
                proxies: self.proxies.clone(),
                load: Arc::clone(&load),
            };
            let (worker, handle) = worker::start(number, seat, load)?;
            workers.push(worker);
            handles.push(handle);
        }
        Ok((workers, handles))
    }
}

/// Waits until the user or the system asks the process to end. A second time ends it at once.
async fn signalled() {
    asked_to_end().await;
    std::thread::spawn(|| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        if let Ok(runtime) = runtime {
            runtime.block_on(asked_to_end());
            std::process::exit(130);
        }
    });
}

#[cfg(unix)]
async fn asked_to_end() {
    use tokio::signal::unix::SignalKind;
    use tokio::signal::unix::signal;
    match signal(SignalKind::terminate()) {
        Ok(mut terminate) => tokio::select! {
            _ = tokio::signal::ctrl_c() => {}
            _ = terminate.recv() => {}
        },
        Err(_) => {
            let _ = tokio::signal::ctrl_c().await;
        }
    }
}

#[cfg(not(unix))]
async fn asked_to_end() {
    let _ = tokio::signal::ctrl_c().await;
}

/// Hands each connection to the thread that has the fewest.
async fn accept(listener: &TcpListener, workers: &[Worker], mut stop: watch::Receiver<bool>) {
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = stop.wait_for(|is_told| *is_told) => return,
        };
        match accepted {
            Ok((stream, _)) => {
                let least = workers.iter().min_by_key(|worker| worker.load.load(Relaxed));
                if let (Some(worker), Ok(stream)) = (least, stream.into_std()) {
                    worker.load.fetch_add(1, Relaxed);
                    let _ = worker.connections.send(stream).await;
                }
            }
            // Out of descriptors, or a client that left at once: neither is worth the server's life.
            Err(error) => {
                tracing::warn!(target: "sabir", %error, "a connection could not be taken");
                tokio::time::sleep(std::time::Duration::from_millis(20)).await;
            }
        }
    }
}

impl fmt::Display for ServerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ServerError {}
