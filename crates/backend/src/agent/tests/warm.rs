//! Processes of Claude Code and Codex that wait for a call: each is started ahead, knows nothing, and has one call.

use super::*;

fn fake(kind: Kind) -> FakeAgent {
    let fake = match kind {
        Kind::ClaudeCode => FakeAgent::claude(&ANSWER.replacen(
            r#""subtype":"init","#,
            r#""subtype":"init","claude_code_version":"0.0.1","#,
            1,
        )),
        _ => FakeAgent::codex(&greeting()),
    };
    noting(fake)
}

/// One that notes which of its processes were started, and which were asked.
pub(super) fn noting(fake: FakeAgent) -> FakeAgent {
    let script = fs::read_to_string(fake.path("agent")).unwrap();
    let noting = script.replacen("while IFS=", "echo $$ >> \"$here/started\"\nwhile IFS=", 1);
    let noting = noting.replacen(
        "printf '%s\\n' \"$line\" >>",
        "echo $$ >> \"$here/asked\"; printf '%s\\n' \"$line\" >>",
        1,
    );
    fs::write(fake.path("agent"), noting).unwrap();
    fake
}

const KINDS: [Kind; 2] = [Kind::ClaudeCode, Kind::OpenaiCodex];

pub(super) async fn until(is_so: impl Fn() -> bool) {
    while !is_so() {
        tokio::task::yield_now().await;
    }
}

pub(super) fn started(fake: &FakeAgent) -> Vec<String> {
    fake.noted("started").lines().map(str::to_owned).collect()
}

/// Those that were asked, each once.
pub(super) fn asked(fake: &FakeAgent) -> Vec<String> {
    let mut asked: Vec<String> = fake.noted("asked").lines().map(str::to_owned).collect();
    asked.dedup();
    asked
}

#[tokio::test]
async fn a_process_is_started_ahead_has_one_call_and_is_replaced() {
    for kind in KINDS {
        let fake = fake(kind);
        let agent = agent(kind, &fake);
        for calls in 1..=3 {
            assert_eq!(text(&received(&agent, body_of(kind)).await), "Hello there", "{kind:?}");
            until(|| started(&fake).len() == calls + 1).await;
            until(|| fs::read_dir(folders(&fake)).unwrap().count() == 1).await;
        }
        assert_eq!(
            asked(&fake),
            started(&fake)[..3],
            "{kind:?}: each has one call, in their order"
        );
        // What waits goes with the agent.
        agent.close();
        drop(agent.spawner.all_places().await);
        assert_eq!(fake.running(), 0, "{kind:?}");
        received(&agent, body_of(kind)).await;
        drop(agent.spawner.all_places().await);
        assert_eq!(started(&fake).len(), 5, "{kind:?}: none waits again");
    }
}

#[tokio::test]
async fn one_that_waits_for_another_model_gives_way_to_what_is_asked_now() {
    let fake = fake(Kind::OpenaiCodex);
    let agent = agent(Kind::OpenaiCodex, &fake);
    for (calls, model) in ["a", "b"].into_iter().enumerate() {
        let body = Bytes::from_static(body_of(Kind::OpenaiCodex).as_bytes());
        let mut answer = agent.ask(model, body, "").await.unwrap();
        while next(&mut answer).await.is_some() {}
        until(|| started(&fake).len() == 2 * (calls + 1)).await;
        until(|| fs::read_dir(folders(&fake)).unwrap().count() == 1).await;
    }
    assert!(fake.noted("home").contains(r#""slug":"b""#), "{}", fake.noted("home"));
}

#[tokio::test]
async fn one_that_died_waiting_is_not_the_one_that_gives_way() {
    let fake = FakeAgent::new(r#"echo $$ >> "$here/started"; exec cat"#);
    let program = Program { processes_max: 2, ..program(&fake) };
    let spawner = Arc::new(Spawner::new(program, Warmth { processes: 2, ..WARMTH }));
    for count in 1..=2 {
        let process = spawner.spawn(Launch::default()).await.unwrap();
        until(|| started(&fake).len() == count).await;
        rest::Bed::new(Launch::default(), &spawner, String::new()).rest(process);
    }
    let first = rustix::process::Pid::from_raw(started(&fake)[0].parse().unwrap()).unwrap();
    rustix::process::kill_process(first, rustix::process::Signal::KILL).unwrap();
    until(|| fs::read_dir(folders(&fake)).unwrap().count() == 1).await;
    let wanted = spawner.pool().give_way();
    assert!(spawner.pool().take(&Launch::default()).is_none(), "the other one has the place");
    drop(wanted);
    drop(spawner.all_places().await);
}

#[tokio::test]
async fn none_waits_where_none_is_wanted_or_there_is_no_place() {
    for (warmth, processes_max) in [(Warmth { processes: 0, ..WARMTH }, 4), (WARMTH, 1)] {
        let fake = fake(Kind::ClaudeCode);
        let mut agent = agent(Kind::ClaudeCode, &fake);
        agent.spawner = Spawner::new(Program { processes_max, ..program(&fake) }, warmth).into();
        received(&agent, body_of(Kind::ClaudeCode)).await;
        drop(agent.spawner.all_places().await);
        assert_eq!(started(&fake).len(), 1);
    }
}

#[tokio::test]
async fn one_that_was_asked_what_it_can_has_the_first_call() {
    let fake = fake(Kind::OpenaiCodex);
    let agent = agent(Kind::OpenaiCodex, &fake);
    assert!(agent.probe("m").await.replays);
    assert_eq!(text(&received(&agent, body_of(Kind::OpenaiCodex)).await), "Hello there");
    assert_eq!(asked(&fake).len(), 1);
    assert_eq!(fake.noted("input").matches(r#""method":"initialize""#).count(), 1);
}

#[tokio::test]
async fn each_says_which_version_it_is() {
    for (kind, version) in
        [(Kind::ClaudeCode, "0.0.1"), (Kind::OpenaiCodex, "0.0.2"), (Kind::GoogleGemini, "0.0.3")]
    {
        let fake = match kind {
            Kind::GoogleGemini => FakeAgent::gemini("", ""),
            kind => fake(kind),
        };
        let agent = agent(kind, &fake);
        assert_eq!(agent.version(), None);
        match kind {
            Kind::GoogleGemini => drop(agent.probe("m").await),
            kind => drop(received(&agent, body_of(kind)).await),
        }
        assert_eq!(agent.version().as_deref(), Some(version), "{kind:?}");
    }
}
