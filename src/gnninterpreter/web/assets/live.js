"use strict";
// The editor and its talk with the server. State is one plain object, so that undo, links and
// exports are all the same thing: a copy of it.
(async () => {
  const $ = (id) => document.getElementById(id);
  const canvas = $("canvas");
  let spec;
  let state = { nodes: [], edges: [], positions: [] };
  let past = [];
  let future = [];
  let tool = "select";
  let marks = { node: null, edge: null, from: null };

  // Talking to the server.
  const ask = async (path, values, signal) => {
    const response = await fetch(path, {
      method: values === undefined ? "GET" : "POST",
      headers: values === undefined ? {} : { "content-type": "application/json" },
      body: values === undefined ? undefined : JSON.stringify(values),
      signal,
    });
    if (response.ok) return response;
    let said = `the server answered ${response.status}`;
    try {
      said = (await response.json()).error || said;
    } catch {}
    throw new Error(said);
  };
  const tell = (text, bad = false) => {
    $("hint").textContent = text;
    $("hint").classList.toggle("bad", bad);
  };
  const bare = () => ({ nodes: state.nodes, edges: state.edges });

  let asking = null;
  const score = async () => {
    if (asking) asking.abort();
    const mine = (asking = new AbortController());
    try {
      show(await (await ask("/api/score", bare(), mine.signal)).json());
    } catch (error) {
      if (error.name === "AbortError") return;
      $("answer").textContent = error.message;
      $("answer").className = "verdict bad";
      $("bars").replaceChildren();
      $("figures").textContent = "";
    }
  };
  const show = (answer) => {
    const given = answer.probabilities;
    const best = given ? given.indexOf(Math.max(...given)) : -1;
    $("answer").className = "verdict";
    $("answer").textContent = given
      ? `${spec.classes[best]}, with ${given[best].toFixed(3)}${answer.truth ? `; by rule ${answer.truth}` : ""}`
      : "A graph needs at least one edge.";
    const cell = (kind, text) => {
      const span = document.createElement("span");
      span.className = kind;
      span.textContent = text;
      return span;
    };
    const rows = spec.classes.map((name, c) => {
      const row = document.createElement("li");
      if (c === best) row.className = "target";
      const track = cell("track", "");
      const fill = document.createElement("span");
      fill.style.width = `${given ? 100 * given[c] : 0}%`;
      track.append(fill);
      const alike = answer.similarities ? answer.similarities[c].toFixed(2) : "";
      row.append(cell("name", name), track, cell("number", given ? given[c].toFixed(3) : ""), cell("alike", alike));
      return row;
    });
    const head = document.createElement("li");
    head.className = "head";
    head.append(cell("", ""), cell("", ""), cell("number", "prob."), cell("alike", spec.similarity ? "alike" : ""));
    $("bars").replaceChildren(head, ...rows);
    const aside = answer.ignored ? `; ${answer.ignored} without an edge do not count` : "";
    $("figures").textContent = `${answer.nodes} nodes, ${answer.edges} edges${aside}. Answered in ${answer.milliseconds} ms.`;
  };

  // Changing the graph.
  const draw = () => {
    Draw.graph(canvas, state, spec, marks);
    $("undo").disabled = !past.length;
    $("redo").disabled = !future.length;
    showFeatures();
  };
  const encode = (values) => btoa(String.fromCharCode(...new TextEncoder().encode(JSON.stringify(values)))).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
  const decode = (text) => JSON.parse(new TextDecoder().decode(Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (c) => c.charCodeAt(0))));
  const remember = () => history.replaceState(null, "", "#g=" + encode(state));
  const settle = () => {
    draw();
    remember();
    score();
  };
  const change = (make) => {
    const before = JSON.stringify(state);
    make();
    if (JSON.stringify(state) === before) return;
    past.push(before);
    if (past.length > 200) past.shift();
    future = [];
    settle();
  };
  const travel = (from, to) => {
    if (!from.length) return;
    to.push(JSON.stringify(state));
    state = JSON.parse(from.pop());
    marks = { node: null, edge: null, from: null };
    settle();
  };
  const open = (graph, positions) =>
    change(() => {
      state = { nodes: graph.nodes, edges: graph.edges, positions };
      marks = { node: null, edge: null, from: null };
    });
  const fresh = (blocks) =>
    blocks.map((block) => {
      if (block.kind === "categorical") return 0;
      return block.constant ? null : block.low.map((low, i) => (low + block.high[i]) / 2);
    });
  const addNode = (x, y) =>
    change(() => {
      if (state.nodes.length >= spec.most_nodes) return tell(`at most ${spec.most_nodes} nodes`, true);
      const like = marks.node !== null && state.nodes[marks.node];
      state.nodes.push(structuredClone(like || fresh(spec.nodes)));
      state.positions.push([Math.round(x), Math.round(y)]);
      marks = { node: state.nodes.length - 1, edge: null, from: null };
    });
  const joined = (i, j) => state.edges.findIndex(([a, b]) => (a === i && b === j) || (!spec.directed && a === j && b === i));
  const addEdge = (i, j) =>
    change(() => {
      marks.from = null;
      if (i === j || joined(i, j) >= 0) return;
      const ends = spec.directed || i < j ? [i, j] : [j, i];
      state.edges.push(spec.edges.length ? [...ends, fresh(spec.edges)] : ends);
      marks = { node: null, edge: state.edges.length - 1, from: null };
    });
  const removeNode = (n) =>
    change(() => {
      state.nodes.splice(n, 1);
      state.positions.splice(n, 1);
      const number = (i) => (i > n ? i - 1 : i);
      state.edges = state.edges.filter(([i, j]) => i !== n && j !== n).map(([i, j, ...rest]) => [number(i), number(j), ...rest]);
      marks = { node: null, edge: null, from: null };
    });
  const removeEdge = (e) =>
    change(() => {
      state.edges.splice(e, 1);
      marks = { node: null, edge: null, from: null };
    });

  // Features of what is selected.
  const showFeatures = () => {
    const box = $("features");
    const [kind, number] = marks.node !== null ? ["node", marks.node] : marks.edge !== null ? ["edge", marks.edge] : ["", 0];
    const entry = kind === "node" ? state.nodes[number] : kind === "edge" ? state.edges[number] && state.edges[number][2] : null;
    const blocks = kind === "node" ? spec.nodes : spec.edges;
    if (!kind) return box.replaceChildren("Nothing is selected.");
    const title = document.createElement("span");
    title.textContent = kind === "node" ? `Node ${number}` : `Edge ${state.edges[number][0]} – ${state.edges[number][1]}`;
    const fields = [];
    blocks.forEach((block, b) => {
      if (block.kind === "categorical") {
        const select = document.createElement("select");
        block.names.forEach((name, i) => select.append(new Option(name, i, false, i === entry[b])));
        select.addEventListener("change", () => change(() => (entry[b] = Number(select.value))));
        fields.push([block.name, select]);
      } else if (!block.constant) {
        block.names.forEach((name, i) => {
          const input = document.createElement("input");
          Object.assign(input, { type: "number", step: "any", min: block.low[i], max: block.high[i], value: entry[b][i] });
          input.addEventListener("change", () => change(() => (entry[b][i] = Number(input.value))));
          fields.push([name, input]);
        });
      }
    });
    const labels = fields.map(([name, field]) => {
      const label = document.createElement("label");
      label.append(name + " ", field);
      return label;
    });
    const gone = document.createElement("button");
    gone.type = "button";
    gone.textContent = "Delete";
    gone.addEventListener("click", () => (kind === "node" ? removeNode(number) : removeEdge(number)));
    box.replaceChildren(title, ...labels, gone);
  };

  // Hands and keys.
  const at = (event) => new DOMPoint(event.clientX, event.clientY).matrixTransform(canvas.getScreenCTM().inverse());
  const target = (event) => {
    const group = event.target.closest && event.target.closest("#canvas g");
    return group ? { node: group.dataset.node === undefined ? null : Number(group.dataset.node), edge: group.dataset.edge === undefined ? null : Number(group.dataset.edge) } : { node: null, edge: null };
  };
  const act = ({ node, edge }, point) => {
    if (tool === "delete") return node !== null ? removeNode(node) : edge !== null ? removeEdge(edge) : null;
    if (tool === "node" && node === null) return addNode(point.x, point.y);
    if (tool === "edge" && node !== null) {
      if (marks.from !== null) return addEdge(marks.from, node);
      marks = { node: null, edge: null, from: node };
      tell("Now the other end.");
      return draw();
    }
    marks = { node, edge: node === null ? edge : null, from: null };
    return draw();
  };
  let drag = null;
  canvas.addEventListener("pointerdown", (event) => {
    if (event.button > 0) return;
    const hit = target(event);
    if (tool === "select" && hit.node !== null) {
      drag = { node: hit.node, before: JSON.stringify(state), moved: false };
      canvas.setPointerCapture(event.pointerId);
    }
    if (tool === "edge") tell("");
    act(hit, at(event));
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!drag) return;
    const { x, y } = at(event);
    const clip = (value, most) => Math.round(Math.min(most - Draw.RADIUS, Math.max(Draw.RADIUS, value)));
    state.positions[drag.node] = [clip(x, spec.box[0]), clip(y, spec.box[1])];
    drag.moved = true;
    Draw.graph(canvas, state, spec, marks);
  });
  const release = () => {
    if (drag && drag.moved) {
      past.push(drag.before);
      future = [];
      draw();
      remember();
    }
    drag = null;
  };
  canvas.addEventListener("pointerup", release);
  canvas.addEventListener("pointercancel", release);
  canvas.addEventListener("keydown", (event) => {
    const hit = target(event);
    if (event.key === "Enter" || event.key === " ") act(hit, { x: spec.box[0] / 2, y: spec.box[1] / 2 });
    else if (event.key === "Delete" || event.key === "Backspace") hit.node !== null ? removeNode(hit.node) : hit.edge !== null && removeEdge(hit.edge);
    else return;
    event.preventDefault();
  });
  const choose = (name) => {
    tool = name;
    marks.from = null;
    canvas.dataset.tool = name;
    for (const button of document.querySelectorAll("[data-tool]")) {
      if (button !== canvas) button.setAttribute("aria-checked", button.dataset.tool === name);
    }
    tell({ select: "Click to select, drag to move.", node: "Click where the node shall be.", edge: "Click one end, then the other.", delete: "Click what shall go." }[name]);
  };
  document.addEventListener("keydown", (event) => {
    if (event.target.matches("input, select, textarea")) return;
    const key = event.key.toLowerCase();
    if ((event.ctrlKey || event.metaKey) && key === "z") {
      event.preventDefault();
      event.shiftKey ? travel(future, past) : travel(past, future);
    } else if (!event.ctrlKey && !event.metaKey && !event.altKey) {
      const chosen = { v: "select", n: "node", e: "edge", d: "delete" }[key];
      if (chosen) choose(chosen);
    }
  });
  document.querySelectorAll("button[data-tool]").forEach((button) => button.addEventListener("click", () => choose(button.dataset.tool)));
  $("undo").addEventListener("click", () => travel(past, future));
  $("redo").addEventListener("click", () => travel(future, past));
  $("clear").addEventListener("click", () => open({ nodes: [], edges: [] }, []));
  $("tidy").addEventListener("click", async () => {
    try {
      const { positions } = await (await ask("/api/layout", bare())).json();
      change(() => (state.positions = positions));
    } catch (error) {
      tell(error.message, true);
    }
  });

  // Taking away.
  const save = (name, address) => {
    const link = document.createElement("a");
    Object.assign(link, { download: name, href: address });
    document.body.append(link);
    link.click();
    link.remove();
  };
  const image = (text) =>
    new Promise((done, fail) => {
      const drawn = new Image();
      drawn.onload = () => {
        const board = document.createElement("canvas");
        [board.width, board.height] = [2 * drawn.width, 2 * drawn.height];
        const pen = board.getContext("2d");
        pen.fillStyle = "#fff";
        pen.fillRect(0, 0, board.width, board.height);
        pen.drawImage(drawn, 0, 0, board.width, board.height);
        done(board.toDataURL("image/png"));
      };
      drawn.onerror = () => fail(new Error("the drawing could not be read"));
      drawn.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(text);
    });
  document.querySelectorAll("[data-export]").forEach((button) =>
    button.addEventListener("click", async () => {
      const form = button.dataset.export;
      try {
        const text = await (await ask(`/api/export/${form === "png" ? "svg" : form}`, bare())).text();
        save(`graph.${form}`, form === "png" ? await image(text) : "data:text/plain;charset=utf-8," + encodeURIComponent(text));
      } catch (error) {
        tell(error.message, true);
      }
    }),
  );
  $("share").addEventListener("click", async () => {
    remember();
    try {
      await navigator.clipboard.writeText(location.href);
      tell("The link is on the clipboard; it holds the whole graph.");
    } catch {
      tell("The address of this page holds the whole graph; copy it from there.");
    }
  });

  // Explaining a class.
  let job = null;
  const say = (text, bad = false) => {
    $("progress").textContent = text;
    $("progress").classList.toggle("bad", bad);
  };
  const follow = (number, name) => {
    const looks = [];
    const source = new EventSource(`/api/jobs/${number}/events`);
    job = { number, source, opened: null };
    $("watch").hidden = false;
    $("outcome").hidden = true;
    $("kept").textContent = "";
    $("stop").disabled = false;
    source.addEventListener("look", (event) => {
      const look = JSON.parse(event.data);
      looks.push(look);
      // The server escapes every name inside its drawings.
      $("forming").innerHTML = look.svg;
      Draw.curve($("curve"), looks, "probability", [0, 1]);
      Draw.curve($("edges"), looks, "edges");
      const phase = { walk: "walking", search: "searching", refine: "refining", settle: "settling" }[look.phase] || look.phase;
      say(`${name}: ${phase}, iteration ${look.iteration} of ${look.iterations}, probability ${look.probability[look.best].toFixed(3)}`);
    });
    const finish = () => {
      source.close();
      $("stop").disabled = true;
    };
    source.addEventListener("end", (event) => {
      const end = JSON.parse(event.data);
      finish();
      if (end.state === "failed") return say(`${name}: ${end.error}`, true);
      job.opened = end.opened || null;
      if (end.svg) $("forming").innerHTML = end.svg;
      say(`${name}: ${end.state}, ${end.reason}, probability ${end.probability}. ${end.notes.join(". ")}`);
      $("open").disabled = !job.opened;
      $("outcome").hidden = false;
    });
    source.addEventListener("error", () => {
      finish();
      say("the connection to the server is lost", true);
    });
  };
  $("start").addEventListener("submit", async (event) => {
    event.preventDefault();
    const form = new FormData($("start"));
    const number = (name) => Number(form.get(name));
    try {
      const begun = await (await ask("/api/jobs", { target: form.get("target"), restarts: number("restarts"), iterations: number("iterations"), seed: number("seed") })).json();
      if (job) job.source.close();
      say(`${begun.name}: starting`);
      follow(begun.id, begun.name);
    } catch (error) {
      say(error.message, true);
    }
  });
  $("stop").addEventListener("click", () => {
    $("stop").disabled = true;
    ask(`/api/jobs/${job.number}/stop`, {}).catch((error) => say(error.message, true));
  });
  $("open").addEventListener("click", () => open(job.opened.graph, job.opened.positions));
  $("keep").addEventListener("click", async () => {
    try {
      const { kept } = await (await ask(`/api/jobs/${job.number}/keep`, {})).json();
      $("kept").textContent = `kept as ${kept}`;
      addToLibrary({ ...job.opened, name: `${job.opened ? job.opened.name : "nothing"} (kept ${job.number})` });
    } catch (error) {
      say(error.message, true);
    }
  });

  // The beginning.
  const addToLibrary = (entry) => {
    if (!entry.graph) return;
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = entry.name;
    button.addEventListener("click", () => open(structuredClone(entry.graph), structuredClone(entry.positions)));
    $("library").append(button);
  };
  try {
    spec = await (await ask("/api/state")).json();
  } catch (error) {
    return tell(error.message, true);
  }
  $("model").textContent = spec.model;
  document.title = `Live: ${spec.model}`;
  document.querySelector('[data-export="smi"]').hidden = !spec.molecules;
  spec.classes.forEach((name) => $("start").elements.target.append(new Option(name, name)));
  spec.graphs.forEach(addToLibrary);
  choose("select");
  const fromLink = () => {
    if (!location.hash.startsWith("#g=")) return false;
    try {
      const { nodes, edges, positions } = decode(location.hash.slice(3));
      const places = positions.every((place) => Array.isArray(place) && place.length === 2 && place.every(Number.isFinite));
      const ends = edges.every(([i, j]) => i in nodes && j in nodes);
      const fits = nodes.every((entry) => entry.length === spec.nodes.length && spec.nodes.every((block, b) => block.kind !== "categorical" || entry[b] in block.names));
      if (!places || !ends || !fits || positions.length !== nodes.length) throw new Error();
      state = { nodes, edges, positions };
      return true;
    } catch {
      tell("The link holds no graph of this model.", true);
      return false;
    }
  };
  if (!fromLink() && spec.graphs.length) {
    state = { ...structuredClone(spec.graphs[0].graph), positions: structuredClone(spec.graphs[0].positions) };
  }
  draw();
  score();
  addEventListener("hashchange", () => {
    const before = JSON.stringify(state);
    if (fromLink() && JSON.stringify(state) !== before) {
      past.push(before);
      future = [];
      marks = { node: null, edge: null, from: null };
      settle();
    }
  });
})();
