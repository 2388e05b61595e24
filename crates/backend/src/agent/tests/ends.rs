//! Processes that end, and those that should: nobody is left of them, and nobody waits for them.

use super::*;

#[tokio::test]
async fn whoever_left_the_group_of_a_process_is_ended_with_it() {
    let stray = r#"setsid sh -c 'echo $$ > "$0/child"; exec sleep 1000' "$here" &
while ! [ -s "$here/child" ]; do :; done"#;
    // It has the output of the agent, which does not end as long as it lives.
    for (ending, is_whole) in [("echo hello", true), ("kill -9 $$", false)] {
        let fake = FakeAgent::new(&format!("{stray}\n{ending}"));
        let response = received(&agent(Kind::Plain, &fake), "hi").await;
        assert_eq!(response.fault.map(|it| it.kind).is_none(), is_whole, "{ending}");
        settle(Duration::from_secs(10));
        let child: u32 = fake.noted("child").trim().parse().unwrap();
        let state = fs::read_to_string(format!("/proc/{child}/stat")).unwrap_or_default();
        assert!(state.is_empty() || state.contains(" Z "), "{ending}: {state}");
    }
    let fake = FakeAgent::new(&format!("{stray}\necho hello; sleep 1000"));
    let agent = agent(Kind::Plain, &fake);
    let mut answer = agent.ask("m", Bytes::new(), "").await.unwrap();
    assert!(next(&mut answer).await.is_some());
    drop(answer);
    drop(agent.spawner.all_places().await);
    let child: u32 = fake.noted("child").trim().parse().unwrap();
    let state = fs::read_to_string(format!("/proc/{child}/stat")).unwrap_or_default();
    assert!(state.is_empty() || state.contains(" Z "), "given up: {state}");
}

#[tokio::test]
async fn one_that_closes_its_output_and_goes_on_is_given_up() {
    let failed = |kind| failed(kind, "exec 1>&-; exec sleep 1000");
    let kinds = tokio::join!(
        failed(Kind::ClaudeCode),
        failed(Kind::OpenaiCodex),
        failed(Kind::GoogleGemini),
        failed(Kind::Plain),
    );
    assert_eq!(kinds, <[FaultKind; 4]>::into([FaultKind::Truncated; 4]));
}
