//! The sampler as a program, in network namespaces of its own.

mod lab;
mod refusals;
mod sampling;
