// Connects the charts, the choices and the tables: one choice is set in all of them.
"use strict";
(() => {
  const find = (id) => document.getElementById(id);
  const all = (selector) => [...document.querySelectorAll(selector)];
  const methods = JSON.parse(find("methods").textContent);
  const selects = ["dataset", "gap", "quality", "seed", "over", "curve"].map(find).filter(Boolean);
  const state = { seed: "all", hidden: [], followed: "" };
  const charts = [];

  const matches = (method) =>
    find("filter").value.toLowerCase().split(/\s+/).every((word) => method.toLowerCase().includes(word));
  const here = (method) => methods[method].includes(state.dataset);

  function read() {
    for (const select of selects) state[select.id] = select.value;
    state.hidden = Object.keys(methods).filter((method) => !matches(method));
    if (state.followed && (!here(state.followed) || state.hidden.includes(state.followed))) state.followed = "";
  }

  function apply(chart) {
    for (const name of chart.names) if (name in state) chart.view.signal(name, state[name]);
    return chart.view.runAsync();
  }

  function showTables() {
    for (const row of all("tbody tr[data-dataset]")) {
      const { dataset, method, seed } = row.dataset;
      const other = seed !== undefined && state.seed !== "all" && seed !== state.seed;
      row.hidden = dataset !== state.dataset || other || (method !== undefined && !matches(method));
      row.classList.toggle("followed", !row.hidden && method !== undefined && method === state.followed);
    }
    for (const button of all(".method")) {
      button.hidden = !here(button.dataset.method) || !matches(button.dataset.method);
      button.setAttribute("aria-pressed", String(button.dataset.method === state.followed));
    }
  }

  function say() {
    const row = all("#means tbody tr").find((each) => each.dataset.method === state.followed && !each.hidden);
    const heads = all("#means th").map((each) => each.textContent.trim());
    const cell = (name) => `${name} ${row.cells[heads.indexOf(name)].textContent.trim()}`;
    const told = row ? [state.quality, state.gap].filter(Boolean).map(cell) : [];
    find("said").textContent = row
      ? `Following ${state.followed}: ${told.join(", ")}. Escape, or choose it again, to stop.`
      : "Choose a method, here or in a figure, to follow it through the page.";
  }

  function update() {
    read();
    showTables();
    say();
    return Promise.all(charts.map(apply));
  }

  function follow(method) {
    state.followed = state.followed === method ? "" : method;
    return update();
  }

  async function draw(place, { specs, data }) {
    const spec = specs[place.dataset.chart];
    for (const each of spec.data) if (each.name in data) each.values = data[each.name];
    const room = document.createElement("div");
    room.style.width = "100%";
    place.replaceChildren(room);
    const options = { ast: true, renderer: "svg", actions: false, mode: "vega", logLevel: 1 };  // errors only
    const { view } = await vegaEmbed(room, spec, options);
    view.addEventListener("click", (_, item) => {
      const method = item && item.datum && item.datum.method;
      if (method in methods) follow(method);
    });
    const chart = { view, names: spec.signals.map((each) => each.name) };
    charts.push(chart);
    await apply(chart);
  }

  function sortBy(table, place) {
    const heads = [...table.tHead.rows[0].cells];
    const down = heads[place].getAttribute("aria-sort") === "ascending";
    heads.forEach((head) => head.removeAttribute("aria-sort"));
    heads[place].setAttribute("aria-sort", down ? "descending" : "ascending");
    const key = (row) => row.cells[place].dataset.value ?? row.cells[place].textContent;
    const compare = (one, other) => {
      const [a, b] = [Number(key(one)), Number(key(other))];
      if (Number.isNaN(a) && Number.isNaN(b)) {
        return (down ? -1 : 1) * key(one).localeCompare(key(other), "en", { numeric: true });
      }
      if (Number.isNaN(a) || Number.isNaN(b)) return Number.isNaN(a) - Number.isNaN(b);
      return down ? b - a : a - b;
    };
    table.tBodies[0].append(...[...table.tBodies[0].rows].sort(compare));
  }

  function unpack(id) {
    const bytes = Uint8Array.from(atob(find(id).textContent), (c) => c.charCodeAt(0));
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip")));
  }

  async function offer(link) {
    const content = await unpack(link.dataset.from).arrayBuffer();
    link.href = URL.createObjectURL(new Blob([content], { type: link.dataset.type }));
  }

  async function drawAll() {
    const made = await unpack("charts").json();
    return Promise.all(all(".chart").map((place) => draw(place, made)));
  }

  document.documentElement.classList.add("script");
  find("choices").addEventListener("submit", (event) => event.preventDefault());
  for (const select of selects) select.addEventListener("change", update);
  find("filter").addEventListener("input", update);
  for (const button of all(".method")) button.addEventListener("click", () => follow(button.dataset.method));
  for (const row of all("tr[data-method]")) row.addEventListener("click", () => follow(row.dataset.method));
  for (const table of all(".sortable")) {
    [...table.tHead.rows[0].cells].forEach((head, place) => {
      const button = head.querySelector("button");
      if (button) button.addEventListener("click", () => sortBy(table, place));
    });
  }
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && state.followed) follow(state.followed);
  });
  Promise.all([update(), drawAll(), ...all(".download").map(offer)]).then(() =>
    document.documentElement.classList.add("ready"),
  );
})();
