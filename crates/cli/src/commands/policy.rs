//! `veilpath policy`: what may leave this institution.

use crate::commands::peers::confirmed;
use crate::commands::session::RevealToName;
use crate::destination::Destination;
use crate::engine_args::{EngineName, PaillierArgs};
use crate::failure::Failure;
use crate::inputs::{self, STDIN, is_dash, is_stdout};
use crate::messages;
use crate::metric_args::MetricArgs;
use crate::reveal_args::RevealArgs;
use clap::{Args, Subcommand, ValueEnum};
use std::io;
use std::path::{Path, PathBuf};
use veilpath::{
    Contents, DisclosureLedger, DocumentPlan, Fingerprint, Identity, MetricName, Policy,
    ScanpathLimit, StateDir, units,
};

const EXAMPLES: &str = "\
Examples:
  veilpath policy init -o policy.toml

`veilpath host` and `veilpath join` read the file that --policy names, or policy.toml in Veilpath's state folder, and refuse \
every plan that it does not allow: before they send anything if partner, metric, answer, engine, --limit-per-scanpath or the date is \
not allowed, and before they compute anything if there are too few participants, or too many comparisons or answers.";

const CHECK_HELP: &str = "\
Examples:
  veilpath policy check --policy policy.toml --peer THEIRS --metric scanmatch --reveal groups

THEIRS is the fingerprint that `veilpath identity` prints at the partner's institution. The options are those of `veilpath host` and \
`veilpath join` that a policy can limit. If the policy forbids the plan, the command names every line that does so, and exits with \
code 2.";

const DOCUMENT_HELP: &str = "\
Examples:
  veilpath policy document --policy policy.toml --peer THEIRS --reveal groups -o plan.html

THEIRS is the fingerprint that `veilpath identity` prints at the partner's institution. The document says in plain language what is \
computed, what each side learns and under which assumptions, which limits apply, what is stored, and what remains personal data; it \
ends with a paragraph for the consent form. Purpose, legal basis and contact come from [document] in the policy. A plan that the \
policy forbids is refused. The name of the file, .md or .html, determines the format.";

const WITHDRAW_HELP: &str = "\
Examples:
  veilpath policy withdraw --peer THEIRS p07

THEIRS is the partner's fingerprint, which `veilpath peers` prints. The example leaves p07 out: from now on, nothing about p07 is sent to this partner, even in sessions \
that are running. A line in the record says how many participants withdrew, without their ids.

Without this command, a plan that leaves out a participant of earlier group answers is refused: two answers that differ by a few \
participants reveal something about those few. After this command the partner can compute that difference.";

/// The arguments of `policy`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct PolicyArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Write a commented policy to start from
    #[command(after_help = EXAMPLES)]
    Init(InitArgs),
    /// Check a plan against a policy, without a partner
    #[command(after_help = CHECK_HELP)]
    Check(CheckArgs),
    /// Describe a plan under a policy on two pages, for a data protection officer
    #[command(after_help = DOCUMENT_HELP)]
    Document(DocumentArgs),
    /// Exclude participants from all later answers because they have withdrawn their consent
    #[command(after_help = WITHDRAW_HELP)]
    Withdraw(WithdrawArgs),
}

#[derive(Debug, Args)]
struct InitArgs {
    /// The file to write, which must not exist yet (- for standard output) [default: policy.toml in Veilpath's state folder,
    /// where `host` and `join` look for it]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// The identity file. Needed only without a home directory: the state folder is then `veilpath` next to this file
    #[arg(long, value_name = "FILE", value_parser = inputs::named_place())]
    identity: Option<PathBuf>,
}

#[derive(Debug, Args)]
struct CheckArgs {
    #[command(flatten)]
    plan: PlanArgs,
}

#[derive(Debug, Args)]
struct DocumentArgs {
    /// Who gets the results
    #[arg(long, value_enum, value_name = "SIDE", default_value = "both")]
    reveal_to: RevealToName,

    /// The plan hides this side's participant ids and stimulus names from the partner
    #[arg(long)]
    pseudonyms: bool,

    /// The file to write [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// The format [default: from the file's extension, else markdown]
    #[arg(long, value_enum, ignore_case = true, value_name = "FORMAT")]
    format: Option<DocumentFormat>,

    /// Replace the file even if it is not such a document
    #[arg(long)]
    force: bool,

    #[command(flatten)]
    plan: PlanArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum DocumentFormat {
    /// Markdown
    Markdown,
    /// A web page without scripts, suitable for printing
    Html,
}

#[derive(Debug, Args)]
struct WithdrawArgs {
    /// The partner's fingerprint
    #[arg(long, value_name = "FINGERPRINT")]
    peer: Fingerprint,

    /// The ids of the participants
    #[arg(value_name = "PARTICIPANT", required = true)]
    participants: Vec<String>,

    /// Do not ask for confirmation
    #[arg(long)]
    yes: bool,

    /// The identity file [default: identity.pem in Veilpath's state folder]
    #[arg(long, value_name = "FILE", value_parser = inputs::named_place())]
    identity: Option<PathBuf>,
}

/// The options of `host` and `join` that a policy restricts.
#[derive(Debug, Args)]
pub(crate) struct PlanArgs {
    /// The policy (- for standard input) [default: policy.toml in Veilpath's state folder]
    #[arg(long, value_name = "FILE")]
    pub(crate) policy: Option<PathBuf>,

    /// The partner's fingerprint; may be repeated
    #[arg(long, value_name = "FINGERPRINT", required = true)]
    pub(crate) peer: Vec<Fingerprint>,

    /// The engine
    #[arg(
        long,
        value_enum,
        ignore_case = true,
        value_name = "ENGINE",
        default_value_t
    )]
    pub(crate) engine: EngineName,

    #[command(flatten)]
    pub(crate) reveal: RevealArgs,

    /// Maximum number of comparisons with this partner for each of this side's scanpaths
    #[arg(long, value_name = "COUNT")]
    pub(crate) limit_per_scanpath: Option<u64>,

    /// The identity file. Needed only without a home directory: the state folder is then `veilpath` next to this file
    #[arg(long, value_name = "FILE", value_parser = inputs::named_place())]
    pub(crate) identity: Option<PathBuf>,

    // Last, because their headings apply to everything that follows.
    #[command(flatten)]
    pub(crate) metric: MetricArgs,

    #[command(flatten)]
    pub(crate) paillier: PaillierArgs,
}

impl PlanArgs {
    /// The policy, which must exist.
    pub(crate) fn policy(&self) -> Result<Policy, Failure> {
        let state_dir = veilpath::state_dir(self.identity.as_deref())?;
        if self.policy.as_deref().is_some_and(is_dash) {
            let read = Policy::read_from(Path::new(STDIN), io::stdin().lock());
            return Ok(read.map_err(veilpath::Error::from)?);
        }
        let found = veilpath::find_policy(self.policy.as_deref(), &state_dir)?;
        found.ok_or_else(|| no_policy(&state_dir))
    }

    /// The limit on comparisons per scanpath.
    fn limit(&self) -> ScanpathLimit {
        let limit = self.limit_per_scanpath.map(ScanpathLimit::Count);
        limit.unwrap_or_default()
    }

    /// Checks the plan against the policy.
    pub(crate) fn check(&self, policy: &Policy) -> Result<(), Failure> {
        Ok(veilpath::check_policy(
            policy,
            &self.peer,
            self.engine.with(&self.paillier)?,
            MetricName::from(self.metric.metric),
            self.reveal.reveal,
            self.limit(),
        )?)
    }
}

fn no_policy(state_dir: &StateDir) -> Failure {
    Failure::input(format!(
        "{}: there is no policy\n  `veilpath policy init` writes one to start from; --policy names another file",
        state_dir.policy().display()
    ))
}

/// Writes or checks a policy.
pub(crate) fn run(args: &PolicyArgs) -> Result<(), Failure> {
    match &args.action {
        Action::Init(args) => init(args),
        Action::Check(args) => {
            let policy = args.plan.policy()?;
            args.plan.check(&policy)?;
            let path = policy.path().display();
            messages::info(&format!(
                "{path} allows this plan until {}\n",
                policy.expires()
            ));
            Ok(())
        }
        Action::Document(args) => document(args),
        Action::Withdraw(args) => withdraw(args),
    }
}

fn document(args: &DocumentArgs) -> Result<(), Failure> {
    let policy = args.plan.policy()?;
    args.plan.check(&policy)?;
    let plan = DocumentPlan {
        partners: args.plan.peer.clone(),
        engine: args.plan.engine.with(&args.plan.paillier)?,
        metric: args.plan.metric.metric.into(),
        reveal: args.plan.reveal.reveal,
        reveal_to: args.reveal_to.into(),
        pad_to: args.plan.reveal.pad_to,
        pseudonyms: args.pseudonyms,
        limit: args.plan.limit(),
    };
    let document = veilpath::policy_document(&policy, &plan);
    let is_page = |path: &PathBuf| {
        let extension = path.extension().unwrap_or_default();
        extension.eq_ignore_ascii_case("html") || extension.eq_ignore_ascii_case("htm")
    };
    let by_name = match args.output.as_ref().is_some_and(is_page) {
        true => DocumentFormat::Html,
        false => DocumentFormat::Markdown,
    };
    let format = args.format.unwrap_or(by_name);
    let contents = match format {
        DocumentFormat::Html => Contents::Page,
        DocumentFormat::Markdown => Contents::Document,
    };
    let inputs = [policy.path()];
    let destination = Destination::prepare(contents, args.output.as_deref(), &inputs, args.force)?;
    destination.write(|out| match format {
        DocumentFormat::Markdown => document.write_markdown(out),
        DocumentFormat::Html => document.write_html(out),
    })
}

fn withdraw(args: &WithdrawArgs) -> Result<(), Failure> {
    let identity = veilpath::identity_file(args.identity.as_deref())?;
    let identity = Identity::load(&identity)?;
    let state_dir = veilpath::state_dir(args.identity.as_deref())?;
    state_dir.prepare()?;
    messages::note(
        "the partner can compute what earlier answers said about those who withdraw; this cannot be undone",
    );
    if !args.yes && !confirmed("exclude them from later answers?")? {
        return Err(Failure::input("nothing was changed"));
    }
    let ledger = DisclosureLedger::open(Some(&state_dir), &identity, args.peer);
    let withdrawn = ledger.withdraw(&args.participants)?;
    let new = units::counted(withdrawn.new, "participant");
    messages::info(&format!("{new} excluded from now on\n"));
    // Not an error: somebody may withdraw before the first answer. But a misspelt id excludes nobody.
    if !withdrawn.unknown.is_empty() {
        messages::note(&format!(
            "no answer for this partner so far was about {}; the withdrawal is stored, but check the spelling",
            withdrawn.unknown.join(", ")
        ));
    }
    Ok(())
}

fn init(args: &InitArgs) -> Result<(), Failure> {
    let path = match &args.output {
        Some(path) if is_stdout(path) => {
            let example = veilpath::POLICY_EXAMPLE.as_bytes();
            return Destination::NamedStdout.write(|out| out.write_all(example));
        }
        Some(path) => path.clone(),
        None => veilpath::state_dir(args.identity.as_deref())?.policy(),
    };
    if path.exists() {
        return Err(Failure::input(format!(
            "{}: this file exists, and a policy is never overwritten\n  choose another name with -o",
            path.display()
        )));
    }
    veilpath::write_policy_example(&path)?;
    messages::info(&format!(
        "wrote {}; replace its partner and values with your own\n",
        path.display()
    ));
    Ok(())
}
