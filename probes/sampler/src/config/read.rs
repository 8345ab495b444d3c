//! Reading a configuration: its values one by one, then the rules that concern several.

use std::path::Path;

use super::whole::check_whole;
use super::Config;

/// Reads and checks the configuration in `path`. The error is one line that names the file, the key, the value and what
/// would be right.
pub fn read_config(path: &Path) -> Result<Config, String> {
    let text =
        std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    parse_config(&text).map_err(|error| format!("{}: {error}", path.display()))
}

pub(super) fn parse_config(text: &str) -> Result<Config, String> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let config: Config =
        serde_path_to_error::deserialize(&mut deserializer).map_err(|error| describe(&error))?;
    deserializer.end().map_err(|error| error.to_string())?;
    check_whole(&config)?;
    Ok(config)
}

fn describe(error: &serde_path_to_error::Error<serde_json::Error>) -> String {
    match error.path().to_string().as_str() {
        "." => error.inner().to_string(),
        key => format!("{key}: {}", error.inner()),
    }
}
