"use strict";
// How the live page draws: the graph in the editor, and curves along a search.
const Draw = (() => {
  const SPACE = "http://www.w3.org/2000/svg";
  const RADIUS = 15;

  const make = (name, attributes = {}, children = []) => {
    const element = document.createElementNS(SPACE, name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    element.append(...children);
    return element;
  };

  const colouring = (blocks) => blocks.findIndex((block) => block.kind === "categorical");

  const describe = (entry, blocks) =>
    blocks
      .map((block, b) => {
        if (block.kind === "categorical") return `${block.name} ${block.names[entry[b]]}`;
        return block.constant ? "" : `${block.name} ${entry[b]}`;
      })
      .filter(Boolean)
      .join(", ");

  const arrow = (x1, y1, x2, y2) => {
    const length = Math.max(Math.hypot(x2 - x1, y2 - y1), 1e-6);
    const [dx, dy] = [(x2 - x1) / length, (y2 - y1) / length];
    const at = (along, across) => `${x2 - dx * along - dy * across},${y2 - dy * along + dx * across}`;
    return `M${at(RADIUS, 0)}L${at(RADIUS + 10, 6)}L${at(RADIUS + 10, -6)}Z`;
  };

  // The whole graph; elements carry data-node or data-edge with their number.
  const graph = (svg, state, spec, marks) => {
    const focused = document.activeElement && document.activeElement.closest("#canvas g");
    const back = focused && (focused.dataset.node !== undefined ? `[data-node="${focused.dataset.node}"]` : `[data-edge="${focused.dataset.edge}"]`);
    const touched = new Set(state.edges.flatMap(([i, j]) => [i, j]));
    const lines = state.edges.map(([i, j, features = []], e) => {
      const [x1, y1] = state.positions[i];
      const [x2, y2] = state.positions[j];
      const by = colouring(spec.edges);
      const block = by < 0 ? null : spec.edges[by];
      const kind = block ? features[by] || 0 : 0;
      const look = { stroke: block ? block.lines[kind] : "var(--edge)", "stroke-width": 2.4 * (block ? block.breadths[kind] : 1) };
      if (block && block.dashes[kind]) look["stroke-dasharray"] = block.dashes[kind];
      const label = `edge ${i} to ${j} ${describe(features, spec.edges)}`.trim();
      const parts = [make("line", { class: "reach", x1, y1, x2, y2 }), make("line", { class: "line", x1, y1, x2, y2, ...look })];
      if (spec.directed) parts.push(make("path", { d: arrow(x1, y1, x2, y2), fill: look.stroke }));
      return make("g", { class: marks.edge === e ? "edge chosen" : "edge", "data-edge": e, tabindex: 0, role: "button", "aria-label": label }, parts);
    });
    const nodes = state.nodes.map((entry, n) => {
      const by = colouring(spec.nodes);
      const block = by < 0 ? null : spec.nodes[by];
      const [x, y] = state.positions[n];
      const text = make("text", { dy: "0.36em", "text-anchor": "middle", "font-size": 14, "font-weight": 600, fill: "#16202c" });
      text.textContent = block ? block.labels[entry[by]] : "";
      const kinds = ["node", marks.node === n ? "chosen" : "", marks.from === n ? "from" : "", touched.has(n) ? "" : "alone"];
      const label = `node ${n} ${describe(entry, spec.nodes)}`.trim();
      return make("g", { class: kinds.filter(Boolean).join(" "), "data-node": n, transform: `translate(${x} ${y})`, tabindex: 0, role: "button", "aria-label": label }, [
        make("circle", { r: RADIUS, fill: block ? block.fills[entry[by]] : "#dbe6f3", stroke: block ? block.strokes[entry[by]] : "#3f5773", "stroke-width": 1.7 }),
        text,
      ]);
    });
    svg.setAttribute("viewBox", `0 0 ${spec.box[0]} ${spec.box[1]}`);
    svg.replaceChildren(...lines, ...nodes);
    if (back && svg.querySelector(back)) svg.querySelector(back).focus({ preventScroll: true });
  };

  // One line for each restart; the last look's best on top.
  const curve = (svg, looks, key, bounds) => {
    const [left, right, top, bottom] = [46, 292, 8, 108];
    const values = looks.flatMap((look) => look[key]).filter(Number.isFinite);
    const [low, high] = bounds || [0, Math.max(1, ...values)];
    const last = Math.max(1, ...looks.map((look) => look.iteration));
    const best = looks.length ? looks[looks.length - 1].best : 0;
    const count = looks.length ? looks[0][key].length : 0;
    const points = (r) =>
      looks
        .map((look) => {
          const share = Math.min(1, Math.max(0, (look[key][r] - low) / (high - low)));
          return `${(left + ((right - left) * look.iteration) / last).toFixed(1)},${(bottom - (bottom - top) * share).toFixed(1)}`;
        })
        .join(" ");
    const order = [...Array(count).keys()].filter((r) => r !== best).concat(count ? [best] : []);
    const label = (x, y, text, anchor) => {
      const element = make("text", { x, y, "text-anchor": anchor });
      element.textContent = text;
      return element;
    };
    svg.replaceChildren(
      make("path", { class: "grid", d: `M${left},${top} H${right}` }),
      make("path", { class: "axis", d: `M${left},${bottom} H${right}` }),
      label(left - 6, top + 5, high.toFixed(high < 10 ? 1 : 0), "end"),
      label(left - 6, bottom + 3, low.toFixed(0), "end"),
      label(right, 125, `${last} iterations`, "end"),
      ...order.map((r) => make("polyline", { class: r === best ? "chosen" : "other", points: points(r) })),
    );
  };

  return { graph, curve, RADIUS };
})();
