//! Rows without content: calls with their sums, and artefacts until they expire.

use std::time::Duration;

use sabir_store::{Artefact, ArtefactKey, Attempt, Exchange, ExchangeId, Hash, Kind, Time, Tokens};

use crate::bench::{Bench, Engine, each_engine, name, other, record};

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
        milliseconds: 10,
        first_milliseconds: None,
        tokens: Tokens { input: 5, output: 7, cache_read: 1, cache_write: 2, reasoning: 3 },
        losses: 0,
        attempts: vec![attempt.clone(), attempt],
    }
}

each_engine! {
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

    async fn a_call_is_read_as_it_was_recorded_by_its_owner_alone(bench) {
        let (store, owner) = (&bench.store, &bench.owner);
        let recorded = Exchange { first_milliseconds: Some(4), losses: 2, ..exchange(&bench, "e1") };
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

    async fn an_artefact_is_for_its_issuer_its_call_and_its_digest_until_it_expires(bench) {
        let (store, owner) = (&bench.store, &bench.owner);
        let key = |issuer: &str, call: &str, digest: &[u8]| ArtefactKey {
            issuer: name(issuer),
            call: name(call),
            digest: Hash::of_bytes(digest),
        };
        let expires_at = store.now().plus(Duration::from_secs(60));
        let kept = Artefact { key: key("google", "call_1", b"{}"), record: record("sig"), expires_at };
        store.put_artefacts(owner, vec![kept]).await.unwrap();
        store.heartbeat().await.unwrap();
        let keys = vec![
            key("google", "call_1", b"{}"),
            key("other", "call_1", b"{}"),
            key("google", "call_2", b"{}"),
            key("google", "call_1", b"{ }"),
        ];
        let found = store.artefacts(owner, keys.clone()).await.unwrap();
        assert_eq!(found, [Some(record("sig")), None, None, None]);
        assert_eq!(store.artefacts(&other(), keys.clone()).await.unwrap()[0], None);
        bench.wait(Duration::from_secs(60));
        assert_eq!(store.artefacts(owner, keys).await.unwrap()[0], None);
    }
}
