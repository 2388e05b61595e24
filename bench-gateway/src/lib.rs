//! What a benchmark of a running gateway needs: requests and answers, a mock provider, clients, processes and bars.

pub mod answers;
pub mod load;
pub mod mock;
pub mod process;
pub mod sabir;
pub mod verdicts;
