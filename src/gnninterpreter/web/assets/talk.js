"use strict";
// Talking to the server, and handing files to whoever sits in front of the page.
const Talk = (() => {
  // Every refusal of the server is one sentence; it becomes the error's message.
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
  const json = async (...request) => (await ask(...request)).json();
  const text = async (...request) => (await ask(...request)).text();

  const save = (name, address) => {
    const link = document.createElement("a");
    Object.assign(link, { download: name, href: address });
    document.body.append(link);
    link.click();
    link.remove();
  };

  // A drawing in twice its size, on white.
  const image = (svg) =>
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
      drawn.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(svg);
    });

  // A graph as text that fits into a link, and back.
  const encode = (values) => {
    const bytes = new TextEncoder().encode(JSON.stringify(values));
    return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join("")).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
  };
  const decode = (code) => {
    const bytes = Uint8Array.from(atob(code.replace(/-/g, "+").replace(/_/g, "/")), (c) => c.charCodeAt(0));
    return JSON.parse(new TextDecoder().decode(bytes));
  };

  return { json, text, save, image, encode, decode };
})();
