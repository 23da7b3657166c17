//! Files whose columns were written down, with what they are for, before anybody looked at how suggestions are made.

mod answers;
mod tables;
