"use strict";
// The editor: one plain object holds the graph, so that undo, links and exports are all the same
// thing, a copy of it.
const Editor = (spec, { changed, tell }) => {
  const canvas = $("canvas");
  const none = { node: null, edge: null, from: null };
  const MOST_STEPS = 200;
  let state = { nodes: [], edges: [], positions: [] };
  let past = [];
  let future = [];
  let marks = { ...none };
  let tool = "select";

  const draw = (glide = false) => {
    board.show(state, marks, glide);
    $("undo").disabled = !past.length;
    $("redo").disabled = !future.length;
    showFeatures();
  };
  // The address follows a moment later, so that it never holds up an answer.
  let later = 0;
  const remember = () => {
    clearTimeout(later);
    history.replaceState(null, "", "#g=" + Talk.encode(state));
  };
  const rememberSoon = () => {
    clearTimeout(later);
    later = setTimeout(remember, 150);
  };
  // The model is asked before the graph is drawn, so that both happen at the same time.
  const settle = (glide) => {
    changed();
    draw(glide);
    rememberSoon();
  };
  const keepStep = (before) => {
    past.push(before);
    if (past.length > MOST_STEPS) past.shift();
    future = [];
  };
  const change = (make, glide = false) => {
    const before = JSON.stringify(state);
    make();
    if (JSON.stringify(state) === before) return draw();
    keepStep(before);
    return settle(glide);
  };
  const travel = (from, to) => {
    if (!from.length) return;
    to.push(JSON.stringify(state));
    state = JSON.parse(from.pop());
    marks = { ...none };
    settle();
  };
  const open = (graph, positions) => {
    change(() => {
      state = structuredClone({ nodes: graph.nodes, edges: graph.edges, positions });
      marks = { ...none };
    });
    board.view.fit();
  };

  // Changes by hand.
  const fresh = (blocks) =>
    blocks.map((block) => {
      if (block.kind === "categorical") return block.first;
      return block.constant ? null : block.low.map((low, i) => (low + block.high[i]) / 2);
    });
  const addNode = ({ x, y }) => {
    if (state.nodes.length >= spec.most_nodes) return tell(`at most ${spec.most_nodes} nodes`, true);
    return change(() => {
      const like = marks.node !== null && state.nodes[marks.node];
      state.nodes.push(structuredClone(like || fresh(spec.nodes)));
      state.positions.push([Math.round(x), Math.round(y)]);
      marks = { ...none, node: state.nodes.length - 1 };
    });
  };
  const joined = (i, j) => state.edges.some(([a, b]) => (a === i && b === j) || (!spec.directed && a === j && b === i));
  const addEdge = (i, j) =>
    change(() => {
      marks = { ...none };
      if (i === j || joined(i, j)) return;
      const ends = spec.directed || i < j ? [i, j] : [j, i];
      state.edges.push(spec.edges.length ? [...ends, fresh(spec.edges)] : ends);
      marks.edge = state.edges.length - 1;
    });
  const removeNode = (n) =>
    change(() => {
      state.nodes.splice(n, 1);
      state.positions.splice(n, 1);
      const number = (i) => (i > n ? i - 1 : i);
      state.edges = state.edges.filter(([i, j]) => i !== n && j !== n).map(([i, j, ...rest]) => [number(i), number(j), ...rest]);
      marks = { ...none };
    });
  const removeEdge = (e) =>
    change(() => {
      state.edges.splice(e, 1);
      marks = { ...none };
    });
  const remove = ({ node, edge }) => (node !== null ? removeNode(node) : edge !== null ? removeEdge(edge) : null);
  const shift = (n, dx, dy) =>
    change(() => {
      const [x, y] = state.positions[n];
      state.positions[n] = [x + dx, y + dy];
    });

  // Features of what is selected.
  const field = (block, b, entry) => {
    if (block.kind === "categorical") {
      const select = document.createElement("select");
      block.names.forEach((name, i) => (block.offered[i] || i === entry[b]) && select.append(new Option(name, i, false, i === entry[b])));
      select.addEventListener("change", () => change(() => (entry[b] = Number(select.value))));
      return [[block.name, select]];
    }
    if (block.constant) return [];
    return block.names.map((name, i) => {
      const input = document.createElement("input");
      Object.assign(input, { type: "number", step: "any", min: block.low[i], max: block.high[i], value: entry[b][i] });
      input.addEventListener("change", () => change(() => (entry[b][i] = Number(input.value))));
      return [name, input];
    });
  };
  const showFeatures = () => {
    const { node, edge } = marks;
    if (node === null && edge === null) return $("features").replaceChildren("Nothing is selected.");
    const [blocks, entry] = node !== null ? [spec.nodes, state.nodes[node]] : [spec.edges, state.edges[edge][2]];
    const title = make("span", "", node !== null ? `Node ${node}` : `Edge ${state.edges[edge][0]} – ${state.edges[edge][1]}`);
    const labels = blocks
      .flatMap((block, b) => field(block, b, entry))
      .map(([name, input]) => {
        const label = document.createElement("label");
        label.append(name + " ", input);
        return label;
      });
    const gone = Object.assign(make("button", "", "Delete"), { type: "button" });
    gone.addEventListener("click", () => remove(marks));
    return $("features").replaceChildren(title, ...labels, gone);
  };

  // Hands and keys.
  const act = (hit, point) => {
    if (tool === "delete") return remove(hit);
    if (tool === "node" && hit.node === null) return addNode(point);
    if (tool === "edge" && hit.node !== null) {
      if (marks.from !== null) return addEdge(marks.from, hit.node);
      marks = { ...none, from: hit.node };
      tell("Now the other end.");
      return draw();
    }
    marks = { ...none, node: hit.node, edge: hit.node === null ? hit.edge : null };
    return draw();
  };
  let grabbed = null;
  const release = () => {
    const moved = grabbed !== null && grabbed !== JSON.stringify(state);
    if (moved) keepStep(grabbed);
    grabbed = null;
    if (moved) draw();
    rememberSoon();
  };
  const board = Board(canvas, spec, {
    act,
    release,
    grab: () => (grabbed = JSON.stringify(state)),
    joining: () => tool === "edge",
    join: (i, j) => {
      grabbed = null;
      addEdge(i, j);
    },
  });
  const choose = (name) => {
    tool = name;
    marks.from = null;
    canvas.dataset.tool = name;
    for (const button of document.querySelectorAll("button[data-tool]")) button.setAttribute("aria-checked", button.dataset.tool === name);
    tell({ select: "Click to select, drag to move; drag the background to look around.", node: "Click where the node shall be.", edge: "Click one end, then the other, or drag from one to the other.", delete: "Click what shall go." }[name]);
  };
  const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
  const VIEWS = { "+": "in", "=": "in", "-": "out", 0: "fit" };
  canvas.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const hit = { node: board.numberOf(event.target, "node"), edge: board.numberOf(event.target, "edge") };
    const arrow = ARROWS[event.key];
    if (event.key === "Enter" || event.key === " ") act(hit, board.middle());
    else if (event.key === "Delete" || event.key === "Backspace") remove(hit);
    else if (arrow && hit.node !== null) shift(hit.node, 10 * arrow[0], 10 * arrow[1]);
    else if (arrow) board.view.pan(-24 * arrow[0], -24 * arrow[1]);
    else if (VIEWS[event.key]) board.view[VIEWS[event.key]]();
    else return;
    event.preventDefault();
  });
  document.addEventListener("keydown", (event) => {
    if (event.target.matches("input, select, textarea") || event.altKey) return;
    const key = event.key.toLowerCase();
    const held = event.ctrlKey || event.metaKey;
    if (held && (key === "z" || key === "y")) {
      event.preventDefault();
      event.shiftKey || key === "y" ? travel(future, past) : travel(past, future);
    }
    const chosen = { v: "select", n: "node", e: "edge", d: "delete" }[key];
    if (!held && chosen) choose(chosen);
  });
  document.querySelectorAll("button[data-tool]").forEach((button) => button.addEventListener("click", () => choose(button.dataset.tool)));
  document.querySelectorAll("button[data-view]").forEach((button) => button.addEventListener("click", () => board.view[button.dataset.view]()));
  $("undo").addEventListener("click", () => travel(past, future));
  $("redo").addEventListener("click", () => travel(future, past));
  $("clear").addEventListener("click", () => open({ nodes: [], edges: [] }, []));
  $("springs").addEventListener("click", () => {
    const on = $("springs").getAttribute("aria-pressed") !== "true";
    $("springs").setAttribute("aria-pressed", on);
    if (on) grabbed = JSON.stringify(state);
    board.loosen(on);
  });

  // A graph from a link; nothing is changed where it does not fit the model.
  const fromLink = () => {
    if (!location.hash.startsWith("#g=")) return null;
    try {
      const { nodes, edges, positions } = Talk.decode(location.hash.slice(3));
      const places = positions.length === nodes.length && positions.every((place) => Array.isArray(place) && place.length === 2 && place.every(Number.isFinite));
      const ends = edges.every(([i, j]) => i in nodes && j in nodes);
      const fits = (entry, blocks) => entry.length === blocks.length && blocks.every((block, b) => block.kind !== "categorical" || entry[b] in block.names);
      if (!places || !ends || !nodes.every((entry) => fits(entry, spec.nodes))) throw new Error();
      if (spec.edges.length && !edges.every((edge) => fits(edge[2], spec.edges))) throw new Error();
      return { nodes, edges, positions };
    } catch {
      tell("The link holds no graph of this model.", true);
      return null;
    }
  };
  const begin = (entry) => {
    choose("select");
    const linked = fromLink();
    if (linked) state = linked;
    else if (entry) state = structuredClone({ ...entry.graph, positions: entry.positions });
    draw();
    board.view.fit();
    changed();
  };
  addEventListener("hashchange", () => {
    const linked = fromLink();
    if (linked) open(linked, linked.positions);
  });

  return {
    begin,
    open,
    remember,
    graph: () => ({ nodes: state.nodes, edges: state.edges }),
    arranged: () => state,
    place: (positions) => change(() => (state.positions = positions), true),
    fit: () => board.view.fit(),
  };
};
