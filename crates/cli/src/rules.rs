//! `shepherd rules check`: what a rule pack covers.

use std::path::Path;

use crate::error::CliError;
use crate::table::Table;

/// Reads a pack as the workers would.
pub(crate) fn check(directory: &Path) -> Result<(), CliError> {
    let mut table = Table::new(&["persona", "rules", "for"]);
    let rules = lookup::rules::aragorn(directory)?;
    for (key, count) in rules.keys() {
        table.row(vec!["aragorn".to_owned(), count.to_string(), key]);
    }
    let templates = lookup::rules::bte(directory)?;
    for (group, count) in templates.keys() {
        table.row(vec!["bte".to_owned(), count.to_string(), group]);
    }
    print!("{table}");
    println!("{} rules and {} templates, all usable.", rules.len(), templates.len());
    Ok(())
}
