// The page on which a person grades passages: by keys, kept in the browser, exported as a file and taken in again.
// Whatever comes from the data becomes text, never HTML.
(async () => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const root = document.getElementById("labelling");
  const items = data.questions.flatMap((question, at) => question.passages.map((passage) => ({
    ...passage, question: at, query: question.query,
  })));
  // answers: by the key of the item {grade, quotes, time}, grade null for "cannot tell", undefined for none.
  const state = { name: "", at: 0, list: false, answers: new Map(), damaged: [], skipped: new Set(), past: [] };
  const MOST_UNDONE = 200;
  const NAME = "#by="; // the name stands in the address: each tab has its own, and keeps it when it is loaded again

  const make = (tag, attributes, ...children) => {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) if (value !== null) element.setAttribute(name, value);
    element.append(...children);
    return element;
  };
  const button = (key, words, action, attributes = {}) => {
    const element = make("button", { type: "button", ...attributes }, ...(key ? [make("kbd", {}, key), " "] : []), words);
    element.addEventListener("click", action);
    return element;
  };

  // What was done.
  const answer = (at) => state.answers.get(items[at].key);
  const isOpen = (at) => answer(at)?.grade === undefined;
  const isSkipped = (at) => state.skipped.has(items[at].key) && isOpen(at);
  const count = (is) => items.filter((_, at) => is(at)).length;
  const graded = () => items.length - count(isOpen);
  const next = (from) => {
    const order = items.map((_, at) => (from + 1 + at) % items.length);
    return order.find((at) => isOpen(at) && !isSkipped(at)) ?? order.find(isOpen) ?? from;
  };
  const remember = (at) => {
    state.past.push({ at, answer: answer(at), skipped: state.skipped.has(items[at].key) });
    if (state.past.length > MOST_UNDONE) state.past.shift();
  };
  const put = (at, { grade, quotes = [] }) => {
    const time = Math.max(Date.now(), (answer(at)?.time ?? 0) + 1); // a clock can be set back
    const record = { rubric: data.rubric_key, grader: state.name, item: items[at].key, grade, quotes, time };
    state.answers.set(record.item, record);
    keep([record]);
  };
  // What is counted as graded is stored: until then it waits, and the browser asks before the page is left.
  const waiting = new Map();
  const keep = async (records) => {
    for (const one of records) waiting.set(one.item, one);
    await store.add(records);
    for (const one of records) if (waiting.get(one.item) === one) waiting.delete(one.item);
    tally();
  };
  // What somebody is asked for, before the first grade: how much, and how long at 200 words a minute.
  const LETTERS_A_MINUTE = 1200, MINUTES_TO_DECIDE = 1 / 20;
  const size = () => {
    const letters = [...data.questions, ...items].reduce((sum, one) => sum + one.text.length, 0);
    const minutes = letters / LETTERS_A_MINUTE + items.length * MINUTES_TO_DECIDE;
    const time = minutes > 90 ? `${Math.round(minutes / 30) / 2} hours` : minutes > 10 ? `${5 * Math.round(minutes / 5)} minutes`
      : counted(Math.ceil(minutes), "minute", "minutes");
    return `${counted(items.length, "passage", "passages")} for ${counted(data.questions.length, "question", "questions")}: about ${time}.`
      + (store.keeps ? " You can stop at any time; this browser keeps your grades. When you have finished, export them and send the file back." : "");
  };
  const gradeWords = (grade) => (grade === null ? "cannot tell" : `grade ${grade}`);

  const give = (grade) => {
    remember(state.at);
    put(state.at, { ...answer(state.at), grade });
    state.skipped.delete(items[state.at].key);
    state.at = next(state.at);
    say(graded() === items.length ? "All passages are graded: export them now." : `Saved: ${gradeWords(grade)}.`);
  };
  const skip = () => {
    remember(state.at);
    state.skipped.add(items[state.at].key);
    state.at = next(state.at);
    say("Skipped; it will reappear at the end.");
  };
  const undo = () => {
    const last = state.past.pop();
    if (!last) return say("There is nothing to undo.");
    state.at = last.at;
    put(last.at, last.answer ?? {});
    state.skipped[last.skipped ? "add" : "delete"](items[last.at].key);
    say("Undone.");
  };
  const move = (by) => { state.at = Math.min(Math.max(0, state.at + by), items.length - 1); say(""); };
  const toggle = () => { state.list = !state.list; say(""); };

  // Marked words: where they stand in the text, so that they are the words of the passage to the letter.
  const mark = () => {
    const selection = getSelection();
    const holder = root.querySelector(".passage.current .text");
    if (!selection.rangeCount || selection.isCollapsed) return say("Select the words that answer the question, then highlight them.", true);
    const range = selection.getRangeAt(0);
    if (!holder.contains(range.startContainer) || !holder.contains(range.endContainer)) {
      return say("Select words of the passage you are grading.", true);
    }
    const before = document.createRange();
    before.setStart(holder, 0);
    before.setEnd(range.startContainer, range.startOffset);
    let start = before.toString().length;
    let end = start + range.toString().length;
    const text = items[state.at].text;
    while (start < end && /\s/.test(text[start])) start += 1;
    while (start < end && /\s/.test(text[end - 1])) end -= 1;
    if (start === end) return say("Select the words that answer the question, then highlight them.", true);
    remember(state.at);
    const held = answer(state.at) ?? {};
    const others = (held.quotes ?? []).filter(([from, to]) => to <= start || from >= end);
    put(state.at, { ...held, quotes: [...others, [start, end]].sort((one, other) => one[0] - other[0]) });
    selection.removeAllRanges();
    say("Highlighted.");
  };
  const unmark = () => {
    if (!answer(state.at)?.quotes.length) return say("No highlights here.");
    remember(state.at);
    put(state.at, { ...answer(state.at), quotes: [] });
    say("Highlights removed.");
  };

  const save = async () => {
    if (!graded()) return say("No grades yet.", true);
    const text = await fileOf(data, items, state.name, (item) => state.answers.get(item.key), state.damaged);
    const url = URL.createObjectURL(new Blob([text], { type: "application/json" }));
    const link = make("a", { href: url, download: `labels-${state.name.replace(/[^\p{L}\p{N}]+/gu, "-")}.json` });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(url), 10000);
    say(`${counted(graded(), "grade was", "grades were")} exported. This page keeps them too.`);
  };
  const chosen = make("input", { type: "file", id: "file", accept: ".json,application/json", hidden: "", "aria-label": "an exported file" });
  const takeIn = () => chosen.click();
  chosen.addEventListener("change", async () => {
    const file = chosen.files[0];
    if (!file) return;
    try {
      const found = await answersIn(await file.text(), file.name, data, items);
      const mine = data.grader ?? state.name;
      if (mine && found.grader !== mine) throw new Error(`${file.name} holds the grades of ${found.grader}, and you are ${mine}. Nothing was changed.`);
      if (!state.name) await begin(found.grader);
      const later = found.records.filter((one) => !(state.answers.get(one.item)?.time > one.time));
      for (const one of later) state.answers.set(one.item, one);
      await keep(later);
      const kept = found.records.length - later.length;
      state.at = isOpen(state.at) ? state.at : next(state.at);
      say(`${counted(later.length, "grade was", "grades were")} imported from ${file.name}.${kept ? ` ${counted(kept, "was changed here later and is kept", "were changed here later and are kept")}.` : ""}`
        + `${found.elsewhere ? ` ${counted(found.elsewhere, "belongs", "belong")} to passages that are not on this page.` : ""}`);
    } catch (error) { if (state.name) say(error.message, true); else await ask(error.message); }
    chosen.value = "";
  });

  // Whose grades they are.
  const begin = async (name) => {
    const { answers, damaged } = await store.read(name);
    Object.assign(state, { name, answers, damaged, list: false, skipped: new Set(), past: [] });
    state.at = Math.max(0, items.findIndex((_, at) => isOpen(at)));
    location.replace(NAME + encodeURIComponent(name));
    root.replaceChildren(...page, chosen);
    drawn = null;
    const lost = damaged.length;
    say(lost ? `${counted(lost, "stored answer", "stored answers")} could not be read: please grade ${lost === 1 ? "it" : "them"} again. The stored ${lost === 1 ? "value is" : "values are"} exported as a note.` : graded() ? "" : size(), lost > 0);
  };
  const ask = async (why = "") => {
    state.name = "";
    location.replace(NAME);
    const known = await store.graders();
    const field = make("input", { id: "name", autocomplete: "name", required: "", maxlength: "100" });
    const form = make("form", { class: "who" }, make("label", { for: "name" }, "Your name"), field, make("button", { id: "begin" }, "Start"));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const name = field.value.trim().normalize();
      if (name) begin(name);
    });
    const others = [...known].map(([name, n]) => button("", `${name}: ${n} of ${items.length}`, () => begin(name)));
    root.replaceChildren(make("p", { class: "size" }, size()), form, make("p", { class: "said wrong", role: "alert" }, store.keeps ? why : KEEPS_NOTHING),
      ...(others.length ? [make("p", { class: "hint" }, "Graded here before:"), make("div", { class: "more-keys known" }, ...others)] : []),
      make("p", { class: "hint" }, "You see and export only your own grades. To continue with grades from another computer:"),
      make("div", { class: "more-keys" }, button("", "import an exported file", takeIn)), chosen);
    field.focus();
  };

  // What is seen: made once and then changed in place, so that the focus stays where it is and what is said is heard.
  const KEEPS_NOTHING = "This browser does not save grades: export them before you close the page.";
  const whose = make("span", { class: "whose" });
  const progress = make("progress", { max: items.length, "aria-label": "graded" }), done = make("span", {});
  const asked = make("p", { class: "question", dir: "auto" }), place = make("p", { class: "hint" });
  const passages = make("div", { class: "passages" }), said = make("div", { class: "said", role: "status" });
  const grades = data.rubric.map((meaning, grade) => button(String(grade), meaning, () => give(grade)));
  const cannot = button("c", "cannot tell", () => give(null)), toggled = button("l", "", toggle);
  const dock = make("div", { class: "dock" }, said,
    make("div", { class: "rubric", role: "group", "aria-label": "grade" }, ...grades),
    make("div", { class: "more-keys" }, cannot, button("s", "skip", skip), button("u", "undo", undo),
      button("←", "back", () => move(-1)), button("→", "next", () => move(1)), toggled,
      button("m", "highlight selection", mark), button("x", "remove highlights", unmark)));
  const page = [
    make("div", { class: "bar-of-page" }, whose,
      ...(data.grader ? [] : [button("", "switch grader", () => ask(), { id: "else" })]),
      make("div", { class: "done" }, progress, done),
      button("e", "export", save, { id: "export" }), button("i", "import", takeIn, { id: "import" })),
    asked, place, passages, dock,
  ];
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
    const element = make("article", { class: at === state.at ? "passage current" : "passage" }, states, text);
    if (at !== state.at) element.addEventListener("click", () => { if (getSelection().isCollapsed) { state.at = at; say(""); } });
    return element;
  };

  const tally = () => {
    const stored = count((at) => !isOpen(at) && !waiting.has(items[at].key)), skipped = count(isSkipped);
    progress.value = stored;
    done.textContent = `${stored} of ${items.length}${skipped ? `, ${skipped} skipped` : ""}`;
  };
  let drawn = null; // what was drawn last, so that the page stays where it is while one passage is graded
  const draw = () => {
    const height = scrollY;
    const here = items[state.at].question, question = data.questions[here], given = answer(state.at)?.grade;
    whose.textContent = `Graded by ${state.name}`;
    tally();
    asked.textContent = question.text;
    const number = items.slice(0, state.at).filter((item) => item.question === here).length + 1;
    place.textContent = `question ${here + 1} of ${data.questions.length}, passage ${number} of ${question.passages.length}`;
    const shown = items.map((_, at) => at).filter((at) => (state.list ? items[at].question === here : at === state.at));
    passages.replaceChildren(...shown.map(passage));
    grades.forEach((one, grade) => one.setAttribute("aria-pressed", String(given === grade)));
    cannot.setAttribute("aria-pressed", String(given === null));
    toggled.lastChild.textContent = state.list ? "one passage at a time" : "all passages of this question";
    document.documentElement.style.scrollPaddingBottom = `${dock.offsetHeight + 12}px`;
    document.documentElement.style.scrollPaddingTop = `${asked.offsetHeight + 12}px`;
    const now = `${state.at} ${state.list}`;
    scrollTo(0, drawn === now || state.list ? height : 0);
    if (drawn !== now && state.list) root.querySelector(".passage.current").scrollIntoView({ block: "nearest" });
    drawn = now;
  };
  const say = (words, wrong = false) => {
    said.textContent = store.keeps ? words : `${KEEPS_NOTHING} ${words}`;
    said.classList.toggle("wrong", wrong || !store.keeps);
    draw();
  };

  const keys = { c: () => give(null), s: skip, u: undo, m: mark, x: unmark, l: toggle, e: save, i: takeIn, ArrowLeft: () => move(-1), ArrowRight: () => move(1) };
  document.addEventListener("keydown", (event) => {
    if (!state.name || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    const grade = data.rubric.findIndex((_, at) => event.key === String(at));
    const action = grade >= 0 ? () => give(grade) : keys[event.key];
    if (!action || event.repeat) return;
    event.preventDefault();
    action();
  });
  // Another tab may have graded: of each answer the later holds.
  const refresh = async () => {
    const name = state.name;
    if (!name) return;
    const { answers } = await store.read(name);
    if (name !== state.name) return;
    for (const [key, one] of answers) if (!(state.answers.get(key)?.time >= one.time)) state.answers.set(key, one);
    if (!store.keeps) say(""); else if (getSelection().isCollapsed) draw();
  };
  addEventListener("visibilitychange", () => { if (!document.hidden) refresh(); });
  addEventListener("beforeunload", (event) => { if (waiting.size || (!store.keeps && graded())) event.preventDefault(); });
  const store = await openStore(data, items, refresh);
  const held = location.hash.startsWith(NAME) ? decodeURIComponent(location.hash.slice(NAME.length)) : "";
  const name = data.grader ?? held;
  if (name) await begin(name); else await ask();
})();
