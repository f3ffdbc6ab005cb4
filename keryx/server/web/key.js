// The page's key: comes once in the address, stays in this browser, and leaves the address bar.

const PLACE = "keryx-key";

export function takeKey() {
  const address = new URL(location.href);
  const given = address.searchParams.get("key");
  if (given !== null) {
    address.searchParams.delete("key");
    history.replaceState(null, "", address);
    if (given.trim()) keep(given.trim());
  }
  return kept();
}

export function keep(key) {
  try {
    localStorage.setItem(PLACE, key);
  } catch {
    memory = key; // private windows may keep nothing
  }
}

export function forget() {
  memory = null;
  try {
    localStorage.removeItem(PLACE);
  } catch {
    // nothing was kept
  }
}

let memory = null;

function kept() {
  try {
    return localStorage.getItem(PLACE) ?? memory;
  } catch {
    return memory;
  }
}
