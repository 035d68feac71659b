//! The page's server over HTTP.

mod http;
mod jobs;
mod partner;
mod security;
