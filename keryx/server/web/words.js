// Times, counts and states as a person reads them, in the person's own zone and language.

const clockTime = new Intl.DateTimeFormat(undefined, { hour: "numeric", minute: "2-digit" });
const dayTime = new Intl.DateTimeFormat(undefined, { weekday: "short", hour: "numeric", minute: "2-digit" });
const date = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" });
const fullTime = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
const whole = new Intl.NumberFormat(undefined);
const money = new Intl.NumberFormat(undefined, { style: "currency", currency: "USD" });
const smallMoney = new Intl.NumberFormat(undefined, { style: "currency", currency: "USD", maximumFractionDigits: 4 });

const DAY_MS = 86_400_000;

export const AGENTS = { claude: "Claude", codex: "Codex", fake: "Demo" };
export const agentName = (agent) => AGENTS[agent] ?? agent.charAt(0).toUpperCase() + agent.slice(1);

export const STATES = {
  queued: "Waiting",
  running: "Running",
  done: "Done",
  failed: "Failed",
  cancelled: "Cancelled",
};

export const hasEnded = (task) => ["done", "failed", "cancelled"].includes(task.status);

/** `0:42`, `12:05`, `1:02:33` */
export function stopwatch(ms) {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const [h, m, s] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  const tail = `${String(s).padStart(2, "0")}`;
  return h ? `${h}:${String(m).padStart(2, "0")}:${tail}` : `${m}:${tail}`;
}

export function howLong(ms) {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** The time of a moment, as short as it stays clear. */
export function moment(iso, now = Date.now()) {
  const at = new Date(iso);
  if (at.toDateString() === new Date(now).toDateString()) return clockTime.format(at);
  return now - at.getTime() < 6 * DAY_MS ? dayTime.format(at) : date.format(at);
}

export const exactly = (iso) => fullTime.format(new Date(iso));

/** What the time column says: how long it has run, or when it ended. */
export function taskTime(task, now = Date.now()) {
  if (task.status === "running") return howLong(now - new Date(task.started_at ?? task.created_at).getTime());
  return moment(task.finished_at ?? task.created_at, now);
}

export function tally(tasks) {
  const count = (status) => tasks.filter((task) => task.status === status).length;
  const [running, waiting] = [count("running"), count("queued")];
  const parts = [];
  if (running) parts.push(`${running} running`);
  if (waiting) parts.push(`${waiting} waiting`);
  if (!parts.length) parts.push(tasks.length ? "none running" : "");
  return parts.join(", ");
}

export function tokens(used) {
  if (!used) return "unknown";
  const part = (count, word) => `${count === null ? "unknown" : whole.format(count)} ${word}`;
  const cached = used.cached ? ` (${whole.format(used.cached)} cached)` : "";
  return `${part(used.input, "in")}${cached}, ${part(used.output, "out")}`;
}

export function cost(usd) {
  if (usd === null) return "unknown";
  return (usd !== 0 && usd < 0.1 ? smallMoney : money).format(usd);
}
