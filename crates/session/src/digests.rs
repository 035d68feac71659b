//! Names for contents: of a cohort, of an agreement, of one side's part in it.

use crate::Identity;
use crate::agreement::Terms;
use crate::identity::hex;
use crate::roster::{Parties, Roster};
use ring::digest::{Context, SHA256};
use veilpath_metrics::Cohort;
use veilpath_protocol::{Role, Spec};

/// Each side of an agreement has a journal of its own, also where one user plays both.
pub(crate) fn journal_id(id: &[u8; 32], role: Role) -> [u8; 32] {
    let mut context = Context::new(&SHA256);
    context.update(id);
    context.update(match role {
        Role::Host => b"host",
        Role::Join => b"join",
    });
    let mut name = [0; 32];
    name.copy_from_slice(context.finish().as_ref());
    name
}

/// A name for the content of a cohort that only this side can make.
pub(crate) fn cohort_tag(cohort: &Cohort, identity: &Identity) -> String {
    let mut context = Context::new(&SHA256);
    for entry in &cohort.entries {
        for text in [Some(&entry.participant), entry.stimulus.as_ref()] {
            context.update(&[u8::from(text.is_some())]);
            let text = text.map(String::as_bytes).unwrap_or_default();
            context.update(&(text.len() as u64).to_le_bytes());
            context.update(text);
        }
        context.update(&(entry.scanpath.len() as u64).to_le_bytes());
        for letter in entry.scanpath.letters() {
            context.update(&letter.to_le_bytes());
        }
    }
    hex(&identity.tag("cohort", &[context.finish().as_ref()]))
}

/// A name for everything that was agreed on, the same on both sides.
pub(crate) fn agreement_id(
    terms: &Terms,
    spec: &Spec,
    parties: &Parties,
    cohort_tags: &[String; 2],
    rosters: &[&Roster; 2],
) -> [u8; 32] {
    let mut context = Context::new(&SHA256);
    let mut put = |bytes: &[u8]| {
        context.update(&(bytes.len() as u64).to_le_bytes());
        context.update(bytes);
    };
    put(b"veilpath agreement 1");
    for fields in [&terms.fields, &spec.encoding] {
        put(&(fields.len() as u64).to_le_bytes());
        for (name, value) in fields {
            put(name.as_bytes());
            put(value.as_bytes());
        }
    }
    put(parties.host.bytes());
    put(parties.join.bytes());
    for (cohort_tag, roster) in cohort_tags.iter().zip(rosters) {
        put(cohort_tag.as_bytes());
        put(&roster.digest());
    }
    let mut id = [0; 32];
    id.copy_from_slice(context.finish().as_ref());
    id
}
