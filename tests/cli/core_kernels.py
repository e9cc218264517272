"""Kernels whose counts are known by construction: what one turn of a loop adds to a core's events."""
import json
import subprocess

from harness import SMALL, Guests, stat

TURNS = 4000, 8000  # the smaller one is whole passes over all pages
PAGES = 2000  # more than the TLBs have: 64 or 128, and 1536

# A turn is its body and a jump back, one micro-operation.
PROGRAM = """
	.globl _start
_start:
	{before}
	mov ${turns},%r15d
	.balign 64
again:
	{body}
	dec %r15d
	jnz again
	mov $60,%eax
	xor %edi,%edi
	syscall
	.balign 64
	{around}
	.bss
	.balign 4096
data:	.skip 16777216
"""
# One page of so many after the other, a line further in each.
STRIDE = """
	{access}
	add $4096+64,%rbx
	cmp %rsi,%rbx
	cmovae %rdi,%rbx
"""
STRIDE_BEFORE = "mov $data,%edi; mov %rdi,%rbx; mov $data+{pages}*(4096+64),%esi"
# Of each kind, and one that is not taken; it needs a routine.
BRANCHES = """
	test %r15d,%r15d
	jz never
	jmp 1f
1:	lea 1f(%rip),%rax
	jmp *%rax
1:	call routine
	lea routine(%rip),%rax
	call *%rax
never:
"""
# One line of so many kilobytes after the other.
LINES = """
	{access}
	add $64,%rbx
	cmp %rsi,%rbx
	cmovae %rdi,%rbx
"""
LINES_BEFORE = "mov $data,%edi; mov %rdi,%rbx; mov $data+{kilobytes}*1024,%esi"
LOAD, STORE = "mov (%rbx),%eax", "mov %eax,(%rbx)"
NOP = ".byte 0x0f,0x1f,0x84,0,0,0,0,0;"


class Kernels(Guests):
    BASE, PMU = SMALL, "xeon-e5v4"

    def machine(self, **keys):
        """Without prefetchers: what programs do is all there is."""
        path = self.path / "machine.json"
        path.write_text(json.dumps({"base": self.BASE, "name": "pairs", "prefetchers": 0, **keys}),
                        encoding="utf-8")
        return str(path)

    def assemble(self, turns, body, before="", around=""):
        source, program = self.path / "kernel.S", self.path / f"kernel{turns}"
        source.write_text(PROGRAM.format(turns=turns, body=body, before=before, around=around),
                          encoding="utf-8")
        subprocess.run(["gcc", "-nostdlib", "-static", "-o", program, source], check=True)
        return str(program)

    def run_counts(self, program, names, options=(), **keys):
        events = [f"core.{name}" for name in dict.fromkeys(names)]
        report = stat(self.machine(**keys), events, program, options=options)
        counts = {}
        for row in report["counts"]:
            name = row["event"].removeprefix(f"{self.PMU}/core.")
            counts[name] = counts.get(name, 0) + row["count"]
        names = list(dict.fromkeys(names))
        if len(names) == 1:  # which may have another name with the same encoding
            return dict(zip(names, counts.values()))
        self.assertEqual(list(counts), names)
        return counts

    def more(self, names, *kernel, turns=TURNS, **keys):
        """What the turns between add, by the turn."""
        few, many = (self.run_counts(self.assemble(number, *kernel), names, **keys)
                     for number in turns)
        return {name: (many[name] - few[name]) / (turns[1] - turns[0]) for name in few}

    def check(self, expected, *kernel, **keys):
        self.assertEqual(self.more(expected, *kernel, **keys), expected)

    def check_lines(self, kilobytes, access, counts, **keys):
        """Of lines that go round, after two rounds."""
        lines = kilobytes * 16
        self.check(counts, LINES.format(access=access), LINES_BEFORE.format(kilobytes=kilobytes),
                   turns=(2 * lines, 3 * lines), translation="none", **keys)
