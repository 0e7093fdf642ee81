//! stub
/// Bus
pub struct Bus;
/// Link
pub struct Link;
