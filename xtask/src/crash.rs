//! Kills a gateway under load at random moments, starts it again on the same store, and compares what its clients were
//! acknowledged with what is there. The seed that is printed first repeats a run's choices.

mod answer;
mod client;
mod http;
mod place;
mod random;
mod report;
mod server;
mod story;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, bail};

use self::client::{Visitor, World};
use self::place::{Engine, Place};
use self::random::Random;
use self::report::{Finding, Report};
use self::server::Server;
use self::story::LOCK_MAX;

const VISITORS: usize = 6;
/// How long a gateway lives under load, in milliseconds.
const LIFE: std::ops::Range<u64> = 5..350;

pub(crate) fn run(arguments: &[String]) -> Result<ExitCode> {
    let options = Options::parse(arguments)?;
    println!("seed {}, {:?}", options.seed, options.engine);
    let binary = match &options.binary {
        Some(binary) => binary.canonicalize().with_context(|| format!("{}", binary.display()))?,
        None => server::build()?,
    };
    let place = Place::new(options.engine, options.seed)?;
    let simulators = Server::simulators(&binary, &place.folder)?;
    server::configure(&place.folder, simulators.address, &place.url)?;
    let mut crashes = Crashes::new(&options, simulators.address);
    let began = Instant::now();
    let is_over = |kills: u64| {
        kills >= options.kills || options.time.is_some_and(|time| began.elapsed() >= time)
    };
    while !is_over(crashes.kills) {
        crashes.once(&binary, &place.folder)?;
    }
    crashes.verify(&binary, &place.folder, &options)?;
    let report = crashes.report();
    println!("{} kills in {} s: {}", crashes.kills, began.elapsed().as_secs(), report.summary());
    Ok(if report.findings() == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

struct Options {
    kills: u64,
    /// No kill comes later, and nothing is waited for behind it.
    time: Option<Duration>,
    engine: Engine,
    seed: u64,
    /// A gateway to kill in the place of one that is built first: a copy that nobody builds anew meanwhile.
    binary: Option<PathBuf>,
}

impl Options {
    fn parse(arguments: &[String]) -> Result<Self> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let seed = u64::from(now.subsec_nanos());
        let (time, engine, binary) = (None, Engine::Sqlite, None);
        let mut options = Self { kills: 1_000, time, engine, seed, binary };
        for pair in arguments.chunks(2) {
            let [name, value] = pair else { bail!("{}: a value is missing", pair[0]) };
            let number = || value.parse::<u64>().with_context(|| format!("{name}: no number"));
            match name.as_str() {
                "--kills" => options.kills = number()?,
                "--seconds" => options.time = Some(Duration::from_secs(number()?)),
                "--seed" => options.seed = number()?,
                "--binary" => options.binary = Some(PathBuf::from(value)),
                "--store" => options.engine = Engine::parse(value)?,
                _ => bail!("unknown argument {name:?}"),
            }
        }
        Ok(options)
    }
}

struct Crashes {
    kills: u64,
    random: Random,
    simulators: SocketAddr,
    visitors: Vec<Visitor>,
    other: Report,
}

impl Crashes {
    fn new(options: &Options, simulators: SocketAddr) -> Self {
        let mut random = Random::new(options.seed);
        let names = (0..VISITORS).map(|number| format!("s{}v{number}", options.seed));
        let visitors = names.map(|name| Visitor::new(name, random.split())).collect();
        Self { kills: 0, random, simulators, visitors, other: Report::default() }
    }

    /// A life of the gateway: what was before is looked for, then there is load, then it is killed.
    fn once(&mut self, binary: &Path, folder: &Path) -> Result<()> {
        let mut gateway = Server::gateway(binary, folder)?;
        let life = Duration::from_millis(self.random.below(LIFE));
        let world = self.world(&gateway);
        let loaded = Barrier::new(VISITORS + 1);
        thread::scope(|scope| {
            for visitor in &mut self.visitors {
                let (world, loaded) = (&world, &loaded);
                scope.spawn(move || {
                    visitor.verify(world);
                    loaded.wait();
                    visitor.load(world);
                });
            }
            loaded.wait();
            thread::sleep(life);
            if gateway.has_ended() {
                self.other.add(Finding::Other("the gateway ended by itself".to_owned()));
            }
            gateway.kill();
            world.ends.store(true, Ordering::Relaxed);
        });
        self.kills += 1;
        if self.kills.is_multiple_of(50) {
            println!("{} kills: {}", self.kills, self.report().summary());
        }
        Ok(())
    }

    /// Looks for everything a last time, with the locks of the dead where there is time to wait for their end.
    fn verify(&mut self, binary: &Path, folder: &Path, options: &Options) -> Result<()> {
        let gateway = Server::gateway(binary, folder)?;
        let world = self.world(&gateway);
        let last_break = self.visitors.iter().filter_map(Visitor::last_break).max();
        if let Some(at) = last_break.filter(|_| options.time.is_none()) {
            thread::sleep(LOCK_MAX.saturating_sub(at.elapsed()));
        }
        self.visitors.iter_mut().for_each(|visitor| visitor.verify(&world));
        Ok(())
    }

    fn world(&self, gateway: &Server) -> World {
        World {
            gateway: gateway.address,
            simulators: self.simulators,
            ends: AtomicBool::new(false),
        }
    }

    fn report(&self) -> Report {
        let mut report = Report::default();
        self.visitors.iter().for_each(|visitor| report.merge(&visitor.report));
        report.merge(&self.other);
        report
    }
}
