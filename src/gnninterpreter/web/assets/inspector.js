"use strict";
// What stands beside the graph: SMILES in, real graphs to open, validity, cores and neighbours.
const Inspector = (spec, { open, tell }) => {
  const fetched = Talk.trying(tell, async (path, values, told) => {
    const { graph, positions } = await Talk.json(path, values);
    open(graph, positions);
    tell(told);
  });
  const real = (number) => fetched(`/api/real/${number}`, undefined, `Real graph ${number} is open.`);

  $("paste").hidden = !spec.molecules;
  $("paste").addEventListener("submit", (event) => {
    event.preventDefault();
    const smiles = $("smiles").value.trim();
    if (smiles) fetched("/api/smiles", { smiles }, `${smiles} is open.`);
  });
  $("real").hidden = !spec.real;
  $("real-number").max = spec.real - 1;
  $("real-count").textContent = `of ${spec.real}`;
  $("real").addEventListener("submit", (event) => {
    event.preventDefault();
    real(Number($("real-number").value));
  });

  const chemistry = (molecule) => {
    $("chemistry").hidden = !molecule;
    if (!molecule) return;
    $("valid").className = molecule.valid ? "badge good" : "badge bad";
    $("valid").textContent = molecule.valid ? "Valid" : "Not valid";
    $("why").textContent = molecule.valid ? molecule.note : molecule.reason;
    $("written").textContent = molecule.smiles;
    $("formula").innerHTML = molecule.drawing;
  };
  const cores = ({ cores, asked }) => {
    $("cores").hidden = !asked;
    const names = [...new Set(cores.map(({ name }) => name))];
    const listed = names.join(", ").replace(/, (?=[^,]*$)/, " and ");
    $("cores").textContent = names.length ? `Holds the core of ${listed}.` : "Holds none of the cores.";
  };
  const nearest = (found) => {
    $("near-name").hidden = !found.length;
    $("near").replaceChildren(
      ...found.map(({ number, alike, label, svg }) => {
        const button = make("button", "tile");
        Object.assign(button, { type: "button", title: `Open real graph ${number}`, innerHTML: svg });
        button.append(make("span", "meaning", `${label ? `${label} · ` : ""}alike ${alike.toFixed(2)}`));
        button.addEventListener("click", () => real(number));
        return button;
      })
    );
  };
  const show = (answer) => {
    chemistry(answer.molecule);
    cores(answer);
    nearest(answer.nearest);
  };
  const nothing = () => show({ molecule: null, cores: [], asked: 0, nearest: [] });
  return { show, nothing };
};
