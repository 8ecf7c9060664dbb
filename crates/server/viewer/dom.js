// Builds elements. Text only ever becomes text: there is no way in here to turn a string into markup.

const SVG = "http://www.w3.org/2000/svg";

/** An HTML element. `on*` properties listen, `data` and `style` are objects, the rest are attributes. */
export function h(tag, props, ...children) {
  return built(document.createElement(tag), props, children);
}

/** The same for the elements of a drawing. */
export function svg(tag, props, ...children) {
  return built(document.createElementNS(SVG, tag), props, children);
}

/** Puts these children in the place of all that were there. */
export function fill(node, ...children) {
  node.replaceChildren(...flat(children));
  return node;
}

/** Resolves when the frame of what was shown last is drawn: work that nobody sees begins then. A hidden page draws none. */
export function drawn() {
  return new Promise((done) => {
    requestAnimationFrame(() => setTimeout(done));
    setTimeout(done, 500);
  });
}

function built(node, props, children) {
  for (const [name, value] of Object.entries(props ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "data") Object.assign(node.dataset, value);
    // By the object model: the policy of the page forbids the attribute.
    else if (name === "style") for (const [key, text] of Object.entries(value)) node.style.setProperty(key, text);
    else if (name === "value") node.value = value;
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...flat(children));
  return node;
}

function flat(children) {
  return children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false);
}
