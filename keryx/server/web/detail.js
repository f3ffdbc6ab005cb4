// One task, opened: what came of it, its progress, its report, what it cost, and what can be done with it.

import { Problem, requestName } from "./api.js";
import { make, say } from "./dom.js";
import { agentName, cost, exactly, hasEnded, howLong, moment, tokens } from "./words.js";

const LINES_SHOWN = 6;
const WENT = {
  steered: "Passed on: the agent has it now.",
  next: "Kept: the agent does it next.",
  refused: "Kept: the agent takes nothing in just now, and does it next.",
  "taken up": "Passed on: the task is running again.",
};

export class Detail {
  constructor(task, api, onLeave) {
    this.task = task;
    this.api = api;
    this.lines = [];
    this.summary = make("p", { class: "summary" });
    this.heard = make("p", { class: "heard" });
    this.description = make("p", { class: "description" });
    this.progressList = make("ol", { class: "progress" });
    this.more = make("button", { type: "button", class: "plain-button more", onclick: () => this.#showAll() });
    this.report = make("article", { class: "report" });
    this.facts = make("dl", { class: "facts" });
    this.note = make("p", { class: "note", role: "status" });
    this.progressPart = part("Progress", this.more, this.progressList);
    this.reportPart = part("Report", this.report);
    this.#makeForm();
    this.#makeCancel();
    this.letGo = make("button", { type: "button", class: "plain-button", onclick: () => this.#carryOut() }, "Carry out this plan");
    this.element = make(
      "div",
      { class: "detail", id: `task-${task.id}`, role: "group", "aria-label": `Task ${task.id}`, hidden: true },
      this.description,
      this.summary,
      this.heard,
      this.progressPart,
      this.reportPart,
      this.facts,
      this.letGo,
      this.form,
      this.note,
      this.cancelling,
    );
    this.element.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      event.stopPropagation();
      onLeave();
    });
    this.update(task);
    this.#showLines();
    this.reportPart.hidden = true;
  }

  update(task) {
    this.task = { ...this.task, ...task };
    say(this.description, task.description);
    say(this.summary, task.summary ?? task.error ?? "");
    this.summary.hidden = !(task.summary || task.error);
    this.#showHeard();
    this.#showFacts();
    this.cancelling.hidden = hasEnded(task);
    this.letGo.hidden = !(task.mode === "plan" && task.status === "done");
    say(this.label, hasEnded(task) ? "Follow up, and it runs again" : "Add something while it works");
  }

  progress(line) {
    if (this.lines.some((known) => known.offset === line.offset)) return;
    this.lines.push(line);
    this.#showLines();
  }

  setUnheard(unheard) {
    this.unheard = unheard;
    this.#showHeard();
  }

  async refresh() {
    if (this.element.hidden) return;
    try {
      const full = await this.api.task(this.task.id);
      this.lines = full.progress_lines;
      this.#showLines();
      this.reportPart.hidden = !full.report_html;
      // The daemon rendered and sanitised this; it is the only HTML that ever comes from outside.
      if (full.report_html && full.report_html !== this.shownReport) {
        this.report.innerHTML = full.report_html;
        leaveOutWhatStandsAbove(this.report);
      }
      this.shownReport = full.report_html;
      this.update(full);
    } catch (error) {
      this.#tell(error);
    }
  }

  /** The row shows the request in one line; it is repeated here only when that cut it off. */
  setCutOff(cutOff) {
    this.description.hidden = !cutOff;
  }

  answer() {
    this.input.focus();
    this.form.scrollIntoView({ block: "nearest" });
  }

  #showHeard() {
    const { told_at: told } = this.task;
    const words = this.unheard ? "Not yet heard" : told ? `Heard ${moment(told)}` : "";
    say(this.heard, words);
    this.heard.hidden = !words;
    this.heard.classList.toggle("fresh", Boolean(this.unheard));
  }

  #showLines() {
    const shown = this.all ? this.lines : this.lines.slice(-LINES_SHOWN);
    const hidden = this.lines.length - shown.length;
    this.progressPart.hidden = this.lines.length === 0;
    this.more.hidden = hidden === 0;
    say(this.more, `Show ${hidden} earlier`);
    this.progressList.replaceChildren(
      ...shown.map((line) =>
        make("li", {}, make("time", { datetime: line.at, title: exactly(line.at) }, moment(line.at)), make("span", {}, line.text)),
      ),
    );
  }

  #showAll() {
    this.all = true;
    this.#showLines();
  }

  #showFacts() {
    const { task } = this;
    const rows = [
      ["Agent", agentName(task.agent) + (task.model ? `, ${task.model}` : "")],
      ["Mode", task.mode],
      ["Project", task.project ?? "none"],
      ["Asked", moment(task.created_at)],
    ];
    if (task.started_at && task.finished_at) {
      rows.push(["Took", howLong(new Date(task.finished_at) - new Date(task.started_at))]);
    }
    rows.push(["Tokens", tokens(task.tokens)], ["Cost", cost(task.cost_usd)]);
    this.facts.replaceChildren(
      ...rows.map(([name, value]) => make("div", {}, make("dt", {}, name), make("dd", {}, value))),
    );
  }

  #makeForm() {
    const id = `follow-${this.task.id}`;
    this.input = make("textarea", { id, rows: 1, maxlength: 20000, required: true, enterkeyhint: "send" });
    this.label = make("label", { for: id });
    this.sendButton = make("button", { type: "submit" }, "Send");
    this.form = make(
      "form",
      { class: "follow", onsubmit: (event) => this.#follow(event) },
      this.label,
      make("div", { class: "field" }, this.input, this.sendButton),
    );
    this.input.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      this.form.requestSubmit();
    });
  }

  async #follow(event) {
    event.preventDefault();
    const text = this.input.value.trim();
    if (!text) return;
    // Kept until it is through, so that sending the same words again after a broken line does it once.
    if (this.request?.text !== text) this.request = { text, name: requestName() };
    this.sendButton.disabled = true;
    say(this.note, "");
    try {
      const { how, refused } = await this.api.followUp(this.task.id, text, this.request.name);
      this.input.value = "";
      this.request = null;
      say(this.note, WENT[refused ? "refused" : how] ?? "Passed on.");
    } catch (error) {
      this.#tell(error);
    } finally {
      this.sendButton.disabled = false;
    }
  }

  async #carryOut() {
    this.letGoRequest ??= requestName();
    this.letGo.disabled = true;
    try {
      await this.api.followUp(this.task.id, "Go ahead: carry out the plan.", this.letGoRequest, "auto");
      this.letGoRequest = null;
      this.input.focus();
      say(this.note, "Passed on: the task is running again, in auto mode.");
    } catch (error) {
      this.#tell(error);
    } finally {
      this.letGo.disabled = false;
    }
  }

  #makeCancel() {
    const ask = make("button", { type: "button", class: "plain-button danger", onclick: () => sure(true) }, "Cancel this task");
    const no = make("button", { type: "button", class: "plain-button", onclick: () => sure(false) }, "Keep it running");
    const yes = make("button", { type: "button", class: "plain-button danger", onclick: () => this.#cancel(sure) }, "Yes, cancel");
    const question = make(
      "div",
      { class: "sure", hidden: true, role: "group", "aria-label": "Cancel, are you sure?" },
      make("span", {}, `Cancel task ${this.task.id}?`),
      yes,
      no,
    );
    const sure = (asked) => {
      ask.hidden = asked;
      question.hidden = !asked;
      (asked ? no : ask).focus();
    };
    this.cancelling = make("div", { class: "cancelling" }, ask, question);
  }

  async #cancel(sure) {
    try {
      const task = await this.api.cancel(this.task.id);
      sure(false);
      this.input.focus();
      this.update(task);
      say(this.note, "Cancelled.");
    } catch (error) {
      sure(false);
      this.#tell(error);
    }
  }

  #tell(error) {
    if (!(error instanceof Problem)) throw error;
    say(this.note, error.message);
  }
}

/** The report repeats the request, the progress and the usage, which have places of their own here. */
function leaveOutWhatStandsAbove(report) {
  const sections = [[]];
  for (const element of report.children) {
    if (element.localName === "h4") sections.push([]);
    sections.at(-1).push(element);
  }
  const title = (section) => section[0]?.textContent ?? "";
  const result = sections.findIndex((section) => /^Result/.test(title(section)));
  const repeated = sections.filter(
    (section, index) =>
      index === 0 ||
      (index < result && ["Request", "Progress"].includes(title(section))) ||
      (index === sections.length - 1 && title(section) === "Usage"),
  );
  if (result > 0) repeated.flat().forEach((element) => element.remove());
}

function part(title, ...content) {
  const [first, ...rest] = content;
  const head = make("header", {}, make("h4", {}, title));
  if (rest.length) head.append(first);
  return make("section", { class: "part" }, head, ...(rest.length ? rest : [first]));
}
