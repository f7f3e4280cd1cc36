"""Draws the comparison as SVG. Time and memory are plotted over the number of nodes, with logarithmic axes."""
from __future__ import annotations

import math

_colours = {"ours": "#0072b2", "compiled": "#00795a", "eager": "#c24f00"}
_names = {"ours": "triad_torch", "compiled": "torch.compile", "eager": "PyTorch, eager"}
_width, _height, _left, _right, _top, _bottom = 380, 300, 64, 16, 40, 44


def _panel(title: str, unit: str, lines: dict[str, list[tuple[int, float]]], x0: int) -> list[str]:
    """Draws one plot. `lines` has pairs (n, value) for each kind."""
    points = [p for line in lines.values() for p in line]
    ns = sorted({n for n, _ in points})
    low = math.floor(math.log10(min(v for _, v in points)))
    high = max(low + 1, math.ceil(math.log10(max(v for _, v in points))))
    span = math.log(ns[-1] / ns[0]) or 1

    def x(n):
        return x0 + _left + (_width - _left - _right) * math.log(n / ns[0]) / span

    def y(value):
        return _top + (_height - _top - _bottom) * (high - math.log10(value)) / (high - low)

    out = [f'<text x="{x0 + _left}" y="22" font-weight="bold">{title}</text>']
    for power in range(low, high + 1):
        at = y(10 ** power)
        label = f"{10 ** power:g}"
        out.append(f'<path d="M{x0 + _left} {at:.1f}H{x0 + _width - _right}" stroke="#ddd"/>'
                   f'<text x="{x0 + _left - 6}" y="{at + 4:.1f}" text-anchor="end">{label}</text>')
    for n in ns:
        out.append(f'<text x="{x(n):.1f}" y="{_height - _bottom + 18}" text-anchor="middle">{n}</text>')
    out.append(f'<text x="{x0 + (_left + _width - _right) / 2:.0f}" y="{_height - 8}" text-anchor="middle">nodes</text>'
               f'<text x="{x0 + 14}" y="{(_top + _height - _bottom) / 2:.0f}" text-anchor="middle" '
               f'transform="rotate(-90 {x0 + 14} {(_top + _height - _bottom) / 2:.0f})">{unit}</text>')
    for kind, line in lines.items():
        path = "L".join(f"{x(n):.1f} {y(v):.1f}" for n, v in line)
        out.append(f'<path d="M{path}" fill="none" stroke="{_colours[kind]}" stroke-width="2.5"/>')
        out += [f'<circle cx="{x(n):.1f}" cy="{y(v):.1f}" r="3.5" fill="{_colours[kind]}"/>' for n, v in line]
    return out


def draw(results: dict[str, list[tuple[int, float, float]]], caption: str) -> str:
    """Draws both plots. `results` has (n, milliseconds, MiB) for each kind, sorted by n."""
    times = {kind: [(n, ms) for n, ms, _ in line] for kind, line in results.items() if line}
    memory = {kind: [(n, max(mib, 1)) for n, _, mib in line] for kind, line in results.items() if line}
    wide, tall = 2 * _width, _height + 54
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {tall}" width="{wide}" height="{tall}" '
           'font-family="Helvetica, Arial, DejaVu Sans, sans-serif" font-size="12" fill="#222">',
           f'<rect width="{wide}" height="{tall}" rx="14" fill="#fff" stroke="#ddd"/>']
    out += _panel("time of a step", "milliseconds", times, 0) + _panel("memory of a step", "MiB", memory, _width)
    for i, kind in enumerate(times):
        at = _left + i * 150
        out.append(f'<path d="M{at} {_height + 14}h24" stroke="{_colours[kind]}" stroke-width="2.5"/>'
                   f'<text x="{at + 30}" y="{_height + 18}">{_names[kind]}</text>')
    out.append(f'<text x="{_left}" y="{_height + 40}" fill="#666">{caption}</text></svg>')
    return "\n".join(out) + "\n"
