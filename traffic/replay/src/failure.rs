//! Why the program ends without success.

/// A mistake of the user, or of the system that the program runs on.
pub enum Failure {
    WrongInput(String),
    System(String),
}

/// Returns the failure of a call of the system on something, which the message names.
pub fn system(what: &str, error: &std::io::Error) -> Failure {
    Failure::System(format!("{what}: {error}"))
}
