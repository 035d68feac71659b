//! A cohort's own scanpaths, drawn on a grid or a picture.

use super::{HEADER, between, page_with, read};
use veilpath_metrics::{Alphabet, Cohort, Encoding, Entry, Grid};
use veilpath_report::html::{Image, Options, OwnCohort};

#[test]
fn own_scanpaths_are_drawn_on_the_grid_or_a_picture() {
    let alphabet = Alphabet::letters(49).unwrap();
    let entry = |participant: &str, stimulus: &str, text: &str| Entry {
        participant: participant.into(),
        group: None,
        stimulus: Some(stimulus.into()),
        scanpath: alphabet.parse(text).unwrap(),
        fixations: None,
    };
    let cohort = Cohort {
        alphabet,
        encoding: Encoding::default(),
        screen: None,
        entries: vec![
            entry("p", "cows", "ABBAW"),
            entry("r", "cows", ""),
            entry("p", "boat", "A"),
        ],
    };
    let mut picture = Vec::new();
    let mut writer = png::Encoder::new(&mut picture, 4, 2)
        .write_header()
        .unwrap();
    writer.write_image_data(&[0; 8]).unwrap();
    writer.finish().unwrap();
    let images = [(Some("cows".to_string()), Image::new(picture).unwrap())];
    let own = OwnCohort {
        cohort: &cohort,
        grid: Some(Grid::default()),
        aspect: None,
        images: &images,
        pairs: &[],
    };
    let file = read(&format!("{HEADER}p,q,cows,3,0.5\n"));
    let page = page_with(
        &file,
        Options {
            own: Some(own),
            ..Options::default()
        },
    );
    assert_eq!(page.matches("class=\"path over\"").count(), 2);
    assert_eq!(page.matches("class=\"path\"").count(), 1);
    assert_eq!(
        page.matches("id=\"stimulus-0\"").count(),
        1,
        "the picture is there once"
    );
    assert!(page.contains("<b>p</b> · 5 letters") && page.contains("<b>r</b> · 0 letters"));
    // The warning comes first on the page, and is also in the window title.
    let warned = page.find("This page is for your institution only").unwrap();
    assert!(warned < page.find("class=\"summary\"").unwrap());
    assert!(page.contains("<title>Private: "));
    let shared = page_with(&file, Options::default());
    assert!(!shared.contains("Private") && !shared.contains("your institution only"));
}

#[test]
fn panoramas_and_screens_keep_their_proportions() {
    let alphabet = Alphabet::letters(49).unwrap();
    let cohort = Cohort {
        alphabet,
        encoding: Encoding::default(),
        screen: None,
        entries: vec![Entry {
            participant: "p".into(),
            group: None,
            stimulus: None,
            scanpath: alphabet.parse("ABBA").unwrap(),
            fixations: None,
        }],
    };
    let file = read(&format!("{HEADER}p,x,,1,0.5\n"));
    let drawn = |aspect: Option<f64>| {
        let own = OwnCohort {
            cohort: &cohort,
            grid: Some(Grid::default()),
            aspect,
            images: &[],
            pairs: &[],
        };
        let options = Options {
            own: Some(own),
            ..Options::default()
        };
        let page = page_with(&file, options);
        between(&page, "class=\"path\" viewBox=\"-2 -2 ", "\"").to_string()
    };
    assert_eq!(drawn(None), "244 244");
    assert_eq!(drawn(Some(2.0)), "244 124");
    assert_eq!(drawn(Some(0.5)), "124 244");
}
