//! Where a team talks: who speaks next, what each is shown, and what comes of it.

use std::process::ExitCode;

use anyhow::{Context, Result, anyhow};
use sabir_client::{Gateway, Message};
use sabir_compose::assemble::{Agent, Dialogue, Input, Output, Overflow, Utterance, clean};
use sabir_compose::team::{Floor, MemberName, Speaker, USER};
use tokio::runtime::Runtime;

use super::file::{Member, Team, Voice};
use super::minutes::Minutes;
use crate::command::chat::{Ended, Leaving, Screen, Turn, Typed, Typing, stopped};
use crate::output::printable;

pub(super) struct Room {
    gateway: Gateway,
    runtime: Runtime,
    leaving: Leaving,
    team: Team,
    /// The model that answers for each member.
    models: Vec<String>,
    floor: Floor,
    utterances: Vec<Utterance<'static>>,
    minutes: Minutes,
}

impl Room {
    pub(super) fn open(
        gateway: Gateway,
        (team, models): (Team, Vec<String>),
        minutes: Minutes,
    ) -> Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let leaving = runtime.block_on(async { Leaving::listen() })?;
        let names: Vec<MemberName> = team.members.iter().map(|it| it.name.clone()).collect();
        let floor = Floor::new(names);
        Ok(Self { gateway, runtime, leaving, team, models, floor, utterances: Vec::new(), minutes })
    }

    pub(super) fn members(&self) -> usize {
        self.team.members.len()
    }

    /// Who is there.
    pub(super) fn cast(&self) -> String {
        let members = self.team.members.iter().zip(&self.models);
        let cast: Vec<String> =
            members.map(|(member, model)| format!("{} ({model})", member.name.as_str())).collect();
        cast.join(", ")
    }

    pub(super) fn next(&self) -> Speaker {
        self.floor.next()
    }

    pub(super) fn has_begun(&self) -> bool {
        !self.utterances.is_empty()
    }

    /// The user has nothing to say, though asked.
    pub(super) fn pass_over_user(&mut self) {
        self.floor.observe(Speaker::User, "");
    }

    /// The exit code of a program that the system wants to end.
    pub(super) fn left(&self) -> Option<ExitCode> {
        self.leaving.code()
    }

    /// Where what was said is kept.
    pub(super) fn kept(&self) -> String {
        self.minutes.place()
    }

    /// What the user types next. Whoever is to leave types nothing more.
    pub(super) fn wait_for(&mut self, typing: &mut Typing) -> Result<Typed> {
        let Self { runtime, leaving, .. } = self;
        runtime.block_on(async {
            tokio::select! {
                biased;
                code = leaving.asked() => Ok(Typed::Left(code)),
                typed = typing.next() => Ok(typed?),
            }
        })
    }

    /// Takes in what the user says.
    pub(super) fn take_word(&mut self, text: &str, screen: &mut Screen) -> Result<()> {
        if self.team.task.is_none() && self.utterances.is_empty() {
            self.team.task = Some(clean(text).text.into_owned());
        }
        self.take_in(Speaker::User, text, screen)
    }

    /// Has a member speak. What came is kept, however it ends.
    pub(super) fn answer(&mut self, index: usize, screen: &mut Screen) -> Result<Ended> {
        let member = &self.team.members[index];
        let name = printable(member.name.as_str());
        let messages = self.prompt(index, screen).with_context(|| name.clone())?;
        screen.head(&name)?;
        let client = self.gateway.client(self.models[index].as_str());
        let turn = Turn { client: &client, messages: &messages };
        let stopped = stopped(&mut self.leaving);
        let ran = self.runtime.block_on(turn.run(screen, stopped));
        let (ended, stream) = ran.with_context(|| name.clone())?;
        screen.end_line()?;
        if let Some(stream) = stream {
            let text = stream.into_answer().reply.content;
            // Programs end what they write with a line break, which is nothing that they say.
            self.take_in(Speaker::Member(index), text.trim_end(), screen)?;
        }
        if matches!(ended, Ok(Ended::Stopped | Ended::Unanswered)) {
            screen.note("[stopped]")?;
        }
        ended.with_context(|| name)
    }

    /// What a member is shown: the prompt of its agent, and what that takes beside it.
    fn prompt(&self, index: usize, screen: &mut Screen) -> Result<Vec<Message>> {
        let member = &self.team.members[index];
        let dialogue = self.dialogue(index, member);
        let prepared = dialogue.prepare();
        let assembled = match member.voice {
            Voice::Agent(agent, _) => agent.assemble(&prepared.input),
            Voice::Model(_) | Voice::Default => for_model(&prepared.input),
        };
        let output = assembled.map_err(|overflow| anyhow!("{overflow}"))?;
        for warning in &prepared.warnings {
            screen.note(&warning.to_string())?;
        }
        if !output.trimmed.is_nothing() {
            let lacks = output.trimmed;
            screen.note(&format!(
                "[{} is not shown the {} oldest messages and {} bytes of the last: {} bytes are allowed]",
                member.name.as_str(), lacks.context_messages, lacks.task_bytes, self.team.bytes_max
            ))?;
        }
        let system = output.system_flag.map(Message::system);
        Ok(system.into_iter().chain([Message::user(output.prompt)]).collect())
    }

    fn dialogue<'r>(&'r self, index: usize, member: &'r Member) -> Dialogue<'r> {
        let introduction = self.floor.introduction(index);
        let own = member.instructions.as_deref().map(str::trim).filter(|text| !text.is_empty());
        let instructions = match own {
            Some(own) => format!("{introduction}\n\n{own}"),
            None => introduction,
        };
        Dialogue {
            utterances: self.utterances.clone(),
            window: self.team.window,
            team_task: self.team.task.as_deref().map(Into::into),
            system_instruction: Some(instructions.into()),
            instruction_file: member.instruction_file.as_deref().map(Into::into),
            bytes_max: self.team.bytes_max,
        }
    }

    fn take_in(&mut self, speaker: Speaker, text: &str, screen: &mut Screen) -> Result<()> {
        let from = self.floor.name(speaker).to_owned();
        for unknown in self.floor.observe(speaker, text) {
            let members: Vec<&str> =
                self.team.members.iter().map(|it| it.name.as_str()).chain([USER]).collect();
            let members = members.join(", ");
            screen.note(&format!("[{from} names {unknown}, who is none of: {members}]"))?;
        }
        if clean(text).text.trim().is_empty() {
            return Ok(());
        }
        let to = self.floor.addressees(text);
        self.minutes.add(&from, &to, text);
        let utterance = Utterance {
            id: Some(self.utterances.len().to_string().into()),
            from: from.clone().into(),
            to: to.iter().map(|name| (*name).to_owned().into()).collect(),
            content: text.to_owned().into(),
        };
        self.utterances.push(utterance);
        let Self { runtime, minutes, gateway, .. } = self;
        runtime.block_on(minutes.keep(gateway));
        Ok(())
    }
}

/// The prompt of a model: plain words, which any model reads, and the instructions where models have a place for them.
fn for_model(input: &Input<'_>) -> Result<Output, Overflow> {
    let instructions = Input { context: Vec::new(), current_message: "".into(), ..input.clone() };
    let system_flag = Agent::ClaudeCode.assemble(&instructions)?.system_flag;
    let taken = system_flag.as_ref().map_or(0, String::len);
    let rest = Input {
        system_instruction: None,
        instruction_file: None,
        bytes_max: input.bytes_max - taken,
        ..input.clone()
    };
    let output = Agent::GoogleGemini.assemble(&rest).map_err(|overflow| Overflow {
        needed_bytes: overflow.needed_bytes + taken,
        allowed_bytes: input.bytes_max,
    })?;
    Ok(Output { system_flag, ..output })
}
