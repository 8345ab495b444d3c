//! The sampler as a program, in network namespaces of its own.

mod connections;
mod lab;
mod refusals;
mod sampling;
