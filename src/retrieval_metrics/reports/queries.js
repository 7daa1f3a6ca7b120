// The queries of a report: sorted, filtered, searched and opened in the page itself.
// Whatever comes from the data becomes text, never HTML.
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const root = document.getElementById("queries");
  const { metrics, systems, documents, kinds, details } = data;
  const queries = data.ids.map((id, at) => ({
    at, id, text: data.texts[at], slice: data.slice[at] ?? undefined, best: data.best && data.best.map((column) => column[at]),
    values: data.values.map((columns, system) => (data.wanted[system][at] === null ? null : columns.map((column) => column[at]))),
    wanted: data.wanted.map((column) => column[at]), missing: data.missing.map((column) => data.missed[column[at]]),
    ...data.shown[at],
  }));
  const STEP = 100; // rows that are drawn at once; more follow as the reader scrolls
  const SIGNS = ["✓", "✗", "↻", "○", "⛔"];
  const STATES = ["relevant", "judged, not relevant", "duplicate of a result above", data.quoted ? "no relevant text" : "unjudged", "forbidden"];
  const pair = systems.length > 1;
  const state = { metric: data.main, a: data.pair[0], b: data.pair[1], shown: [], drawn: 0, at: -1 };

  const make = (tag, attributes, ...children) => {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) element.setAttribute(name, value);
    element.append(...children.filter((child) => child !== null && child !== undefined));
    return element;
  };
  const text = (words, tag = "span", attributes = {}) => make(tag, { dir: "auto", ...attributes }, words);
  const decimals = (size) => (size < 5e-7 ? 3 : Math.max(size > 1 ? 0 : 3, 2 - Math.floor(Math.log10(size)))); // as numbers.format_value
  const three = (value) => value.toFixed(decimals(Math.abs(value)));
  const number = (value) => (value === null || value === undefined ? "–" : three(value));
  const signed = (value) => (value === null ? "–" : (value > 0 ? "▲ +" : value < 0 ? "▼ −" : "= ") + three(Math.abs(value)));
  const value = (query, system, metric = state.metric) => query.values[system] ? query.values[system][metric] : null;
  const difference = (query, metric = state.metric) => {
    const [a, b] = [value(query, state.a, metric), value(query, state.b, metric)];
    return a === null || b === null ? null : Math.round((b - a) * 1e6) / 1e6;
  };
  const best = (query) => (query.best ? query.best[state.metric] : 1);
  const looked = () => (pair ? [state.a, state.b] : [0]);
  const missing = (query, system) => (query.missing[system] || []);
  const results_of = (query, system) => (query.results ? query.results[system] || [] : []);
  const plain = (result) => (typeof result === "number" ? [result] : result);
  const field = (row, at, otherwise) => (row[at] === undefined ? otherwise : row[at]);

  // What can be chosen.
  const select = (label, options, chosen, change) => {
    const box = make("select", {}, ...options.map(([key, words]) => make("option", { value: key }, words)));
    box.value = chosen;
    box.addEventListener("change", () => change(box.value));
    return make("label", {}, make("span", {}, label), box);
  };
  const numbered = (names) => names.map((name, at) => [String(at), name]);
  const orders = pair
    ? [["moved", "largest change first"], ["worse", "largest loss first"], ["better", "largest gain first"],
       ["a", "first system: lowest first"], ["a_down", "first system: highest first"],
       ["b", "second system: lowest first"], ["b_down", "second system: highest first"], ["given", "as given"]]
    : [["a", "lowest first"], ["highest", "highest first"], ["given", "as given"]];
  const filters = [["all", "all queries"], ["failed", "something missing"], ["zero", "zero"], ["perfect", "perfect"],
    ...(pair ? [["won", "second system better"], ["lost", "second system worse"], ["tied", "no difference"]] : []),
    ...(data.quoted ? [] : [["undecided", "with unjudged results"]])];
  const chosen = { order: orders[0][0], filter: "all", reason: "", slice: "", words: "" };

  const keys = {
    moved: (query) => { const change = difference(query); return change === null ? Infinity : -Math.abs(change); },
    worse: (query) => difference(query) ?? Infinity,
    better: (query) => -(difference(query) ?? -Infinity),
    a: (query) => value(query, state.a) ?? Infinity,
    b: (query) => value(query, state.b) ?? Infinity,
    a_down: (query) => -(value(query, state.a) ?? -Infinity),
    b_down: (query) => -(value(query, state.b) ?? -Infinity),
    highest: (query) => -(value(query, state.a) ?? -Infinity),
    given: () => 0,
  };
  const tests = {
    all: () => true,
    failed: (query) => looked().some((system) => missing(query, system).some((kind) => kinds[kind] !== "cutoff full")),
    zero: (query) => looked().some((system) => value(query, system) === 0),
    perfect: (query) => looked().every((system) => value(query, system) !== null && best(query) !== null && value(query, system) >= best(query) - 1e-9),
    won: (query) => difference(query) > 0,
    lost: (query) => difference(query) < 0,
    tied: (query) => difference(query) === 0,
    undecided: (query) => looked().some((system) => results_of(query, system).some((result) => field(plain(result), 1, 3) === 3)),
  };

  let lowered = null;
  const search = (words) => {
    const wanted = words.toLowerCase();
    lowered ??= documents.map((document) => document.filter(Boolean).join("\n").toLowerCase());
    const hits = new Set();
    lowered.forEach((document, at) => { if (document.includes(wanted)) hits.add(at); });
    return (query) => `${query.id}\n${query.text || ""}`.toLowerCase().includes(wanted)
      || (query.needed || []).some((one) => hits.has(one[0]))
      || looked().some((system) => results_of(query, system).some((result) => hits.has(plain(result)[0])));
  };

  const update = () => {
    const matches = chosen.words ? search(chosen.words) : () => true;
    const reason = chosen.reason === "" ? null : Number(chosen.reason);
    const key = keys[chosen.order];
    state.shown = queries
      .filter((query) => tests[chosen.filter](query) && matches(query)
        && (chosen.slice === "" || query.slice === Number(chosen.slice))
        && (reason === null || looked().some((system) => missing(query, system).includes(reason))))
      .map((query) => [key(query), query]).sort((one, other) => one[0] - other[0] || one[1].at - other[1].at)
      .map(([, query]) => query);
    state.drawn = 0;
    state.at = -1;
    list.replaceChildren();
    count.textContent = `${state.shown.length.toLocaleString("en")} of ${queries.length.toLocaleString("en")} queries`;
    draw();
  };

  // The rows.
  const draw = () => {
    const next = state.shown.slice(state.drawn, state.drawn + STEP);
    list.append(...next.map(row));
    state.drawn += next.length;
    more.hidden = state.drawn >= state.shown.length;
  };
  const bar = (share) => make("span", { class: "bar", "aria-hidden": "true" },
    make("span", { style: `width:${Math.max(0, Math.min(1, share || 0)) * 100}%` }));
  const why = (query, system) => {
    const counted = new Map();
    for (const kind of missing(query, system)) counted.set(kind, (counted.get(kind) || 0) + 1);
    const said = [...counted].map(([kind, times]) => `${times} ${kinds[kind]}`).join(", ");
    const wanted = query.wanted[system];
    if (wanted === undefined || wanted === null) return "not evaluated";
    if (!wanted) return "no relevant document";
    return `${wanted - missing(query, system).length} of ${wanted} found${said ? ": " + said : ""}`;
  };
  const row = (query) => {
    const numbers = pair
      ? [text(number(value(query, state.a)), "span", { class: "value" }), text(number(value(query, state.b)), "span", { class: "value" }),
         text(signed(difference(query)), "span", { class: "value change" })]
      : [bar(value(query, 0)), text(number(value(query, 0)), "span", { class: "value" })];
    const others = pair ? [] : metrics.map((name, at) => at === state.metric ? null : `${name} ${number(value(query, 0, at))}`).filter(Boolean);
    const reasons = pair
      ? [text(`${systems[state.a]}: ${why(query, state.a)}`), text(`${systems[state.b]}: ${why(query, state.b)}`)]
      : [text(why(query, 0)), ...others.map((other) => text(other))];
    const summary = make("summary", {},
      make("span", { class: "asked" }, text(query.id, "span", { class: "id" }), query.text ? text(query.text, "span", { class: "words" }) : null),
      make("span", { class: "values" }, ...numbers), make("span", { class: "reasons" }, ...reasons));
    const element = make("details", { class: "query" }, summary);
    element.query = query;
    element.addEventListener("toggle", () => {
      if (element.open && element.childElementCount === 1) element.append(opened(query));
    });
    summary.addEventListener("click", () => { state.at = state.shown.indexOf(query); });
    return element;
  };

  // One query, opened.
  const LONG = 700; // characters from which on a text without needed words is folded
  const passage = (words, marks = []) => {
    const body = marked(words, marks);
    if (words.length <= LONG || marks.length) return [body];
    body.classList.add("long");
    const whole = make("button", { type: "button", class: "whole" }, "full text");
    whole.addEventListener("click", () => { body.classList.remove("long"); whole.remove(); });
    return [body, whole];
  };
  const marked = (words, marks) => {
    const body = text("", "div", { class: "text" });
    const letters = marks.length ? Array.from(words) : [];
    let last = 0;
    for (const [start, end] of marks) {
      body.append(letters.slice(last, start).join(""), make("mark", {}, letters.slice(start, end).join("")));
      last = end;
    }
    body.append(marks.length ? letters.slice(last).join("") : words);
    return body;
  };
  const outcome = (query, one, system) => {
    const found = one[3][system];
    if (!found) return null;
    const [kind, rank, detail] = found;
    if (kinds[kind] !== "found") return `✗ ${rank ? `rank ${rank}: ` : ""}${details[detail]}`;
    const [, story] = details[detail].split("; "); // what the calls of an agent did with it
    return `✓ found at rank ${rank}${story ? `; ${story}` : ""}`;
  };
  const moved = (query, one) => {
    const [a, b] = [one[3][state.a], one[3][state.b]];
    if (!a || !b) return null;
    const place = (found) => (found[1] === null ? "not retrieved" : `rank ${found[1]}`);
    return a[1] === b[1] ? null : `${place(a)} → ${place(b)}`;
  };
  const needed = (query) => make("div", { class: "needed" }, make("h3", {}, "Relevant"), make("ol", {}, ...query.needed.map((one, at) => {
    const [name, , words] = documents[one[0]];
    return make("li", {},
      make("div", { class: "head" }, text(`${at + 1}`, "span", { class: "rank" }), name ? text(name, "span", { class: "id" }) : null, text(`grade ${one[1]}`), one[2] ? text(`group ${one[2].join(", ")}`) : null),
      ...(words ? passage(words) : []),
      ...(pair ? [moved(query, one) ? text(moved(query, one), "div", { class: "change-of-rank" }) : null,
                  ...looked().map((system) => text(`${systems[system]}: ${outcome(query, one, system) || "–"}`, "div", { class: "outcome" }))]
        : [text(outcome(query, one, 0) || "–", "div", { class: "outcome" })]));
  })), query.needed.length ? null : text("No document is relevant to this query.", "p"));
  const result = (query, row, at) => {
    const [document, code, score, grade, satisfies, marks] = [row[0], field(row, 1, 3), field(row, 2, null), field(row, 3, null), field(row, 4, []), field(row, 5, [])];
    const within = field(row, 6, [])[1];
    const [name, source, words, clipped] = documents[document];
    return make("li", { class: `result state${code}` },
      make("div", { class: "head" }, text(`${at + 1}`, "span", { class: "rank" }),
        text(`${SIGNS[code]} ${STATES[code]}`, "span", { class: "state" }),
        text(name ?? "–", "span", { class: "id" }), source ? text(source, "span", { class: "source" }) : null,
        grade === null ? null : text(`grade ${grade}`), score === null ? null : text(`score ${score}`),
        within === undefined ? null : text(`rank ${within} of its call`),
        satisfies.length ? text(`relevant ${satisfies.map((one) => one + 1).join(", ")}`) : null,
        clipped ? text("shortened") : null),
      ...(words ? passage(words, marks) : []));
  };
  const results = (query, system) => {
    const rows = results_of(query, system);
    const call = (row) => field(plain(row), 6, [])[0] ?? 0;
    const searches = (query.searches && query.searches[system]) || [];
    const calls = [...new Set([...rows.map(call), ...searches.map((_, at) => at + 1)])].sort((one, other) => one - other);
    if (calls.length > 1) { // the searches of an agent: a column each
      return make("div", { class: "system calls" }, make("h3", {}, text(pair ? systems[system] : "Results")),
        make("div", { class: "systems" }, ...calls.map((number) => make("div", { class: "call" },
          make("h4", {}, text(number ? `Call ${number}` : "Not found by any call")),
          ...(searches[number - 1] || []).filter(Boolean).map((said, at) => text(at ? said : `“${said}”`, "p", { class: "hint" })),
          make("ol", {}, ...rows.map((one, at) => call(one) === number ? result(query, plain(one), at) : null))))));
    }
    return make("div", { class: "system" }, make("h3", {}, text(pair ? systems[system] : "Results")),
      rows.length ? make("ol", {}, ...rows.map((one, at) => result(query, plain(one), at))) : text("No results.", "p"));
  };
  const table = (query) => make("table", {}, make("thead", {}, make("tr", {}, make("th", {}, "metric"), ...looked().map((system) => text(pair ? systems[system] : "value", "th")), pair ? make("th", {}, "difference") : null)),
    make("tbody", {}, ...metrics.map((name, at) => make("tr", {}, make("td", {}, name), ...looked().map((system) => make("td", {}, number(value(query, system, at)))),
      pair ? make("td", {}, signed(difference(query, at))) : null))));
  const opened = (query) => make("div", { class: "opened" },
    make("p", { class: "link" }, make("a", { href: `#q=${encodeURIComponent(query.id)}` }, "link to this query"),
      query.slice === undefined ? null : text(data.slices[query.slice], "span", { class: "slice" })),
    make("div", { class: "wide", tabindex: "0" }, table(query)),
    ...(query.needed ? [needed(query), make("div", { class: "systems" }, ...looked().map((system) => results(query, system)))]
      : [text("Judged documents and rankings of this query are not on this page.", "p", { class: "hint" })]));

  // Moving about.
  const go = (at) => {
    if (at < 0 || at >= state.shown.length) return;
    list.querySelectorAll("details[open]").forEach((other) => { other.open = false; });
    while (state.drawn <= at) draw();
    state.at = at;
    const element = list.children[at];
    if (element.childElementCount === 1) element.append(opened(element.query));
    element.open = true;
    element.firstChild.focus({ preventScroll: true });
    element.scrollIntoView({ block: "start" });
  };
  const follow = () => {
    if (!location.hash.startsWith("#q=")) return;
    let id;
    try { id = decodeURIComponent(location.hash.slice(3)); } catch { return; }
    let at = state.shown.findIndex((query) => query.id === id);
    if (at < 0 && queries.some((query) => query.id === id)) {
      Object.assign(chosen, { filter: "all", reason: "", slice: "", words: "" });
      controls();
      update();
      at = state.shown.findIndex((query) => query.id === id);
    }
    go(at);
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape" && event.target === box) { box.value = ""; chosen.words = ""; update(); box.blur(); return; }
    if (/^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) return;
    if (event.key === "j" || event.key === "n") go(state.at + 1);
    else if (event.key === "k" || event.key === "p") go(state.at - 1);
    else if (event.key === "/") { box.focus(); event.preventDefault(); }
  });
  window.addEventListener("hashchange", follow);

  const list = make("div", { class: "list" });
  const more = make("button", { type: "button", class: "more" }, "more queries");
  more.addEventListener("click", draw);
  if ("IntersectionObserver" in window) new IntersectionObserver((seen) => { if (seen.some((one) => one.isIntersecting) && !more.hidden) draw(); }).observe(more);
  const count = make("p", { class: "count", role: "status" });
  const box = make("input", { type: "search", placeholder: "search in queries and texts", "aria-label": "search" });
  let waiting = 0;
  box.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(() => { chosen.words = box.value; update(); }, 150); });
  const fields = make("div");
  const panel = make("details", { class: "controls" }, make("summary", {}, "Filter and sort"), fields);
  panel.open = window.matchMedia("(min-width: 40rem)").matches; // on a phone they would fill the screen
  const controls = () => {
    box.value = chosen.words;
    const set = (name) => (value) => { chosen[name] = value; heads(); update(); };
    const setNumber = (name) => (value) => { state[name] = Number(value); heads(); update(); };
    fields.replaceChildren(...[
      pair ? select("first", numbered(systems), String(state.a), setNumber("a")) : null,
      pair ? select("second", numbered(systems), String(state.b), setNumber("b")) : null,
      select("metric", numbered(metrics), String(state.metric), setNumber("metric")),
      select("order", orders, chosen.order, set("order")),
      select("show", filters, chosen.filter, set("filter")),
      select("outcome", [["", "all outcomes"], ...data.reasons.map((kind) => [String(kind), kinds[kind]])], chosen.reason, set("reason")),
      data.slices.length ? select("slice", [["", "all slices"], ...numbered(data.slices)], chosen.slice, set("slice")) : null,
      make("label", {}, make("span", {}, "search"), box),
    ].filter(Boolean));
    heads();
  };
  // The heads of the columns sort the list: each turns between its two orders.
  const head = make("thead");
  const heads = () => {
    const columns = pair
      ? [["query", "given", "given"], [systems[state.a], "a", "a_down"], [systems[state.b], "b", "b_down"], ["difference", "worse", "better"]]
      : [["query", "given", "given"], [metrics[state.metric], "a", "highest"]];
    head.replaceChildren(make("tr", {}, ...columns.map(([name, up, down]) => {
      const button = text(name, "button", { type: "button" });
      button.addEventListener("click", () => {
        chosen.order = chosen.order === up ? down : up;
        controls();
        update();
        [...head.querySelectorAll("button")][columns.findIndex((column) => column[0] === name)].focus();
      });
      const sorted = chosen.order === up ? "ascending" : chosen.order === down ? "descending" : "none";
      return make("th", { scope: "col", "aria-sort": sorted }, button);
    })));
  };
  root.replaceChildren(panel, make("p", { class: "hint" }, "Keys: j next query, k previous query, / search, Esc clears the search."), count,
    make("table", { class: "heads", "aria-label": "order of the queries" }, head), list, more);
  controls();
  update();
  follow();
})();
