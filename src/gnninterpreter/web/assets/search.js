"use strict";
// Explaining a class while somebody watches: start, follow, stop, open, keep.
const Search = ({ open, kept }) => {
  const $ = (id) => document.getElementById(id);
  const PHASES = { walk: "walking", search: "searching", refine: "refining", persist: "persisting", settle: "settling" };
  let job = null;

  const say = (text, bad = false) => {
    $("progress").textContent = text;
    $("progress").classList.toggle("bad", bad);
  };
  const ended = () => {
    job.source.close();
    $("stop").disabled = true;
    const gone = document.querySelector(`#running [data-job="${job.number}"]`);
    if (gone) gone.remove();
  };

  const onLook = (looks, look) => {
    looks.push(look);
    // The server escapes every name inside its drawings.
    if (look.svg) $("forming").innerHTML = look.svg;
    Charts.curve($("curve"), looks, "probability", [0, 1]);
    Charts.curve($("edges"), looks, "edges");
    const doing = job.stopping ? "stopping…" : PHASES[look.phase] || look.phase;
    const probability = look.probability[look.best];
    const given = probability === null ? "" : `, probability ${probability.toFixed(3)}`;
    say(`${job.name}: ${doing}, step ${look.iteration} of ${look.iterations}${given}`);
  };
  const onStopping = () => {
    job.stopping = true;
    $("stop").disabled = true;
    say(`${job.name}: stopping…`);
  };
  const onEnd = (end) => {
    ended();
    if (end.state === "failed") return say(`${job.name}: ${end.error}`, true);
    job.opened = end.opened || null;
    if (end.svg) $("forming").innerHTML = end.svg;
    say(`${job.name}: ${end.verdict.word}; ${end.state}, ${end.reason}, probability ${end.probability}. ${[...end.verdict.reasons, ...end.notes].join(" ")}`);
    $("open").disabled = !job.opened;
    $("keep").disabled = false;
    return ($("outcome").hidden = false);
  };

  const follow = (number, name) => {
    if (job) job.source.close();
    const looks = [];
    const source = new EventSource(`/api/jobs/${encodeURIComponent(number)}/events`);
    const mine = (job = { number, name, source, opened: null, stopping: false });
    const hear = (kind, react) => source.addEventListener(kind, (event) => mine === job && react(event));
    $("watch").hidden = false;
    $("outcome").hidden = true;
    $("kept").textContent = "";
    $("forming").replaceChildren();
    for (const chart of [$("curve"), $("edges")]) chart.replaceChildren();
    $("stop").disabled = false;
    say(`${name}: starting`);
    hear("look", (event) => onLook(looks, JSON.parse(event.data)));
    hear("stopping", onStopping);
    hear("end", (event) => onEnd(JSON.parse(event.data)));
    hear("error", () => {
      ended();
      say("the connection to the server is lost; is it still running?", true);
    });
  };

  // Searches that another tab has started, or this one before it was loaded again.
  const offer = ({ id, name }) => {
    const button = document.createElement("button");
    Object.assign(button, { type: "button", textContent: `Watch ${name}, which is running` });
    button.dataset.job = id;
    button.addEventListener("click", () => follow(id, name));
    $("running").append(button);
  };

  $("start").addEventListener("submit", async (event) => {
    event.preventDefault();
    const form = new FormData($("start"));
    const number = (name) => Number(form.get(name));
    try {
      const begun = await Talk.json("/api/jobs", { target: form.get("target"), restarts: number("restarts"), iterations: number("iterations"), seed: number("seed") });
      follow(begun.id, begun.name);
    } catch (error) {
      say(error.message, true);
    }
  });
  $("stop").addEventListener("click", async () => {
    onStopping();
    try {
      await Talk.json(`/api/jobs/${job.number}/stop`, {});
    } catch (error) {
      say(error.message, true);
    }
  });
  $("open").addEventListener("click", () => open(job.opened.graph, job.opened.positions));
  $("keep").addEventListener("click", async () => {
    $("keep").disabled = true;
    try {
      const { kept: name } = await Talk.json(`/api/jobs/${job.number}/keep`, {});
      $("kept").textContent = `kept as ${name}`;
      if (job.opened) kept({ ...job.opened, kept: name });
    } catch (error) {
      $("keep").disabled = false;
      say(error.message, true);
    }
  });

  return { offer };
};
