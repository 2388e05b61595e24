//! The canonical conversation: what every protocol can say, in no protocol's shape.

mod message;
mod pairing;
mod part;
mod parts;
mod renaming;
mod request;
mod response;
mod tool;
mod usage;

pub use message::{Message, Role};
pub use pairing::{CallKey, CallKeys};
pub(crate) use part::BROKEN_CALL;
pub use part::{
    Arguments, CallForm, Content, Media, MediaKind, Opaque, Part, Reasoning, ReasoningForm,
    ResultOutput, Source, ToolCall, ToolResult,
};
pub use parts::Parts;
pub use renaming::Rename;
pub use request::{
    CacheOptions, OutputFormat, OutputSchema, Request, Sampling, Thinking, ThinkingMode,
    ThinkingShow,
};
pub use response::{Candidate, Finish, FinishKind, Response};
pub use tool::{
    AllowedMode, AllowedTool, CustomFormat, CustomTool, FunctionTool, HostedService, HostedTool,
    NamespaceTool, Tool, ToolChoice, ToolKind,
};
pub use usage::{Count, Counts, Usage};
