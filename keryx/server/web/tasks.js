// The list of tasks, live; one line each, opened in place.

import { Detail } from "./detail.js";
import { icon, make, say } from "./dom.js";
import { agentName, exactly, STATES, tally, taskTime } from "./words.js";

const CLOCK_MS = 5000;

export class TaskList {
  constructor({ list, none, tally, asking }, api) {
    Object.assign(this, { list, none, counted: tally, asking, api });
    this.rows = new Map();
    this.untold = new Map();
    setInterval(() => this.rows.forEach((row) => row.showTime()), CLOCK_MS);
  }

  snapshot({ tasks, untold }) {
    const current = new Set(tasks.map((task) => task.id));
    for (const [id, row] of this.rows) {
      if (!current.has(id)) {
        row.element.remove();
        this.rows.delete(id);
      }
    }
    this.untold = new Map(untold.map((news) => [news.id, news]));
    tasks.forEach((task) => this.task(task));
    this.rows.forEach((row) => row.detail?.refresh());
    this.#showNews();
  }

  task(task) {
    const row = this.rows.get(task.id);
    if (row) row.update(task);
    else this.#add(task);
    this.#settle(task);
    this.#showTally();
  }

  /** A question is settled once its task works again, and nothing is told of a cancelled task. */
  #settle(task) {
    const settled = [...this.untold.values()].filter(
      (news) =>
        news.task_id === task.id &&
        (task.status === "cancelled" || (news.kind === "question" && ["queued", "running"].includes(task.status))),
    );
    settled.forEach((news) => this.untold.delete(news.id));
    if (settled.length) this.#showNews();
  }

  progress(line) {
    this.rows.get(line.task_id)?.progress(line);
  }

  news(news) {
    this.untold.set(news.id, news);
    this.#showNews();
  }

  told({ news_ids: ids }) {
    ids.forEach((id) => this.untold.delete(id));
    this.#showNews();
  }

  #add(task) {
    const row = new Row(task, this.api);
    this.rows.set(task.id, row);
    const after = [...this.rows.values()]
      .filter((other) => other.task.id < task.id)
      .sort((a, b) => b.task.id - a.task.id)[0];
    this.list.insertBefore(row.element, after?.element ?? null);
  }

  #showNews() {
    const unheard = new Set([...this.untold.values()].map((news) => news.task_id));
    this.rows.forEach((row) => row.setUnheard(unheard.has(row.task.id)));
    this.asking.replaceChildren(
      ...[...this.untold.values()].filter((news) => news.kind === "question").map((news) => this.#question(news)),
    );
    this.#showTally();
  }

  /** A question waits on top, with the way to answer it. */
  #question(news) {
    const answer = () => {
      const row = this.rows.get(news.task_id);
      row?.open();
      row?.detail.answer();
    };
    return make(
      "div",
      { class: "question" },
      make("p", {}, make("strong", {}, `Task ${news.task_id} asks: `), news.text),
      make("button", { type: "button", class: "plain-button", onclick: answer }, "Answer"),
    );
  }

  #showTally() {
    const tasks = [...this.rows.values()].map((row) => row.task);
    const unheard = new Set([...this.untold.values()].map((news) => news.task_id)).size;
    const words = tally(tasks);
    const news = unheard ? `${unheard} to hear` : "";
    if (this.counted.textContent !== words + (news && `, ${news}`)) {
      this.counted.replaceChildren(words, ...(news ? [", ", make("strong", {}, news)] : []));
    }
    this.none.hidden = tasks.length > 0;
    this.list.hidden = tasks.length === 0;
  }
}

class Row {
  constructor(task, api) {
    this.api = api;
    this.dot = make("span", { class: "dot", hidden: true }, make("span", { class: "unseen" }, "Not yet heard. "));
    this.asked = make("span", { class: "asked" });
    this.last = make("span", { class: "last" });
    this.project = make("span", { class: "project" });
    this.agent = make("span", { class: "agent" });
    this.state = make("span", { class: "status" });
    this.time = make("time", { class: "time" });
    this.button = make(
      "button",
      { class: "row", type: "button", "aria-expanded": "false", onclick: () => this.toggle() },
      make("span", { class: "number" }, this.dot, make("span", { class: "unseen" }, "Task "), String(task.id)),
      make("span", { class: "what" }, this.asked, this.last),
      this.state,
      make("span", { class: "from" }, this.project, this.agent),
      this.time,
    );
    this.element = make("li", { class: "task", "data-task": task.id }, make("h3", {}, this.button));
    this.update(task);
  }

  update(task) {
    const moved = this.task && (this.task.status !== task.status || this.task.summary !== task.summary);
    const changed = this.task?.status !== task.status;
    this.task = task;
    this.element.dataset.status = task.status;
    say(this.asked, task.description);
    say(this.project, task.project ?? "");
    say(this.agent, agentName(task.agent));
    if (changed) this.state.replaceChildren(icon(task.status), STATES[task.status]);
    this.#showLast();
    this.showTime();
    this.detail?.update(task);
    if (moved) this.detail?.refresh();
  }

  progress(line) {
    this.task = { ...this.task, progress: line.text };
    this.#showLast();
    this.detail?.progress(line);
  }

  setUnheard(unheard) {
    this.dot.hidden = !unheard;
    this.element.classList.toggle("unheard", unheard);
    this.detail?.setUnheard(unheard);
  }

  showTime() {
    say(this.time, taskTime(this.task));
    const at = this.task.finished_at ?? this.task.started_at ?? this.task.created_at;
    this.time.dateTime = at;
    this.time.title = exactly(at);
  }

  toggle() {
    if (this.button.getAttribute("aria-expanded") === "true") this.close();
    else this.open();
  }

  open() {
    if (!this.detail) {
      this.detail = new Detail(this.task, this.api, () => {
        this.close();
        this.button.focus();
      });
      this.detail.setUnheard(!this.dot.hidden);
      this.element.append(this.detail.element);
      this.button.setAttribute("aria-controls", this.detail.element.id);
    }
    this.button.setAttribute("aria-expanded", "true");
    this.element.classList.add("opened");
    this.detail.element.hidden = false;
    this.detail.setCutOff(this.asked.scrollWidth > this.asked.clientWidth || /\n/.test(this.task.description));
    this.detail.refresh().then(() => this.element.scrollIntoView({ block: "nearest" }));
  }

  close() {
    this.button.setAttribute("aria-expanded", "false");
    this.element.classList.remove("opened");
    if (this.detail) this.detail.element.hidden = true;
  }

  #showLast() {
    const { task } = this;
    const text = { running: task.progress, done: task.summary, failed: task.error ?? task.summary }[task.status];
    say(this.last, text ?? "");
  }
}
