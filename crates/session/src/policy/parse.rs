//! Reads a policy, and says where something is wrong with it.

use super::{
    AnswerKind, ENGINES, METRICS, MIN_GROUP_SIZE, Policy, PolicyError, PolicyPartner,
    PolicyProblem, PolicyTexts, WithLine,
};
use std::io::{self, Read};
use std::path::Path;
use toml::Spanned;
use toml::de::{DeTable, DeValue};
use veilpath_metrics::text::is_printable;

/// The largest policy.
const MAX_BYTES: u64 = 1 << 20;

const KEYS: &[&str] = &[
    "expires",
    "metrics",
    "answers",
    "engines",
    "minimum_group",
    "comparisons_per_scanpath",
    "answers_per_partner",
    "partners",
    "document",
];
const PARTNER_KEYS: &[&str] = &["name", "fingerprint"];
const TEXT_KEYS: &[&str] = &[
    "institution",
    "purpose",
    "legal_basis",
    "contact",
    "retention",
];

pub(super) fn read<R: Read>(
    path: &Path,
    open: impl FnOnce() -> io::Result<R>,
) -> Result<Policy, PolicyError> {
    let failed = |problem| PolicyError {
        path: path.to_path_buf(),
        line: None,
        key: None,
        problem,
    };
    let mut text = String::new();
    let size = open()
        .and_then(|file| file.take(MAX_BYTES + 1).read_to_string(&mut text))
        .map_err(|error| match error.kind() {
            io::ErrorKind::InvalidData => failed(PolicyProblem::NotText),
            _ => failed(PolicyProblem::Io(error)),
        })?;
    if size as u64 > MAX_BYTES {
        return Err(failed(PolicyProblem::NotText));
    }
    parse(path, &text)
}

pub(super) fn parse(path: &Path, text: &str) -> Result<Policy, PolicyError> {
    // Some editors write a byte-order mark.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let file = PolicyText { path, text };
    let parsed = DeTable::parse(text).map_err(|error| {
        let start = error.span().map(|span| span.start);
        file.error(start, None, PolicyProblem::Syntax(error.message().into()))
    })?;
    let table = Table {
        file: &file,
        name: "",
        table: parsed.get_ref(),
        start: None,
    };
    table.reject_unknown_keys(KEYS)?;
    let texts = match table.get("document") {
        None => PolicyTexts::default(),
        Some(value) => texts(&file, value)?,
    };
    Ok(Policy {
        path: path.to_path_buf(),
        expires: table.required("expires")?.date()?,
        metrics: table.required("metrics")?.known_names(&METRICS)?,
        engines: {
            let engines = table.get("engines");
            engines.map(|it| it.known_names(&ENGINES)).transpose()?
        },
        answers: {
            let kinds = AnswerKind::ALL;
            let names = kinds.map(AnswerKind::name);
            let kind = |name: &str| kinds.into_iter().find(|kind| kind.name() == name);
            table.required("answers")?.names(&names, kind)?
        },
        minimum_group: table.number("minimum_group", MIN_GROUP_SIZE.into(), 1 << 20)?,
        comparisons_per_scanpath: table.number("comparisons_per_scanpath", 1, 1 << 40)?,
        answers_per_partner: table.number("answers_per_partner", 1, 1 << 20)?,
        partners: partners(&table.required("partners")?)?,
        texts,
    })
}

/// The text of a policy.
struct PolicyText<'a> {
    path: &'a Path,
    text: &'a str,
}

impl PolicyText<'_> {
    fn line(&self, at: usize) -> usize {
        let before = self.text.as_bytes().iter().take(at);
        before.filter(|&&byte| byte == b'\n').count() + 1
    }

    fn error(&self, at: Option<usize>, key: Option<String>, problem: PolicyProblem) -> PolicyError {
        PolicyError {
            path: self.path.to_path_buf(),
            line: at.map(|at| self.line(at)),
            key,
            problem,
        }
    }
}

/// A table, and where it is.
struct Table<'a> {
    file: &'a PolicyText<'a>,
    name: &'a str,
    table: &'a DeTable<'a>,
    start: Option<usize>,
}

/// A value, and the name of its key.
struct Value<'a> {
    file: &'a PolicyText<'a>,
    key: String,
    /// Where the key is: a list may start below it.
    at: usize,
    value: &'a Spanned<DeValue<'a>>,
}

impl<'a> Table<'a> {
    fn key(&self, key: &str) -> String {
        match self.name {
            "" => key.to_string(),
            name => format!("{name}.{key}"),
        }
    }

    fn reject_unknown_keys(&self, known: &'static [&'static str]) -> Result<(), PolicyError> {
        for key in self.table.keys() {
            if !known.contains(&key.get_ref().as_ref()) {
                let problem = PolicyProblem::UnknownKey { known };
                let (at, name) = (key.span().start, self.key(key.get_ref()));
                return Err(self.file.error(Some(at), Some(name), problem));
            }
        }
        Ok(())
    }

    fn get(&self, key: &str) -> Option<Value<'a>> {
        let mut entries = self.table.iter();
        let (found, value) = entries.find(|(name, _)| name.get_ref() == key)?;
        Some(Value {
            file: self.file,
            key: self.key(key),
            at: found.span().start,
            value,
        })
    }

    fn required(&self, key: &str) -> Result<Value<'a>, PolicyError> {
        let missing = || {
            let name = Some(self.key(key));
            self.file.error(self.start, name, PolicyProblem::MissingKey)
        };
        self.get(key).ok_or_else(missing)
    }

    fn number<T: TryFrom<u64>>(
        &self,
        key: &str,
        min: u64,
        max: u64,
    ) -> Result<Option<WithLine<T>>, PolicyError> {
        let value = self.get(key);
        value.map(|value| value.number(min, max)).transpose()
    }

    fn text(&self, key: &str) -> Result<Option<String>, PolicyError> {
        let value = self.get(key);
        value.map(|value| value.text()).transpose()
    }
}

impl<'a> Value<'a> {
    fn wrong(&self, problem: PolicyProblem) -> PolicyError {
        self.wrong_at(self.value.span().start, problem)
    }

    fn wrong_at(&self, at: usize, problem: PolicyProblem) -> PolicyError {
        self.file.error(Some(at), Some(self.key.clone()), problem)
    }

    fn at<T>(&self, value: T) -> WithLine<T> {
        WithLine {
            line: self.file.line(self.at),
            value,
        }
    }

    fn date(&self) -> Result<WithLine<String>, PolicyError> {
        let expected = "a day, as in 2027-06-30";
        let day = self.value.get_ref().as_datetime();
        let day = day.filter(|day| day.time.is_none() && day.offset.is_none());
        let day = day.and_then(|day| day.date);
        let day = day.ok_or_else(|| self.wrong(PolicyProblem::WrongType { expected }))?;
        Ok(self.at(day.to_string()))
    }

    fn number<T: TryFrom<u64>>(&self, min: u64, max: u64) -> Result<WithLine<T>, PolicyError> {
        let expected = "a whole number";
        let number = self.value.get_ref().as_integer();
        let number = number.ok_or_else(|| self.wrong(PolicyProblem::WrongType { expected }))?;
        let digits = number.as_str().replace('_', "");
        let parsed = u64::from_str_radix(digits.trim_start_matches('+'), number.radix()).ok();
        let within = parsed.filter(|number| (min..=max).contains(number));
        let within = within.and_then(|number| T::try_from(number).ok());
        let problem = PolicyProblem::OutOfRange { min, max };
        Ok(self.at(within.ok_or_else(|| self.wrong(problem))?))
    }

    fn text(&self) -> Result<String, PolicyError> {
        let expected = "a text in quotes";
        let text = self.value.get_ref().as_str();
        let text = text.ok_or_else(|| self.wrong(PolicyProblem::WrongType { expected }))?;
        match is_printable(text) {
            true => Ok(text.to_string()),
            false => Err(self.wrong(PolicyProblem::Unprintable)),
        }
    }

    /// A list of some of these names.
    fn known_names(&self, known: &[&'static str]) -> Result<WithLine<Vec<String>>, PolicyError> {
        self.names(known, |name| {
            let known = known.iter().find(|known| **known == name);
            known.map(|known| (*known).to_string())
        })
    }

    /// A list of names that mean something.
    fn names<T>(
        &self,
        known: &[&'static str],
        find: impl Fn(&str) -> Option<T>,
    ) -> Result<WithLine<Vec<T>>, PolicyError> {
        let expected = "a list of names in quotes";
        let mut names = Vec::new();
        for value in self.list(expected)? {
            let at = value.span().start;
            let name = value.get_ref().as_str();
            let name =
                name.ok_or_else(|| self.wrong_at(at, PolicyProblem::WrongType { expected }))?;
            let unknown = || PolicyProblem::UnknownName {
                value: name.to_string(),
                known: known.to_vec(),
            };
            names.push(find(name).ok_or_else(|| self.wrong_at(at, unknown()))?);
        }
        Ok(self.at(names))
    }

    fn list(&self, expected: &'static str) -> Result<&'a [Spanned<DeValue<'a>>], PolicyError> {
        let list = self.value.get_ref().as_array();
        let list = list.ok_or_else(|| self.wrong(PolicyProblem::WrongType { expected }))?;
        match list.is_empty() {
            true => Err(self.wrong(PolicyProblem::Empty)),
            false => Ok(list),
        }
    }
}

fn partners(list: &Value<'_>) -> Result<WithLine<Vec<PolicyPartner>>, PolicyError> {
    let expected = "a list of tables, each under [[partners]]";
    let mut partners: Vec<PolicyPartner> = Vec::new();
    for value in list.list(expected)? {
        let at = value.span().start;
        let table = value.get_ref().as_table();
        let table =
            table.ok_or_else(|| list.wrong_at(at, PolicyProblem::WrongType { expected }))?;
        let table = Table {
            file: list.file,
            name: "partners",
            table,
            start: Some(at),
        };
        table.reject_unknown_keys(PARTNER_KEYS)?;
        let fingerprint = table.required("fingerprint")?;
        let key = fingerprint
            .text()?
            .parse()
            .map_err(|error| fingerprint.wrong(PolicyProblem::Fingerprint(error)))?;
        if partners.iter().any(|it| it.fingerprint == key) {
            return Err(fingerprint.wrong(PolicyProblem::Repeated));
        }
        partners.push(PolicyPartner {
            name: table.required("name")?.text()?,
            fingerprint: key,
        });
    }
    Ok(list.at(partners))
}

fn texts(file: &PolicyText<'_>, value: Value<'_>) -> Result<PolicyTexts, PolicyError> {
    let expected = "a table, under [document]";
    let table = value.value.get_ref().as_table();
    let table = Table {
        file,
        name: "document",
        table: table.ok_or_else(|| value.wrong(PolicyProblem::WrongType { expected }))?,
        start: Some(value.at),
    };
    table.reject_unknown_keys(TEXT_KEYS)?;
    Ok(PolicyTexts {
        institution: table.text("institution")?,
        purpose: table.text("purpose")?,
        legal_basis: table.text("legal_basis")?,
        contact: table.text("contact")?,
        retention: table.text("retention")?,
    })
}
