// What the reader predicted and recalled, by page, kept in the browser. A question that was known
// comes again after more days each time, one that was not after one.

const KEY = "why-divide-by-root-dk.memory";
const DAYS = [1, 4, 14, 45];
const DAY = 24 * 60 * 60 * 1000;
const root = new URL(document.documentElement.dataset.content_root, location.href);
const own = decodeURI(location.pathname.slice(root.pathname.length));

/** What is kept, {} where that makes no sense, null where nothing can be kept. */
const read = () => {
  try {
    const kept = JSON.parse(localStorage.getItem(KEY) ?? "{}");
    return kept && typeof kept === "object" ? kept : {};
  } catch (error) {
    return error instanceof SyntaxError ? {} : null;
  }
};

/** Change what is kept of this page, and return it. */
const change = (alter) => {
  const kept = read() ?? {};
  const title = document.querySelector("h1 .headerlink")?.previousSibling.textContent ?? own;
  const page = { predicted: {}, recalled: {}, ...kept[own], title };
  alter(page);
  try {
    localStorage.setItem(KEY, JSON.stringify({ ...kept, [own]: page }));
  } catch {
    // a full or locked store: nothing is remembered
  }
};

const forms = [...document.querySelectorAll("form.prediction")];
const showTally = () => {
  const answers = Object.values(read()?.[own]?.predicted ?? {});
  const note = document.querySelector(".recall-note");
  if (note && answers.length) {
    let tally = document.querySelector(".tally");
    if (!tally) {
      tally = Object.assign(document.createElement("p"), { className: "tally" });
      note.before(tally);
    }
    tally.textContent = `You predicted ${answers.filter((right) => right).length} of ` +
      `${answers.length} right, of ${forms.length} on this page.`;
  }
};
document.addEventListener("predicted", ({ target, detail }) => {
  const place = forms.indexOf(target);
  change(({ predicted }) => { predicted[place] ??= detail === "right"; }); // the first answer counts
  showTally();
});

document.querySelectorAll("details.recall").forEach((box, place) => {
  const said = document.createElement("p");
  said.className = "recall-answer";
  const button = (words, next) => {
    const made = Object.assign(document.createElement("button"), { type: "button" });
    made.textContent = words;
    made.addEventListener("click", () => {
      change(({ recalled }) => {
        const level = next(recalled[place]?.level ?? -1);
        recalled[place] = { level, due: Date.now() + DAYS[level] * DAY };
        said.lastChild.textContent = ` Again in ${DAYS[level]} ${level ? "days" : "day"}.`;
      });
    });
    return made;
  };
  said.append(button("I knew it", (level) => Math.min(level + 1, DAYS.length - 1)),
    button("Not yet", () => 0), document.createElement("span"));
  said.lastChild.setAttribute("aria-live", "polite");
  box.append(said);
});

const due = Object.entries(read() ?? {}).flatMap(([page, { title, recalled = {} }]) => {
  const count = Object.values(recalled).filter((one) => one.due <= Date.now()).length;
  return count ? [[page, title, count]] : [];
});
const list = document.querySelector(".chapter-list");
if (list && due.length) {
  const room = Object.assign(document.createElement("p"), { className: "recall-due" });
  list.before(room);
  room.append("Due for review: ", ...due.flatMap(([page, title, count], place) => {
    const link = Object.assign(document.createElement("a"), { href: `${page}#recall` });
    link.textContent = `${title} (${count})`;
    return place ? [", ", link] : [link];
  }));
}
showTally();
