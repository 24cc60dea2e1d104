"""Draws the charts of a report with matplotlib: FOLDER/NAME.png for each, and the same pictures, for
light and for dark, in FOLDER/report.html in the place of its own drawings.

    plots.py FOLDER < charts.json      exit status 3: there is no matplotlib
"""
import base64
import io
import json
import os
import pathlib
import re
import sys
import tempfile

STYLES = {
    "light": {"paper": "#ffffff", "ink": "#1c1e21", "rule": "#d9dce0", "series": [
        "#0b63b5", "#c2480c", "#0a7f5a", "#a03a86", "#8a6a00", "#5b6169"]},
    "dark": {"paper": "#16181c", "ink": "#e7e9ec", "rule": "#363b43", "series": [
        "#6db3f2", "#f0935b", "#4cc79b", "#dd8cc6", "#d9b84a", "#a3a9b2"]},
}
MARKERS = "osD^vP"


def short_number(value, _=None):
    for least, unit, suffix in ((1e6, 1e6, "M"), (1e4, 1e3, "k")):
        if value >= least:
            return f"{value / unit:.4g}{suffix}"
    return f"{value:.4g}"


def binary_number(value, _=None):
    return f"{value / 1024:.4g}Ki" if value % 1024 == 0 else short_number(value)


def draw(pyplot, chart, style, title=""):
    """The bytes of a PNG; on a page the title stands beside it."""
    figure, axes = pyplot.subplots(figsize=(8, 4), layout="constrained", facecolor=style["paper"])
    axes.set_facecolor(style["paper"])
    for i, series in enumerate(chart["series"]):
        axes.plot(series["x"], series["y"], label=series["name"],
                  color=style["series"][i % len(style["series"])], marker=MARKERS[i % len(MARKERS)],
                  markersize=max(7 - i, 4),
                  # Lines that lie on one another can all be seen.
                  linewidth=max(3.4 - 0.5 * i, 1.6), linestyle="--" if series["dashed"] else "-")
    if chart["x_log"]:
        axes.set_xscale("log", base=2)
        axes.set_xticks(sorted({x for series in chart["series"] for x in series["x"]}))
        axes.minorticks_off()
    else:
        axes.locator_params(axis="x", integer=True)
    axes.xaxis.set_major_formatter(binary_number if chart["x_log"] else short_number)
    axes.yaxis.set_major_formatter(short_number)
    axes.set_ylim(bottom=0)
    axes.set_xlabel(chart["x_label"], color=style["ink"])
    axes.set_ylabel(chart["y_label"], color=style["ink"])
    axes.set_title(title, color=style["ink"], loc="left", fontsize=11)
    axes.tick_params(colors=style["ink"])
    axes.grid(color=style["rule"], linewidth=0.7)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        axes.spines[side].set_color(style["rule"])
    figure.legend(loc="outside lower left", ncols=3, frameon=False, labelcolor=style["ink"],
                  fontsize=9)
    picture = io.BytesIO()
    figure.savefig(picture, format="png", dpi=120, facecolor=style["paper"])
    pyplot.close(figure)
    return picture.getvalue()


def in_page(png):
    return "data:image/png;base64," + base64.b64encode(png).decode()


def picture_of(chart, light, dark):
    text = re.sub(r"[&<>\"]", " ", chart["title"])
    return (f'<picture><source srcset="{in_page(dark)}" media="(prefers-color-scheme: dark)">'
            f'<img src="{in_page(light)}" alt="{text}"></picture>')


def write(path, data):
    """All at once or not at all."""
    beside = path.with_name(path.name + ".new")
    beside.write_bytes(data)
    os.replace(beside, path)


def main(folder, charts):
    try:
        import matplotlib
    except ImportError:
        return 3
    matplotlib.use("Agg")
    from matplotlib import pyplot
    page = folder / "report.html"
    text = page.read_text("utf-8")
    for chart in charts:
        light, dark = (draw(pyplot, chart, STYLES[name]) for name in ("light", "dark"))
        write(folder / (chart["name"] + ".png"),
              draw(pyplot, chart, STYLES["light"], chart["title"]))
        begin, end = f"<!--chart {chart['name']}-->", "<!--/chart-->"
        before, found, rest = text.partition(begin)
        if found:
            text = before + begin + picture_of(chart, light, dark) + end + rest.partition(end)[2]
    write(page, text.encode())
    return 0


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as notes:  # what matplotlib writes about fonts
        os.environ["MPLCONFIGDIR"] = notes
        sys.exit(main(pathlib.Path(sys.argv[1]), json.load(sys.stdin)))
