//! What is suggested for whole files.

mod any_headings;
mod lines;
mod measure;
mod shapes;
mod synthetic;
mod told_apart;
mod unseen;
