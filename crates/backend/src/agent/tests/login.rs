//! Where Claude Code finds its login, and where it keeps everything else.

use super::*;

#[tokio::test]
async fn claude_keeps_its_files_with_its_process_where_a_key_is_its_login() {
    let key = ("ANTHROPIC_API_KEY".to_owned(), Secret::new("sk"));
    for (key, login, kept) in
        [(Some(key), None, "/home\n"), (None, None, ""), (None, Some("/elsewhere"), "/elsewhere\n")]
    {
        let fake = FakeAgent::claude(ANSWER);
        let mut program = Program { login: login.map(PathBuf::from), ..program(&fake) };
        program.environment.extend(key);
        let mut agent = agent(Kind::ClaudeCode, &fake);
        agent.spawner = Arc::new(Spawner::new(program, Warmth { processes: 0, ..WARMTH }));
        received(&agent, body_of(Kind::ClaudeCode)).await;
        let environment = fake.noted("environment");
        let stated = environment.lines().find_map(|it| it.strip_prefix("CLAUDE_CONFIG_DIR="));
        let stated = stated.map(|it| format!("{it}\n")).unwrap_or_default();
        assert!(stated.ends_with(kept) && stated.is_empty() == kept.is_empty(), "{environment}");
    }
}

#[tokio::test]
async fn claude_finds_the_users_login_and_keeps_nothing_beside_it() {
    let variable = |environment: &str, name: &str| {
        let found = environment.lines().find_map(|it| it.strip_prefix(name)?.strip_prefix('='));
        found.map(str::to_owned)
    };
    for (version, is_apart) in [("2.1.325 (Claude Code)", true), ("2.1.99", false), ("", false)] {
        for login in [None, Some("login")] {
            let fake = FakeAgent::claude(ANSWER).stating(version);
            let login = login.map(|it| fake.path(it));
            let user = login.clone().unwrap_or_else(|| fake.path("user"));
            fs::create_dir(&user).unwrap();
            let book =
                r#"{"userID":"u","projects":{"/secret":{}},"oauthAccount":{"accountUuid":"a"}}"#;
            fs::write(user.join(".claude.json"), book).unwrap();
            let mut program = Program { login: login.clone(), ..program(&fake) };
            let home = fake.path("user").to_string_lossy().into_owned();
            program.environment.push(("HOME".to_owned(), Secret::new(home)));
            // The first call comes before it is installed.
            program.command[0] = fake.path("sh").to_string_lossy().into_owned();
            let mut agent = agent(Kind::ClaudeCode, &fake);
            agent.spawner = Arc::new(Spawner::new(program, Warmth { processes: 0, ..WARMTH }));
            agent.ask("m", body_of(Kind::ClaudeCode).into(), "").await.unwrap_err();
            std::os::unix::fs::symlink("/bin/sh", fake.path("sh")).unwrap();
            assert_eq!(text(&received(&agent, body_of(Kind::ClaudeCode)).await), "Hello there");
            let environment = fake.noted("environment");
            let files = variable(&environment, "CLAUDE_CONFIG_DIR").unwrap_or_default();
            let found = variable(&environment, "CLAUDE_SECURESTORAGE_CONFIG_DIR");
            let login = login.map(|it| it.to_string_lossy().into_owned()).unwrap_or_default();
            let cache = variable(&environment, "XDG_CACHE_HOME").unwrap();
            assert!(cache.starts_with(&*folders(&fake).to_string_lossy()), "{cache}");
            if is_apart {
                assert!(files.starts_with(&*folders(&fake).to_string_lossy()), "{files}");
                assert_eq!(found, Some(login));
                let known = r#"{"oauthAccount":{"accountUuid":"a"},"userID":"u"}"#;
                assert_eq!(fake.noted("home"), known);
            } else {
                assert_eq!((files, found), (login, None), "{version}");
            }
        }
    }
}
