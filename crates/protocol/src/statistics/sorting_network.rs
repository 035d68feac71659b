//! Sorting networks. Which positions are compared does not depend on their contents.

/// The comparators of a network, in layers; those of a layer share no position. In the end, the `top` largest keys are in the
/// first positions, in order.
///
/// This is Batcher's odd-even merge sort without the comparators beyond the end of the list (as if it were padded with smallest
/// keys) and without those on which none of these positions depends.
pub(crate) fn layers(count: usize, top: usize) -> Vec<Vec<(usize, usize)>> {
    let mut layers = Vec::new();
    let size = count.next_power_of_two();
    let mut block = 1;
    while block < size {
        let mut distance = block;
        while distance > 0 {
            let mut layer = Vec::new();
            for first in (distance % block..size.saturating_sub(distance)).step_by(2 * distance) {
                for low in first..(first + distance).min(size - distance) {
                    let high = low + distance;
                    if low / (2 * block) == high / (2 * block) && high < count {
                        layer.push((low, high));
                    }
                }
            }
            layers.push(layer);
            distance /= 2;
        }
        block *= 2;
    }
    without_unneeded(layers, count, top)
}

fn without_unneeded(
    mut layers: Vec<Vec<(usize, usize)>>,
    count: usize,
    top: usize,
) -> Vec<Vec<(usize, usize)>> {
    let mut needed: Vec<bool> = (0..count).map(|position| position < top).collect();
    for layer in layers.iter_mut().rev() {
        layer.retain(|&(low, high)| needed[low] || needed[high]);
        for &(low, high) in layer.iter() {
            (needed[low], needed[high]) = (true, true);
        }
    }
    layers.retain(|layer| !layer.is_empty());
    layers
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The 0-1 principle: a network that sorts all lists of zeros and ones sorts all lists.
    #[test]
    fn the_network_puts_the_largest_first() {
        for count in 1..=11 {
            for top in 1..=count {
                let layers = layers(count, top);
                for bits in 0..1u32 << count {
                    let mut list: Vec<u32> = (0..count).map(|at| bits >> at & 1).collect();
                    for &(low, high) in layers.iter().flatten() {
                        if list[low] < list[high] {
                            list.swap(low, high);
                        }
                    }
                    let ones = bits.count_ones() as usize;
                    for (at, bit) in list.iter().take(top).enumerate() {
                        assert_eq!(*bit == 1, at < ones, "{count}, {top}, {bits:b}");
                    }
                }
            }
        }
    }

    #[test]
    fn few_kept_places_need_few_comparators() {
        let count = |top| layers(64, top).iter().map(Vec::len).sum::<usize>();
        assert_eq!(count(1), 63);
        assert!(count(5) < count(64) * 3 / 4, "{} {}", count(5), count(64));
        for layer in layers(37, 5) {
            let mut positions: Vec<usize> = layer.iter().flat_map(|&(a, b)| [a, b]).collect();
            positions.sort_unstable();
            assert!(positions.windows(2).all(|two| two[0] != two[1]));
        }
    }
}
