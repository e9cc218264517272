#!/usr/bin/env python3
"""What is installed, as a program outside of the tree meets it."""
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

BUILD = os.environ["BUILD"]
SOURCE = pathlib.Path(os.environ["SOURCE"])
CC = os.environ["CC"]
SANITIZE = [f"-fsanitize={os.environ['SANITIZE']}"] if os.environ["SANITIZE"] != "none" else []
HERE = pathlib.Path(__file__).parent


def run(*command, **more):
    """Standard output; a command that fails is an error with what it said."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          timeout=250, **more)
    if done.returncode:
        raise AssertionError(f"{command}: {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done.stdout


class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        root = cls.root = pathlib.Path(cls.folder.name) / "root"
        run("meson", "install", "-C", BUILD, "--no-rebuild", "--quiet", "--destdir", root)
        cls.libdir = next(root.rglob("libpmulab.so.0")).parent
        cls.prefix = next(root.rglob("pmulab.pc")).parents[2]
        cls.includes = next(root.rglob("pmulab.h")).parents[1]
        cls.env = {**os.environ, "PKG_CONFIG_PATH": str(next(root.rglob("pmulab.pc")).parent),
                   "PKG_CONFIG_SYSROOT_DIR": str(root), "LD_LIBRARY_PATH": str(cls.libdir)}

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def pkg_config(self, *arguments):
        return run("pkg-config", *arguments, "pmulab", env=self.env).split()

    def build(self, source, *link):
        program = pathlib.Path(self.folder.name) / "program"
        run(CC, "-Wall", "-Wextra", "-Wpedantic", "-Werror", *SANITIZE, source, "-o", program,
            *self.pkg_config("--cflags"), *link)
        return program

    def test_places(self):
        names = {str(path.relative_to(self.root)) for path in self.root.rglob("*")
                 if not path.is_dir()}
        endings = ["bin/pmulab", "libpmulab.a", "libpmulab.so", "libpmulab.so.0",
                   "pkgconfig/pmulab.pc", "pmulab/libpmulab-qemu.so",
                   "pmulab/libpmulab-guest.so"]
        headers = {path.name for path in (SOURCE / "include/pmulab").glob("*.h")}
        endings += [f"include/pmulab/{name}" for name in headers]
        for ending in endings:
            self.assertTrue(any(name.endswith(ending) for name in names), ending)
        installed = {path.name for path in (self.includes / "pmulab").iterdir()}
        self.assertEqual(installed, headers)

    def test_soname(self):
        text = run("objdump", "-p", self.libdir / "libpmulab.so")
        self.assertRegex(text, r"SONAME\s+libpmulab\.so\.0\n")

    def declared(self):
        """Functions of the public headers, by their declarations."""
        text = "".join(path.read_text() for path in self.includes.rglob("*.h"))
        text = re.sub(r"static inline.*?\n}\n", "", re.sub(r"/\*.*?\*/", "", text, flags=re.S),
                      flags=re.S)
        return set(re.findall(r"\b(pmu_\w+)\((?!\*)", text))

    def exported(self):
        lines = run("nm", "-D", "--defined-only", self.libdir / "libpmulab.so").split("\n")
        return {line.split()[2].split("@")[0] for line in lines if line} - {"PMULAB_0"}

    def test_shared_symbols(self):
        self.assertEqual(self.exported(), self.declared())

    def test_symbols_stay(self):
        """symbols.txt has what programs may have been linked with. A function that is gone is
        another soname; a new one is added to the list."""
        listed = set((HERE / "symbols.txt").read_text().split())
        self.assertEqual(listed - self.exported(), set(), "removed")
        self.assertEqual(self.exported() - listed, set(), "not in symbols.txt")

    def test_map(self):
        """Nothing but pmu_* is exported, whatever is declared."""
        text = (SOURCE / "src/library/libpmulab.map").read_text()
        names = re.findall(r"global:(.*?)local:", text, re.S)
        self.assertEqual([name.strip() for name in names], ["pmu_*;"])
        self.assertEqual({name for name in self.exported() if not name.startswith("pmu_")}, set())

    def test_static_symbols(self):
        lines = run("nm", "--defined-only", "-g", self.libdir / "libpmulab.a").split("\n")
        names = {line.split()[2] for line in lines if len(line.split()) == 3}
        # The address sanitizer marks each object that it has seen.
        self.assertEqual({name for name in names if not name.startswith("__odr_asan")},
                         self.declared())

    def test_c_headers(self):
        for header in sorted((self.includes / "pmulab").iterdir()):
            for standard in ("c99", "c17"):
                with self.subTest(header=header.name, standard=standard):
                    run(CC, f"-std={standard}", "-Wall", "-Wextra", "-Wpedantic", "-Werror",
                        "-fsyntax-only", "-x", "c", *self.pkg_config("--cflags"), "-",
                        input=f"#include <pmulab/{header.name}>\nint unused;\n")

    def test_cpp_headers(self):
        compiler = shutil.which("c++") or shutil.which("g++")
        self.assertTrue(compiler, "no C++ compiler: scripts/install-deps test")
        for header in sorted((self.includes / "pmulab").iterdir()):
            for standard in ("c++11", "c++20"):
                with self.subTest(header=header.name, standard=standard):
                    run(compiler, f"-std={standard}", "-Wall", "-Wextra", "-Wpedantic",
                        "-Werror", "-fsyntax-only", "-x", "c++", *self.pkg_config("--cflags"),
                        "-", input=f"#include <pmulab/{header.name}>\nint unused;\n")

    def check(self, program, **more):
        output = run(program, env=self.env, **more)
        self.assertEqual(output.split(), self.pkg_config("--modversion"))

    def test_shared(self):
        program = self.build(HERE / "outside.c", *self.pkg_config("--libs"))
        self.assertIn("libpmulab.so.0", run("objdump", "-p", program))
        self.check(program)

    def test_static(self):
        flags = self.pkg_config("--libs", "--static")
        flags[flags.index("-lpmulab")] = "-l:libpmulab.a"
        program = self.build(HERE / "outside.c", *flags)
        self.assertNotIn("libpmulab.so", run("objdump", "-p", program))
        self.check(program)

    def test_command(self):
        output = run(next(self.root.rglob("bin/pmulab")), "--version")
        self.assertEqual(output.split(), ["pmulab", *self.pkg_config("--modversion")])


unittest.main()
