//! Secret exponents do not affect the steps: the sequence of operations depends only on public lengths.

use core::cell::RefCell;

use proptest::prelude::*;

use super::kernel::{BatchKernel, Digits};
use super::multi_pow::multi_pow_batch;
use super::portable::Portable;
use super::pow::pow_batch;
use super::{Exponent, Residue, Shape, Words};

/// The portable kernel, with a log of its operations and tables, but not of values.
struct Logging {
    kernel: Portable,
    log: RefCell<Vec<(&'static str, usize)>>,
}

impl Logging {
    fn new() -> Self {
        let kernel = Portable::new(&[u64::MAX, 1 << 63]).unwrap();
        Self {
            kernel,
            log: RefCell::default(),
        }
    }

    fn note(&self, step: &'static str, size: usize) {
        self.log.borrow_mut().push((step, size));
    }
}

impl BatchKernel for Logging {
    type Element = <Portable as BatchKernel>::Element;
    type Scratch = <Portable as BatchKernel>::Scratch;
    type SharedTables = <Portable as BatchKernel>::SharedTables;
    const LANES: usize = Portable::LANES;

    fn look_up_cost(&self) -> u32 {
        self.kernel.look_up_cost()
    }

    fn scratch(&self) -> Self::Scratch {
        self.kernel.scratch()
    }

    fn one(&self) -> Self::Element {
        self.kernel.one()
    }

    fn load(&self, residues: &[&Residue]) -> Self::Element {
        self.note("load", residues.len());
        self.kernel.load(residues)
    }

    fn store(&self, element: &Self::Element, count: usize) -> Vec<Residue> {
        self.note("store", count);
        self.kernel.store(element, count)
    }

    fn enter_montgomery(&self, element: &mut Self::Element, scratch: &mut Self::Scratch) {
        self.note("enter", 1);
        self.kernel.enter_montgomery(element, scratch);
    }

    fn leave_montgomery(&self, element: &mut Self::Element, scratch: &mut Self::Scratch) {
        self.note("leave", 1);
        self.kernel.leave_montgomery(element, scratch);
    }

    fn multiply(
        &self,
        element: &mut Self::Element,
        factor: &Self::Element,
        scratch: &mut Self::Scratch,
    ) {
        self.note("multiply", 1);
        self.kernel.multiply(element, factor, scratch);
    }

    fn square(&self, element: &mut Self::Element, scratch: &mut Self::Scratch) {
        self.note("square", 1);
        self.kernel.square(element, scratch);
    }

    fn copy(&self, element: &Self::Element) -> Self::Element {
        self.note("copy", 1);
        self.kernel.copy(element)
    }

    fn select(&self, table: &[Self::Element], digits: &Digits, out: &mut Self::Element) {
        self.note("select", table.len());
        self.kernel.select(table, digits, out);
    }

    fn new_shared_tables(&self, windows: usize, entries: usize) -> Self::SharedTables {
        self.kernel.new_shared_tables(windows, entries)
    }

    fn set_shared(
        &self,
        tables: &mut Self::SharedTables,
        first_window: usize,
        entry: usize,
        element: &Self::Element,
    ) {
        self.kernel.set_shared(tables, first_window, entry, element);
    }

    fn select_shared(
        &self,
        tables: &Self::SharedTables,
        window: usize,
        digits: &Digits,
        out: &mut Self::Element,
    ) {
        self.note("select shared", window);
        self.kernel.select_shared(tables, window, digits, out);
    }
}

fn steps_of_pow(words: [u64; 2], bits: u32) -> Vec<(&'static str, usize)> {
    let logging = Logging::new();
    let (base, exponent) = (
        Residue::one(2),
        Exponent::from_words(Words::copy(&words), bits),
    );
    pow_batch(&logging, &[(&base, &exponent)], &mut Vec::new());
    logging.log.into_inner()
}

fn steps_of_multi_pow(words: [u64; 2]) -> Vec<(&'static str, usize)> {
    let logging = Logging::new();
    let base = Residue::one(2);
    let exponents = words.map(|word| Exponent::from_words(Words::copy(&[word]), 64));
    let shape = Shape::new(vec![(64, 0), (64, 37)]);
    let job = exponents.iter().map(|exponent| (&base, exponent)).collect();
    multi_pow_batch(&logging, &shape, &[job], &mut Vec::new());
    logging.log.into_inner()
}

proptest! {
    #[test]
    fn steps_do_not_depend_on_the_exponent(words in any::<[u64; 2]>(), bits in 0..=128u32) {
        let steps = steps_of_pow(words, bits);
        prop_assert_eq!(&steps, &steps_of_pow([0, 0], bits));
        prop_assert_eq!(&steps, &steps_of_pow([1, 0], bits));
        prop_assert_eq!(&steps, &steps_of_pow([u64::MAX; 2], bits));
    }

    #[test]
    fn steps_do_not_depend_on_several_exponents(words in any::<[u64; 2]>()) {
        let steps = steps_of_multi_pow(words);
        prop_assert_eq!(&steps, &steps_of_multi_pow([0, 0]));
        prop_assert_eq!(&steps, &steps_of_multi_pow([u64::MAX; 2]));
    }
}
