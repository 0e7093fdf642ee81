//! Long simulations of this crate: `make simulations`.

mod drives;
