//! The work that is measured, and the bars that its cost is held to.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use sabir_wire::Protocol;

use crate::answers;
use crate::answers::{Request, Size};
use crate::load::Clients;
use crate::mock::Mode;
use crate::process::Process;
use crate::stage::Stage;

/// The numbers of connections at which the rows of the table are measured.
const CONNECTIONS: [usize; 3] = [1, 32, 256];
/// The number at which the bars hold.
pub(crate) const GATED: usize = 32;

/// What a request and its answer look like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// 1 KB in, a whole answer of 1 KB out.
    Small,
    /// 200 KB in, a whole answer of 1 KB out.
    Large,
    /// 1 KB in, 100 events out.
    Streamed,
}

impl Shape {
    pub(crate) const ALL: [Self; 3] = [Self::Small, Self::Large, Self::Streamed];

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Small => "whole, 1 KB",
            Self::Large => "whole, 200 KB in",
            Self::Streamed => "streamed, 100 events",
        }
    }

    fn mode(self) -> Mode {
        match self {
            Self::Small | Self::Large => Mode::Whole,
            Self::Streamed => Mode::Stream,
        }
    }

    fn size(self) -> Size {
        match self {
            Self::Small | Self::Streamed => Size::Small,
            Self::Large => Size::Large,
        }
    }

    /// How many requests of this shape take about half a second.
    fn requests(self) -> usize {
        match self {
            Self::Small => 12_000,
            Self::Large => 1_200,
            Self::Streamed => 1_000,
        }
    }
}

/// One way through the gateway.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Work {
    pub(crate) client: Protocol,
    pub(crate) upstream: Protocol,
    pub(crate) shape: Shape,
}

impl Work {
    pub(crate) fn name(self) -> String {
        let Self { client, upstream, shape } = self;
        format!("{} → {}, {}", short(client), short(upstream), shape.as_str())
    }

    /// Whether this is one of the rows that others are measured by.
    pub(crate) fn is_main(self) -> bool {
        let is_client = matches!(self.client, Protocol::OpenaiChat | Protocol::AnthropicMessages);
        self.upstream == Protocol::OpenaiChat && is_client
    }

    /// How many times nginx's processor time a request may take.
    pub(crate) fn bar(self) -> f64 {
        let is_same = self.client == Protocol::OpenaiChat && self.upstream == Protocol::OpenaiChat;
        let bar = match (is_same, self.shape) {
            (true, Shape::Small | Shape::Large) => 2.5,
            (true, Shape::Streamed) => 1.6,
            (false, Shape::Small) => 4.0,
            (false, Shape::Large) => 5.0,
            (false, Shape::Streamed) => 2.5,
        };
        match self.client {
            _ if self.is_main() => bar,
            Protocol::OpenaiResponses => bar * 1.6,
            _ => bar * 1.3,
        }
    }

    fn to_sabir(self, sabir: &Process) -> Request {
        let Self { client, upstream, shape } = self;
        answers::to_sabir(sabir.address, client, upstream, shape.mode(), shape.size())
    }
}

pub(crate) fn short(protocol: Protocol) -> &'static str {
    match protocol {
        Protocol::OpenaiChat => "chat",
        Protocol::OpenaiResponses => "responses",
        Protocol::AnthropicMessages => "messages",
        Protocol::Gemini => "gemini",
    }
}

/// What a request of one kind costs: the least of all repeats.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cost {
    /// Processor time per request.
    pub(crate) cpu: Duration,
    /// Wall time per request, at saturation.
    pub(crate) wall: Duration,
}

impl Cost {
    const NONE: Self = Self { cpu: Duration::MAX, wall: Duration::MAX };

    fn least(self, other: Self) -> Self {
        Self { cpu: self.cpu.min(other.cpu), wall: self.wall.min(other.wall) }
    }

    pub(crate) fn per_second(self) -> f64 {
        1.0 / self.wall.as_secs_f64()
    }
}

/// All clients of one upstream at one number of connections, with nginx in the same repeats.
pub(crate) struct Group {
    pub(crate) connections: usize,
    pub(crate) nginx: Cost,
    pub(crate) works: Vec<(Work, Cost)>,
}

/// Measures works that share an upstream and a shape. Nginx and all of them take turns, at every number of connections:
/// a machine that is slower for some seconds must not make one of them look dearer than another.
pub(crate) fn measure(stage: &Stage, works: &[Work]) -> Result<Vec<Group>> {
    let mut lanes: Vec<Lane<'_>> = Vec::new();
    for connections in CONNECTIONS {
        let is_measured = |work: &&Work| connections == GATED || work.is_main();
        let works: Vec<Work> = works.iter().filter(is_measured).copied().collect();
        if !works.is_empty() {
            lanes.push(Lane::new(stage, &works, connections)?);
        }
    }
    for _ in 0..stage.repeats {
        lanes.iter_mut().try_for_each(Lane::run)?;
    }
    Ok(lanes.into_iter().map(Lane::into_group).collect())
}

/// Those that take turns at one number of connections.
struct Lane<'p> {
    connections: usize,
    requests: usize,
    nginx: Runner<'p>,
    works: Vec<(Work, Runner<'p>)>,
}

impl<'p> Lane<'p> {
    fn new(stage: &'p Stage, works: &[Work], connections: usize) -> Result<Self> {
        let Work { upstream, shape, .. } = *works.first().context("nothing to measure")?;
        let plain = answers::to_mock(stage.nginx.address, upstream, shape.mode(), shape.size());
        let nginx = Runner::new(&stage.nginx, plain, connections, shape)?;
        let runner = |work: &Work| {
            let request = work.to_sabir(&stage.sabir);
            let runner = Runner::new(&stage.sabir, request, connections, shape);
            anyhow::Ok((*work, runner.with_context(|| work.name())?))
        };
        let works = works.iter().map(runner).collect::<Result<_>>()?;
        let requests = stage.scaled(shape.requests(), connections);
        Ok(Self { connections, requests, nginx, works })
    }

    fn run(&mut self) -> Result<()> {
        self.nginx.run(self.requests)?;
        for (work, runner) in &mut self.works {
            runner.run(self.requests).with_context(|| work.name())?;
        }
        Ok(())
    }

    fn into_group(self) -> Group {
        let works = self.works.into_iter().map(|(work, runner)| (work, runner.cost)).collect();
        Group { connections: self.connections, nginx: self.nginx.cost, works }
    }
}

/// One process and the request that it is asked.
struct Runner<'p> {
    process: &'p Process,
    request: Request,
    clients: Clients,
    cost: Cost,
}

impl<'p> Runner<'p> {
    /// Connects, checks one answer and warms up.
    fn new(
        process: &'p Process,
        request: Request,
        connections: usize,
        shape: Shape,
    ) -> Result<Self> {
        let mut clients = Clients::connect(process.address, connections)?;
        let answer = clients.show(&request.bytes)?;
        let mark = match shape.mode().is_stream() {
            true => answers::STREAM_MARK,
            false => answers::WHOLE_MARK,
        };
        ensure!(answer.contains(mark), "an answer without what the mock says:\n{answer}");
        clients.ask(&request.bytes, connections * 2)?;
        Ok(Self { process, request, clients, cost: Cost::NONE })
    }

    fn run(&mut self, requests: usize) -> Result<()> {
        let (cpu, began) = (self.process.cpu(), Instant::now());
        self.clients.ask(&self.request.bytes, requests)?;
        let wall = began.elapsed();
        let cpu = self.process.cpu().saturating_sub(cpu);
        let count = u32::try_from(requests)?;
        self.cost = self.cost.least(Cost { cpu: cpu / count, wall: wall / count });
        Ok(())
    }
}
