#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a recording says of this machine, against lsblk, df, ip, uname, lscpu and systemctl.

    compare_config --etw PROGRAM

Records nearly nothing with a host of its own, and reads the events of SystemConfig and SysConfig
from the file. A tool that is missing, or does not work here, is named, and its comparisons are left
out.
Exit status: 0; 1 with the reasons; 77 with the reason why it cannot run.
"""

import argparse
import json
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile

from kernel_checks import Checks, SKIPPED

SECONDS = 600
NOTHING = "true"


def record(etw, folder):
    """The events about the machine, as {(provider, event): [fields]}; all of them decode."""
    environment = dict(os.environ, ETW_RUNTIME_DIR=str(folder / "run"))
    (folder / "run").mkdir()
    trace = folder / "config.etl"
    made = subprocess.run([etw, "record", "--kernel", "process", "-o", str(trace), "--", NOTHING],
                          env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, timeout=SECONDS, check=False)
    if made.returncode or not trace.exists():
        print(f"skipped: no kernel events can be recorded here: {made.stderr.strip()}")
        sys.exit(SKIPPED)
    text = subprocess.run([etw, "dump", "--json", "--full", str(trace)], env=environment,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          timeout=SECONDS, check=True).stdout
    events = {}
    for line in text.splitlines():
        event = json.loads(line)
        if event.get("provider") not in ("SystemConfig", "SysConfig"):
            continue
        if event["status"] != "complete":
            sys.exit(f"does not decode: {line}")
        events.setdefault((event["provider"], event["opcode_name"]), []).append(event["fields"])
    return events


def run(*command):
    """Output of a tool, or None after naming why there is none."""
    if not shutil.which(command[0]):
        print(f"without {command[0]}, which is not here")
        return None
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          timeout=SECONDS, check=False)
    if done.returncode:
        print(f"without {command[0]}: {done.stderr.strip() or done.returncode}")
        return None
    return done.stdout


class Configuration(Checks):
    """The events about the machine, and what of them does not hold."""

    def __init__(self, events):
        super().__init__()
        self.events = events

    def of(self, event, provider="SystemConfig"):
        """The fields of all events of a kind."""
        return self.events.get((provider, event), [])


def name_of(manufacturer):
    """A disk's name: in parentheses behind its model, or all there is."""
    found = re.search(r"\(([^)]*)\)$", manufacturer)
    return found.group(1) if found else manufacturer


def check_disks(checks):
    """Disks, partitions and their sizes, against lsblk."""
    text = run("lsblk", "--json", "--bytes", "--output", "NAME,TYPE,SIZE,LOG-SEC,START,PKNAME")
    if text is None:
        return
    disks, parts = {}, {}

    def walk(devices, disk):
        for device in devices:
            real = os.path.exists(f"/sys/block/{device['name']}/device")
            if device["type"] == "disk" and real:
                disks[device["name"]] = device
            if device["type"] == "part" and disk in disks:
                parts[disk, int(device["start"]) * 512] = int(device["size"])
            walk(device.get("children", []), disk or device["name"])

    walk(json.loads(text)["blockdevices"], None)
    told = {name_of(disk["Manufacturer"]): disk for disk in checks.of("PhyDisk")}
    checks.equal("the names of disks", sorted(told), sorted(disks))
    numbers = {disk["DiskNumber"]: name for name, disk in told.items()}
    for name in sorted(set(told) & set(disks)):
        checks.equal(f"BytesPerSector of {name}", told[name]["BytesPerSector"],
                     int(disks[name]["log-sec"]))
        cylinder = told[name]["BytesPerSector"] * 63 * 255
        checks.equal(f"Cylinders of {name}", told[name]["Cylinders"],
                     int(disks[name]["size"]) // cylinder)
    told_parts = {(numbers.get(part["DiskNumber"]), part["StartOffset"]): part["PartitionSize"]
                  for part in checks.of("LogDisk") if part["PartitionNumber"]}
    checks.equal("the partitions", told_parts, parts)


def check_file_systems(checks):
    """What is mounted where, and how large it is, against df."""
    text = run("df", "--block-size=1", "--output=source,fstype,size,target")
    if text is None:
        return
    mounted = {}
    for line in text.splitlines()[1:]:
        source, kind, size, target = line.split(None, 3)
        if source.startswith("/dev/"):
            name = os.path.basename(os.path.realpath(source))
            mounted.setdefault(f"/dev/{name}/", []).append((kind, int(size), target))
    for mapping in checks.of("VolumeMapping", "SysConfig"):
        found = mounted.get(mapping["NtPath"])
        # df leaves out what lies below other mounts.
        if found:
            checks.equal(f"the mount point of {mapping['NtPath']}",
                         mapping["DosPath"] in [target.rstrip("/") + "/" for _, _, target in found],
                         True)
    root = next((entry for entries in mounted.values() for entry in entries if entry[2] == "/"),
                None)
    volume = next((disk for disk in checks.of("LogDisk") if disk["DriveLetterString"] == "/"), None)
    if root and volume:
        checks.equal("the root file system", volume["FileSystem"], root[0])
        cluster = volume["SectorsPerCluster"] * volume["BytesPerSector"]
        checks.equal("its size", volume["TotalNumberOfClusters"] * cluster, root[1])


def check_network(checks, before):
    """Interfaces, hardware addresses and addresses, against ip before and after the recording."""
    text = run("ip", "-json", "address")
    if text is None:
        return
    if text != before:
        print("without ip: interfaces changed meanwhile")
        return
    wanted = {}
    for link in json.loads(text):
        address = link.get("address", "") if link.get("link_type") != "loopback" else ""
        number = int.from_bytes(bytes.fromhex(address.replace(":", "")), "little") \
            if re.fullmatch(r"[0-9a-f:]+", address) and len(address) < 24 else None
        wanted[link["ifname"]] = (link["ifindex"], number,
                                  {item["local"] for item in link.get("addr_info", [])
                                   if "local" in item})
    told = {nic["NICDescription"].split(" (")[0]: nic for nic in checks.of("NIC")}
    checks.equal("the names of interfaces", sorted(told), sorted(wanted))
    for name in sorted(set(told) & set(wanted)):
        index, address, locals_ = wanted[name]
        checks.equal(f"Ipv4Index of {name}", told[name]["Ipv4Index"], index)
        checks.equal(f"IpAddresses of {name}",
                     set(filter(None, told[name]["IpAddresses"].split(";"))), locals_)
        if address is not None:
            checks.equal(f"PhysicalAddr of {name}", int(told[name]["PhysicalAddr"], 16), address)


def check_system(checks):
    """Name, build and processors, against uname, os-release and lscpu."""
    names = os.uname()
    build = checks.of("BuildInfo", "SysConfig")[0]
    checks.equal("BuildLab", build["BuildLab"],
                 f"{names.release} {names.version} {names.machine}"[:255])
    try:
        checks.equal("ProductName", build["ProductName"],
                     platform.freedesktop_os_release().get("PRETTY_NAME", "Linux"))
    except OSError:
        print("without os-release, which is not here")
    cpu = checks.of("CPU")[0]
    checks.equal("ComputerName", cpu["ComputerName"], names.nodename.split(".")[0])
    text = run("lscpu", "--json")
    if text is None:
        return
    facts = {fact["field"].rstrip(":"): fact["data"]
             for fact in json.loads(text)["lscpu"] if "data" in fact}
    checks.equal("the number of processors that are on", len(checks.of("Processors")),
                 os.sysconf("SC_NPROCESSORS_ONLN"))
    nodes = [node for fields in checks.of("NumaNode") for node in fields["NodeMap"]]
    if "NUMA node(s)" in facts and nodes:
        checks.equal("the number of NUMA nodes", len(nodes), int(facts["NUMA node(s)"]))


def read_group(pid):
    """The control group of a process, as systemd has it."""
    lines = pathlib.Path(f"/proc/{pid}/cgroup").read_text(encoding="utf-8").splitlines()
    return next(line.split(":", 2)[2] for line in lines
                if line.startswith("0::") or ":name=systemd:" in line)


def check_services(checks):
    """Running services, against systemctl, where systemd runs: one of their processes is told as
    the main one, which need not be the one that systemd remembers."""
    if not os.path.isdir("/run/systemd/system"):
        checks.equal("the number of services without systemd", len(checks.of("Services")), 0)
        return
    text = run("systemctl", "show", "--type=service", "--state=running", "--property=Id,MainPID",
               "*")
    if text is None:
        return
    told = {service["ServiceName"]: int(service["ProcessId"], 16)
            for service in checks.of("Services")}
    for block in text.strip().split("\n\n"):
        facts = dict(line.split("=", 1) for line in block.splitlines() if "=" in line)
        name, pid = facts.get("Id", "").removesuffix(".service"), int(facts.get("MainPID", 0))
        if name in told and pid and os.path.exists(f"/proc/{pid}"):
            checks.equal(f"the group of the main process of {name}",
                         read_group(told[name] or pid).split(".service")[0].rsplit("/", 1)[-1],
                         name)


def main():
    """Record, compare, report."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--etw", required=True, help="the program etw")
    arguments = parser.parse_args()
    addresses = run("ip", "-json", "address")
    with tempfile.TemporaryDirectory() as folder:
        checks = Configuration(record(arguments.etw, pathlib.Path(folder)))
    check_disks(checks)
    check_file_systems(checks)
    check_network(checks, addresses)
    check_system(checks)
    check_services(checks)
    checks.finish()


if __name__ == "__main__":
    main()
