"""A made computer: the files that stand in for a two-socket Xeon E5 v4.

Addresses: 334291-001 tables 1-2 and 1-3, section 1.6 and 1.6.1. In a plain file MSR n is at byte 8 n.
"""
import os
import pathlib
import struct

VENDOR = 0x8086
UBOX, CAPID = (16, 5), (30, 3)
HA = {(18, 1): 0x6F30, (18, 5): 0x6F38}
IMC = {(20, 0): 0x6FB0, (20, 1): 0x6FB1, (21, 0): 0x6FB4, (21, 1): 0x6FB5}
IRP = (5, 6)
GLOBAL_CTL, GLOBAL_STATUS = 0x700, 0x701

CPUINFO = """processor\t: {cpu}
vendor_id\t: GenuineIntel
cpu family\t: 6
model\t\t: {model}
model name\t: Intel(R) Xeon(R) CPU E5-2699 v4 @ 2.20GHz
stepping\t: 1
physical id\t: {package}
core id\t\t: {core}
flags\t\t: fpu msr

"""


class Tree:
    """Package p has the CPUs cpus[p], its uncore on PCI bus buses[p], its PCIe ports on ports[p]."""

    buses, ports = (0x7F, 0xFF), (0x00, 0x80)
    nodes = (0, 2)
    cpus = ((0, 2, 4), (1, 3, 5))

    def __init__(self, folder, model=79, cbo=(0x3FFFFF, 0x000F0F), capid4=(0x40, 0x40)):
        self.path = pathlib.Path(folder)
        text = ""
        for package, cpus in enumerate(self.cpus):
            for core, cpu in enumerate(cpus):
                text += CPUINFO.format(cpu=cpu, model=model, package=package, core=core)
                self.make_msrs(cpu)
        self.write("proc/cpuinfo", text)
        for package in (0, 1):
            self.make_package(package, cbo[package], capid4[package])

    def write(self, name, text):
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def msr_path(self, cpu):
        return self.path / f"dev/cpu/{cpu}/msr"

    def make_msrs(self, cpu):
        self.msr_path(cpu).parent.mkdir(parents=True)
        with open(self.msr_path(cpu), "wb") as file:
            file.truncate(8 * 0x1000)

    def config_path(self, package, function, bus=None):
        bus = self.buses[package] if bus is None else bus
        return self.path / f"sys/bus/pci/devices/0000:{bus:02x}:{function[0]:02x}.{function[1]}/config"

    def make_function(self, package, function, device, bus=None):
        path = self.config_path(package, function, bus)
        path.parent.mkdir(parents=True)
        path.write_bytes(struct.pack("<HH", VENDOR, device).ljust(4096, b"\0"))

    def make_package(self, package, cbo, capid4):
        self.make_function(package, UBOX, 0x6F1E)
        self.set_config(package, UBOX, 0x40, self.nodes[package])
        # Three bits a package; those that are not there name node 7.
        self.set_config(package, UBOX, 0x54, 0xFFFFC0 | self.nodes[1] << 3 | self.nodes[0])
        self.make_function(package, CAPID, 0x6FC0)
        self.set_config(package, CAPID, 0x94, capid4)
        self.set_config(package, CAPID, 0x98, cbo)
        for function, device in {**HA, **IMC}.items():
            self.make_function(package, function, device)
        self.make_function(package, IRP, 0x6F39, self.ports[package])
        # Another device at the place of a home agent, on the bus of the PCIe ports.
        self.make_function(package, (18, 1), 0x1234, self.ports[package])

    def hide(self, package, function):
        path = self.config_path(package, function)
        path.unlink()
        path.parent.rmdir()

    def set_config(self, package, function, offset, value):
        with open(self.config_path(package, function), "r+b") as file:
            file.seek(offset)
            file.write(struct.pack("<I", value))

    def config(self, package, function, offset):
        data = self.config_path(package, function).read_bytes()
        return struct.unpack_from("<I", data, offset)[0]

    def clear_status(self):
        """As hardware clears status bits that are written as 1; a plain file keeps them."""
        for cpu in (0, 1):
            for number in (GLOBAL_STATUS, 0x708, *range(0xE07, 0xF80, 0x10)):
                self.set_msr(cpu, number, 0)
        for package in (0, 1):
            for function in (*HA, *IMC):
                if self.config_path(package, function).exists():
                    self.set_config(package, function, 0xF8, 0)

    def set_msr(self, cpu, number, value):
        with open(self.msr_path(cpu), "r+b") as file:
            os.pwrite(file.fileno(), struct.pack("<Q", value), 8 * number)

    def msr(self, cpu, number):
        return struct.unpack_from("<Q", self.msr_path(cpu).read_bytes(), 8 * number)[0]
