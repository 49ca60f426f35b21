"use strict";
// Pan, zoom and drag on every drawing, the slider from soft to discrete, downloads, printing.
// The page is complete without this script; it only makes the page answer.
(() => {
  const number = (element, name) => Number(element.getAttribute(name));

  class Canvas {
    constructor(box) {
      this.box = box;
      this.svg = box.querySelector("svg.graph");
      this.stage = this.svg.querySelector(".stage");
      this.radius = Number(this.svg.dataset.radius);
      this.directed = this.svg.dataset.directed === "1";
      this.nodes = new Map();
      for (const element of this.stage.querySelectorAll(".node")) {
        const [x, y] = element.getAttribute("transform").match(/-?[\d.]+/g).map(Number);
        this.nodes.set(element.dataset.id, { element, x, y });
      }
      this.lines = [...this.stage.querySelectorAll("line")].map((element) => ({
        element,
        head: this.directed ? element.nextElementSibling : null,
        u: element.dataset.u,
        v: element.dataset.v,
      }));
      this.pairs = new Set(this.lines.map((line) => line.u + "\n" + line.v));
      this.pointers = new Map();
      this.picked = null;
      this.reset();
      this.listen();
    }

    reset() {
      this.view = { k: 1, x: 0, y: 0 };
      this.show();
    }

    show() {
      const { k, x, y } = this.view;
      this.stage.setAttribute("transform", `translate(${x} ${y}) scale(${k})`);
    }

    // A point of the screen in the units of the drawing.
    at(event) {
      const point = new DOMPoint(event.clientX, event.clientY);
      return point.matrixTransform(this.svg.getScreenCTM().inverse());
    }

    zoom(factor, centre) {
      const box = this.svg.viewBox.baseVal;
      const { x, y } = centre || { x: box.width / 2, y: box.height / 2 };
      const k = Math.min(8, Math.max(0.4, this.view.k * factor));
      const by = k / this.view.k;
      this.view = { k, x: x - (x - this.view.x) * by, y: y - (y - this.view.y) * by };
      this.show();
    }

    pan(dx, dy) {
      this.view.x += dx;
      this.view.y += dy;
      this.show();
    }

    moveNode(id, dx, dy) {
      const node = this.nodes.get(id);
      node.x += dx / this.view.k;
      node.y += dy / this.view.k;
      node.element.setAttribute("transform", `translate(${node.x.toFixed(1)} ${node.y.toFixed(1)})`);
      for (const line of this.lines) {
        if (line.u === id || line.v === id) this.stretch(line);
      }
    }

    // The same rule as the drawing itself: to the rim and aside where edges are directed.
    stretch({ element, head, u, v }) {
      const a = this.nodes.get(u);
      const b = this.nodes.get(v);
      const r = this.radius;
      let [x1, y1, x2, y2] = [a.x, a.y, b.x, b.y];
      if (this.directed) {
        const length = Math.max(Math.hypot(x2 - x1, y2 - y1), 1e-6);
        const [dx, dy] = [(x2 - x1) / length, (y2 - y1) / length];
        const aside = this.pairs.has(v + "\n" + u) ? 0.35 * r : 0;
        const short = 1.6 * r;
        [x1, y1] = [x1 - dy * aside, y1 + dx * aside];
        [x2, y2] = [x2 - dy * aside - dx * short, y2 + dx * aside - dy * short];
        const corner = (along, across) => `${x2 + r * (along * dx - across * dy)},${y2 + r * (along * dy + across * dx)}`;
        head.setAttribute("d", `M${corner(0.62, 0)}L${corner(0, 0.36)}L${corner(0, -0.36)}Z`);
      }
      Object.entries({ x1, y1, x2, y2 }).forEach(([name, value]) => element.setAttribute(name, value.toFixed(1)));
    }

    pick(step) {
      const ids = [...this.nodes.keys()].filter((id) => !this.nodes.get(id).element.classList.contains("off"));
      if (!ids.length) return;
      const next = (ids.indexOf(this.picked) + step + ids.length) % ids.length;
      this.mark(ids[next]);
    }

    mark(id) {
      for (const [key, { element }] of this.nodes) element.classList.toggle("picked", key === id);
      this.picked = id;
    }

    listen() {
      const svg = this.svg;
      svg.addEventListener("pointerdown", (event) => {
        if (event.button > 0) return;
        const node = event.target.closest(".node");
        this.pointers.set(event.pointerId, { node: node && node.dataset.id, point: this.at(event) });
        svg.setPointerCapture(event.pointerId);
        svg.classList.add("held");
      });
      svg.addEventListener("pointermove", (event) => {
        const held = this.pointers.get(event.pointerId);
        if (!held) return;
        const point = this.at(event);
        const [dx, dy] = [point.x - held.point.x, point.y - held.point.y];
        if (this.pointers.size === 2) this.pinch(event.pointerId, held.point, point);
        else if (held.node) this.moveNode(held.node, dx, dy);
        else this.pan(dx, dy);
        held.point = point;
      });
      const release = (event) => {
        this.pointers.delete(event.pointerId);
        if (!this.pointers.size) svg.classList.remove("held");
      };
      svg.addEventListener("pointerup", release);
      svg.addEventListener("pointercancel", release);
      svg.addEventListener("dblclick", () => this.reset());
      // The wheel scrolls the page, as everywhere, until the drawing has been clicked.
      svg.addEventListener("wheel", (event) => {
        if (!event.ctrlKey && !this.box.matches(":focus-within")) return;
        event.preventDefault();
        this.zoom(Math.exp(-event.deltaY / 400), this.at(event));
      }, { passive: false });
      this.box.addEventListener("keydown", (event) => this.key(event));
      this.box.addEventListener("focusout", () => this.mark(null));
      for (const button of this.box.querySelectorAll("[data-zoom]")) {
        const factor = Number(button.dataset.zoom);
        button.addEventListener("click", () => (factor ? this.zoom(factor) : this.reset()));
      }
    }

    pinch(id, before, after) {
      const [other] = [...this.pointers].filter(([key]) => key !== id).map(([, held]) => held.point);
      const apart = (p) => Math.max(Math.hypot(p.x - other.x, p.y - other.y), 1);
      this.zoom(apart(after) / apart(before), other);
    }

    key(event) {
      if (event.target !== this.box || event.ctrlKey || event.metaKey || event.altKey) return;
      const arrows = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
      const arrow = arrows[event.key];
      if (arrow && event.shiftKey && this.picked !== null) this.moveNode(this.picked, 10 * arrow[0], 10 * arrow[1]);
      else if (arrow) this.pan(-24 * arrow[0], -24 * arrow[1]);
      else if (event.key === "+" || event.key === "=") this.zoom(1.25);
      else if (event.key === "-") this.zoom(0.8);
      else if (event.key === "0") this.reset();
      else if (event.key === "n" || event.key === "N") this.pick(event.shiftKey ? -1 : 1);
      else return;
      event.preventDefault();
    }
  }

  const slide = (slider) => {
    const canvas = slider.closest(".softness").querySelector(".canvas");
    const output = slider.parentElement.querySelector("output");
    const stops = JSON.parse(slider.dataset.stops);
    const lines = [...canvas.querySelectorAll("line")];
    const show = () => {
      const { threshold, sentence } = stops[slider.value];
      const touched = new Map();
      for (const line of lines) {
        const p = number(line, "data-p");
        const kept = threshold === null || p >= threshold;
        const head = line.nextElementSibling;
        const parts = head && head.matches("path") ? [line, head] : [line];
        for (const part of parts) {
          part.classList.toggle("off", !kept);
          part.style.opacity = threshold === null ? Math.max(p, 0.06) : "";
        }
        if (kept) {
          for (const id of [line.dataset.u, line.dataset.v]) touched.set(id, Math.max(p, touched.get(id) || 0));
        }
      }
      for (const node of canvas.querySelectorAll(".node")) {
        node.classList.toggle("off", !touched.has(node.dataset.id));
        node.style.opacity = threshold === null ? Math.max(touched.get(node.dataset.id) || 0, 0.15) : "";
      }
      output.textContent = sentence;
      slider.setAttribute("aria-valuetext", sentence);
    };
    slider.addEventListener("input", show);
    show();
  };

  const payloadOf = (card) => JSON.parse(card.querySelector(".payload").textContent);
  const asSvg = (card) => {
    const copy = card.querySelector(".canvas svg.graph").cloneNode(true);
    const { width, height } = copy.viewBox.baseVal;
    const { group, height: room } = payloadOf(card).legend;
    copy.setAttribute("viewBox", `0 0 ${width} ${height + room}`);
    copy.setAttribute("height", height + room);
    copy.insertAdjacentHTML("afterbegin", `<rect width="${width}" height="${height + room}" fill="#fff"/>`);
    copy.insertAdjacentHTML("beforeend", group);
    return new XMLSerializer().serializeToString(copy);
  };
  const download = (card, kind) => {
    const payload = payloadOf(card);
    const name = (payload.name.replace(/[^\w-]+/g, "_").replace(/^_+|_+$/g, "") || "graph") + "." + kind;
    const { save, asText, image } = Files;
    if (kind === "svg") save(name, asText("image/svg+xml", asSvg(card)));
    else if (kind === "png") image(asSvg(card)).then((address) => save(name, address));
    else if (kind === "json") save(name, asText("application/json", JSON.stringify(payload.json, null, 1)));
    else save(name, asText(kind === "graphml" ? "application/xml" : "text/plain", payload[kind]));
  };

  document.documentElement.classList.add("live");
  document.querySelectorAll(".canvas").forEach((box) => new Canvas(box));
  document.querySelectorAll("input[data-stops]").forEach(slide);
  for (const button of document.querySelectorAll("[data-download]")) {
    button.addEventListener("click", () => download(button.closest(".card"), button.dataset.download));
  }
  let closed = [];
  addEventListener("beforeprint", () => {
    closed = [...document.querySelectorAll("details:not([open])")];
    closed.forEach((details) => (details.open = true));
  });
  addEventListener("afterprint", () => closed.forEach((details) => (details.open = false)));
})();
