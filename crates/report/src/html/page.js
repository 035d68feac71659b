(() => {
  "use strict";
  const root = document.documentElement;
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  root.classList.add("js");

  // Light or dark: follows the system setting until the reader chooses.
  const theme = document.getElementById("theme");
  const isDark = () => (root.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  theme.addEventListener("click", () => { root.dataset.theme = isDark() ? "light" : "dark"; });

  // Shows one view at a time: each list hides the views that do not match its selection.
  const picks = all("select[data-by]");
  const differs = (view, pick) => {
    const value = view.dataset[pick.dataset.by];
    return value !== undefined && pick.value !== "all" && pick.value !== value;
  };
  const show = () => all(".view").forEach((view) => { view.hidden = picks.some((pick) => differs(view, pick)); });
  picks.forEach((pick) => pick.addEventListener("change", show));
  show();

  // Turns table headers into buttons that sort.
  const sort = (table, head, at) => {
    const down = head.getAttribute("aria-sort") === "ascending";
    const numbers = head.dataset.sort === "numbers";
    const key = (row) => {
      const field = row.cells[at];
      return numbers ? parseFloat(field.dataset.value) : field.textContent;
    };
    const compare = (x, y) => {
      if (!numbers) return x.localeCompare(y, undefined, { numeric: true });
      // Rows without a number come last in either direction.
      if (Number.isNaN(x) || Number.isNaN(y)) return (Number.isNaN(x) - Number.isNaN(y)) * (down ? -1 : 1);
      return x - y;
    };
    const rows = [...table.tBodies[0].rows].map((row) => [key(row), row]);
    rows.sort((x, y) => (down ? -1 : 1) * compare(x[0], y[0]));
    table.tBodies[0].append(...rows.map((pair) => pair[1]));
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
  };
  for (const table of all("table.sortable")) {
    [...table.tHead.rows[0].cells].forEach((head, at) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      button.addEventListener("click", () => sort(table, head, at));
      head.append(button);
    });
  }

  // Heat maps show the number under the pointer, or under a cursor moved with the arrow keys.
  const tip = document.getElementById("tip");
  const floats = (text) => {
    const letters = atob(text);
    const bytes = Uint8Array.from(letters, (letter) => letter.charCodeAt(0));
    const view = new DataView(bytes.buffer);
    return Float32Array.from({ length: bytes.length / 4 }, (_, at) => view.getFloat32(at * 4, true));
  };
  const shown = (value) => String(Number(value.toPrecision(4))).replace("-", "−");
  const heatMaps = all("figure.heat").flatMap((figure) => {
    const data = JSON.parse(figure.querySelector("script").textContent);
    return all(".scroll", figure).map((frame) => [frame, data]);
  });
  for (const [frame, data] of heatMaps) {
    const svg = frame.querySelector("svg");
    const [left, top, wide, high] = ["left", "top", "wide", "high"].map((name) => parseFloat(svg.dataset[name]));
    let at = null;
    const cursors = ["cursor under", "cursor"].map((name) => {
      const rect = document.createElementNS("http://www.w3.org/2000/svg", "rect");
      rect.setAttribute("class", name);
      rect.setAttribute("visibility", "hidden");
      rect.setAttribute("width", Math.max(wide, 3));
      rect.setAttribute("height", Math.max(high, 3));
      svg.append(rect);
      return rect;
    });
    const words = (row, column) => {
      const values = (data.numbers ??= floats(data.values));
      const beside = (data.numbersBeside ??= data.beside ? floats(data.beside) : []);
      const place = row * data.b.length + column;
      const value = values[place];
      let text = "not compared";
      if (value === Infinity) text = `${data.name} undefined`;
      else if (!Number.isNaN(value)) {
        if (data.bits) text = data.bits[value];
        else if (data.percent) text = `${Math.round(value * 100)} % ${data.name}`;
        else text = `${data.name} ${shown(value)}`;
        if (data.unit) text += ` ${data.unit}`;
        if (beside.length) text += `, ${data.beside_name} ${shown(beside[place])}`;
      }
      return `${data.sides[0]}: ${data.a[row]}\n${data.sides[1]}: ${data.b[column]}\n${text}`;
    };
    const show = (row, column, x, y) => {
      at = [row, column];
      tip.textContent = words(row, column);
      tip.hidden = false;
      const right = Math.min(x + 16, innerWidth - tip.offsetWidth - 8);
      const below = y + 20 + tip.offsetHeight < innerHeight ? y + 20 : y - 12 - tip.offsetHeight;
      tip.style.transform = `translate(${Math.max(right, 8)}px, ${Math.max(below, 8)}px)`;
      for (const cursor of cursors) {
        cursor.setAttribute("x", left + column * wide);
        cursor.setAttribute("y", top + row * high);
        cursor.setAttribute("visibility", "visible");
      }
    };
    const hide = () => {
      tip.hidden = true;
      for (const cursor of cursors) cursor.setAttribute("visibility", "hidden");
    };
    const follow = (event) => {
      const place = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
      const column = Math.floor((place.x - left) / wide);
      const row = Math.floor((place.y - top) / high);
      if (row < 0 || column < 0 || row >= data.a.length || column >= data.b.length) return hide();
      show(row, column, event.clientX, event.clientY);
    };
    svg.addEventListener("pointermove", follow);
    svg.addEventListener("pointerdown", follow);
    svg.addEventListener("pointerleave", hide);
    frame.setAttribute("role", "application");
    frame.setAttribute("aria-label", "Heat map: the arrow keys go from tile to tile");
    frame.addEventListener("blur", hide);
    frame.addEventListener("keydown", (event) => {
      const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
      if (event.key === "Escape") return hide();
      if (!step || event.altKey || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      const clamp = (value, end) => Math.min(Math.max(value, 0), end - 1);
      const row = at ? clamp(at[0] + step[0], data.a.length) : 0;
      const column = at ? clamp(at[1] + step[1], data.b.length) : 0;
      const place = new DOMPoint(left + (column + 0.5) * wide, top + (row + 0.5) * high).matrixTransform(svg.getScreenCTM());
      show(row, column, place.x, place.y);
    });
  }
})();
