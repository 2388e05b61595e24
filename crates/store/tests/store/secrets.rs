//! Keys that all nodes of a store share.

use sabir_store::{Name, Secret};

use crate::bench::{Bench, Engine, each_engine, each_engine_and_files};

each_engine_and_files! {
    async fn the_first_key_stays(bench) {
        let ensure = |name: &str, fresh: &[u8]| {
            let (name, fresh) = (Name::new(name).unwrap(), Secret::new(fresh));
            async { bench.store.ensure_secret(name, fresh).await.unwrap() }
        };
        assert_eq!(ensure("seal", b"first").await.expose(), b"first");
        assert_eq!(ensure("seal", b"second").await.expose(), b"first");
        assert_eq!(ensure("other", b"third").await.expose(), b"third");
        // Whatever it begins with, it is kept as it is.
        assert_eq!(ensure("raw", &[1, 0, 7]).await.expose(), [1, 0, 7]);
        assert_eq!(format!("{:?}", ensure("seal", b"").await), "Secret");
    }
}
