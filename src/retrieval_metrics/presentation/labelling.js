// The page on which a person grades passages: by keys, kept in the browser, exported as a file.
// Whatever comes from the data becomes text, never HTML.
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const root = document.getElementById("labelling");
  const items = data.questions.flatMap((question, at) => question.passages.map((passage) => ({
    ...passage, question: at, id: JSON.stringify([question.query, passage.document]),
  })));
  // answers: by the id of the item {grade, quotes, date, time}, grade null for "cannot tell", undefined for none; skipped:
  // ids of items. The browser keeps the answers of each name apart; those before a name is given belong to whoever gives it.
  const empty = () => ({ at: 0, list: false, answers: {}, skipped: [], past: [] });
  const MOST_UNDONE = 200;

  let keeps = true;
  const kept = () => {
    try { return { last: "", people: {}, ...JSON.parse(localStorage.getItem(data.key) || "{}") }; }
    catch { keeps = false; return { last: "", people: {} }; }
  };
  const state = { name: kept().last, ...empty() };
  // Every tab writes, so that of each answer the latest holds, whichever tab gave it.
  const merge = (answers) => {
    for (const [id, one] of Object.entries(answers ?? {})) {
      if (!state.answers[id] || state.answers[id].time < one.time) state.answers[id] = one;
    }
  };
  const open = (name) => {
    Object.assign(state, empty(), kept().people[name], { name });
    state.at = Math.min(Math.max(0, state.at | 0), items.length - 1);
  };
  const keep = () => {
    const all = kept(), { name, ...own } = state;
    merge(all.people[name]?.answers);
    all.people[name] = own;
    all.last = name;
    try { localStorage.setItem(data.key, JSON.stringify(all)); keeps = true; }
    catch { keeps = false; }
  };
  const called = (name) => {
    if (name === state.name) return;
    keep();
    if (state.name) { open(name); say(`These are the grades of ${name || "nobody"}.`); return; }
    const before = graded(), all = kept();
    delete all.people[""];
    try { localStorage.setItem(data.key, JSON.stringify(all)); } catch { keeps = false; }
    state.name = name;
    keep();
    if (graded() !== before) draw();
  };
  open(state.name);

  const make = (tag, attributes, ...children) => {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) if (value !== null) element.setAttribute(name, value);
    element.append(...children.filter((child) => child !== null && child !== undefined));
    return element;
  };
  const button = (key, words, action, attributes = {}) => {
    const element = make("button", { type: "button", ...attributes }, make("kbd", {}, key), " " + words);
    element.addEventListener("click", action);
    return element;
  };

  // What was done.
  const answer = (at) => state.answers[items[at].id];
  const isSkipped = (at) => state.skipped.includes(items[at].id);
  const unskip = (at) => { state.skipped = state.skipped.filter((id) => id !== items[at].id); };
  const graded = () => Object.values(state.answers).filter((one) => one.grade !== undefined).length;
  const isOpen = (at) => answer(at)?.grade === undefined;
  const remember = (at) => {
    state.past.push({ id: items[at].id, answer: answer(at) ?? null, skipped: isSkipped(at) });
    if (state.past.length > MOST_UNDONE) state.past.shift();
  };
  const next = (from) => {
    const order = items.map((_, at) => (from + 1 + at) % items.length);
    return order.find((at) => isOpen(at) && !isSkipped(at)) ?? order.find(isOpen) ?? from;
  };
  const finished = () => graded() === items.length;

  const give = (grade) => {
    const at = state.at;
    remember(at);
    state.answers[items[at].id] = { quotes: [], ...answer(at), grade, date: new Date().toISOString().slice(0, 10), time: Date.now() };
    unskip(at);
    state.at = next(at);
    say(finished() ? "Everything is graded: export it now." : "");
  };
  const skip = () => {
    const at = state.at;
    remember(at);
    if (!isSkipped(at) && isOpen(at)) state.skipped.push(items[at].id);
    state.at = next(at);
    say("Skipped; it comes again at the end.");
  };
  const undo = () => {
    const last = state.past.pop();
    if (!last) return say("There is nothing to undo.");
    state.answers[last.id] = { ...last.answer, time: Date.now() };
    state.at = items.findIndex((item) => item.id === last.id);
    unskip(state.at);
    if (last.skipped) state.skipped.push(last.id);
    say("Undone.");
  };
  const move = (by) => { state.at = Math.min(Math.max(0, state.at + by), items.length - 1); say(""); };
  const toggle = () => { state.list = !state.list; say(""); };

  // Marked words: where they stand in the text, so that they are the words of the passage to the letter.
  const mark = () => {
    const selection = getSelection();
    const holder = root.querySelector(".passage.current .text");
    if (!selection.rangeCount || selection.isCollapsed || !holder) return say("Select the words that answer, then mark them.", true);
    const range = selection.getRangeAt(0);
    if (!holder.contains(range.startContainer) || !holder.contains(range.endContainer)) {
      return say("Select words of the passage that is being graded.", true);
    }
    const before = document.createRange();
    before.setStart(holder, 0);
    before.setEnd(range.startContainer, range.startOffset);
    let start = before.toString().length;
    let end = start + range.toString().length;
    const text = items[state.at].text;
    while (start < end && /\s/.test(text[start])) start += 1;
    while (start < end && /\s/.test(text[end - 1])) end -= 1;
    if (start === end) return say("Select the words that answer, then mark them.", true);
    remember(state.at);
    const held = answer(state.at) ?? {};
    const others = (held.quotes ?? []).filter(([from, to]) => to <= start || from >= end);
    state.answers[items[state.at].id] = { ...held, quotes: [...others, [start, end]].sort((one, other) => one[0] - other[0]), time: Date.now() };
    selection.removeAllRanges();
    say("Marked.");
  };
  const unmark = () => {
    if (!answer(state.at)?.quotes?.length) return say("Nothing is marked here.");
    remember(state.at);
    state.answers[items[state.at].id] = { ...answer(state.at), quotes: [], time: Date.now() };
    say("The marks are gone.");
  };

  const exported = () => {
    const labels = [];
    items.forEach((item, at) => {
      const one = answer(at);
      if (!one || one.grade === undefined) return;
      const label = { grade: one.grade, by: state.name, kind: "person", prompt: data.prompt, date: one.date };
      if (one.grade === null) label.reason = "cannot tell";
      const quotes = (one.quotes || []).map(([from, to]) => item.text.slice(from, to));
      if (quotes.length) label.quotes = [...new Set(quotes)];
      // The ids are JSON already: as numbers of this language, those above 2^53 would be others.
      labels.push(`{"query": ${data.questions[item.question].query}, "document": ${item.document}, ${JSON.stringify(label).slice(1)}`);
    });
    const head = { format: data.format, version: data.version, kind: "labels", written: { date: new Date().toISOString() }, notes: [], scale: data.scale };
    return `${JSON.stringify(head).slice(0, -1)},\n"labels": [\n${labels.join(",\n")}\n]}\n`;
  };
  const save = () => {
    if (!state.name) {
      say("Write your name first, so that it is known whose grades these are.", true);
      root.querySelector("#name").focus();
      return;
    }
    if (!graded()) return say("Nothing is graded yet.", true);
    const url = URL.createObjectURL(new Blob([exported()], { type: "application/json" }));
    const link = make("a", { href: url, download: `labels-${state.name.replace(/[^\p{L}\p{N}]+/gu, "-")}.json` });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(url), 10000);
    say(`${graded()} grades were exported. They stay here, too.`);
  };

  // What is seen.
  let message = "", wrong = false;
  const say = (words, isWrong = false) => { message = words; wrong = isWrong; keep(); draw(); };
  const gradeWords = (grade) => (grade === null ? "cannot tell" : `grade ${grade}`);

  const passage = (at) => {
    const item = items[at], one = answer(at), text = make("div", { class: "text", dir: "auto" });
    let from = 0;
    for (const [start, end] of one?.quotes ?? []) {
      text.append(item.text.slice(from, start), make("mark", {}, item.text.slice(start, end)));
      from = end;
    }
    text.append(item.text.slice(from));
    const states = make("div", { class: "state" });
    if (one?.grade !== undefined) states.append(make("span", { class: "given" }, gradeWords(one.grade)));
    else if (isSkipped(at)) states.append(make("span", {}, "skipped"));
    const element = make("article", { class: at === state.at ? "passage current" : "passage", "data-at": at }, states, text);
    if (at !== state.at) element.addEventListener("click", () => { if (getSelection().isCollapsed) { state.at = at; say(""); } });
    return element;
  };

  const bar = () => {
    const name = make("input", { id: "name", value: state.name, autocomplete: "name", placeholder: "your name" });
    name.addEventListener("change", () => called(name.value.trim()));
    const count = graded(), skipped = state.skipped.length;
    return make("div", { class: "bar-of-page" },
      make("label", {}, "Graded by", name),
      make("div", { class: "done" },
        make("progress", { max: items.length, value: count, "aria-label": "graded" }),
        make("span", {}, `${count} of ${items.length}${skipped ? `, ${skipped} skipped` : ""}`)),
      button("e", "export", save, { id: "export" }));
  };
  const dock = () => {
    const given = answer(state.at)?.grade;
    const rubric = make("div", { class: "rubric", role: "group", "aria-label": "grade" },
      ...data.rubric.map((meaning, grade) => button(String(grade), meaning, () => give(grade), { "aria-pressed": String(given === grade) })));
    return make("div", { class: "dock" },
      make("div", { class: wrong ? "said wrong" : "said", role: "status" }, keeps ? message : `This browser keeps nothing: export before you leave. ${message}`),
      rubric,
      make("div", { class: "more-keys" },
        button("c", "cannot tell", () => give(null), { "aria-pressed": String(given === null) }),
        button("s", "skip", skip), button("u", "undo", undo),
        button("m", "mark the selected words", mark), button("x", "remove marks", unmark),
        button("←", "back", () => move(-1)), button("→", "on", () => move(1)),
        button("l", state.list ? "one at a time" : "all of this question", toggle)));
  };

  let drawn = null; // what was drawn last, so that the page stays where it is while one passage is graded
  const draw = () => {
    const height = scrollY;
    const typing = document.activeElement?.id === "name";
    const caret = typing ? document.activeElement.selectionStart : null;
    const here = items[state.at].question, question = data.questions[here];
    const shown = items.map((_, at) => at).filter((at) => (state.list ? items[at].question === here : at === state.at));
    const place = items.slice(0, state.at).filter((item) => item.question === here).length + 1;
    root.replaceChildren(bar(),
      make("p", { class: "question", dir: "auto" }, question.text),
      make("p", { class: "hint" }, `question ${here + 1} of ${data.questions.length}, passage ${place} of ${question.passages.length}`),
      ...shown.map(passage), dock());
    if (typing) { const name = root.querySelector("#name"); name.focus(); name.setSelectionRange(caret, caret); }
    document.documentElement.style.scrollPaddingBottom = `${root.querySelector(".dock").offsetHeight + 12}px`;
    document.documentElement.style.scrollPaddingTop = `${root.querySelector(".question").offsetHeight + 12}px`;
    const now = `${state.at} ${state.list}`;
    scrollTo(0, drawn === now || state.list ? height : 0);
    if (drawn !== now && state.list) root.querySelector(".passage.current").scrollIntoView({ block: "nearest" });
    drawn = now;
  };

  const keys = { c: () => give(null), s: skip, u: undo, m: mark, x: unmark, l: toggle, e: save, ArrowLeft: () => move(-1), ArrowRight: () => move(1) };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (event.target.id === "name") { if (event.key === "Enter" || event.key === "Escape") event.target.blur(); return; }
    const grade = data.rubric.findIndex((_, at) => event.key === String(at));
    const action = grade >= 0 ? () => give(grade) : keys[event.key];
    if (!action || event.repeat) return;
    event.preventDefault();
    action();
  });
  addEventListener("storage", (event) => {
    if (event.key !== data.key) return;
    merge(kept().people[state.name]?.answers);
    if (document.activeElement?.id !== "name") draw();
  });
  addEventListener("beforeunload", (event) => { if (!keeps && graded()) event.preventDefault(); });
  keep();
  draw();
})();
