//! A first program: asks a running gateway, `sabir serve`, and prints the answer.

use sabir_client::{Gateway, Message, Result};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let url = std::env::args().nth(1).unwrap_or("http://127.0.0.1:4747".to_owned());
    let client = Gateway::new(&url)?.client("sim");
    let answer = client.chat(&[Message::user("Hello")], &[]).await?;
    println!("{}", answer.reply.content);
    Ok(())
}
