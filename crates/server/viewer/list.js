// A list as long as it likes: only the rows that can be seen are elements. Rows are all of one height, said by the style.

import { drawn, h } from "./dom.js";

const SPARE = 8;

/**
 * `row(item, index)` makes the element of one item; `more()` is called when the end comes near.
 * The list itself scrolls, takes the focus, and moves its chosen row by `move`.
 */
export class VirtualList {
  constructor({ label, row, open, more }) {
    Object.assign(this, { row, open, more, items: [], chosen: -1, shown: new Map() });
    this.space = h("div", { class: "rows", role: "presentation" });
    this.node = h(
      "div",
      { class: "list", role: "listbox", tabindex: "0", "aria-label": label, onscroll: () => this.paint() },
      this.space,
    );
    this.node.addEventListener("keydown", (event) => this.pressed(event));
    this.node.addEventListener("click", (event) => this.clicked(event));
    // Rows that are there stay, unless another width gives them another height.
    new ResizeObserver(() => this.paint(this.height() !== this.tall)).observe(this.node);
  }

  /** Shows these items, and keeps the place unless `fresh`. */
  set(items, { fresh = false } = {}) {
    const was = this.items[this.chosen]?.id;
    this.items = items;
    this.chosen = fresh ? -1 : items.findIndex((item) => item.id === was);
    if (fresh) this.node.scrollTop = 0;
    this.paint(true);
  }

  add(items) {
    this.items = this.items.concat(items);
    this.paint();
  }

  /** Chooses the row so many below the chosen one. */
  move(by) {
    this.choose(Math.min(Math.max(this.chosen + by, 0), this.items.length - 1));
  }

  choose(index) {
    if (index < 0 || index >= this.items.length) return;
    this.chosen = index;
    const [top, height] = [index * this.height(), this.node.clientHeight];
    if (top < this.node.scrollTop) this.node.scrollTop = top;
    if (top + this.height() > this.node.scrollTop + height) this.node.scrollTop = top + this.height() - height;
    this.paint(true);
  }

  get item() {
    return this.items[this.chosen];
  }

  height() {
    return parseFloat(getComputedStyle(this.node).getPropertyValue("--row")) || 56;
  }

  paint(anew = false) {
    const height = (this.tall = this.height());
    // The first frame has the rows that are seen, and no others; a list that is hidden has them all.
    const spare = this.isDrawn || !this.node.clientHeight ? SPARE : 0;
    const first = Math.max(0, Math.floor(this.node.scrollTop / height) - spare);
    const last = Math.min(
      this.items.length,
      Math.ceil((this.node.scrollTop + this.node.clientHeight) / height) + spare,
    );
    this.space.style.setProperty("height", `${this.items.length * height}px`);
    for (const [index, node] of this.shown) if (anew || index < first || index >= last) this.drop(index, node);
    for (let index = first; index < last; index++) if (!this.shown.has(index)) this.place(index, height);
    if (this.chosen < 0) this.node.removeAttribute("aria-activedescendant");
    else this.node.setAttribute("aria-activedescendant", `row-${this.chosen}`);
    if (this.more && last >= this.items.length - SPARE) this.more();
  }

  place(index, height) {
    const node = this.row(this.items[index], index);
    node.setAttribute("role", "option");
    node.id = `row-${index}`;
    node.dataset.index = index;
    node.setAttribute("aria-selected", index === this.chosen);
    node.setAttribute("aria-posinset", index + 1);
    node.setAttribute("aria-setsize", this.items.length);
    node.style.setProperty("top", `${index * height}px`);
    this.first ??= measured(() => ((this.isDrawn = true), this.paint()));
    this.shown.set(index, node);
    this.space.append(node);
  }

  drop(index, node) {
    node.remove();
    this.shown.delete(index);
  }

  pressed(event) {
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10 };
    const edge = { Home: 0, End: this.items.length - 1 };
    if (event.key in steps) this.move(steps[event.key]);
    else if (event.key in edge) this.choose(edge[event.key]);
    else if (event.key === "Enter" && this.item) this.open(this.item);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  clicked(event) {
    const node = event.target.closest("[data-index]");
    if (!node) return;
    this.choose(Number(node.dataset.index));
    this.open(this.item);
  }
}

/** For who measures how long a list takes: when its rows are in the page, and when the frame that shows them is drawn. */
function measured(then) {
  drawn().then(() => {
    performance.mark("rows-drawn");
    then();
  });
  return performance.mark("rows");
}
