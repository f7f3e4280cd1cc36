"""The peak memory of this process, as Linux records it."""
from pathlib import Path


def forget_peak() -> None:
    """Resets the peak memory of this process to its current memory."""
    Path("/proc/self/clear_refs").write_text("5")


def peak_mib() -> float:
    """Returns the peak memory in MiB.  Does not call getrusage, whose value starts at the peak of the parent
    process."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) / 1024
    raise RuntimeError("no VmHWM in /proc/self/status")
