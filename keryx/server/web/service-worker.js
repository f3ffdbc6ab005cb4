// Keeps the page's shell, so that it opens (and says "reconnecting") while the daemon is away. Nothing else is kept.

const SHELL = "keryx-shell-1";
const FILES = [
  "/",
  "/manifest.webmanifest",
  ...["style.css", "icon.svg", "icon-192.png"].map((name) => `/static/${name}`),
  ...["main", "key", "api", "line", "backoff", "sound", "resampler", "capture-worklet", "playback-worklet"]
    .concat(["dial", "captions", "tasks", "detail", "words", "dom"])
    .map((name) => `/static/${name}.js`),
];

self.addEventListener("install", (event) => {
  event.waitUntil(
    caches.open(SHELL).then((cache) => cache.addAll(FILES.map((url) => new Request(url, { cache: "no-cache" })))),
  );
  self.skipWaiting();
});

self.addEventListener("activate", (event) => {
  event.waitUntil(
    caches
      .keys()
      .then((names) => Promise.all(names.filter((name) => name !== SHELL).map((name) => caches.delete(name))))
      .then(() => self.clients.claim()),
  );
});

self.addEventListener("fetch", (event) => {
  const { request } = event;
  const { pathname, origin } = new URL(request.url);
  if (request.method !== "GET" || origin !== location.origin || !FILES.includes(pathname)) return;
  event.respondWith(fresh(request, pathname));
});

// The daemon's own copy if it answers, the kept one if not. Kept by path alone: the address may hold the key.
async function fresh(request, pathname) {
  const cache = await caches.open(SHELL);
  try {
    const response = await fetch(request);
    if (response.ok) await cache.put(pathname, response.clone());
    return response;
  } catch (error) {
    const kept = await cache.match(pathname);
    if (kept) return kept;
    throw error;
  }
}
