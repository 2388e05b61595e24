//! What an agent works on with its own tools, and where: the task as it comes from a conversation, the folder, and what it may do there.

use std::fmt;
use std::path::PathBuf;

use sabir_wire::Result;
use sabir_wire::json::{Kind, Reader, Writer};
use sha2::{Digest as _, Sha256};

/// Where an agent works.
#[derive(Clone, Debug)]
pub struct Workplace {
    pub folder: PathBuf,
    pub permissions: Permissions,
    /// Where sessions are kept that a conversation takes up again, a folder each.
    pub sessions: PathBuf,
}

/// What an agent may do in its folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Permissions {
    /// Look at files.
    Read,
    /// Change them too.
    Edit,
    /// Run commands too.
    Full,
}

/// What is to be done.
#[derive(Default)]
pub struct Task {
    /// All that was said, for an agent that knows nothing of it.
    pub prompt: String,
    /// Instructions, where the agent takes them apart from the prompt.
    pub system: Option<String>,
    /// The conversation that it is part of, if anybody keeps that.
    pub thread: Option<Thread>,
}

/// A conversation that an agent may have a session for.
#[derive(Default)]
pub struct Thread {
    /// Whose it is and which.
    pub key: String,
    /// What was said up to the last answer.
    pub before: Digest,
    /// The same with what is said now.
    pub through: Digest,
    /// What is said now, for an agent that knows the rest.
    pub prompt: String,
}

/// What was said, as a number: equal if the words are, whatever white space divides them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Digest(String);

/// Who says something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Speaker {
    System,
    User,
    Agent,
}

/// A message that is being said.
#[derive(Debug)]
pub struct Utterance(Sha256);

impl Digest {
    /// Begins a message behind all that was said before.
    pub fn begin(&self, speaker: Speaker) -> Utterance {
        let mut sha = Sha256::new();
        sha.update(&self.0);
        sha.update(format!("\0{speaker:?}\0"));
        Utterance(sha)
    }

    /// As it is written down.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Utterance {
    pub fn push(&mut self, text: &str) {
        text.split_whitespace().for_each(|word| self.0.update(word));
    }

    pub fn end(self) -> Digest {
        Digest(hex(&self.0.finalize()))
    }
}

impl Task {
    /// The task as the body that an agent is asked with.
    pub fn to_body(&self) -> String {
        let mut writer = Writer::default();
        writer.object(|it| {
            it.field("prompt", &self.prompt);
            it.optional("system", self.system.as_ref());
            if let Some(Thread { key, before, through, prompt }) = &self.thread {
                it.object_field("thread", |it| {
                    it.field("key", key);
                    it.field("before", &before.0);
                    it.field("through", &through.0);
                    it.field("prompt", prompt);
                });
            }
        });
        writer.into_string()
    }

    /// Reads such a body.
    pub fn read(body: &[u8]) -> Result<Self> {
        let mut task = Self::default();
        Reader::from_slice(body)?.object(|key, reader| {
            match (&*key, reader.kind()?) {
                ("prompt", Kind::String) => task.prompt = string(reader)?,
                ("system", Kind::String) => task.system = Some(string(reader)?),
                ("thread", Kind::Object) => task.thread = Some(Thread::read(reader)?),
                _ => reader.skip()?,
            }
            Ok(())
        })?;
        Ok(task)
    }
}

impl Thread {
    fn read(reader: &mut Reader<'_>) -> Result<Self> {
        let mut thread = Self::default();
        reader.object(|key, reader| {
            match &*key {
                "key" => thread.key = string(reader)?,
                "before" => thread.before = Digest(string(reader)?),
                "through" => thread.through = Digest(string(reader)?),
                "prompt" => thread.prompt = string(reader)?,
                _ => reader.skip()?,
            }
            Ok(())
        })?;
        Ok(thread)
    }

    /// The name of its folder: nobody else's, and no path whatever the key is.
    pub fn folder_name(&self) -> String {
        hex(&Sha256::digest(&self.key)[..16])
    }
}

fn string(reader: &mut Reader<'_>) -> Result<String> {
    Ok(reader.string()?.into_str().into_owned())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Says how much there is, never what.
impl fmt::Debug for Thread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Thread({} bytes)", self.prompt.len())
    }
}

/// Says how much there is, never what.
impl fmt::Debug for Task {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = self.prompt.len();
        write!(f, "Task({bytes} bytes, of a kept conversation: {})", self.thread.is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_is_read_as_it_was_written() {
        let digest_of = |text: &str| {
            let mut utterance = Digest::default().begin(Speaker::User);
            utterance.push(text);
            utterance.end()
        };
        let thread = Thread {
            key: "me\0conv_1".to_owned(),
            before: Digest::default(),
            through: digest_of("a b"),
            prompt: "b".to_owned(),
        };
        let task = Task { prompt: "é\n".to_owned(), system: None, thread: Some(thread) };
        let read = Task::read(task.to_body().as_bytes()).unwrap();
        assert_eq!((&read.prompt, &read.system), (&task.prompt, &None));
        let thread = read.thread.unwrap();
        assert_eq!((thread.key.as_str(), thread.prompt.as_str()), ("me\0conv_1", "b"));
        assert_eq!((thread.before, thread.through), (Digest::default(), digest_of("a\n\nb ")));
        assert_ne!(digest_of("a b"), digest_of("a c"));
    }
}
