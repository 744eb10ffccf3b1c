//! Writing JSON piece by piece: what came as raw text goes out by one copy, and lists can be lengthened
//! without being read.

use std::io::{self, Write};

/// A writer of one JSON value.
pub(crate) struct Json<W> {
    out: W,
    /// Whether the next item or member is the first of its list or object.
    first: bool,
}

impl<W: Write> Json<W> {
    pub(crate) fn new(out: W) -> Self {
        Self { out, first: true }
    }

    pub(crate) fn object(&mut self, members: impl FnOnce(&mut Self) -> io::Result<()>) -> io::Result<()> {
        self.nested(b"{", members, b"}")
    }

    pub(crate) fn list(&mut self, items: impl FnOnce(&mut Self) -> io::Result<()>) -> io::Result<()> {
        self.nested(b"[", items, b"]")
    }

    fn nested(
        &mut self,
        open: &[u8],
        content: impl FnOnce(&mut Self) -> io::Result<()>,
        close: &[u8],
    ) -> io::Result<()> {
        self.out.write_all(open)?;
        self.first = true;
        content(self)?;
        self.first = false;
        self.out.write_all(close)
    }

    /// Begins a list item.
    pub(crate) fn item(&mut self) -> io::Result<&mut Self> {
        if !self.first {
            self.out.write_all(b",")?;
        }
        self.first = false;
        Ok(self)
    }

    /// Begins an object member.
    pub(crate) fn member(&mut self, name: &str) -> io::Result<&mut Self> {
        self.item()?.text(name)?;
        self.out.write_all(b":")?;
        Ok(self)
    }

    pub(crate) fn text(&mut self, text: &str) -> io::Result<()> {
        serde_json::to_writer(&mut self.out, text).map_err(io::Error::from)
    }

    /// Writes JSON as it is.
    pub(crate) fn raw(&mut self, json: &str) -> io::Result<()> {
        self.out.write_all(json.as_bytes())
    }

    pub(crate) fn value(&mut self, value: &(impl serde::Serialize + ?Sized)) -> io::Result<()> {
        serde_json::to_writer(&mut self.out, value).map_err(io::Error::from)
    }

    /// Inside of a list: all items of a list that is already JSON text.
    pub(crate) fn items_of(&mut self, list: &str) -> io::Result<()> {
        let inner = list.trim_ascii().strip_prefix('[').and_then(|text| text.strip_suffix(']'));
        match inner.map(str::trim_ascii) {
            None | Some("") => Ok(()),
            Some(items) => self.item()?.raw(items),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commas_stand_between_things_only() {
        let mut out = Vec::new();
        let mut json = Json::new(&mut out);
        json.object(|json| {
            json.member("a")?.list(|_| Ok(()))?;
            json.member("b\"")?.list(|json| {
                json.items_of("[ ]")?;
                json.items_of(r#"[1, {"x":2}]"#)?;
                json.item()?.object(|_| Ok(()))?;
                json.item()?.text("t\n")
            })?;
            json.member("c")?.raw("1e-300")
        })
        .unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), r#"{"a":[],"b\"":[1, {"x":2},{},"t\n"],"c":1e-300}"#);
    }
}
