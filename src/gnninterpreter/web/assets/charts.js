"use strict";
// Curves along a search: one line for each restart, the last snapshot's best on top.
const Charts = (() => {
  const [LEFT, RIGHT, TOP, BOTTOM] = [46, 292, 8, 108];

  const curve = (element, snapshots, key, bounds) => {
    const svg = d3.select(element);
    const values = snapshots.flatMap((snapshot) => snapshot[key]).filter(Number.isFinite);
    const [low, high] = bounds || [0, Math.max(1, ...values)];
    const x = d3.scaleLinear().domain([0, Math.max(1, snapshots.length - 1)]).range([LEFT, RIGHT]);
    const y = d3.scaleLinear().domain([low, high]).range([BOTTOM, TOP]).clamp(true);
    const best = snapshots.length ? snapshots[snapshots.length - 1].best : 0;
    const count = snapshots.length ? snapshots[0][key].length : 0;
    const order = d3.range(count).sort((a, b) => (a === best) - (b === best));
    const line = (r) => d3.line().defined((snapshot) => Number.isFinite(snapshot[key][r])).x((_, i) => x(i)).y((snapshot) => y(snapshot[key][r]));
    const path = (r) => line(r)(snapshots);
    // Each phase counts its own steps, so that snapshots are drawn in their order, a mark at each phase.
    const phases = d3.range(1, snapshots.length).filter((i) => snapshots[i].phase !== snapshots[i - 1].phase);
    const frame = [
      { kind: "grid", d: `M${LEFT},${TOP} H${RIGHT}` },
      { kind: "axis", d: `M${LEFT},${BOTTOM} H${RIGHT}` },
      ...phases.map((i) => ({ kind: "grid", d: `M${x(i)},${TOP} V${BOTTOM}` })),
    ];
    const labels = [
      { at: [LEFT - 6, TOP + 5], text: high.toFixed(high < 10 ? 1 : 0) },
      { at: [LEFT - 6, BOTTOM + 3], text: low.toFixed(0) },
      { at: [RIGHT, 125], text: snapshots.length ? [0, ...phases].map((i) => snapshots[i].phase).join(" · ") : "" },
    ];
    svg.selectAll("*").remove();
    const add = (kind, data) => svg.selectAll(null).data(data).enter().append(kind);
    add("path", frame).attr("class", (line) => line.kind).attr("d", (line) => line.d);
    add("text", labels).attr("text-anchor", "end").attr("x", (label) => label.at[0]).attr("y", (label) => label.at[1]).text((label) => label.text);
    add("path", order).attr("class", (r) => (r === best ? "run chosen" : "run other")).attr("d", path);
  };

  return { curve };
})();
