"use strict";
// The board that the graph lies on. D3 joins the graph to SVG elements and does zoom, pan, drag and
// springs; the elements stay in the page, so that keyboards and screen readers reach every one.
const Board = (element, spec, hands) => {
  const [WIDTH, HEIGHT] = spec.box;
  const svg = d3.select(element).attr("viewBox", `0 0 ${WIDTH} ${HEIGHT}`);
  const scene = svg.append("g").attr("class", "scene");
  const layers = { edges: scene.append("g"), rubber: scene.append("line").attr("class", "rubber"), nodes: scene.append("g") };
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const shade = d3.interpolateRgb("#f3f6fa", "#7fb0d6");
  let state = { nodes: [], edges: [], positions: [] };
  let radius = 15;

  // How features look; the letters and dashes say the same as the colours.
  const first = (blocks, fits) => blocks.findIndex(fits);
  const byName = (block) => block.kind === "categorical";
  const byNumber = (block) => block.kind === "continuous" && !block.constant;
  const nodeLook = (entry) => {
    const named = first(spec.nodes, byName);
    if (named >= 0) {
      const { fills, strokes, labels } = spec.nodes[named];
      return { fill: fills[entry[named]], stroke: strokes[entry[named]], label: labels[entry[named]] };
    }
    const counted = first(spec.nodes, byNumber);
    if (counted < 0) return { fill: "#dbe6f3", stroke: "#3f5773", label: "" };
    const { low, high } = spec.nodes[counted];
    const [value] = entry[counted];
    return { fill: shade(Math.min(1, Math.max(0, (value - low[0]) / (high[0] - low[0] || 1)))), stroke: "#3f5773", label: String(Number(value.toPrecision(2))) };
  };
  const edgeLook = ([, , entry = []]) => {
    const named = first(spec.edges, byName);
    if (named < 0) return { stroke: "var(--edge)", breadth: 1, dash: null };
    const { lines, breadths, dashes } = spec.edges[named];
    const kind = entry[named] || 0;
    return { stroke: lines[kind], breadth: breadths[kind], dash: dashes[kind] || null };
  };
  const words = (entry, blocks) =>
    blocks
      .map((block, b) => (byName(block) ? `${block.name} ${block.names[entry[b]]}` : block.constant ? "" : `${block.name} ${entry[b]}`))
      .filter(Boolean)
      .join(", ");
  const nodeWords = (entry, n) => `node ${n} ${words(entry, spec.nodes)}`.trim();
  const edgeWords = ([i, j, entry = []]) => `edge ${i} to ${j} ${words(entry, spec.edges)}`.trim();

  // Where an edge runs: to the rim, and aside where another one runs the other way.
  const course = ([i, j], pairs) => {
    const [[x1, y1], [x2, y2]] = [state.positions[i], state.positions[j]];
    if (!spec.directed) return { x1, y1, x2, y2 };
    const length = Math.max(Math.hypot(x2 - x1, y2 - y1), 1e-6);
    const [dx, dy] = [(x2 - x1) / length, (y2 - y1) / length];
    const aside = pairs.has(`${j} ${i}`) ? 0.35 * radius : 0;
    const [ax, ay] = [-dy * aside, dx * aside];
    const tip = (along, across) => `${x2 + ax - dx * along - dy * across},${y2 + ay - dy * along + dx * across}`;
    const head = `M${tip(radius + 1, 0)}L${tip(1.7 * radius, 0.4 * radius)}L${tip(1.7 * radius, -0.4 * radius)}Z`;
    return { x1: x1 + ax, y1: y1 + ay, x2: x2 + ax - dx * 1.6 * radius, y2: y2 + ay - dy * 1.6 * radius, head };
  };
  const place = (glide = false) => {
    const pairs = new Set(state.edges.map(([i, j]) => `${i} ${j}`));
    const soft = (selection) => (glide && !calm ? selection.transition().duration(250) : selection.interrupt());
    soft(layers.nodes.selectAll(".node")).attr("transform", (_, n) => `translate(${state.positions[n]})`);
    layers.edges.selectAll(".edge").each(function (edge) {
      const { head, ...ends } = course(edge, pairs);
      const lines = soft(d3.select(this).selectAll("line"));
      for (const [name, value] of Object.entries(ends)) lines.attr(name, value);
      if (head) soft(d3.select(this).select("path")).attr("d", head);
    });
  };
  // D3's join of data to elements: what is new is made, what is gone is taken away.
  const joined = (parent, kind, data, key, make) => {
    const old = parent.selectAll(`.${kind}`).data(data, key);
    old.exit().remove();
    const added = old.enter().append("g").attr("class", kind).attr("tabindex", 0).attr("role", "button");
    added.append("title");
    make(added);
    return added.merge(old);
  };

  const show = (given, marks, glide = false) => {
    state = given;
    radius = Math.max(5, Math.min(15, 15 * Math.sqrt(30 / Math.max(1, state.nodes.length))));
    const touched = new Set(state.edges.flatMap(([i, j]) => [i, j]));
    const edges = joined(layers.edges, "edge", state.edges, ([i, j]) => `${i} ${j}`, (added) => {
      added.append("line").attr("class", "reach");
      added.append("line").attr("class", "line");
      if (spec.directed) added.append("path");
    })
      .attr("class", (_, e) => (marks.edge === e ? "edge chosen" : "edge"))
      .attr("data-edge", (_, e) => e)
      .attr("aria-label", edgeWords)
      .order();
    edges.select("title").text(edgeWords);
    edges.select(".line").attr("stroke", (edge) => edgeLook(edge).stroke).attr("stroke-width", (edge) => 0.16 * radius * edgeLook(edge).breadth).attr("stroke-dasharray", (edge) => edgeLook(edge).dash);
    edges.select("path").attr("fill", (edge) => edgeLook(edge).stroke);
    const nodes = joined(layers.nodes, "node", state.nodes, null, (added) => {
      added.append("circle");
      added.append("text").attr("dy", "0.36em").attr("text-anchor", "middle");
      added.call(dragging);
    })
      .attr("class", (_, n) => ["node", marks.node === n && "chosen", marks.from === n && "from", !touched.has(n) && "alone"].filter(Boolean).join(" "))
      .attr("data-node", (_, n) => n)
      .attr("aria-label", nodeWords);
    nodes.select("title").text(nodeWords);
    nodes.select("circle").attr("r", radius).attr("fill", (entry) => nodeLook(entry).fill).attr("stroke", (entry) => nodeLook(entry).stroke);
    nodes.select("text").attr("font-size", 0.93 * radius).text((entry) => (radius < 6 ? "" : nodeLook(entry).label));
    place(glide);
    if (springs) pull();
  };

  // Hands: nodes are dragged, or a line is drawn from one to another where edges are added.
  const numberOf = (target, kind) => {
    const group = target && target.closest && target.closest(`g.${kind}`);
    return group && element.contains(group) ? Number(group.dataset[kind]) : null;
  };
  const under = ({ sourceEvent }) => {
    const { clientX, clientY } = sourceEvent.changedTouches ? sourceEvent.changedTouches[0] : sourceEvent;
    return numberOf(document.elementFromPoint(clientX, clientY), "node");
  };
  const dragging = d3
    .drag()
    .container(() => scene.node())
    .clickDistance(4)
    .subject((_, n) => ({ x: state.positions[n][0], y: state.positions[n][1] }))
    .on("start", () => hands.grab())
    .on("drag", (_, n) => {
      const { x, y } = d3.event;
      if (hands.joining()) {
        const [x1, y1] = state.positions[n];
        layers.rubber.attr("x1", x1).attr("y1", y1).attr("x2", x).attr("y2", y).classed("on", true);
        return;
      }
      state.positions[n] = [Math.round(x), Math.round(y)];
      if (springs) hold(n);
      else place();
    })
    .on("end", (_, n) => {
      layers.rubber.classed("on", false);
      const other = hands.joining() ? under(d3.event) : null;
      if (springs) springs.nodes().forEach((body) => Object.assign(body, { fx: null, fy: null }));
      if (other !== null && other !== n) hands.join(n, other);
      else hands.release();
    });
  // The wheel scrolls the page, as everywhere, until the board has been clicked.
  const zooming = d3
    .zoom()
    .extent([[0, 0], spec.box])
    .scaleExtent([0.3, 6])
    .clickDistance(4)
    .filter(() => !d3.event.button && (d3.event.type !== "wheel" || d3.event.ctrlKey || element.matches(":focus, :focus-within")))
    .on("zoom", () => scene.attr("transform", d3.event.transform));
  svg.call(zooming).on("dblclick.zoom", null);
  svg.on("click", () => {
    const [x, y] = d3.mouse(scene.node());
    hands.act({ node: numberOf(d3.event.target, "node"), edge: numberOf(d3.event.target, "edge") }, { x, y });
  });
  const fit = () => {
    if (!state.positions.length) return svg.call(zooming.transform, d3.zoomIdentity);
    const [[left, right], [top, bottom]] = [0, 1].map((axis) => d3.extent(state.positions, (at) => at[axis]));
    // On a phone the board is small, and a small graph may fill it.
    const most = element.clientWidth < 480 ? 1.8 : 1;
    const k = Math.min(most, (WIDTH - 60) / Math.max(1, right - left), (HEIGHT - 60) / Math.max(1, bottom - top));
    const inside = k === 1 && left >= radius && top >= radius && right <= WIDTH - radius && bottom <= HEIGHT - radius;
    const about = d3.zoomIdentity.translate(WIDTH / 2, HEIGHT / 2).scale(k).translate(-(left + right) / 2, -(top + bottom) / 2);
    return svg.call(zooming.transform, inside ? d3.zoomIdentity : about);
  };
  const view = { in: () => svg.call(zooming.scaleBy, 1.25), out: () => svg.call(zooming.scaleBy, 0.8), fit, pan: (dx, dy) => svg.call(zooming.translateBy, dx, dy) };
  // A free place near the middle of what can be seen, for nodes that come from the keyboard.
  const middle = () => {
    const [x, y] = d3.zoomTransform(element).invert([WIDTH / 2, HEIGHT / 2]);
    const spots = d3.range(60).map((i) => [x + 26 * Math.sqrt(i) * Math.cos(2.4 * i), y + 26 * Math.sqrt(i) * Math.sin(2.4 * i)]);
    const free = ([a, b]) => state.positions.every(([c, d]) => Math.hypot(a - c, b - d) > 2.4 * radius);
    const [a, b] = spots.find(free) || spots[0];
    return { x: a, y: b };
  };

  // Springs: D3's forces keep edges at one length and nodes apart.
  let springs = null;
  let pulled = "";
  const settle = () => {
    springs.nodes().forEach((body, n) => (state.positions[n] = [Math.round(body.x), Math.round(body.y)]));
    place();
  };
  const pull = () => {
    const shape = JSON.stringify([state.nodes.length, state.edges.map(([i, j]) => [i, j])]);
    const bodies = springs.nodes();
    // Where only places or features have changed there is nothing to pull at: the graph rests.
    if (shape === pulled) return state.positions.forEach(([x, y], n) => Object.assign(bodies[n], { x, y }));
    pulled = shape;
    springs.nodes(state.positions.map(([x, y]) => ({ x, y })));
    springs.force("links", d3.forceLink(state.edges.map(([source, target]) => ({ source, target }))).distance(5 * radius));
    springs.alpha(0.6);
    if (!calm) return springs.restart();
    for (let step = 0; step < 200; step += 1) springs.tick();
    return settle();
  };
  const hold = (n) => {
    const [fx, fy] = state.positions[n];
    Object.assign(springs.nodes()[n], { fx, fy });
    springs.alpha(Math.max(0.3, springs.alpha())).restart();
  };
  const loosen = (on) => {
    if (springs) springs.stop();
    springs = null;
    pulled = "";
    if (!on) return;
    springs = d3.forceSimulation([]).stop().on("tick", settle).on("end", hands.release);
    springs.force("apart", d3.forceManyBody().strength(-320));
    springs.force("x", d3.forceX(WIDTH / 2).strength(0.05)).force("y", d3.forceY(HEIGHT / 2).strength(0.08));
    pull();
  };

  return { show, view, middle, loosen, numberOf };
};
