//! Result files: whatever is read makes a page, a drawing and a picture.

#![no_main]

use libfuzzer_sys::fuzz_target;
use veilpath_report::ResultFile;
use veilpath_report::html::{Options, Report};

fuzz_target!(|data: &[u8]| {
    let Ok(file) = ResultFile::read(data) else {
        return;
    };
    let Ok(report) = Report::new(&file, Options::default()) else {
        return;
    };
    let mut page = Vec::new();
    let _ = report.write_html(&mut page);
    let page = String::from_utf8_lossy(&page);
    // One script, and one block of data for each heat map: an id that adds another has escaped.
    let maps = page.matches("<figure class=\"heat\">").count();
    assert_eq!(page.matches("<script").count(), maps + 1);
    if report.has_heat_map().is_ok() {
        let _ = report.write_svg(&mut Vec::new());
        let _ = report.write_png(&mut Vec::new());
    }
});
