//! Which target of a model is asked, and what lists say of models.

use crate::harness::*;

#[test]
fn the_fastest_is_asked_once_all_have_been() {
    let [one, other] = ["one", "other"].map(|text| Provider::whole(&chat_answer(text)));
    let toml = [
        one.toml("one", "openai-chat"),
        other.toml("other", "openai-chat"),
        "\n[[model]]\nname = \"quick\"\nstrategy = \"fastest\"\ntargets = [\
         { provider = \"one\", model = \"m\" }, { provider = \"other\", model = \"m\" }]\n"
            .to_owned(),
    ];
    let gateway = Running::start(&toml.concat());
    for _ in 0..8 {
        assert_eq!(gateway.post("/v1/chat/completions", &chat("quick", false)).status, 200);
    }
    let asked = [one.received().len(), other.received().len()];
    assert!(asked[0] >= 1 && asked[1] >= 1 && asked[0] + asked[1] == 8, "{asked:?}");
}

#[test]
fn what_the_operator_knows_of_models_is_in_their_listings() {
    let provider = Provider::whole(&chat_answer("hi"));
    let toml = [
        provider.toml("p", "openai-chat"),
        "\n[[model]]\nname = \"mine\"\ntargets = [{ provider = \"p\", model = \"my-model-7\" }]\n\
         [[family]]\nmatch = \"my-model-*\"\ncontext_window = 131072\nmax_output_tokens = 8192\n\
         [[family]]\nmatch = \"my-*\"\ncontext_window = 1\n"
            .to_owned(),
    ];
    let gateway = Running::start(&toml.concat());
    let messages = gateway.request("GET /v1/models/mine\r\nanthropic-version: 2023-06-01\r\n", "");
    let messages = messages.json();
    assert_eq!(messages["max_input_tokens"], 131_072, "{messages}");
    assert_eq!(messages["max_tokens"], 8_192, "{messages}");
    let gemini = gateway.get("/v1beta/models/mine").json();
    assert_eq!(gemini["inputTokenLimit"], 131_072, "{gemini}");
    assert_eq!(gemini["outputTokenLimit"], 8_192, "{gemini}");
    let listed = gateway.get("/v1beta/models").json();
    let mine = listed["models"].as_array().unwrap().iter().find(|it| it["name"] == "models/mine");
    assert_eq!(mine.unwrap()["inputTokenLimit"], 131_072, "{listed}");
}
