//! The parts of the torture test of an array's contents, shared by the short form (`cargo test`) and the long one
//! (`make torture`).
//!
//! * `content`: what a sector holds, and the field that parity is computed in;
//! * `places`: where every logical sector lies;
//! * `damage`: which members hold what, and what failures may have cost;
//! * `truth`: what a read may return;
//! * `flash`: what every flash page of a member holds;
//! * `world`: what operations carry, and parity from what a transaction knows;
//! * `rebuild`: every member from all others;
//! * `log`: what a journal or partial parity log holds;
//! * `power`: losses of power, and what a write hole takes;
//! * `wear`: members that wear out;
//! * `scenario`: random arrays and loads;
//! * `history`: one run;
//! * `volatile`: drives that lose what their caches hold.

pub mod content;
pub mod damage;
pub mod flash;
pub mod history;
pub mod log;
pub mod places;
pub mod power;
pub mod rebuild;
pub mod scenario;
pub mod truth;
pub mod volatile;
pub mod wear;
pub mod world;
