"use strict";
(() => {
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const make = (name, className, parent) => {
    const element = document.createElement(name);
    element.className = className;
    parent.append(element);
    return element;
  };
  // press turns what is in an element into a button.
  const press = (element, action) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...element.childNodes);
    element.append(button);
    button.addEventListener("click", action);
    return button;
  };

  // Tables: the head of a column sorts by it. Cells without a number go last.
  const collator = new Intl.Collator("en", { numeric: true });
  const key = cell => cell.classList.contains("number") ? parseFloat(cell.dataset.value) : cell.textContent.trim();
  const compare = (a, b, sign) => {
    if (typeof a === "string" || typeof b === "string") return sign * collator.compare(a, b);
    if (isNaN(a) || isNaN(b)) return isNaN(a) - isNaN(b);
    return sign * (a - b);
  };
  for (const table of all("table")) {
    const heads = all("thead th", table);
    heads.forEach((head, column) => press(head, () => {
      const sign = head.getAttribute("aria-sort") === "ascending" ? -1 : 1;
      for (const other of heads) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", sign > 0 ? "ascending" : "descending");
      const rows = all("tbody tr", table).filter(row => row.cells.length === heads.length);
      rows.sort((a, b) => compare(key(a.cells[column]), key(b.cells[column]), sign));
      table.tBodies[0].append(...rows);
    }));
  }

  // The key: what belongs to a policy hides and shows, and stands out while it is pointed at.
  for (const item of all(".key li")) {
    const own = `[data-policy="${item.dataset.policy}"]`;
    const button = press(item, () => {
      const show = button.getAttribute("aria-pressed") === "false";
      button.setAttribute("aria-pressed", String(show));
      for (const part of all(`figure ${own}, .courses ${own}`)) part.classList.toggle("hidden", !show);
    });
    button.setAttribute("aria-pressed", "true");
    const stress = on => {
      for (const part of all(`.cumulative [data-policy]:not(${own})`)) part.classList.toggle("dim", on);
    };
    item.addEventListener("pointerenter", () => stress(true));
    item.addEventListener("pointerleave", () => stress(false));
  }

  // Curves: the values where one points, read from the paths themselves.
  const side = 10000;
  const decoded = new Map();
  const decode = path => {
    if (decoded.has(path)) return decoded.get(path);
    const points = [];
    let x = 0, y = 0;
    for (const [, letter, first, second] of path.getAttribute("d").matchAll(/([Mhv])(-?\d+)(?: (\d+))?/g)) {
      if (letter === "M") [x, y] = [+first, +second];
      else if (letter === "h") x += +first;
      else y += +first;
      points.push([x, y]);
    }
    decoded.set(path, points);
    return points;
  };
  // at is the height of a step function, null outside of it.
  const at = (path, x) => {
    const points = decode(path);
    if (x < points[0][0] || x > points.at(-1)[0]) return null;
    let y = points[0][1];
    for (const [px, py] of points) {
      if (px > x) break;
      y = py;
    }
    return 1 - y / side;
  };
  const short = v => v >= 100 ? v.toFixed(0) : String(+v.toPrecision(3));
  const human = s => {
    for (const [large, small, l, m] of [[86400, 3600, "d", "h"], [3600, 60, "h", "min"], [60, 1, "min", "s"]])
      if (s >= large) return `${Math.floor(s / large)} ${l}` + (Math.floor(s % large / small) ? ` ${Math.floor(s % large / small)} ${m}` : "");
    return short(s) + " s";
  };
  const timeline = figure => {
    const { from, to, top, log } = figure.dataset;
    const strips = all(".strip", figure).map(strip => {
      const label = strip.querySelector(".aside");
      return { label, text: label.textContent, path: strip.querySelector("path.line"), cursor: make("div", "cursor hidden", strip.querySelector(".plot")) };
    });
    return fraction => {
      for (const { label, text, path, cursor } of strips) {
        cursor.classList.toggle("hidden", fraction === null);
        label.textContent = text;
        if (fraction === null || !path) continue;
        cursor.style.left = 100 * fraction + "%";
        const height = at(path, side * fraction);
        if (height === null) { label.textContent = "–"; continue; }
        const value = log ? Math.expm1(height * Math.log1p(top)) : height * top;
        label.textContent = `${short(value)} at ${human(+from + fraction * (to - from))}`;
      }
    };
  };
  const cumulative = figure => {
    const { from, to, unit } = figure.dataset;
    const plot = figure.querySelector(".plot");
    const cursor = make("div", "cursor hidden", plot);
    const box = make("div", "readout hidden", plot);
    return fraction => {
      cursor.classList.toggle("hidden", fraction === null);
      box.classList.toggle("hidden", fraction === null);
      if (fraction === null) return;
      cursor.style.left = 100 * fraction + "%";
      box.style.left = fraction < .5 ? "auto" : ".5rem";
      box.style.right = fraction < .5 ? ".5rem" : "auto";
      const x = from * Math.pow(to / from, fraction);
      box.textContent = "";
      make("b", "", box).textContent = "up to " + (unit === "s" ? human(x) : short(x));
      for (const line of all("g[data-policy]:not(.hidden)", figure)) {
        const row = make("p", "", box);
        make("span", "", row).textContent = document.querySelector(`.key [data-policy="${line.dataset.policy}"]`).textContent.trim();
        make("span", "", row).textContent = (100 * at(line.firstElementChild, side * fraction)).toFixed(1) + " %";
      }
    };
  };
  for (const figure of all(".timeline, .cumulative")) {
    const read = figure.matches(".timeline") ? timeline(figure) : cumulative(figure);
    all(".plot", figure).forEach((plot, i) => {
      const point = event => {
        const { left, width } = plot.getBoundingClientRect();
        read(Math.min(1, Math.max(0, (event.clientX - left) / width)));
      };
      plot.addEventListener("pointerdown", point);
      plot.addEventListener("pointermove", point);
      plot.addEventListener("pointerleave", () => read(null));
      if (i > 0) return; // one stop for the keyboard: arrows move, Escape ends
      let fraction = .5;
      plot.tabIndex = 0;
      plot.addEventListener("blur", () => read(null));
      plot.addEventListener("keydown", event => {
        const by = { ArrowLeft: -.01, ArrowRight: .01 }[event.key];
        if (event.key === "Escape") read(null);
        if (!by) return;
        event.preventDefault();
        read(fraction = Math.min(1, Math.max(0, fraction + by)));
      });
    });
  }
})();
