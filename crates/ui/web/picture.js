// The picture of scanpaths. The points are on one canvas and are drawn in slices, a few milliseconds per frame. Grid and areas are on
// another canvas above it, so that moving a slider or a corner redraws a few lines and never the points.

const SLICE_MS = 3;
const COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8a6d00", "#7b4fa3"];

/** Draws many points without lines directly into the pixels: a canvas call for each would take much longer. */
class Cloud {
  constructor(context, points) {
    this.context = context;
    this.points = points;
    this.width = context.canvas.width;
    this.height = context.canvas.height;
    this.image = context.getImageData(0, 0, this.width, this.height);
  }

  add(from, to, colour) {
    const { points, width, height } = this;
    const pixels = this.image.data;
    const parts = [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16) * 0.25);
    for (let at = from; at < to; at += 1) {
      const left = Math.round(points[3 * at] * width) - 1;
      const top = Math.round(points[3 * at + 1] * height) - 1;
      if (left < 0 || top < 0 || left + 1 >= width || top + 1 >= height) continue;
      for (let corner = 0; corner < 4; corner += 1) {
        const pixel = 4 * ((top + (corner >> 1)) * width + left + (corner & 1));
        for (let part = 0; part < 3; part += 1) pixels[pixel + part] = pixels[pixel + part] * 0.75 + parts[part];
      }
    }
  }

  show() {
    this.context.putImageData(this.image, 0, 0);
  }
}

export class Picture {
  constructor(root, tools) {
    this.tools = tools;
    const { h } = tools;
    this.points = null;
    this.grid = "7x7";
    this.areas = [];
    this.tool = "rectangle";
    this.drawing = null;
    this.image = null;
    this.key = "";
    this.task = 0;
    this.stimulus = h("select", { id: "picture-stimulus", change: () => this.choose() });
    this.person = h("select", { id: "picture-person", change: () => this.redraw() });
    this.base = h("canvas", { "aria-hidden": "true" });
    this.over = h("canvas");
    this.frame = h("div", { class: "canvas" }, this.base, this.over);
    this.room = h("div", null, this.frame);
    this.caption = h("p", { class: "note", id: "picture-caption" });
    this.tools_row = h("div", { class: "row" });
    this.list = h("ul", { class: "plain areas" });
    root.append(h("h2", null, "Picture"), h("div", { class: "row" }, h("span", { class: "together" }, h("label", { for: "picture-stimulus" }, "Stimulus"), this.stimulus), h("span", { class: "together" }, h("label", { for: "picture-person" }, "Participant"), this.person)), this.tools_row, this.room, this.caption, this.list);
    this.over.addEventListener("pointerdown", (event) => this.down(event));
    this.over.addEventListener("pointermove", (event) => this.move(event));
    this.over.addEventListener("pointerup", (event) => this.up(event));
    this.over.addEventListener("pointercancel", () => this.abandon());
    this.over.addEventListener("dblclick", () => this.close());
    this.over.addEventListener("keydown", (event) => this.keyed(event));
    new ResizeObserver(() => this.redraw()).observe(this.room);
  }

  /** Shows the state of the program. Areas are drawn only where letters are chosen. */
  update(now, canDraw) {
    const { h } = this.tools;
    this.now = now;
    this.setDrawing(canDraw && now.letters.placing === "areas");
    const names = now.stimuli.map((it) => it.name ?? "");
    if (names.join("\n") !== this.names) {
      this.names = names.join("\n");
      const selected = this.stimulus.value;
      this.stimulus.replaceChildren(...now.stimuli.map((it) => h("option", { value: it.name ?? "" }, it.name ?? "(none)")));
      if (names.includes(selected)) this.stimulus.value = selected;
    }
    this.grid = now.letters.grid;
    this.placing = now.letters.placing;
    if (!this.drawing) this.areas = now.letters.areas;
    this.showTools();
    // `traced` counts what the program has read and detected; options say only what it will do next.
    const key = JSON.stringify([now.traced, now.files, now.letters.placing, now.letters.outside]);
    if (key !== this.key) {
      this.key = key;
      this.choose();
    } else this.overlay();
  }

  /** Whether areas can be drawn on the picture. */
  setDrawing(canDraw) {
    if (this.canDraw === canDraw) return;
    this.canDraw = canDraw;
    this.drawing = null;
    this.frame.classList.toggle("drawing", canDraw);
    const attributes = canDraw
      ? { tabindex: "0", role: "application", "aria-label": "Picture of the scanpaths. Enter adds a rectangle in the middle; arrow keys move it, Shift and arrow keys change its size." }
      : { tabindex: "-1", role: "img", "aria-label": "Picture of the scanpaths" };
    for (const [name, value] of Object.entries(attributes)) this.over.setAttribute(name, value);
  }

  async choose() {
    const { attempt, h, request } = this.tools;
    const name = this.stimulus.value;
    const number = (this.number = (this.number ?? 0) + 1);
    this.drawing = null;
    await attempt(async () => {
      const data = await request(`/api/picture?name=${encodeURIComponent(name)}`, { method: "GET" });
      // The response to an older request may arrive later.
      if (number !== this.number) return;
      const length = new DataView(data).getUint32(0, true);
      const head = JSON.parse(new TextDecoder().decode(new Uint8Array(data, 4, length)));
      this.head = head;
      this.points = new Float32Array(data, 4 + length);
    }, true);
    if (number !== this.number || !this.head) return;
    const selected = this.person.value;
    const people = [...new Set(this.head.recordings.map((it) => it.participant))];
    this.person.replaceChildren(h("option", { value: "" }, `all (${people.length})`), ...people.map((name) => h("option", { value: name }, name)));
    if (people.includes(selected)) this.person.value = selected;
    const file = this.now.files.find((it) => it.kind === "image" && (it.stimulus ?? this.tools.guess(it, this.now)) === name) ?? this.now.files.find((it) => it.kind === "image" && !it.stimulus && !this.tools.guess(it, this.now));
    if ((file?.id ?? 0) !== this.imageId) {
      this.imageId = file?.id ?? 0;
      this.image = null;
      if (file) {
        const image = new Image();
        image.onload = () => { this.image = image; this.redraw(); };
        image.src = `/api/images/${file.id}`;
      }
    }
    this.redraw();
  }

  setGrid(grid) {
    this.grid = grid;
    if (!this.queued) {
      this.queued = true;
      requestAnimationFrame(() => { this.queued = false; this.overlay(); });
    }
  }

  size() {
    const aspect = this.head?.aspect ?? (this.image ? this.image.naturalWidth / this.image.naturalHeight : 16 / 9);
    const shape = Math.min(4, Math.max(0.4, aspect));
    // A tall picture fits into the window.
    const tallest = Math.max(240, innerHeight * 0.75);
    const width = Math.round(Math.max(200, Math.min(this.room.clientWidth - 2, 900, tallest * shape)));
    return [width, Math.round(width / shape)];
  }

  fit(canvas, [width, height]) {
    const scale = devicePixelRatio || 1;
    if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(height * scale)) {
      canvas.width = Math.round(width * scale);
      canvas.height = Math.round(height * scale);
      canvas.style.width = `${width}px`;
      canvas.style.height = `${height}px`;
    }
    const context = canvas.getContext("2d", { willReadFrequently: canvas === this.base });
    context.setTransform(scale, 0, 0, scale, 0, 0);
    return context;
  }

  /** Draws the points, a few milliseconds in each frame. */
  redraw() {
    if (!this.points || !this.room.clientWidth) return;
    const size = this.size();
    const [width, height] = size;
    this.frame.style.height = `${height}px`;
    this.frame.style.width = `${width + 2}px`;
    const context = this.fit(this.base, size);
    context.fillStyle = "#fff";
    context.fillRect(0, 0, width, height);
    if (this.image) {
      context.globalAlpha = 0.55;
      context.drawImage(this.image, 0, 0, width, height);
      context.globalAlpha = 1;
    }
    this.overlay();
    const task = ++this.task;
    const person = this.person.value;
    const shown = [];
    let start = 0;
    for (const recording of this.head.recordings) {
      if (!person || recording.participant === person) shown.push([recording, start]);
      start += recording.points;
    }
    const total = shown.reduce((sum, [recording]) => sum + recording.points, 0);
    const faint = total > 3000;
    const { count } = this.tools;
    const people = new Set(shown.map(([it]) => it.participant)).size;
    const left = this.now.left_out;
    const noun = shown.every(([it]) => it.fixations) ? "fixation" : "point";
    const outside = noun === "fixation" ? this.outside(shown) : 0;
    const sentences = [
      `${count(total, noun)} of ${count(shown.length, "recording")}.`,
      outside && `${outside.toLocaleString("en")} of them ${outside === 1 ? "is" : "are"} outside the stimulus and ${outside === 1 ? "is" : "are"} left out.`,
      faint && !person && people > 1 && "With many points, choose one participant to see the order.",
      !this.image && "To see the stimulus behind it, drop its picture (PNG or JPEG) on this page.",
      left && `${count(left, "point")} of all files ${left === 1 ? "is" : "are"} not drawn, because there are too many; letters are made from all of them.`,
    ];
    this.caption.textContent = sentences.filter(Boolean).join(" ");
    let at = 0;
    let point = 0;
    let cloud = null;
    const slice = () => {
      if (task !== this.task) return;
      if (faint && !cloud) {
        // Reading the pixels takes a whole frame.
        cloud = new Cloud(context, this.points);
        requestAnimationFrame(slice);
        return;
      }
      const end = performance.now() + SLICE_MS;
      while (at < shown.length && performance.now() < end) {
        const [recording, first] = shown[at];
        const last = Math.min(recording.points, point + (cloud ? 1000 : 100));
        if (cloud) cloud.add(first + point, first + last, COLOURS[at % COLOURS.length]);
        else this.piece(context, recording, first, point, last, at, width, height);
        point = last;
        if (point >= recording.points) { at += 1; point = 0; }
      }
      cloud?.show();
      if (at < shown.length) requestAnimationFrame(slice);
      else this.frame.dataset.drawn = String(total);
    };
    delete this.frame.dataset.drawn;
    requestAnimationFrame(slice);
  }

  /** How many points are outside the grid, if such points are dropped. */
  outside(shown) {
    if (this.placing !== "grid" || this.now.letters.outside !== "drop") return 0;
    const isOutside = (number) => !(number >= 0 && number <= 1);
    let found = 0;
    for (const [recording, first] of shown) {
      for (let at = first; at < first + recording.points; at += 1) if (isOutside(this.points[3 * at]) || isOutside(this.points[3 * at + 1])) found += 1;
    }
    return found;
  }

  piece(context, recording, first, from, to, number, width, height) {
    const points = this.points;
    const colour = COLOURS[number % COLOURS.length];
    const x = (at) => points[3 * (first + at)] * width;
    const y = (at) => points[3 * (first + at) + 1] * height;
    context.strokeStyle = colour;
    context.globalAlpha = recording.fixations ? 0.5 : 0.25;
    context.lineWidth = 1;
    context.beginPath();
    for (let at = Math.max(1, from); at < to; at += 1) {
      if (at === Math.max(1, from)) context.moveTo(x(at - 1), y(at - 1));
      context.lineTo(x(at), y(at));
    }
    context.stroke();
    context.fillStyle = colour;
    context.globalAlpha = 0.7;
    if (!recording.fixations) {
      for (let at = from; at < to; at += 1) context.fillRect(x(at) - 1, y(at) - 1, 2, 2);
    } else {
      for (let at = from; at < to; at += 1) {
        const radius = Math.min(16, 2 + Math.sqrt(points[3 * (first + at) + 2]) / 3) * Math.max(0.45, width / 900);
        context.beginPath();
        context.arc(x(at), y(at), radius, 0, 7);
        context.fill();
      }
    }
    context.globalAlpha = 1;
  }

  /** Draws the grid or the areas. */
  overlay() {
    if (!this.points || !this.room.clientWidth) return;
    const size = this.size();
    const [width, height] = size;
    const context = this.fit(this.over, size);
    context.clearRect(0, 0, width, height);
    if (this.placing === "grid") {
      const [columns, rows] = this.grid.split("x").map(Number);
      context.strokeStyle = "#444b";
      context.lineWidth = 1;
      context.beginPath();
      for (let at = 1; at < columns; at += 1) { context.moveTo(at / columns * width, 0); context.lineTo(at / columns * width, height); }
      for (let at = 1; at < rows; at += 1) { context.moveTo(0, at / rows * height); context.lineTo(width, at / rows * height); }
      context.stroke();
      return;
    }
    if (this.placing !== "areas") return;
    const here = this.areas.filter((it) => it.stimulus === null || it.stimulus === (this.stimulus.value || null));
    for (const area of [...here, ...(this.drawing ? [this.drawing] : [])]) {
      const number = Math.max(0, this.areas.indexOf(area));
      context.strokeStyle = COLOURS[number % COLOURS.length];
      context.fillStyle = COLOURS[number % COLOURS.length];
      context.lineWidth = area === this.drawing ? 3 : 2;
      this.outline(context, area, width, height);
      context.globalAlpha = 0.18;
      context.fill();
      context.globalAlpha = 1;
      context.stroke();
      if (area.name) {
        const [x, y] = area.corners[0];
        context.font = "600 14px system-ui, sans-serif";
        context.lineWidth = 4;
        context.strokeStyle = "#fff";
        const position = [Math.min(x, area.shape === "rectangle" ? area.corners[1][0] : x) * width + 5, Math.min(y, area.shape === "rectangle" ? area.corners[1][1] : y) * height + 17];
        context.strokeText(area.name, ...position);
        context.fillStyle = "#111";
        context.fillText(area.name, ...position);
      }
    }
  }

  outline(context, area, width, height) {
    context.beginPath();
    if (area.shape === "rectangle") {
      const [[x0, y0], [x1, y1]] = area.corners;
      context.rect(x0 * width, y0 * height, (x1 - x0) * width, (y1 - y0) * height);
    } else {
      area.corners.forEach(([x, y], at) => (at ? context.lineTo(x * width, y * height) : context.moveTo(x * width, y * height)));
      context.closePath();
    }
  }

  showTools() {
    const { h } = this.tools;
    this.tools_row.hidden = this.list.hidden = !this.canDraw;
    if (!this.canDraw) return;
    if (!this.tools_row.firstChild) {
      const tool = (name, title) => {
        const button = h("button", { type: "button", id: `tool-${name}`, "aria-pressed": String(this.tool === name), click: () => {
          this.tool = name;
          this.abandon();
          close.hidden = name !== "polygon";
          for (const other of this.tools_row.querySelectorAll("[aria-pressed]")) other.setAttribute("aria-pressed", String(other === button));
        } }, title);
        return button;
      };
      const close = h("button", { type: "button", id: "close-polygon", hidden: this.tool !== "polygon", click: () => this.close() }, "Close the polygon");
      this.tools_row.append(tool("rectangle", "Rectangle"), tool("polygon", "Polygon"), close, h("span", { class: "note" }, "Drag a rectangle; click the corners of a polygon, then double-click or press “Close the polygon”. An area belongs to the stimulus shown, unless you tick “on all stimuli”."));
    }
    const key = JSON.stringify(this.areas);
    if (key === this.listed) return;
    this.listed = key;
    const focused = this.list.contains(document.activeElement) ? document.activeElement.id : "";
    const count = (name) => this.areas.filter((it) => it.name === name).length;
    this.list.replaceChildren(...this.areas.map((area, at) => {
      const name = h("input", { type: "text", id: `area-${at}`, value: area.name, "aria-label": `Name of area ${at + 1}`, autocomplete: "off", change: () => this.save(this.areas.map((it, other) => (other === at ? { ...it, name: name.value.trim() || it.name } : it))) });
      const everywhere = h("input", { type: "checkbox", id: `area-all-${at}`, checked: area.stimulus === null, change: () => this.save(this.areas.map((it, other) => (other === at ? { ...it, stimulus: everywhere.checked ? null : this.stimulus.value || null } : it))) });
      return h("li", { class: "row" }, name, h("label", { class: "check", for: `area-all-${at}` }, everywhere, " on all stimuli"), area.stimulus === null ? null : h("span", { class: "note" }, `on ${area.stimulus}`), count(area.name) > 1 ? h("span", { class: "note" }, "shares a letter with the other areas of this name") : null, h("button", { type: "button", id: `area-remove-${at}`, "aria-label": `Remove ${area.name}`, click: () => this.save(this.areas.filter((_, other) => other !== at)) }, "Remove"));
    }), ...(this.areas.length ? [h("li", null, h("a", { href: "/api/areas", download: "" }, "Save the areas as a file"))] : []));
    // After the last area was removed, the picture gets the focus.
    if (focused) (document.getElementById(focused) ?? document.getElementById(`area-remove-${this.areas.length - 1}`) ?? this.over).focus({ preventScroll: true });
  }

  /** Discards an unfinished area. */
  abandon() {
    this.drawing = null;
    this.overlay();
  }

  save(areas) {
    this.areas = areas;
    this.tools.letters({ areas });
    this.showTools();
    this.overlay();
  }

  pointAt(event) {
    const box = this.over.getBoundingClientRect();
    const part = (value) => Math.round(Math.min(1, Math.max(0, value)) * 1e4) / 1e4;
    return [part((event.clientX - box.left) / box.width), part((event.clientY - box.top) / box.height)];
  }

  fresh(shape, corners) {
    // Areas with the same name share a letter, so a new area gets a new name.
    let number = 1;
    while (this.areas.some((it) => it.name === `area ${number}`)) number += 1;
    return { name: `area ${number}`, stimulus: this.stimulus.value || null, shape, corners };
  }

  down(event) {
    if (!this.canDraw || event.button) return;
    const point = this.pointAt(event);
    if (this.tool === "polygon") {
      if (this.drawing) this.drawing.corners.splice(-1, 1, point, point);
      else this.drawing = this.fresh("polygon", [point, point]);
    } else {
      this.over.setPointerCapture(event.pointerId);
      this.drawing = this.fresh("rectangle", [point, point]);
    }
    this.setGrid(this.grid);
  }

  move(event) {
    if (!this.drawing) return;
    this.drawing.corners[this.drawing.corners.length - 1] = this.pointAt(event);
    this.setGrid(this.grid);
  }

  up() {
    if (!this.drawing || this.drawing.shape !== "rectangle") return;
    const { corners: [[x0, y0], [x1, y1]] } = this.drawing;
    const area = this.drawing;
    this.drawing = null;
    if (Math.abs(x1 - x0) > 0.005 && Math.abs(y1 - y0) > 0.005) this.save([...this.areas, area]);
    else this.overlay();
  }

  /** Closes a polygon. A double-click has added two corners at the same place. */
  close() {
    if (this.drawing?.shape !== "polygon") return;
    const corners = this.drawing.corners.filter((corner, at, all) => at === 0 || corner.join() !== all[at - 1].join());
    const area = { ...this.drawing, corners };
    this.drawing = null;
    if (corners.length >= 3) this.save([...this.areas, area]);
    else this.overlay();
  }

  keyed(event) {
    if (!this.canDraw) return;
    if (event.key === "Enter") {
      if (this.drawing) return this.close();
      this.save([...this.areas, this.fresh("rectangle", [[0.35, 0.35], [0.65, 0.65]])]);
      event.preventDefault();
      return;
    }
    if (event.key === "Escape") return this.abandon();
    const step = { ArrowLeft: [-0.01, 0], ArrowRight: [0.01, 0], ArrowUp: [0, -0.01], ArrowDown: [0, 0.01] }[event.key];
    const last = this.areas.at(-1);
    if (!step || !last) return;
    event.preventDefault();
    const part = (value) => Math.round(Math.min(1, Math.max(0, value)) * 1e4) / 1e4;
    const moved = last.corners.map(([x, y], at) => (event.shiftKey && at === 0 ? [x, y] : [part(x + step[0]), part(y + step[1])]));
    this.save([...this.areas.slice(0, -1), { ...last, corners: moved }]);
  }
}
