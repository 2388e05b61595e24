//! Model names, efforts and servers, and what is known of them, as tables.

mod facts;
mod names;
mod server;
mod thinking;
