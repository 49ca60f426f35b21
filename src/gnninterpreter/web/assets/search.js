"use strict";
// Explaining a target while somebody watches: start, follow, stop, open, save.
const Search = ({ open, saved }) => {
  let search = null;

  const say = (text, bad = false) => {
    $("progress").textContent = text;
    $("progress").classList.toggle("bad", bad);
  };
  const ended = () => {
    search.source.close();
    $("stop").disabled = true;
    const gone = document.querySelector(`#running [data-search="${search.number}"]`);
    if (gone) gone.remove();
  };

  const onSnapshot = (snapshots, snapshot) => {
    snapshots.push(snapshot);
    // The server escapes every name inside its drawings.
    if (snapshot.svg) $("forming").innerHTML = snapshot.svg;
    Charts.curve($("curve"), snapshots, "score", [0, 1]);
    Charts.curve($("edges"), snapshots, "edges");
    const doing = search.stopping ? "stopping…" : snapshot.phase;
    const score = snapshot.score[snapshot.best];
    const given = score === null ? "" : `, score ${score.toFixed(3)}`;
    say(`${search.name}: ${doing}, step ${snapshot.iteration} of ${snapshot.iterations}${given}`);
  };
  const onStopping = () => {
    search.stopping = true;
    $("stop").disabled = true;
    say(`${search.name}: stopping…`);
  };
  const onEnd = (end) => {
    ended();
    if (!end.reason) return say(`${search.name}: ${end.error || end.state}`, true);
    search.opened = end.opened || null;
    if (end.svg) $("forming").innerHTML = end.svg;
    const ending = end.reason === end.state ? end.state : `${end.state}, ${end.reason}`;
    say(`${search.name}: ${ending}; ${end.verdict.word}; ${end.score}. ${[...end.verdict.reasons, ...end.notes].join(" ")}`);
    $("open").disabled = !search.opened;
    $("save").disabled = false;
    return ($("outcome").hidden = false);
  };

  const follow = (number, name) => {
    if (search) search.source.close();
    const snapshots = [];
    const source = new EventSource(`/api/searches/${encodeURIComponent(number)}/events`);
    const mine = (search = { number, name, source, opened: null, stopping: false });
    const hear = (kind, react) => source.addEventListener(kind, (event) => mine === search && react(event));
    $("watch").hidden = false;
    $("outcome").hidden = true;
    $("saved").textContent = "";
    $("forming").replaceChildren();
    for (const chart of [$("curve"), $("edges")]) chart.replaceChildren();
    $("stop").disabled = false;
    say(`${name}: starting`);
    hear("snapshot", (event) => onSnapshot(snapshots, JSON.parse(event.data)));
    hear("stopping", onStopping);
    hear("end", (event) => onEnd(JSON.parse(event.data)));
    hear("error", () => {
      ended();
      say("the connection to the server is lost; is it still running?", true);
    });
  };

  // Searches that another tab has started, or this one before it was loaded again.
  const offer = ({ id, name }) => {
    const button = Object.assign(make("button", "", `Watch ${name}, which is running`), { type: "button" });
    button.dataset.search = id;
    button.addEventListener("click", () => follow(id, name));
    $("running").append(button);
  };

  $("start").addEventListener("submit", Talk.trying(say, async (event) => {
    event.preventDefault();
    const form = new FormData($("start"));
    const number = (name) => Number(form.get(name));
    const begun = await Talk.json("/api/searches", { target: form.get("target"), restarts: number("restarts"), iterations: number("iterations"), seed: number("seed") });
    follow(begun.id, begun.name);
  }));
  $("stop").addEventListener("click", Talk.trying(say, async () => {
    onStopping();
    await Talk.json(`/api/searches/${search.number}/stop`, {});
  }));
  $("open").addEventListener("click", () => open(search.opened.graph, search.opened.positions));
  $("save").addEventListener("click", async () => {
    $("save").disabled = true;
    try {
      const { saved: name } = await Talk.json(`/api/searches/${search.number}/save`, {});
      $("saved").textContent = `saved as ${name}`;
      if (search.opened) saved({ ...search.opened, saved: name });
    } catch (error) {
      $("save").disabled = false;
      say(error.message, true);
    }
  });

  return { offer };
};
