//! The map that GNU ld writes: which input section lies where.
//!
//! Reads sections alone. Knows no symbols and no object files.

/// One section of an object file, where the linker has put it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct InputSection {
    pub start: u64,
    pub size: u64,
    pub name: String,
}

/// The placed sections, by address.
pub struct LinkMap(Vec<InputSection>);

impl LinkMap {
    /// A long name has a line of its own, before the one with address and size. A section that was discarded has no address.
    pub fn parse(text: &str) -> LinkMap {
        let (mut sections, mut long) = (Vec::new(), None);
        for line in text.lines() {
            let words: Vec<&str> = line.split_whitespace().collect();
            let is_name = line.starts_with(" .");
            match (words.as_slice(), long.take()) {
                ([name], _) if is_name => long = Some(*name),
                ([name, start, size, _, ..], _) if is_name => sections.extend(section(name, start, size)),
                ([start, size, _, ..], Some(name)) => sections.extend(section(name, start, size)),
                _ => {}
            }
        }
        sections.sort_by_key(|section| section.start);
        LinkMap(sections)
    }

    /// The section that contains this address.
    pub fn at(&self, address: u64) -> Option<&InputSection> {
        let after = self.0.partition_point(|section| section.start <= address);
        self.0[..after].last().filter(|section| address < section.start + section.size)
    }
}

fn section(name: &str, start: &str, size: &str) -> Option<InputSection> {
    let number = |text: &str| u64::from_str_radix(text.strip_prefix("0x")?, 16).ok();
    let (start, size) = (number(start)?, number(size)?);
    (start > 0 && size > 0).then(|| InputSection { start, size, name: name.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_section_is_found_by_every_address_in_it() {
        let map = LinkMap::parse(
            "Discarded input sections\n\n .text.gone     0x0000000000000000       0x10 a.o\n\n\
             .text           0x0000000000401000     0x2000\n *(.text)\n .text.b        0x0000000000401010       0x10 a.o\n\
             \x20.text._RNv_a_long_name\n                0x0000000000401020        0x8 /a folder/b.o\n\
             \x20               0x0000000000401020                main\n *fill*         0x0000000000401028        0x8\n\
             \x20.rodata..Lanon.12.3\n                0x0000000000501000        0x4 b.o\n .bss.none      0x0000000000601000        0x0 b.o\n",
        );
        let at = |address| map.at(address).map(|section| section.name.as_str());
        assert_eq!([at(0x401010), at(0x40101f)], [Some(".text.b"); 2]);
        assert_eq!([at(0x401020), at(0x401027)], [Some(".text._RNv_a_long_name"); 2]);
        assert_eq!(at(0x501003), Some(".rodata..Lanon.12.3"));
        assert_eq!([at(0), at(0x40100f), at(0x401028), at(0x501004), at(0x601000)], [None; 5]);
    }
}
