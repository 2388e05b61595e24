//! `sabir inspect`: what was understood of an input.

use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use sabir_wire::protocol::Event;
use sabir_wire::sse::Frame;

use crate::arguments::{Kind, Subject};
use crate::output;
use crate::stream::{Sink, pump};

/// Print what is understood of an input, as JSON.
///
/// Shows the conversation in the form that all protocols share, with what only its protocol
/// meant beside it. Every node says its place in the input. A stream is shown as the list of
/// its events, as they come.
///
/// Example:
///   sabir inspect --from chat request.json
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Inspect {
    #[command(flatten)]
    subject: Subject,
}

impl Inspect {
    pub(crate) fn run(self) -> Result<ExitCode> {
        let subject = self.subject.checked();
        match subject.kind {
            Kind::Request => output::print(&request(&subject, &subject.read()?)?)?,
            Kind::Response => output::print(&response(&subject, &subject.read()?)?)?,
            Kind::Error => output::print(&error(&subject, &subject.read()?))?,
            Kind::Stream => stream(&subject)?,
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn request(subject: &Subject, body: &[u8]) -> Result<String> {
    let exchange = subject.from.decode_request(body);
    Ok(exchange.map_err(|error| subject.explain(&error, body))?.inspect())
}

fn response(subject: &Subject, body: &[u8]) -> Result<String> {
    let response = subject.from.decode_response(body);
    Ok(response.map_err(|error| subject.explain(&error, body))?.inspect())
}

fn error(subject: &Subject, body: &[u8]) -> String {
    subject.from.decode_fault(subject.status_of(body), body).inspect()
}

fn stream(subject: &Subject) -> Result<()> {
    let mut list = EventList::default();
    let read = pump(subject, &mut list);
    if list.is_open {
        output::print("\n]")?;
    }
    read
}

/// Prints events as the elements of one JSON list.
#[derive(Default)]
struct EventList {
    is_open: bool,
    out: String,
}

impl Sink for EventList {
    fn begin(&mut self, _first: &Frame<'_>) {}

    fn event(&mut self, event: Event<'_>) {
        self.out.push_str(if self.is_open { ",\n  " } else { "[\n  " });
        self.out.push_str(&event.inspect().replace('\n', "\n  "));
        self.is_open = true;
    }

    fn flush(&mut self) -> Result<()> {
        output::send(&self.out)?;
        self.out.clear();
        Ok(())
    }
}
