//! Transfers, bits and exchanges, against those of the simulation in `assurance/simulations`.

use super::gates::{Factor, Gates};
use super::group::{CostSource, Group, LetterTables, Matrix};
use super::letters::rows;
use super::line_lookup::{
    LineBlocks, LineCosts, LineEntries, LineLookup, LineSeeds, LineTrees, lookup_batches,
};
use super::list_costs::quotient_cost;
use super::lookup::{Table, Trees};
use super::outputs::{number_bits, numbers, output};
use super::runs::Runs;
use super::seeds::SeedRequest;
use super::session::Party;
use super::sets::largest_chosen_cost;
use super::tests::{TaskRun, run_both_sides};
use super::{Finish, InnerProduct, MatrixInput, MatrixRecurrence, Outputs};
use crate::circuit::numbers::bits_for;
use crate::error::MpcError;
use crate::kernel::Kernel;
use std::cell::RefCell;

/// A row of the simulation's table.
struct Row {
    case: String,
    a: usize,
    b: usize,
    count: usize,
    cots: [usize; 2],
    bits: [u64; 2],
    exchanges: u64,
}

fn table() -> Vec<Row> {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../testdata/shares/counts.csv"
    );
    let text = std::fs::read_to_string(path).unwrap();
    let rows = text.lines().skip(1).map(|line| {
        let (case, rest) = line.split_once(',').unwrap();
        let fields: Vec<usize> = rest.split(',').map(|f| f.parse().unwrap()).collect();
        let [a, b, count, cots_0, cots_1, bits_0, bits_1, exchanges] = fields[..] else {
            panic!("{line}");
        };
        Row {
            case: case.into(),
            a,
            b,
            count,
            cots: [cots_0, cots_1],
            bits: [bits_0 as u64, bits_1 as u64],
            exchanges: exchanges as u64,
        }
    });
    rows.collect()
}

fn check<T>(row: &Row, ran: &TaskRun<T>) {
    let what = format!("{} {} {}", row.case, row.a, row.b);
    assert_eq!([ran.used.sent, ran.used.received], row.cots, "{what}: COTs");
    let bits = [ran.traffic.sent, ran.traffic.received].map(|bytes| 8 * bytes);
    assert_eq!(bits, row.bits, "{what}: bits");
    assert_eq!(ran.exchanges, row.exchanges, "{what}: exchanges");
}

#[test]
fn costs_match_the_simulation() {
    let rows = table();
    for row in &rows {
        match row.case.split_once(' ') {
            None => gadget(row),
            Some(("cell", kind)) => {
                let cost = cell(kind, row.a).cost();
                let simulated = [
                    row.cots.iter().sum::<usize>(),
                    row.bits.iter().sum::<u64>() as usize,
                ];
                let expected = [cost.cots, cost.bits].map(|cost| cost * row.count);
                assert_eq!(expected, simulated, "{} {}", row.case, row.a);
                assert_eq!(cost.exchanges as u64, row.exchanges, "{}", row.case);
            }
            Some((kind, mode)) => check(row, &align(kind, mode, row)),
        }
    }
    assert!(rows.len() > 90, "{} rows", rows.len());
}

/// Counts do not depend on the numbers, so both sides use zeros.
fn gadget(row: &Row) {
    let Row { a, b, count, .. } = *row;
    let zeros = vec![0; count];
    let ran = match &*row.case {
        "trees" => return check(row, &trees(a, count)),
        "lines" => return check(row, &lines(a, b)),
        "runs" => return check(row, &runs(a, b, count)),
        name => run_both_sides(async |gates: Gates| match name {
            "and" => {
                gates.rounds.reserve(Gates::cross_demand(count)).await;
                gates.and(&zeros, &zeros, a).await
            }
            "select" => {
                gates.rounds.reserve(Gates::cross_demand(count)).await;
                gates.select(&zeros, &zeros, a).await
            }
            "sign" => {
                gates
                    .rounds
                    .reserve(gates.sign_demand(count, a, Party::Host))
                    .await;
                gates.not_negative(&zeros, a, Party::Host).await
            }
            "clamp" => {
                gates
                    .rounds
                    .reserve(gates.clamp_demand(count, a, Party::Host.alternate(b)))
                    .await;
                gates.clamp(&zeros, a, Party::Host.alternate(b)).await
            }
            "number" => {
                gates.rounds.reserve(gates.numbers_demand(count, a)).await;
                gates.numbers_from_bits(&zeros, a, b).await
            }
            "widen" => {
                gates.rounds.reserve(gates.widen_demand(count)).await;
                gates.widen(&zeros, a, b).await
            }
            "bits" => {
                gates.rounds.reserve(gates.bits_demand(count, a)).await;
                gates.bits_from_numbers(&zeros, a).await
            }
            "product" => {
                let receives = gates.party.is_host();
                let demand = Gates::products_demand(count, receives);
                gates.rounds.reserve(demand).await;
                let factor = match receives {
                    true => Factor::Bits(&zeros),
                    false => Factor::Numbers(&zeros),
                };
                gates.products(factor, a).await
            }
            "quotient" => gates.quotients(&zeros, &zeros, a, b).await,
            "inner" => {
                gates
                    .inner_products(&vec![0; count * a], inner_product(a, b))
                    .await
            }
            "chosen" => {
                let own = vec![0; count * a];
                gates.largest_chosen(&own, &own, a, b).await
            }
            other => panic!("{other}"),
        }),
    };
    let formula = match &*row.case {
        "chosen" => Some(largest_chosen_cost(a, b)),
        "quotient" => Some(quotient_cost(a, b)),
        "inner" => Some(inner_product(a, b).cost()),
        _ => None,
    };
    if let Some(cost) = formula {
        let cots = row.cots.iter().sum::<usize>();
        assert_eq!(cost.cots * count, cots, "{a} {b}");
        let bits = row.bits.iter().sum::<u64>() as usize;
        assert_eq!(cost.bits * count, bits, "{a} {b}");
        assert_eq!(cost.exchanges as u64, row.exchanges, "{a} {b}");
    }
    check(row, &ran);
}

/// Factors of `bits` bits on both sides.
fn inner_product(each: usize, bits: usize) -> InnerProduct {
    InnerProduct {
        each,
        bits: [bits; 2],
        width: 2 * bits + bits_for(each as u64),
    }
}

fn equal(x: usize, y: usize) -> u64 {
    u64::from(x == y)
}

fn trees(alphabet: usize, count: usize) -> TaskRun<()> {
    let levels = Table::new(alphabet, alphabet, 1, equal).levels;
    run_both_sides(async |gates: Gates| {
        let own = vec![0; count];
        let request = SeedRequest {
            levels,
            first: 0,
            own: &own,
            theirs: count,
        };
        gates.rounds.reserve(request.demand()).await;
        gates.seeds(Kernel::best(), &request).await.map(|_| ())
    })
}

/// Lines that share trees in the simulation.
const LINES: usize = 8;

/// A matrix whose lines are its eight rows.
fn lines(alphabet: usize, length: usize) -> TaskRun<()> {
    let kernel = Kernel::best();
    let table = Table::new(alphabet, alphabet, 1, equal);
    let comparison = MatrixInput {
        rows: 0..LINES,
        columns: 0..length,
        term: 0,
        at_least: 0,
    };
    run_both_sides(async |gates: Gates| {
        let own_lines = gates.party.is_host();
        let letters = vec![0; if own_lines { LINES } else { length }];
        let blocks = LineBlocks::new(LINES, &[LINES]);
        let (entries, theirs) = match own_lines {
            true => {
                let entries = LineEntries::new(&table, &letters, &[LINES], &blocks);
                (Some(entries), 0)
            }
            false => (None, table.streams()),
        };
        let request = SeedRequest {
            levels: LINES,
            first: 0,
            own: entries.as_ref().map_or(&[], |entries| &entries.leaves),
            theirs,
        };
        gates.rounds.reserve(request.demand()).await;
        let (own, theirs) = gates.seeds(kernel, &request).await?;
        let trees = LineTrees {
            rows_are_lines: true,
            blocks,
            seeds: match entries {
                Some(entries) => LineSeeds::Own {
                    entries,
                    seeds: own,
                },
                None => LineSeeds::Theirs(theirs),
            },
        };
        let matrices = [Matrix::new(gates.party, 0, true, &comparison)];
        let costs = RefCell::new(matrices.iter().map(LineCosts::new).collect());
        let batches = lookup_batches(&matrices, &trees, table.streams(), &mut 0)?;
        let lookup = LineLookup {
            kernel,
            trees: &trees,
            matrices: &matrices,
            letters: &letters,
            table: &table,
        };
        let [batch] = &batches[..] else {
            panic!("{} batches", batches.len());
        };
        lookup.run(&gates, batch, &costs).await
    })
}

/// The recurrence of a simulated case. A local alignment has a gap of 3 and rewards of at most 4.
fn cell(kind: &str, parameter: usize) -> MatrixRecurrence {
    match kind {
        "unit" => MatrixRecurrence::Unit,
        "difference" | "padded" => MatrixRecurrence::Difference {
            insertion_and_deletion: parameter as u64,
        },
        "local" => MatrixRecurrence::Local {
            largest: parameter as u64,
            largest_entry: 10,
            gap: 3,
        },
        "warping" => MatrixRecurrence::Warping {
            largest: parameter as u64,
            largest_entry: 36,
            padded: false,
        },
        "padded-warping" => MatrixRecurrence::Warping {
            largest: parameter as u64,
            largest_entry: 36,
            padded: true,
        },
        "frechet" => MatrixRecurrence::Frechet {
            largest: parameter as u64,
        },
        other => panic!("{other}"),
    }
}

/// Rows and columns of each matrix.
const LENGTH: usize = 8;

/// Whole comparisons, from letters to outputs.
fn align(kind: &str, mode: &str, row: &Row) -> TaskRun<()> {
    let cell = cell(kind, row.a);
    let hidden = kind == "padded";
    // Padding is one more letter, and both sides add a term for their letters.
    let alphabet = row.b + usize::from(kind.starts_with("padded"));
    let finish = Finish {
        subtract: hidden,
        doubled: false,
        term_bits: if hidden { 5 } else { 0 },
        outputs: match mode {
            "numbers" => Outputs::Numbers,
            _ => Outputs::AtLeast,
        },
    };
    let comparisons = comparisons(row.count);
    run_both_sides(async |gates: Gates| {
        with_group(
            gates,
            alphabet,
            cell.entry_bits(),
            &comparisons,
            async |gates, mut group| {
                let found =
                    numbers(&gates, &mut group, cell, &comparisons, finish, &|_| ()).await?;
                let bits = number_bits(cell, &comparisons, finish);
                let bounds = comparisons.iter().map(|comparison| comparison.at_least);
                output(&gates, &found, bits, bounds, finish.outputs).await?;
                Ok(())
            },
        )
        .await
    })
}

/// Diagonal runs, from letters to numbers.
fn runs(alphabet: usize, min_length: usize, count: usize) -> TaskRun<()> {
    let comparisons = comparisons(count);
    let runs = Runs {
        min_length,
        bits: 7,
        at_once: 1 << 20,
    };
    run_both_sides(async |gates: Gates| {
        with_group(gates, alphabet, 1, &comparisons, async |gates, group| {
            runs.points(&gates, &group, &|_| ()).await.map(|_| ())
        })
        .await
    })
}

/// Matrices of [`LENGTH`] rows and columns.
fn comparisons(count: usize) -> Vec<MatrixInput> {
    let comparisons = (0..count).map(|number| MatrixInput {
        rows: number * LENGTH..(number + 1) * LENGTH,
        columns: number * LENGTH..(number + 1) * LENGTH,
        term: 0,
        at_least: 3,
    });
    comparisons.collect()
}

/// Makes trees of all letters, and runs a task on the matrices of comparisons.
async fn with_group(
    gates: Gates,
    alphabet: usize,
    entry_bits: usize,
    comparisons: &[MatrixInput],
    task: impl AsyncFn(Gates, Group<'_>) -> Result<(), MpcError>,
) -> Result<(), MpcError> {
    let kernel = Kernel::best();
    let table = || Table::new(alphabet, alphabet, entry_bits, |_, _| 0);
    let (own_table, their_table) = (table(), table());
    let own = vec![0; comparisons.len() * LENGTH];
    let request = SeedRequest {
        levels: own_table.levels,
        first: 0,
        own: &own,
        theirs: own.len(),
    };
    gates.rounds.reserve(request.demand()).await;
    let (own_seeds, their_seeds) = gates.seeds(kernel, &request).await?;
    let letters = LetterTables {
        kernel,
        own: &own,
        own_table: &own_table,
        their_table: &their_table,
    };
    let source = CostSource::Trees {
        own: &Trees::punctured(kernel, &own_seeds, &own),
        own_rows: &rows(&own_table, &own),
        theirs: &Trees::whole(kernel, &their_seeds),
    };
    let matrices = comparisons.iter().enumerate();
    let matrices: Vec<Matrix> = matrices
        .map(|(number, comparison)| {
            Matrix::new(gates.party, number as u64, number % 2 == 0, comparison)
        })
        .collect();
    let group = Group::new(gates.clone(), &letters, source, &matrices);
    task(gates, group).await
}
