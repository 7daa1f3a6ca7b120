// The answers that a browser keeps: a record for each, with its grader, its rubric and its time; and the file that
// holds them, out and in. Records are added and never replaced, in one step without reading first: what was asked for
// is then done even if the page is left at once, no page can write over what another wrote, and the latest holds.
// IndexedDB and not localStorage: a page that opens while the browser is busy may get a localStorage that keeps nothing
// and shows nothing, and cannot notice it.
"use strict";

const isAnswer = (one, item, data) => {
  const graded = one?.grade === undefined || one.grade === null || data.scale.grades.includes(one.grade);
  const parts = one?.quotes;
  return Number.isFinite(one?.time) && graded && Array.isArray(parts) && parts.every((part, at) =>
    Array.isArray(part) && part.length === 2 && part.every(Number.isInteger) && part[0] < part[1]
    && part[0] >= (at ? parts[at - 1][1] : 0) && part[1] <= item.text.length);
};

// What is kept; where the browser keeps nothing, `keeps` is false and everything else does nothing.
const openStore = async (data, items, changed) => {
  const ANSWERS = "answers";
  const of = new Map(items.map((item) => [item.key, item]));
  const done = (request) => new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = request.onblocked = () => reject(request.error);
  });
  let base = null, channel = null;
  try {
    const request = indexedDB.open(`${data.file.format} ${data.file.kind}`, 1);
    request.onupgradeneeded = () => {
      request.result.createObjectStore(ANSWERS, { keyPath: ["rubric", "grader", "item", "time"] });
    };
    base = await done(request);
    channel = new BroadcastChannel(`${data.file.format} ${data.file.kind}`);
    channel.onmessage = () => changed();
  } catch { /* said by `keeps` */ }
  const held = async (...known) => {
    if (!base) return [];
    const range = IDBKeyRange.bound([data.rubric_key, ...known], [data.rubric_key, ...known, []]);
    return (await done(base.transaction(ANSWERS).objectStore(ANSWERS).getAll(range))).filter((one) => of.has(one.item));
  };
  // The latest answer to each passage, and the records after it, or without one, that are no answers.
  const latest = (records) => {
    const answers = new Map(), damaged = [];
    const sound = (one) => isAnswer(one, of.get(one.item), data);
    for (const one of records) if (sound(one)) answers.set(one.item, one); // in the order of time
    for (const one of records) if (!sound(one) && !(answers.get(one.item)?.time > one.time)) damaged.push(one);
    for (const one of damaged) answers.delete(one.item);
    return { answers, damaged };
  };
  const store = {
    keeps: base !== null,
    // Who graded something of this page under this rubric, and how much.
    graders: async () => {
      const found = new Map();
      for (const one of await held()) found.set(one.grader, [...found.get(one.grader) ?? [], one]);
      for (const [grader, records] of found) found.set(grader, [...latest(records).answers.values()].filter((one) => one.grade !== undefined).length);
      return found;
    },
    read: async (grader) => latest(await held(grader)),
    add: async (records) => {
      if (!base) return;
      try {
        const transaction = base.transaction(ANSWERS, "readwrite");
        for (const record of records) transaction.objectStore(ANSWERS).put(record);
        transaction.commit();
        await new Promise((resolve, reject) => {
          transaction.oncomplete = resolve;
          transaction.onerror = transaction.onabort = () => reject(transaction.error);
        });
        channel?.postMessage(0);
      } catch { store.keeps = false; changed(); }
    },
  };
  return store;
};

const digestOf = async (text) => {
  const bytes = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return [...new Uint8Array(bytes)].map((one) => one.toString(16).padStart(2, "0")).join("");
};

const counted = (n, one, more) => `${n} ${n === 1 ? one : more}`;

// The file: what `load` reads as Labels, and in `passages` the key of each one's passage, by which a page knows it.
const fileOf = async (data, items, name, answerOf, damaged) => {
  const labels = [], passages = [];
  for (const item of items) {
    const one = answerOf(item);
    if (one?.grade === undefined) continue;
    const label = { grade: one.grade, grader: name, ...data.label, date: new Date(one.time).toISOString() };
    if (one.grade === null) label.reason = "cannot tell";
    const quotes = one.quotes.map(([from, to]) => item.text.slice(from, to));
    if (quotes.length) label.quotes = [...new Set(quotes)];
    // The ids are JSON already: as numbers of this language, those above 2^53 would be others.
    labels.push(`{"query": ${item.query}, "document": ${item.document}, ${JSON.stringify(label).slice(1)}`);
    passages.push(item.key);
  }
  const notes = damaged.map((one) => `an answer that could not be read: ${JSON.stringify(one)}`);
  const head = { ...data.file, written: { date: new Date().toISOString() }, notes, scale: data.scale, passages };
  const text = `${JSON.stringify(head).slice(0, -1)},\n"labels": [\n${labels.join(",\n")}\n]`;
  return globalThis.crypto?.subtle ? `${text}${data.digest}${await digestOf(text)}"\n}\n` : `${text}}\n`;
};

// The answers in such a file, with its grader; an Error in words if it is not one of this page, whatever it holds.
const answersIn = async (written, called, data, items) => {
  const refuse = (why) => { throw new Error(`${called} was not imported: ${why}. Nothing was changed.`); };
  const text = written.replaceAll("\r\n", "\n"), end = text.lastIndexOf(data.digest);
  if (end >= 0 && globalThis.crypto?.subtle && text.slice(end + data.digest.length).split('"')[0] !== await digestOf(text.slice(0, end))) {
    refuse("it is damaged, or was changed after it was exported");
  }
  let held;
  try { held = JSON.parse(text); } catch { refuse("it is not a file that this page exported"); }
  const { labels, passages } = held ?? {};
  if (held?.format !== data.file.format || held.kind !== data.file.kind || !Array.isArray(labels) || !Array.isArray(passages)
      || passages.length !== labels.length) refuse("it is not a file that this page exported");
  if (held.version > data.file.version) refuse("a newer version of the page wrote it");
  if (!labels.length) refuse("it holds no grades");
  const names = [...new Set(labels.map((one) => one?.grader))];
  if (names.length !== 1 || typeof names[0] !== "string" || !names[0].trim()) refuse("it does not hold the grades of one person");
  const of = new Map(items.map((item) => [item.key, item]));
  const here = passages.filter((key) => of.has(key)).length;
  if (!here) refuse(`its ${counted(labels.length, `grade by ${names[0]} belongs`, `grades by ${names[0]} belong`)} to other questions or passages than those of this page`);
  const scale = JSON.stringify([held.scale?.grades, held.scale?.relevant_from]);
  if (scale !== JSON.stringify([data.scale.grades, data.scale.relevant_from]) || labels.some((one) => one.prompt !== data.label.prompt)) {
    refuse("its grades were given under another rubric");
  }
  const records = labels.flatMap((one, at) => {
    const item = of.get(passages[at]), time = Date.parse(one.date);
    if (!item) return [];
    const quotes = (Array.isArray(one.quotes) ? one.quotes : []).map((words) => {
      const from = item.text.indexOf(words);
      if (typeof words !== "string" || from < 0) refuse(`the highlighted text of grade ${at + 1} is not in its passage`);
      return [from, from + words.length];
    }).sort((first, second) => first[0] - second[0]);
    const apart = quotes.filter(([from], place) => !place || from >= quotes[place - 1][1]);
    const record = { rubric: data.rubric_key, grader: names[0], item: item.key, grade: one.grade, quotes: apart, time };
    if (one.grade === undefined || !isAnswer(record, item, data)) refuse(`its grade ${at + 1} is ${JSON.stringify(one.grade)} of ${one.date}`);
    return [record];
  });
  return { grader: names[0], records, elsewhere: labels.length - here };
};
