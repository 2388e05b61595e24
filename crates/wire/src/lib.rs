//! One conversation, four LLM wire protocols, every loss on record.

mod alias;
mod error;
mod roles;

pub use alias::Aliases;
pub use alias::CallIdRule;
pub use alias::Charset;
pub use alias::ToolNameRule;
pub use error::Error;
pub use error::ErrorKind;
pub use error::Result;
pub use roles::PromptMessage;
pub use roles::PromptRole;
pub use roles::ProviderType;
pub use roles::SYSTEM_JOIN;
pub use roles::adapt_role_for_provider;
pub use roles::extract_gemini_system_instructions;
pub use roles::filter_out_system_instructions;
pub use roles::normalize_provider;
pub use roles::wire_role;
