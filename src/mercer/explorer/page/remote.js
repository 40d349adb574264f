// A live page asks the server that it came from.
"use strict";

function remoteAsk(base) {
  async function ask(name, parts) {
    let response;
    try {
      response = await fetch(`${base}ask/${name}`, { method: "POST",
        headers: { "content-type": "application/json" }, body: JSON.stringify(parts) });
    } catch {
      throw new Error("The explorer does not answer any more: it was ended in the terminal.");
    }
    const found = await response.json();
    if (!response.ok || found.refused) throw new Error(found.refused || found.error);
    return found;
  }
  ask.knows = () => true;
  return ask;
}
