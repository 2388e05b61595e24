//! Rows without content: calls with their sums, and artefacts until they expire.

use std::time::Duration;

use sabir_store::{
    Artefact, ArtefactKey, Attempt, Exchange, ExchangeId, GroupUsage, Grouping, Hash, Kind, Time,
    Tokens,
};

use crate::bench::{
    Bench, Engine, each_engine, each_engine_and_files, each_engine_refused_by_files, name, other,
    record,
};

fn exchange(bench: &Bench, id: &str) -> Exchange {
    let attempt =
        Attempt { provider: name("p"), model: name("m"), outcome: name("ok"), milliseconds: 9 };
    Exchange {
        owner: bench.owner.clone(),
        id: ExchangeId::new(id).unwrap(),
        at: bench.store.now(),
        turn: None,
        protocol: name("gemini"),
        provider: Some(name("p")),
        model: Some(name("m")),
        outcome: name("ok"),
        has_failed: false,
        milliseconds: 10,
        first_milliseconds: None,
        tokens: Tokens { input: 5, output: 7, cache_read: 1, cache_write: 2, reasoning: 3 },
        losses: 0,
        attempts: vec![attempt.clone(), attempt],
    }
}

each_engine_and_files! {
    async fn an_artefact_is_for_its_owner_its_issuer_and_its_call_until_it_expires(bench) {
        let (store, owner) = (&bench.store, &bench.owner);
        let expires_at = store.now().plus(Duration::from_secs(60));
        let kept = |number: usize, digest: &[u8], text: &str| {
            let (issuer, call) = (name("google"), name(&format!("call_{number}")));
            let digest = Hash::of_bytes(digest);
            let key = ArtefactKey { owner: owner.clone(), issuer, call, digest };
            Artefact { key, record: record(text), expires_at }
        };
        // More than one query asks for, and one id that two calls have.
        let mut all: Vec<Artefact> = (0..40).map(|number| kept(number, b"{}", "sig")).collect();
        all.push(kept(7, b"{ }", "other"));
        store.put_artefacts(all.clone()).await.unwrap();
        store.put_artefacts(vec![kept(3, b"{}", "newer")]).await.unwrap();
        let calls = || (0..50).map(|number| name(&format!("call_{number}"))).collect::<Vec<_>>();
        let found = store.artefacts(owner, &name("google"), calls()).await.unwrap();
        assert_eq!(found.len(), all.len());
        for artefact in &all {
            let found = found.iter().find(|it| it.key == artefact.key).unwrap();
            let is_newer = *artefact == kept(3, b"{}", "sig");
            let expected = if is_newer { kept(3, b"{}", "newer") } else { artefact.clone() };
            assert_eq!(*found, expected);
        }
        let stranger = other();
        let found = |owner, issuer: &str| {
            let issuer = name(issuer);
            async move { store.artefacts(owner, &issuer, calls()).await.unwrap().len() }
        };
        assert_eq!(found(owner, "other").await, 0);
        assert_eq!(found(&stranger, "google").await, 0);
        assert_eq!(store.artefacts(owner, &name("google"), Vec::new()).await.unwrap(), []);
        bench.wait(Duration::from_secs(60));
        assert_eq!(found(owner, "google").await, 0);
    }
}

each_engine_refused_by_files! {
    async fn the_sums_of_a_day_agree_with_its_rows(bench) {
        let (store, owner) = (&bench.store, &bench.owner);
        store.record(vec![exchange(&bench, "e1"), exchange(&bench, "e2")]).await.unwrap();
        // A batch that is sent again counts once.
        store.record(vec![exchange(&bench, "e2"), exchange(&bench, "e3")]).await.unwrap();
        bench.wait(Duration::from_secs(24 * 60 * 60));
        store.record(vec![exchange(&bench, "e4")]).await.unwrap();
        let usage = store.usage(owner, Time(0)).await.unwrap();
        assert_eq!(usage.iter().map(|day| day.calls).collect::<Vec<_>>(), [3, 1]);
        assert_eq!((usage[0].tokens.input, usage[0].tokens.reasoning), (15, 9));
        assert_eq!(store.usage(owner, store.now()).await.unwrap().len(), 1);
        assert!(store.usage(&other(), Time(0)).await.unwrap().is_empty());
    }

    async fn of_many_calls_those_that_are_there_are_not_counted_again(bench) {
        let (store, owner) = (&bench.store, &bench.owner);
        let calls = |numbers: std::ops::Range<u32>| -> Vec<Exchange> {
            numbers.map(|number| exchange(&bench, &format!("e{number}"))).collect()
        };
        store.record(calls(10..30)).await.unwrap();
        let mut more = calls(0..100);
        more.reverse();
        more.extend(calls(40..50));
        let theirs = calls(15..20).into_iter().map(|call| Exchange { owner: other(), ..call });
        more.extend(theirs);
        store.record(more).await.unwrap();
        let usage = store.usage(owner, Time(0)).await.unwrap();
        assert_eq!((usage[0].calls, usage[0].tokens.input), (100, 500));
        assert_eq!(store.usage(&other(), Time(0)).await.unwrap()[0].calls, 5);
        for call in calls(0..100) {
            assert_eq!(store.exchange(owner, &call.id).await.unwrap(), call);
        }
    }

    async fn of_two_rows_of_one_call_the_first_is_kept(bench) {
        let call = |number: u32, model: &str| {
            Exchange { model: Some(name(model)), ..exchange(&bench, &format!("e{number}")) }
        };
        let first = (0..100).map(|number| call(number, "first"));
        let second = (0..100).rev().map(|number| call(number, "second"));
        bench.store.record(first.clone().chain(second).collect()).await.unwrap();
        for call in first {
            assert_eq!(bench.store.exchange(&bench.owner, &call.id).await.unwrap(), call);
        }
    }

    async fn usage_is_summed_up_by_what_is_asked(bench) {
        let (store, owner) = (&bench.store, &bench.owner);
        let call = |id: &str, model: &str| Exchange { model: Some(name(model)), ..exchange(&bench, id) };
        let failed = Exchange { has_failed: true, ..call("e3", "small") };
        // Two that reached nobody: one asked for a list, the other was refused.
        let listed = Exchange { provider: None, model: None, ..exchange(&bench, "e4") };
        let refused = Exchange { has_failed: true, id: ExchangeId::new("e5").unwrap(), ..listed.clone() };
        let first = vec![call("e1", "large"), call("e2", "large"), failed, listed, refused];
        store.record(first).await.unwrap();
        bench.wait(Duration::from_secs(24 * 60 * 60));
        store.record(vec![call("e6", "large")]).await.unwrap();
        let stated = |groups: Vec<GroupUsage>| -> Vec<(String, u64, u64)> {
            groups.into_iter().map(|it| (it.name, it.calls, it.errors)).collect()
        };
        let group = |name: &str, calls, errors| (name.to_owned(), calls, errors);
        let by = async |by, from| stated(store.usage_by(owner, by, from).await.unwrap());
        let models = [group("large", 3, 0), group("", 1, 1), group("small", 1, 1)];
        assert_eq!(by(Grouping::Model, Time(0)).await, models);
        assert_eq!(by(Grouping::Provider, Time(0)).await, [group("p", 4, 1), group("", 1, 1)]);
        assert_eq!(by(Grouping::Owner, Time(0)).await, [group("", 5, 2)]);
        let today = store.now().0.div_euclid(24 * 60 * 60 * 1000);
        let days = [group(&today.to_string(), 1, 0), group(&(today - 1).to_string(), 4, 2)];
        assert_eq!(by(Grouping::Day, Time(0)).await, days);
        assert_eq!(by(Grouping::Day, store.now()).await, days[..1]);
        let sums = store.usage_by(owner, Grouping::Owner, Time(0)).await.unwrap();
        assert_eq!((sums[0].tokens.input, sums[0].tokens.reasoning), (30, 18));
        assert!(store.usage_by(&other(), Grouping::Model, Time(0)).await.unwrap().is_empty());
    }

    async fn a_call_is_read_as_it_was_recorded_by_its_owner_alone(bench) {
        let (store, owner) = (&bench.store, &bench.owner);
        let recorded = Exchange { first_milliseconds: Some(4), losses: 2, ..exchange(&bench, "e1") };
        let recorded = Exchange { has_failed: true, ..recorded };
        let unreached = Exchange {
            provider: None,
            model: None,
            attempts: Vec::new(),
            ..exchange(&bench, "e2")
        };
        store.record(vec![recorded.clone(), unreached.clone()]).await.unwrap();
        assert_eq!(store.exchange(owner, &recorded.id).await.unwrap(), recorded);
        assert_eq!(store.exchange(owner, &unreached.id).await.unwrap(), unreached);
        let error = store.exchange(&other(), &recorded.id).await.unwrap_err();
        assert_eq!(error.kind(), Kind::NotFound);
    }
}
