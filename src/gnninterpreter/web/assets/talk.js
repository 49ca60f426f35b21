"use strict";
// Talking to the server, and what every other script of the page makes use of.
const $ = (id) => document.getElementById(id);
const make = (tag, kind, text = "") => Object.assign(document.createElement(tag), { className: kind, textContent: text });
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

  // An action, of which whatever goes wrong is told.
  const trying = (tell, action) => async (...given) => {
    try {
      await action(...given);
    } catch (error) {
      tell(error.message, true);
    }
  };

  // A graph as text that fits into a link, and back.
  const encode = (values) => {
    const bytes = new TextEncoder().encode(JSON.stringify(values));
    return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join("")).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
  };
  const decode = (code) => {
    const bytes = Uint8Array.from(atob(code.replace(/-/g, "+").replace(/_/g, "/")), (c) => c.charCodeAt(0));
    return JSON.parse(new TextDecoder().decode(bytes));
  };

  return { json, text, trying, encode, decode };
})();
