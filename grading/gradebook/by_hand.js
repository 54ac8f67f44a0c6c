/* What nbgrader's formgrader needs to be told to show one question at a time. */

// The page has no Bootstrap, no MathJax, as formulas are their source, and no script to fit a field.
const autosize = () => {};
$.fn.tooltip = function () { return this; };
var MathJax = { Hub: { Startup: { signal: { Interest() {} } } } };

// Going back shows what is in the gradebook now.
$.ajaxSetup({ cache: false });

const fields = document.getElementById("fields");
const saved = document.getElementById("saved");
let lost = false;

FormGrader.prototype.navigateTo = (where) =>
  `${base_url}/submissions/${submission_id}/${where}?question=${encodeURIComponent(question)}`;
FormGrader.prototype.scrollToLastSelected = () => {};

// Nobody leaves before what was entered is saved.
FormGrader.prototype.save = function (leave) {
  if (fields.contains(document.activeElement)) document.activeElement.blur();
  const wait = () => {
    if ($.active) setTimeout(wait, 20);
    else if (!lost) leave();
  };
  wait();
};

// What the gradebook holds comes first; then there is something to change.
$(document).one("ajaxStop", () => {
  fields.disabled = false;
  const comment = fields.querySelector(".comment");
  if (/MathJax/.test(comment.placeholder)) comment.placeholder = "A comment for the student: plain text, with `code`";
  fields.querySelector(".score").select();
});
$(document).on("ajaxSend", (event, request, settings) => {
  if (settings.type === "PUT") saved.textContent = "Saving …";
});
$(document).on("ajaxSuccess", (event, request, settings) => {
  if (settings.type === "PUT") { lost = false; saved.textContent = "Saved"; }
});
$(document).on("ajaxError", () => {
  lost = true;
  saved.textContent = "Not saved. Is the server still running, and was this not graded again?";
});

// The field keeps the focus, so that leaving it is what saves.
for (const [id, go] of [["next", "nextAssignment"], ["previous", "prevAssignment"]]) {
  const link = document.getElementById(id);
  link.addEventListener("mousedown", (event) => event.preventDefault());
  link.addEventListener("click", (event) => {
    event.preventDefault();
    formgrader[go]();
  });
}
for (const link of document.querySelectorAll("a.leave")) {
  link.addEventListener("mousedown", (event) => event.preventDefault());
  link.addEventListener("click", (event) => {
    event.preventDefault();
    formgrader.save(() => { window.location = link.href; });
  });
}

$(window).on("load", () => formgrader.keyboard_manager.register({
  handler: () => {
    if (next_waiting) formgrader.save(() => { window.location = next_waiting; });
    else formgrader.nextAssignment();
  },
  keybinding: "control-enter",
}));

// What is folded for one student is folded for the next.
for (const each of document.querySelectorAll("details[id]")) {
  const key = `${assignment_id}/${question}/${each.id}`;
  each.open = (localStorage[key] ?? String(each.open)) === "true";
  each.addEventListener("toggle", () => { localStorage[key] = each.open; });
}
