"""Sizes, counts and durations as people read them."""

GIB = 2**30


def disk_size(n_bytes: float) -> str:
    """Bytes of files: "98 MB", "1.1 GB"; with one digit after the point below ten of a unit."""
    for unit in ("bytes", "kB", "MB", "GB", "TB"):
        if n_bytes < 1000 or unit == "TB":
            break
        n_bytes /= 1000
    return f"{n_bytes:,.0f} {unit}" if n_bytes >= 10 or unit == "bytes" else f"{n_bytes:.1f} {unit}"


def gibibytes(n_bytes: float) -> str:
    """Bytes of memory in GiB, without the unit: "15.0", "0.25"."""
    return f"{n_bytes / GIB:.1f}" if n_bytes >= GIB else f"{n_bytes / GIB:.2f}"


def magnitude(n: float) -> str:
    """A count in thousands, millions or billions: "135", "10.62 k", "8.03 B"."""
    for unit, size in (("B", 1e9), ("M", 1e6), ("k", 1e3)):
        if n >= size:
            return f"{n / size:.2f} {unit}"
    return f"{n:.0f}"


def significant(value: float) -> str:
    """A number with three significant digits, whole numbers from 100 on: "0.0123", "1.10", "68.1", "1,356"."""
    return f"{value:,.0f}" if abs(value) >= 99.95 else f"{value:#.3g}".rstrip(".")


def hours(n: float) -> str:
    """Hours with one digit after the point, or two significant ones below a tenth: "120", "1.5", "0.042"."""
    return f"{n:,.0f}" if n >= 100 else f"{n:.1f}" if n >= 0.1 else f"{n:.2g}"


def duration(seconds: float) -> str:
    """Seconds as "8.3 s", "4 min 05 s" or "2 h 07 min"."""
    if seconds < 59.95:
        return f"{seconds:.1f} s"
    minutes, remaining_seconds = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {remaining_seconds:02d} s"
    return f"{minutes // 60} h {minutes % 60:02d} min"


def clock(seconds: float) -> str:
    """Seconds as a running clock shows them: "0:42", "1:02:03"."""
    minutes, remainder = divmod(round(seconds), 60)
    n_hours, minutes = divmod(minutes, 60)
    return f"{n_hours}:{minutes:02}:{remainder:02}" if n_hours else f"{minutes}:{remainder:02}"
