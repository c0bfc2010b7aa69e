"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const bytes = text => Uint8Array.from(atob(text), one => one.charCodeAt(0)).buffer;
  const times = data.times.map(text => new Float64Array(bytes(text)));
  const GAP = 65535, LEVELS = 65534, HEIGHT = 196, LEFT = 52, RIGHT = 10, TOP = 8, BOTTOM = 22;
  const DASHES = { solid: null, dashed: "5 4.5", dotted: "1 3.4", "dash-dotted": "7 4 1 4" };
  let world = 0;

  const svg = (name, attributes, parent) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) if (value !== null) made.setAttribute(key, value);
    if (parent) parent.append(made);
    return made;
  };
  const html = (name, parent, text) => {
    const made = document.createElement(name);
    if (text !== undefined) made.textContent = text;
    parent.append(made);
    return made;
  };

  /** Round distances between ticks: 1, 2 or 5 times a power of ten. */
  function ticks(low, high, count) {
    const raw = (high - low) / count, power = 10 ** Math.floor(Math.log10(raw));
    const step = power * ([1, 2, 5].find(one => one * power >= raw) || 10);
    const found = [];
    for (let index = Math.ceil(low / step - 1e-9); index * step <= high + 1e-9 * step; index++) found.push(index * step);
    return [found, step];
  }
  /** Logarithms of round values: of powers of ten, or of 1, 2 and 5 times those. */
  function decades(low, high) {
    const stride = Math.ceil((high - low) / 6), found = [];
    for (let power = Math.floor(low); power <= high; power++) {
      if (high - low >= 2) { if (power % stride === 0) found.push(power); }
      else found.push(...[1, 2, 5].map(one => power + Math.log10(one)));
    }
    const shown = found.filter(one => one >= low && one <= high);
    return shown.length > 1 ? shown : [low, high];
  }
  /** A number with as many digits as differences of the given size need. */
  function number(value, step) {
    const size = Math.abs(value), places = Math.floor(Math.log10(step) + 1e-9);
    if (size < step * 1e-6) return "0";
    if (size >= 1e6 || step < 2e-5) return signed(value.toExponential(Math.max(0, Math.min(3, Math.floor(Math.log10(size)) - places))));
    const text = value.toFixed(Math.max(0, -places));
    return Number(text) === 0 ? "0" : signed(text);
  }
  const signed = text => text.replace("e+", "e").replaceAll("-", "−");

  class Chart {
    constructor(figure, index) {
      Object.assign(this, data.charts[index]);
      this.figure = figure;
      this.at = times[this.time];
      this.codes = new Uint16Array(bytes(this.codes));
      this.hidden = new Set();
      const colors = new Set(this.lines.map(line => line.color)).size;
      this.color = index => colors > 10 ? `hsl(${Math.round(360 * index / colors)} 62% var(--spread))` : `var(--c${index % 10})`;
      this.svg = svg("svg", { role: "img", "aria-label": figure.querySelector("figcaption").textContent }, figure);
      this.svg.addEventListener("pointermove", event => look(this.time_at(event.clientX), this));
      this.svg.addEventListener("pointerleave", () => look(null));
      this.outputs = this.legend();
    }

    /** One entry for each colour, which also shows the value under the cursor. */
    legend() {
      const box = html("div", this.figure), outputs = new Map();
      box.className = "legend";
      this.lines.forEach((line, index) => {
        if (outputs.has(line.color)) return void outputs.get(line.color).lines.push(index);
        const button = html("button", box), mark = svg("svg", { viewBox: "0 0 18 8" }, button);
        svg("path", { d: "M0 4H18", style: `stroke: ${this.color(line.color)}; stroke-width: 2.5`, "stroke-dasharray": DASHES[line.style] }, mark);
        button.type = "button";
        button.title = line.name;
        button.setAttribute("aria-pressed", "true");
        html("span", button, line.name);
        outputs.set(line.color, { output: html("output", button), lines: [index], button });
        button.addEventListener("click", () => {
          const shown = this.hidden.delete(line.color);
          if (!shown) this.hidden.add(line.color);
          button.setAttribute("aria-pressed", String(shown));
          this.draw();
        });
        button.addEventListener("pointerenter", () => this.pick(line.color));
        button.addEventListener("pointerleave", () => this.pick(null));
      });
      return [...outputs.values()];
    }

    pick(color) {
      this.figure.classList.toggle("picking", color !== null);
      for (const path of this.svg.querySelectorAll("path")) path.classList.toggle("picked", path.dataset.color === String(color));
    }

    /** The value of a line in a column, or NaN; of two, the smaller one is first. */
    value(line, column, second) {
      const code = this.codes[((world * this.lines.length + line) * this.at.length + column) * this.pairs + second];
      const low = this.low[world][line];
      return code === GAP ? NaN : low + (this.high[world][line] - low) * code / LEVELS;
    }

    range() {
      let low = Infinity, high = -Infinity;
      this.lines.forEach((line, index) => {
        const first = ((world * this.lines.length + index) * this.at.length) * this.pairs;
        const codes = this.codes.subarray(first, first + this.at.length * this.pairs);
        if (this.hidden.has(line.color) || codes.every(code => code === GAP)) return;
        low = Math.min(low, this.low[world][index]);
        high = Math.max(high, this.high[world][index]);
      });
      if (this.top !== null) high = Math.min(high, this.log ? Math.log10(this.top) : this.top);
      if (!(low <= high)) return null;
      if (!this.log && high - low < this.least) [low, high] = [(low + high - this.least) / 2, (low + high + this.least) / 2];
      const margin = high > low ? 0.06 * (high - low) : Math.max(Math.abs(high) * 0.1, this.log ? 0.5 : 1e-9);
      return high === low && high === 0 && !this.log ? [-1, 1] : [low - margin, high + margin];
    }

    draw() {
      const width = this.svg.clientWidth || 500;
      this.svg.setAttribute("viewBox", `0 0 ${width} ${HEIGHT}`);
      this.svg.replaceChildren();
      this.first = this.at[0];
      this.last = this.at[this.at.length - 1];
      const limits = this.range(), inner = width - LEFT - RIGHT, span = this.last - this.first;
      const edge = this.axis ? 12 : 0;  // dots are whole
      this.x = time => LEFT + edge + (span > 0 ? (time - this.first) / span : 0.5) * (inner - 2 * edge);
      this.time_at = x => {
        const box = this.svg.getBoundingClientRect();
        return this.first + Math.max(0, Math.min(1, (x - box.left - LEFT - edge) / (inner - 2 * edge))) * span;
      };
      if (limits === null) {
        svg("text", { x: width / 2, y: HEIGHT / 2, "text-anchor": "middle" }, this.svg).textContent =
          this.lines.every(line => this.hidden.has(line.color)) ? "every line is hidden" : "no finite value to draw";
        this.read(null);
        return;
      }
      const [low, high] = limits;
      this.y = value => TOP + (high - value) / (high - low) * (HEIGHT - TOP - BOTTOM);
      this.step = (high - low) / 2e3;
      this.axes(width, low, high, span);
      const box = svg("svg", { x: LEFT, y: 0, width: inner, height: HEIGHT - BOTTOM + 2, viewBox: `${LEFT} 0 ${inner} ${HEIGHT - BOTTOM + 2}` }, this.svg);
      this.lines.forEach((line, index) => {
        if (this.hidden.has(line.color)) return;
        const is_drawn = !this.axis || this.axis.is_ordered;
        const path = svg("path", { d: is_drawn ? this.path(index) : "", style: `stroke: ${this.color(line.color)}`, "stroke-dasharray": DASHES[line.style] }, box);
        if (this.at.length === 1) path.style.strokeWidth = "7";
        path.dataset.color = line.color;
        if (this.axis) this.dots(index, box);
      });
      this.cursor = svg("line", { class: "cursor", y1: TOP, y2: HEIGHT - BOTTOM, visibility: "hidden" }, this.svg);
      this.read(null);
    }

    /** A dot at each value, as the values of a key are few. */
    dots(line, box) {
      this.at.forEach((place, column) => {
        const value = this.value(line, column, 0);
        if (!Number.isNaN(value)) svg("circle", { cx: this.x(place), cy: this.y(value), r: 3, style: `fill: ${this.color(this.lines[line].color)}` }, box);
      });
    }

    axes(width, low, high, span) {
      const [values, step] = this.log ? [decades(low, high), 0] : ticks(low, high, 6);
      for (const value of values) {
        const y = this.y(value);
        svg("line", { class: !this.log && Math.abs(value) < step * 1e-6 ? "zero" : "rule", x1: LEFT, x2: width - RIGHT, y1: y, y2: y }, this.svg);
        const label = svg("text", { x: LEFT - 6, y: y + 4, "text-anchor": "end" }, this.svg);
        label.textContent = this.log ? number(10 ** value, 10 ** (Math.floor(value + 1e-9))) : number(value, step);
      }
      if (this.axis) return void this.axis.places.forEach((place, index) => {
        const x = this.x(place);
        if (this.axis.is_bridged && !this.axis.labels[index]) return;
        svg("line", { class: "rule", x1: x, x2: x, y1: TOP, y2: HEIGHT - BOTTOM }, this.svg);
        const text = signed(this.axis.labels[index]), is_long = text.length > 6 && span > 0;
        const side = is_long && index === 0 ? "start" : is_long && index === this.axis.places.length - 1 ? "end" : "middle";
        svg("text", { x, y: HEIGHT - 7, "text-anchor": side }, this.svg).textContent = text;
      });
      const [moments, between] = span > 0 ? ticks(this.first, this.last, Math.max(4, width / 64)) : [[this.first], 1e-3];
      moments.forEach((time, index) => {
        const x = this.x(time), is_last = index === moments.length - 1;
        svg("line", { class: "rule", x1: x, x2: x, y1: TOP, y2: HEIGHT - BOTTOM }, this.svg);
        const label = svg("text", { x: Math.min(x, width - RIGHT - 12), y: HEIGHT - 7, "text-anchor": "middle" }, this.svg);
        label.textContent = number(time, between) + (is_last ? " s" : "");
      });
    }

    /** The line as a path. Of the two values of a column, the one nearer to the last point comes first. */
    path(line) {
      const parts = [];
      let last = null;
      for (let column = 0; column < this.at.length; column++) {
        const one = this.value(line, column, 0), other = this.value(line, column, this.pairs - 1);
        if (Number.isNaN(one)) { if (!this.axis || !this.axis.is_bridged) last = null; continue; }
        const x = this.x(this.at[column]).toFixed(1);
        const order = this.pairs === 1 ? [one] : last !== null && Math.abs(last - other) < Math.abs(last - one) ? [other, one] : [one, other];
        for (const value of order) {
          parts.push(last === null ? "M" : "L", x, " ", this.y(value).toFixed(1));
          if (last === null) parts.push("h0");
          last = value;
        }
      }
      return parts.join("");
    }

    /** Show the values at a time in the legend; null empties it. */
    read(time) {
      if (time === null || !this.cursor) {
        if (this.cursor) this.cursor.setAttribute("visibility", "hidden");
        for (const { output, lines } of this.outputs) {
          const gaps = this.gaps ? lines.reduce((sum, line) => sum + this.gaps[world][line], 0) : 0;
          output.textContent = gaps ? `${gaps} not finite` : "";
        }
        return;
      }
      let column = 0, end = this.at.length - 1;
      while (column < end) {
        const middle = (column + end) >> 1;
        if (this.at[middle] < time) column = middle + 1; else end = middle;
      }
      if (column > 0 && time - this.at[column - 1] < this.at[column] - time) column--;
      const x = this.x(this.at[column]);
      this.cursor.setAttribute("x1", x);
      this.cursor.setAttribute("x2", x);
      this.cursor.setAttribute("visibility", "visible");
      for (const { output, lines } of this.outputs) output.textContent = lines.map(line => this.text(line, column)).join(" → ");
    }

    text(line, column) {
      const low = this.value(line, column, 0), high = this.value(line, column, this.pairs - 1);
      if (Number.isNaN(low)) return "–";
      if (this.log) return signed((10 ** high).toPrecision(3));
      const texts = [number(low, this.step), number(high, this.step)];
      return texts[0] === texts[1] ? texts[0] : texts.join(" … ");
    }
  }

  const charts = [...document.querySelectorAll("figure.chart")].map((figure, index) => new Chart(figure, index));
  const clock = document.getElementById("clock");
  let wanted, source, is_asked = false;
  /** Move the cursor of all charts with the same axis, once in each frame of the screen. */
  function look(time, chart) {
    wanted = time;
    source = chart || source;
    if (is_asked) return;
    is_asked = true;
    requestAnimationFrame(() => {
      is_asked = false;
      for (const chart of charts) {
        const is_meant = wanted !== null && wanted >= chart.first && wanted <= chart.last;
        chart.read(is_meant && (chart.axis ? chart.time === source.time : !source.axis) ? wanted : null);
      }
      if (clock) clock.textContent = wanted === null ? "" : `t = ${wanted.toPrecision(5)} s`;
    });
  }
  const choice = document.getElementById("world");
  if (choice) choice.addEventListener("change", () => { world = Number(choice.value); for (const chart of charts) chart.draw(); });
  for (const chart of charts) chart.draw();
  let width = innerWidth;
  addEventListener("resize", () => { if (innerWidth !== width) { width = innerWidth; for (const chart of charts) chart.draw(); } });
})();
