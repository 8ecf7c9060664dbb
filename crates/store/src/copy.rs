//! `memcpy`, `memmove`, `memcmp` and `bcmp` of the static release on x86-64, in place of those of musl.
//!
//! musl copies with string instructions, which take 60 ns to start, and compares byte by byte. Most copies are of less
//! than 64 bytes: here they take 5 ns. A prompt's hook copies 2,000 times, importing 1 MB of transcripts 25,000 times.
//! perf put 14 % of an import into musl's functions. With these (and the change after it, one statement for the chosen
//! memories), measured together: a tool result of 11 KB took 0.66 × `/bin/true` instead of 0.78, a prompt 2.98 instead of 3.32.
//!
//! Assembly, because the compiler would turn a loop that copies into a call of `memcpy`, and link-time optimization
//! would drop a function of this name. Other targets keep the functions of their C library.
#![expect(unsafe_code, reason = "assembly counts as unsafe")]

use std::arch::global_asm;

// Blocks of up to 64 bytes are read whole before they are written, so they may overlap. Larger ones are copied from
// their end if the target begins inside the source; string instructions copy those of 2 KB and more that do not overlap.
global_asm!(
    ".section .text.memcpy,\"ax\",@progbits",
    ".p2align 5",
    ".globl towline_copy",
    "towline_copy:",
    "mov rax, rdi",
    "cmp rdx, 16",
    "jbe 2f",
    "movups xmm0, [rsi]",
    "movups xmm1, [rsi + rdx - 16]",
    "cmp rdx, 32",
    "ja 3f",
    "movups [rdi], xmm0",
    "movups [rdi + rdx - 16], xmm1",
    "ret",
    "2: cmp edx, 8",
    "jb 2f",
    "mov r8, [rsi]",
    "mov r9, [rsi + rdx - 8]",
    "mov [rdi], r8",
    "mov [rdi + rdx - 8], r9",
    "ret",
    "2: cmp edx, 4",
    "jb 2f",
    "mov r8d, [rsi]",
    "mov r9d, [rsi + rdx - 4]",
    "mov [rdi], r8d",
    "mov [rdi + rdx - 4], r9d",
    "ret",
    "2: test edx, edx",
    "je 4f",
    // Up to three bytes: the first, the middle one and the last, which may be the same.
    "movzx r8d, byte ptr [rsi]",
    "movzx r9d, byte ptr [rsi + rdx - 1]",
    "mov ecx, edx",
    "shr ecx, 1",
    "movzx r10d, byte ptr [rsi + rcx]",
    "mov [rdi], r8b",
    "mov [rdi + rcx], r10b",
    "mov [rdi + rdx - 1], r9b",
    "4: ret",
    "3: movups xmm2, [rsi + rdx - 32]",
    "cmp rdx, 64",
    "ja 3f",
    "movups xmm3, [rsi + 16]",
    "movups [rdi], xmm0",
    "movups [rdi + 16], xmm3",
    "movups [rdi + rdx - 32], xmm2",
    "movups [rdi + rdx - 16], xmm1",
    "ret",
    "3: mov rcx, rdi",
    "sub rcx, rsi",
    "cmp rcx, rdx",
    "jb 6f",
    "cmp rdx, 2048",
    "jae 5f",
    // Forwards, until the last 32 bytes, which were read first.
    "4: lea rcx, [rdi + rdx - 32]",
    "3: movups xmm0, [rsi]",
    "movups xmm3, [rsi + 16]",
    "add rsi, 32",
    "movups [rdi], xmm0",
    "movups [rdi + 16], xmm3",
    "add rdi, 32",
    "cmp rdi, rcx",
    "jb 3b",
    "movups [rcx], xmm2",
    "movups [rcx + 16], xmm1",
    "ret",
    "5: neg rcx",
    "cmp rcx, rdx",
    "jb 4b",
    "mov r8, [rsi + rdx - 8]",
    "mov rcx, rdx",
    "shr rcx, 3",
    "rep movsq",
    "mov [rax + rdx - 8], r8",
    "ret",
    // Backwards, until the first 32 bytes.
    "6: movups xmm4, [rsi + 16]",
    "3: movups xmm2, [rsi + rdx - 16]",
    "movups xmm3, [rsi + rdx - 32]",
    "movups [rdi + rdx - 16], xmm2",
    "movups [rdi + rdx - 32], xmm3",
    "sub rdx, 32",
    "cmp rdx, 32",
    "ja 3b",
    "movups [rdi], xmm0",
    "movups [rdi + 16], xmm4",
    "ret",
    ".p2align 4",
    ".globl towline_compare",
    "towline_compare:",
    "2: cmp rdx, 8",
    "jb 3f",
    "mov rax, [rdi]",
    "mov rcx, [rsi]",
    "cmp rax, rcx",
    "jne 4f",
    "add rdi, 8",
    "add rsi, 8",
    "sub rdx, 8",
    "jmp 2b",
    "4: bswap rax",
    "bswap rcx",
    "cmp rax, rcx",
    "sbb eax, eax",
    "or eax, 1",
    "ret",
    "3: test edx, edx",
    "je 5f",
    "movzx eax, byte ptr [rdi]",
    "movzx ecx, byte ptr [rsi]",
    "inc rdi",
    "inc rsi",
    "dec edx",
    "sub eax, ecx",
    "je 3b",
    "ret",
    "5: xor eax, eax",
    "ret",
    ".text",
);

#[cfg(target_env = "musl")]
global_asm!(
    ".globl memcpy, memmove, memcmp, bcmp",
    ".set memcpy, towline_copy",
    ".set memmove, towline_copy",
    ".set memcmp, towline_compare",
    ".set bcmp, towline_compare",
);

#[cfg(test)]
mod tests {
    unsafe extern "C" {
        fn towline_copy(target: *mut u8, source: *const u8, bytes: usize) -> *mut u8;
        fn towline_compare(one: *const u8, other: *const u8, bytes: usize) -> i32;
    }

    /// Copies within one buffer and compares with `copy_within`.
    #[track_caller]
    fn check_copy(from: usize, to: usize, bytes: usize) {
        let mut found: Vec<u8> = (0..from.max(to) + bytes + 40).map(|at| (at * 7 + at / 251) as u8).collect();
        let mut expected = found.clone();
        expected.copy_within(from..from + bytes, to);
        // SAFETY: both ranges lie inside the buffer.
        let returned = unsafe {
            let start = found.as_mut_ptr();
            towline_copy(start.add(to), start.add(from), bytes).offset_from(start)
        };
        assert_eq!(returned, to.cast_signed());
        assert!(found == expected, "{bytes} bytes from {from} to {to}");
    }

    #[test]
    fn blocks_of_any_size_and_overlap_are_copied_whole() {
        let sizes = (0..300).chain([511, 512, 2040, 2047, 2048, 2049, 2055, 4096, 10_007, 70_001]);
        for bytes in sizes {
            for distance in [0, 1, 2, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100, 2050, 80_000] {
                for offset in [0, 3] {
                    check_copy(offset, offset + distance, bytes);
                    check_copy(offset + distance, offset, bytes);
                }
            }
        }
    }

    #[test]
    fn blocks_compare_as_their_first_different_byte() {
        for bytes in 0..40 {
            for at in 0..bytes {
                for (one, other) in [(1_u8, 2_u8), (0x7f, 0x80), (0, 0xff)] {
                    let (mut left, mut right) = (vec![9_u8; bytes], vec![9_u8; bytes]);
                    // What follows must not matter.
                    left[at..].fill(one);
                    right[at..].fill(other);
                    if at + 1 < bytes {
                        left[at + 1] = 0xee;
                    }
                    // SAFETY: both blocks have that many bytes.
                    let [less, more, same] = unsafe {
                        [
                            towline_compare(left.as_ptr(), right.as_ptr(), bytes),
                            towline_compare(right.as_ptr(), left.as_ptr(), bytes),
                            towline_compare(left.as_ptr(), right.as_ptr(), at),
                        ]
                    };
                    assert!(less < 0 && more > 0 && same == 0, "{bytes} bytes, {one} and {other} at {at}");
                }
            }
        }
    }
}
