"use strict";
// The live page: what the model says, the graphs to begin with, and taking things away.
(async () => {
  const tell = (text, bad = false) => {
    $("hint").textContent = text;
    $("hint").classList.toggle("bad", bad);
  };
  let spec;
  try {
    spec = await Talk.json("/api/state");
  } catch (error) {
    return tell(error.message, true);
  }

  // What the model says. The rows are made once; an answer only changes them.
  const rows = spec.classes.map((name) => {
    const row = make("li", "");
    const track = make("span", "track");
    const fill = make("span", "");
    const [number, alike] = [make("span", "number"), make("span", "alike")];
    const label = make("span", "name", name);
    label.title = name;
    track.append(fill);
    row.append(label, track, number, alike);
    return { row, fill, number, alike };
  });
  const head = make("li", "head");
  head.append(make("span", ""), make("span", ""), make("span", "number", "output"), make("span", "alike", spec.similarity ? "alike" : ""));
  $("bars").append(head, ...rows.map(({ row }) => row));
  // What a model says of a graph: its class, every label that is more likely than not, or a value.
  const chosen = ({ values, task }) => {
    if (!values || task === "regression") return [];
    return task === "multilabel" ? d3.range(values.length).filter((c) => values[c] > 0.5) : [values.indexOf(Math.max(...values))];
  };
  const words = (answer) => {
    if (!answer.values) return "A graph needs at least one edge.";
    if (answer.words) return answer.words.join("; ");
    const said = chosen(answer);
    return said.map((c) => `${spec.classes[c]}, with ${answer.values[c].toFixed(3)}`).join("; ") || "none of the labels";
  };
  const show = (answer) => {
    const { values, shares, figures, similarities, nodes, edges, ignored, milliseconds } = answer;
    $("answer").className = "verdict";
    $("answer").textContent = words(answer);
    rows.forEach(({ row, fill, number, alike }, c) => {
      row.className = chosen(answer).includes(c) ? "target" : "";
      // A value fills as much of its bar as there are real graphs below it.
      fill.style.width = `${values ? 100 * (shares || values)[c] : 0}%`;
      number.textContent = figures ? figures[c] : values ? values[c].toFixed(3) : "";
      alike.textContent = similarities && c in similarities ? similarities[c].toFixed(2) : "";
    });
    const aside = ignored ? `; ${ignored} without an edge do not count` : "";
    $("figures").textContent = `${nodes} nodes, ${edges} edges${aside}. Answered in ${milliseconds} ms.`;
  };
  const refuse = (message) => {
    show({ values: null, similarities: null, nodes: 0, edges: 0 });
    $("answer").textContent = message;
    $("answer").className = "verdict bad";
    $("figures").textContent = "";
  };
  // Said beside the answer, too, which is what stays in sight on a phone.
  const seen = (beside) => {
    inspector.show(beside);
    if (!beside.molecule || beside.molecule.valid) return;
    $("answer").textContent += "; no valid molecule";
    $("answer").classList.add("caution");
  };
  // Only the last question counts: an answer that was overtaken is dropped. The bars do not wait
  // for the rule of the data set, which may take its time.
  let asking = null;
  const score = async () => {
    if (asking) asking.abort();
    const mine = (asking = new AbortController());
    try {
      const answer = await Talk.json("/api/score", editor.graph(), mine.signal);
      show(answer);
      if (!answer.values) inspector.nothing();
      else Talk.json("/api/look", editor.graph(), mine.signal).then(seen).catch(() => {});
      if (!spec.rule || !answer.values) return;
      const { truth } = await Talk.json("/api/truth", editor.graph(), mine.signal);
      if (!truth) return;
      $("answer").textContent += `; by rule ${truth}`;
      $("answer").classList.toggle("caution", !chosen(answer).some((c) => spec.classes[c] === truth));
    } catch (error) {
      if (error.name === "AbortError") return;
      refuse(error.message);
      inspector.nothing();
    }
  };
  const editor = Editor(spec, { changed: score, tell });
  const inspector = Inspector(spec, { open: editor.open, tell });

  // Graphs to open: those of the run, and those that were saved.
  const addTo = (box, name, { graph, positions, score }) => {
    const button = make("button", "", name);
    Object.assign(button, { type: "button", title: `the model says ${score}` });
    button.addEventListener("click", () => editor.open(graph, positions));
    $(box).append(button);
  };
  const addSaved = (entry) => {
    $("saved-name").hidden = false;
    addTo("saved-library", `${entry.name} (${entry.saved.replace("saved/", "")})`, entry);
  };
  const search = Search({ open: editor.open, saved: addSaved });
  $("model").textContent = spec.model;
  $("legend").innerHTML = spec.legend; // The server escapes every name in it.
  document.title = `Live: ${spec.model}`;
  document.querySelector('[data-export="smi"]').hidden = !spec.molecules;
  spec.targets.forEach((name) => $("start").elements.target.append(new Option(name, name)));
  spec.graphs.forEach((entry) => addTo("library", entry.name, entry));
  spec.saved.forEach(addSaved);
  spec.running.forEach(search.offer);

  // Taking away.
  const trying = (action) => Talk.trying(tell, action);
  const take = async (form) => {
    const [path, graph] = form === "svg" || form === "png" ? ["svg", editor.arranged()] : [form, editor.graph()];
    const text = await Talk.text(`/api/export/${path}`, graph);
    Files.save(`graph.${form}`, form === "png" ? await Files.image(text) : Files.asText("text/plain", text));
  };
  for (const button of document.querySelectorAll("[data-export]")) button.addEventListener("click", trying(() => take(button.dataset.export)));
  $("tidy").addEventListener("click", trying(async () => {
    editor.place((await Talk.json("/api/layout", editor.graph())).positions);
    editor.fit();
  }));
  $("share").addEventListener("click", async () => {
    editor.remember();
    try {
      await navigator.clipboard.writeText(location.href);
      tell("The link is on the clipboard; it holds the whole graph.");
    } catch {
      tell("The address of this page holds the whole graph; copy it from there.");
    }
  });
  $("import").addEventListener("change", trying(async () => {
    const [file] = $("import").files;
    const text = await file.text();
    $("import").value = "";
    let values;
    try {
      values = JSON.parse(text);
    } catch {
      throw new Error(`${file.name} is no JSON`);
    }
    const { graph, positions } = await Talk.json("/api/layout", values);
    editor.open(graph, positions);
    tell(`${file.name} is open.`);
  }));
  editor.begin(spec.graphs[0]);
})();
