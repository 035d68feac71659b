//! The partner: this side's identity, invitations, and the plan to propose.

use crate::App;
use crate::problem::Problem;
use crate::qr;
use crate::workspace::{Workspace, lock};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use veilpath::{
    DEFAULT_MINIMUM_GROUP, Fingerprint, Identity, Invitation, MIN_GROUP_SIZE, MeetingPlace,
    NamedPlan, Policy, SignedRecord, find_policy, fingerprint_words, identity_file, state_dir,
    write_record,
};

/// The number of record lines that are shown.
const MAX_LINES: usize = 20;

/// The form fields about a partner.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct PartnerForm {
    /// `host` or `join`.
    pub(crate) role: String,
    /// The name of this institution.
    pub(crate) name: String,
    /// The name of the partner.
    pub(crate) peer_name: String,
    /// The partner's fingerprint.
    pub(crate) peer: String,
    /// Where the host listens.
    pub(crate) listen: String,
    /// Where the host can be reached.
    pub(crate) address: String,
    /// Whether both sides connect to a relay instead.
    pub(crate) via_relay: bool,
    /// The address of the relay.
    pub(crate) relay: String,
    /// Whether ids and stimuli are hidden from the partner.
    pub(crate) pseudonyms: bool,
    /// The maximum number of comparisons of each scanpath; empty for the default.
    pub(crate) limit: String,
    /// The minimum number of participants in a group answer; empty for the default.
    pub(crate) minimum_group: String,
    /// The minimum that an invitation suggests. It applies only if this side's user accepts it.
    pub(crate) suggested_minimum: Option<u32>,
    /// What to compute.
    pub(crate) plan: NamedPlan,
    /// How the partner's scanpaths were encoded, if an invitation says so.
    pub(crate) encoding: BTreeMap<String, String>,
}

impl Default for PartnerForm {
    fn default() -> Self {
        Self {
            role: "host".into(),
            name: String::new(),
            peer_name: String::new(),
            peer: String::new(),
            listen: "0.0.0.0:7070".into(),
            address: String::new(),
            via_relay: false,
            relay: String::new(),
            pseudonyms: false,
            limit: String::new(),
            minimum_group: String::new(),
            suggested_minimum: None,
            // Scores of more than a few participants exceed the limit per scanpath; a mean of five or more is allowed.
            plan: NamedPlan {
                reveal: "mean".into(),
                ..NamedPlan::default()
            },
            encoding: BTreeMap::new(),
        }
    }
}

impl PartnerForm {
    /// Where this side listens, or what it connects to.
    pub(crate) fn meeting_address(&self) -> &str {
        match (self.via_relay, self.role.as_str()) {
            (true, _) => self.relay.trim(),
            (false, "join") => self.address.trim(),
            (false, _) => self.listen.trim(),
        }
    }

    /// What the host and the joining side are called in results.
    pub(crate) fn names(&self) -> [String; 2] {
        let named = |name: &str, default: &str| match name.trim() {
            "" => default.to_string(),
            name => name.to_string(),
        };
        let own = named(&self.name, "this side");
        let peer = named(&self.peer_name, "the partner");
        match self.role.as_str() {
            "join" => [peer, own],
            _ => [own, peer],
        }
    }

    /// The partner's fingerprint.
    pub(crate) fn fingerprint(&self) -> Result<Fingerprint, Problem> {
        self.peer.trim().parse().map_err(|_| {
            Problem::new(
                "the partner's fingerprint is missing or wrong",
                "Drop the partner's invitation or answer here, or enter the fingerprint that its page shows.",
            )
        })
    }
}

impl Workspace {
    /// The identity, which is created if there is none yet.
    pub(crate) fn identity(&self) -> Result<Identity, Problem> {
        let path = identity_file(self.identity.as_deref())?;
        let (identity, _) = Identity::load_or_create(&path).map_err(veilpath::Error::from)?;
        Ok(identity)
    }

    /// Applies an invitation, or the answer to one.
    pub(crate) fn open_invitation(&mut self, bytes: &[u8]) -> Result<(), Problem> {
        let invitation = Invitation::read(bytes)?;
        if invitation.fingerprint == self.identity()?.fingerprint() {
            return Err(Problem::new(
                "this is your own invitation or answer",
                "Send it to the partner, and open the file that the partner sends you.",
            ));
        }
        if self.session.is_running() {
            return Err(Problem::new(
                "a session is running",
                "End it before you open another invitation.",
            ));
        }
        self.session.needs_approval();
        let form = &mut self.partner;
        let peer = invitation.fingerprint.to_string();
        let current = form.fingerprint();
        let is_another =
            !form.peer.trim().is_empty() && current.ok() != Some(invitation.fingerprint);
        // A name that the user typed is kept, unless it belongs to another partner.
        if is_another || !invitation.name.trim().is_empty() {
            form.peer_name = invitation.name;
        }
        form.peer = peer;
        form.encoding = invitation.encoding.0;
        form.suggested_minimum = invitation.minimum_group;
        // An answer names no meeting place: this side hosts, and keeps its own plan.
        let Some(place) = invitation.meeting_place else {
            // The address of a joining side was that of its host.
            if form.role == "join" {
                form.address.clear();
            }
            form.role = "host".into();
            return Ok(());
        };
        form.role = "join".into();
        form.plan = invitation.plan;
        form.via_relay = matches!(place, MeetingPlace::Relay(_));
        match place {
            MeetingPlace::Host(address) => form.address = address,
            MeetingPlace::Relay(address) => form.relay = address,
        }
        Ok(())
    }

    /// The invitation of a host, or the answer of a joining side.
    pub(crate) fn invitation(&self) -> Result<Invitation, Problem> {
        let form = &self.partner;
        let invitation = Invitation {
            meeting_place: match (form.role.as_str(), form.via_relay) {
                ("join", _) => None,
                (_, true) => Some(MeetingPlace::Relay(form.relay.trim().to_string())),
                (_, false) => Some(MeetingPlace::Host(form.address.trim().to_string())),
            },
            fingerprint: self.identity()?.fingerprint(),
            name: form.name.trim().to_string(),
            plan: form.plan.clone(),
            minimum_group: form.chosen_minimum()?,
            encoding: match &self.cohorts[0] {
                Some(cohort) => cohort.cohort.encoding.clone(),
                None => Default::default(),
            },
        };
        invitation.check()?;
        Ok(invitation)
    }
}

impl App {
    /// What the page shows about this side's identity.
    pub(crate) fn identity(&self) -> Result<Value, Problem> {
        let identity = lock(&self.workspace).identity()?;
        let fingerprint = identity.fingerprint();
        Ok(json!({
            "fingerprint": fingerprint.to_string(),
            "words": fingerprint_words(fingerprint),
            "qr": qr::svg(&fingerprint.to_string()).into_string(),
        }))
    }

    /// A fingerprint in words, to compare it by phone.
    pub(crate) fn words(&self, fingerprint: &str) -> Result<Value, Problem> {
        let form = PartnerForm {
            peer: fingerprint.into(),
            ..PartnerForm::default()
        };
        Ok(json!({"words": fingerprint_words(form.fingerprint()?)}))
    }

    /// Whether the institution's policy and limits allow the plan.
    pub(crate) fn policy(&self) -> Result<Value, Problem> {
        // Other requests need not wait for the preview.
        let (proposal, identity) = {
            let workspace = lock(&self.workspace);
            (workspace.proposal(), workspace.identity.clone())
        };
        let policy = find_policy(None, &state_dir(identity.as_deref())?)?;
        let limits = match proposal.preview_limits(policy.as_ref()) {
            Ok(preview) => preview,
            Err(problem) => json!({"kind": "problem", "problem": problem}),
        };
        let min_group = policy
            .as_ref()
            .map_or(MIN_GROUP_SIZE, Policy::minimum_group);
        let minimum = DEFAULT_MINIMUM_GROUP.max(min_group);
        let Some(policy) = policy else {
            return Ok(
                json!({"exists": false, "limits": limits, "minimum": minimum, "least": min_group}),
            );
        };
        let checked = proposal.check_own_plan(&policy);
        Ok(json!({
            "exists": true,
            "file": policy.path().display().to_string(),
            "expires": policy.expires(),
            "allowed": checked.is_ok(),
            "reason": checked.err().map(|problem| problem.message),
            "limits": limits,
            "minimum": minimum,
            "least": min_group,
        }))
    }

    /// The last lines of the signed record of what was disclosed.
    pub(crate) fn record(&self) -> Result<Value, Problem> {
        let lines = self.record_lines()?;
        let shown: Vec<&[String]> = match lines.split_first() {
            None => Vec::new(),
            Some((head, lines)) => {
                let last = lines.len().saturating_sub(MAX_LINES);
                let lines = lines[last..].iter().map(Vec::as_slice);
                std::iter::once(head.as_slice()).chain(lines).collect()
            }
        };
        Ok(json!({"lines": shown}))
    }

    /// The record as CSV.
    pub(crate) fn record_csv(&self) -> Result<Vec<u8>, Problem> {
        let workspace = lock(&self.workspace);
        let path = state_dir(workspace.identity.as_deref())?.record();
        if !path.exists() {
            return Ok(Vec::new());
        }
        let owner = workspace.identity()?.fingerprint();
        let record = SignedRecord::read(&path, Some(owner))
            .and_then(SignedRecord::require_intact)
            .map_err(veilpath::Error::from)?;
        let mut bytes = Vec::new();
        write_record(&record.lines, &mut bytes)
            .map_err(|error| Problem::new(error.to_string(), ""))?;
        Ok(bytes)
    }

    /// The fields of the record; none of them contains a comma or a quote, except the answer's name.
    fn record_lines(&self) -> Result<Vec<Vec<String>>, Problem> {
        let text = String::from_utf8_lossy(&self.record_csv()?).into_owned();
        Ok(text.lines().map(fields).collect())
    }
}

/// The fields of one line of CSV.
fn fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut is_quoted = false;
    for c in line.chars() {
        match c {
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => fields.push(String::new()),
            c => {
                if let Some(field) = fields.last_mut() {
                    field.push(c);
                }
            }
        }
    }
    fields
}
